/* A directory is known by its path and the ignore files that hold in it, its own and those of all
 * above it, each with where in the path its directory ends. A name is asked about with what of the
 * path is behind that.
 *
 * Example: /a has the line "b/c.txt", /a/b has "!*.txt". Of /a/b/c.txt the file of b is asked about
 * "c.txt" and says that it is in; that of a, which says it is out, is not asked.
 *
 * Cost: a look into a table, and some 10 ns a line of the files that hold. Of a directory that is
 * not known: those above it up to a known one are looked for in the catalogue, and each is opened
 * for its file.
 */
#include "engine/index/intake/ignored/ignored.h"

#include <errno.h>
#include <fcntl.h>

#include "base/clock.h"
#include "engine/ignore/ignore_file.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/ignored/ignored_places.h"
#include "engine/index/intake/notices.h"
#include "engine/index/intake/told_path.h"
#include "engine/index/intake/open_key.h"
#include "engine/index/intake/scan/scan_sets.h"
#include "engine/index/intake/scan/wanted_scan.h"
#include "engine/index/tables/sid_tally.h"

enum { TRIES_MAX = 100 }; /* somebody may rename a directory all the time */

struct ignored {
    const struct ignore_rules *own; /* or NULL; the opener's */
    struct ignore_rules *defaults;
    pthread_mutex_t lock; /* of all below; nothing else is taken under it */
    struct ignored_places places;
    uint32_t n_forgotten[IGNORED_COUNTS]; /* times, by file_key_hash() */
};

static uint32_t *n_forgotten_of(struct ignored *ignored, const struct file_key *directory)
{
    return &ignored->n_forgotten[file_key_hash(directory) % IGNORED_COUNTS];
}

/* -- learning a directory -- */

/* The way from a directory up to one that is known. */
struct climb {
    struct step {
        struct file_key directory;
        char *name; /* in the one behind it; NULL: the root */
    } steps[IGNORE_DEPTH_MAX + 1];
    size_t n;
    struct file_key known; /* where it ends, but for the root that is not known */
    bool is_far;
};

static void climb_free(struct climb *climb)
{
    for (size_t i = 0; climb && i < climb->n; i++)
        free(climb->steps[i].name);
    free(climb);
}
DEFINE_CLEANUP(struct climb *, climb_free);

static bool is_known(struct ignored *ignored, const struct file_key *directory)
{
    LOCKED(&ignored->lock);
    return ignored_places_find(&ignored->places, directory) != NULL;
}

/* Returns 0, -ENOENT where a directory has no name (any more), or an error. */
static int climb_from(struct index *index, const struct file_key *directory, struct climb *climb)
{
    struct file_key at = *directory;
    while (!is_known(index->ignored, &at)) {
        _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
        if (climb->n > IGNORE_DEPTH_MAX) {
            climb->is_far = true;
            return 0;
        }
        struct step *step = &climb->steps[climb->n];
        *step = (struct step){.directory = at};
        if (file_key_equal(&at, backing_root_key(index->backing))) {
            climb->n++;
            return 0;
        }
        int r = catalogue_links(index->kv, &at, 1, &links);
        if (r == -EUCLEAN)
            index_meet_damage(index);
        if (r < 0 || links.n_entries == 0)
            return r < 0 ? r : -ENOENT;
        step->name = TAKE_PTR(links.entries[0].name);
        climb->n++;
        at = links.entries[0].parent;
    }
    climb->known = at;
    return 0;
}

static void tell(struct index *index, const struct file_key *directory, int error)
{
    _cleanup_free_ char *told = told_path(index, directory);
    if (!told)
        return;
    if (error == -EPERM)
        messages_warn(&index->messages, "%s%s" IGNORE_FILE ": " IGNORE_FILE_REFUSED, told,
                      *told ? "/" : "");
    else if (error == -E2BIG)
        messages_warn(&index->messages,
                      "%s%s" IGNORE_FILE ": its first %d lines and %d bytes count", told,
                      *told ? "/" : "", IGNORE_LINES_MAX, IGNORE_BYTES_MAX);
    else
        messages_warn(&index->messages, "%s%s" IGNORE_FILE ": cannot be read: %s", told,
                      *told ? "/" : "", strerror(-error));
}

static struct ignore_rules *read_file(struct index *index, const struct file_key *directory,
                                      uid_t *ret_owner)
{
    struct ignore_rules *rules = NULL;
    struct stat st;
    _cleanup_close_ int fd = open_key(index, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 ? 0 : ignore_file_read(fd, &rules);
    *ret_owner = fd >= 0 && fstat(fd, &st) == 0 ? st.st_uid : IGNORED_NOBODYS;
    if (r < 0)
        tell(index, directory, r);
    if (rules && !ignore_rules_any(rules)) {
        ignore_rules_free(rules);
        rules = NULL;
    }
    return rules;
}

/* Puts one directory, of which the one above is known or it is the root. -EAGAIN: that was
 * forgotten meanwhile, or what was read may be old. */
static int learn_one(struct index *index, const struct step *step, const struct file_key *above_key)
{
    struct ignored *ignored = index->ignored;
    struct ignored_place *place = calloc(1, sizeof(*place));
    const uint32_t *now_forgotten = n_forgotten_of(ignored, &step->directory);
    uint32_t n_forgotten;
    {
        LOCKED(&ignored->lock);
        n_forgotten = *now_forgotten;
    }
    struct ignore_rules *rules = place ? read_file(index, &step->directory, &place->owner) : NULL;
    int r = place ? 0 : -ENOMEM;
    {
        LOCKED(&ignored->lock);
        struct ignored_place *above =
            above_key && place ? ignored_places_find(&ignored->places, above_key) : NULL;
        if (r == 0 && ((above_key && !above) || n_forgotten != *now_forgotten))
            r = -EAGAIN;
        if (r == 0) {
            place->directory = step->directory;
            r = ignored_place_fill(&ignored->places, place, above, step->name, &rules);
        }
        if (r == 0)
            ignored_places_put(&ignored->places, place);
        else if (place)
            ignored_place_free(&ignored->places, place);
    }
    ignore_rules_free(rules);
    return r;
}

static void put_far(struct ignored *ignored, const struct file_key *directory)
{
    struct ignored_place *place = calloc(1, sizeof(*place));
    if (!place)
        return;
    place->directory = *directory;
    place->owner = IGNORED_NOBODYS;
    place->is_far = true;
    place->depth = IGNORE_DEPTH_MAX + 1;
    LOCKED(&ignored->lock);
    ignored_places_put(&ignored->places, place);
}

static int learn(struct index *index, const struct file_key *directory)
{
    _cleanup_(climb_free_p) struct climb *climb = calloc(1, sizeof(*climb));
    int r = climb ? climb_from(index, directory, climb) : -ENOMEM;
    if (r == 0 && climb->is_far) {
        put_far(index->ignored, directory);
        return 0;
    }
    for (size_t i = climb ? climb->n : 0; r == 0 && i-- > 0;) {
        const struct step *step = &climb->steps[i];
        const struct file_key *above =
            i + 1 < climb->n ? &climb->steps[i + 1].directory : &climb->known;
        r = learn_one(index, step, step->name ? above : NULL);
    }
    return r;
}

/* -- questions -- */

/* Returns 1, 0, -EAGAIN where the directory is not known, or -ENOMEM. Others ask meanwhile. */
static int ask(struct ignored *ignored, const struct file_key *directory, const char *name,
               bool is_directory)
{
    _cleanup_free_ char *path = NULL;
    struct ignore_file *file;
    {
        LOCKED(&ignored->lock);
        const struct ignored_place *place = ignored_places_find(&ignored->places, directory);
        if (!place)
            return -EAGAIN;
        /* With a slash before it no pattern takes a name that is far for one at the root. */
        if (asprintf(&path, "%s%s", place->is_far ? "/" : place->path, name) < 0)
            return -ENOMEM;
        file = place->file;
        if (file)
            file->n_users++;
    }
    const bool out = ignore_leaves_out(ignored->own, file ? &file->level : NULL, ignored->defaults,
                                       path, is_directory);
    LOCKED(&ignored->lock);
    ignored_places_let_go(&ignored->places, file);
    return out;
}

int ignored_ask(struct index *index, const struct file_key *directory, const char *name,
                bool is_directory, bool may_wait)
{
    int r = ask(index->ignored, directory, name, is_directory);
    for (unsigned i = 0; r == -EAGAIN && may_wait && i < TRIES_MAX; i++) {
        r = learn(index, directory);
        if (r == 0)
            r = ask(index->ignored, directory, name, is_directory);
    }
    if (r == -ENOENT) /* with its directory it goes, or comes with that again */
        return 0;
    if (r == -EAGAIN && may_wait) {
        index_rescan(index);
        return 0;
    }
    return r;
}

/* -- changes -- */

void ignored_forget(struct ignored *ignored, const struct file_key *directory)
{
    LOCKED(&ignored->lock);
    ++*n_forgotten_of(ignored, directory);
    const struct ignored_place *place = ignored_places_find(&ignored->places, directory);
    /* One that is not known has none below it that are, as they are learned from above, but for
     * those that are far. No path begins with a slash: then these go, and no others. */
    _cleanup_free_ char *path = strdup(!place || place->is_far ? "/" : place->path);
    ignored_places_forget_below(&ignored->places, path ? path : "");
}

bool ignored_by_place(struct ignored *ignored)
{
    if (ignored->own && ignore_rules_have_paths(ignored->own))
        return true;
    LOCKED(&ignored->lock);
    return ignored->places.has_files;
}

/* One directory may be in another: many of an owner are scanned at once, with the tree, else what
 * is far down would be scanned as often as there are ignore files above it; and so is one whose
 * file is written again and again. */
static bool may_join(struct ruled_anew *ruled_anew, uid_t owner)
{
    enum { OF_ONE_MAX = 16, OWNERS_MAX = 4096, COUNTED_MS = 1000 };
    const int64_t ms = clock_now_ms() - ruled_anew->began_ms - ruled_anew->spent_us / 1000;
    if (ms >= COUNTED_MS && ms >= wanted_scan_rest_ms(ruled_anew->spent_us)) {
        sid_tally_done(&ruled_anew->of);
        *ruled_anew = (struct ruled_anew){.began_ms = clock_now_ms()};
    }
    if (ruled_anew->of.n_sids >= OWNERS_MAX)
        return false;
    uint32_t *n = sid_tally_of(&ruled_anew->of, (uint64_t)owner + 1);
    return n && ++*n <= OF_ONE_MAX;
}

void ignored_changed(struct index *index, const struct file_key *directory, uid_t owner)
{
    ignored_forget(index->ignored, directory);
    if (!may_join(&index->ruled_anew, owner) || scan_forget_taken(&index->scan) < 0 ||
        scan_join_directory(index, directory, owner) < 0)
        index_rescan(index);
}

int ignored_moved(struct index *index, const struct file_key *directory, uid_t owner, bool is_known)
{
    _cleanup_(catalogue_list_done) struct catalogue_list list = {0};
    if (!ignored_by_place(index->ignored))
        return 0;
    int r = is_known ? 0 : catalogue_children(index->kv, directory, NULL, 1, &list);
    if (is_known || list.n_entries > 0)
        ignored_changed(index, directory, owner);
    return r;
}

/* An ignore file of the directory itself has said something, as far as is known.
 *
 * others_write  into the directory, so that none counts */
static bool may_have_file(struct ignored *ignored, const struct file_key *directory,
                          bool others_write)
{
    LOCKED(&ignored->lock);
    const struct ignored_place *place = ignored_places_find(&ignored->places, directory);
    return place ? ignored_place_has_file(place) : !others_write;
}

/* One that does not count changes nothing where none was that did: anybody may make it where all
 * may write. */
void ignored_note_file(struct index *index, const struct file_key *directory, int dirfd,
                       const struct stat *st)
{
    struct stat of_directory;
    const bool is_known = dirfd >= 0 && fstat(dirfd, &of_directory) == 0;
    const bool others_write = is_known && (of_directory.st_mode & (S_IWGRP | S_IWOTH));
    if (may_have_file(index->ignored, directory, others_write) ||
        (st && (!is_known || ignore_file_counts(st, &of_directory))))
        ignored_changed(index, directory, is_known ? of_directory.st_uid : FILE_ROW_NOBODY);
}

struct ignored *ignored_new(const struct ignore_rules *own)
{
    struct ignored *ignored = calloc(1, sizeof(*ignored));
    if (!ignored)
        return NULL;
    ignored->own = own;
    ignored->defaults = ignore_defaults();
    pthread_mutex_init(&ignored->lock, NULL);
    if (ignored->defaults)
        return ignored;
    ignored_free(ignored);
    return NULL;
}

void ignored_free(struct ignored *ignored)
{
    if (!ignored)
        return;
    ignored_places_forget_below(&ignored->places, "");
    ignore_rules_free(ignored->defaults);
    pthread_mutex_destroy(&ignored->lock);
    free(ignored);
}
