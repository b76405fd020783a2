/* Notices of entries, a batch of them, against the tree. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "engine/ignore/ignore_file.h"
#include "engine/index/catalogue/other_names.h"
#include "engine/index/intake/notices.h"
#include "engine/index/intake/directory_removal_step.h"
#include "engine/index/intake/reconcile.h"
#include "engine/index/intake/scan/scan.h"
#include "engine/index/intake/scan/scan_sets.h"
#include "engine/index/intake/open_soon.h"

/* Entries on their way into the catalogue. Most that come together are new files of one directory:
 * it is opened, and known to be indexed, once; and their rows are one write. Whatever else changes
 * the catalogue, or looks for what may be among them, comes after enter_pending(). */
struct entering {
    struct index *index;
    struct file_key directory;      /* no bytes: none yet */
    int dirfd;                      /* or an error */
    struct name_look *const *looks; /* or NULL */
    uid_t *owners;                  /* of the changes' directories, where a lister is to look */
    struct kv_batch *batch;         /* or NULL */
    /* Each with room for all changes: */
    struct pending {
        const struct change *change;
        struct tree_entry file;
    } * pending;
    struct catalogue_meaning *meanings; /* of the changes' names, until something is put alone */
    struct catalogue_entry *put;        /* of all of them; names are the changes' */
    /* Names that meant other files, which come behind the rest: somebody may have replaced very
     * many names of one, which is asked about once (other_names.h). */
    struct pending *replaced;
    size_t n, n_put, n_replaced;
    bool meanings_hold;
};

static void entering_done(struct entering *entering)
{
    close_p(&entering->dirfd);
    kv_batch_free(entering->batch);
    free(entering->pending);
    free(entering->meanings);
    free(entering->put);
    free(entering->replaced);
}

static int entering_init(struct entering *entering, struct index *index, size_t n_changes,
                         struct name_look *const *looks, uid_t *owners)
{
    *entering = (struct entering){
        .index = index,
        .dirfd = -1,
        .looks = looks,
        .owners = owners,
        .pending = calloc(n_changes, sizeof(*entering->pending)),
        .meanings = calloc(n_changes, sizeof(*entering->meanings)),
        .put = calloc(n_changes, sizeof(*entering->put)),
        .replaced = calloc(n_changes, sizeof(*entering->replaced)),
    };
    return entering->pending && entering->meanings && entering->put && entering->replaced ? 0
                                                                                          : -ENOMEM;
}

static void note_pending(const struct entering *entering)
{
    const struct tree_entry *files[RECONCILE_AT_ONCE];
    enum stored_state states[RECONCILE_AT_ONCE];
    for (size_t i = 0; i < entering->n; i++)
        files[i] = &entering->pending[i].file;
    reconcile_states(entering->index, files, entering->n, states);
    for (size_t i = 0; i < entering->n; i++) {
        const struct change *change = entering->pending[i].change;
        const uid_t owner = files[i]->st.st_uid;
        if (change->is_written)
            index_note_written_by(entering->index, &files[i]->key, owner, change);
        else if (states[i] == STORED_NOT)
            index_note_unknown(entering->index, &files[i]->key, owner, change);
        else if (states[i] == STORED_OLD)
            index_note(entering->index, CHANGE_CONTENT, &files[i]->key, NULL, owner, change);
    }
}

static int enter_pending(struct entering *entering)
{
    struct index *index = entering->index;
    int r = entering->batch ? reconcile_write(index, entering->batch) : 0;
    kv_batch_free(TAKE_PTR(entering->batch));
    if (r == 0)
        note_pending(entering);
    entering->n = 0;
    return r;
}

/* Returns the descriptor of a change's directory, or why there is none; -EXDEV: its entries are not
 * indexed. Store errors in *ret_error. */
static int enter_directory(struct entering *entering, const struct file_key *directory,
                           int *ret_error)
{
    *ret_error = 0;
    if (entering->directory.size_bytes && file_key_equal(&entering->directory, directory))
        return entering->dirfd;
    int r = enter_pending(entering);
    if (r == 0)
        r = reconcile_is_known(entering->index, directory);
    if (r < 0) {
        *ret_error = r;
        return r;
    }
    close_p(&entering->dirfd);
    entering->dirfd = r == 0 ? -EXDEV /* below another file system, or gone with its directory */
                             : open_soon_committing(entering->index, directory);
    entering->directory = *directory;
    return entering->dirfd;
}

/* A scan finds what the queue has no room for. */
static int enter_below(struct index *index, const struct change *change,
                       const struct tree_entry *directory)
{
    int r = change_queue_note_below(index->queue, &directory->key, directory->st.st_uid, change);
    return r == -ENOBUFS || r == -ENOMEM
               ? scan_join_directory(index, &directory->key, directory->st.st_uid)
               : 0;
}

/* A directory that was nowhere below the root may have entries that are gone from the catalogue, or
 * are going. */
static int put_directory(struct entering *entering, const struct change *change,
                         const struct tree_entry *entry)
{
    struct index *index = entering->index;
    unsigned left = CLIMB_NEAR;
    int r = directory_removal_put(index, &change->key, change->name, entry);
    if (r <= 0)
        return r;
    r = other_names_lead_up(index->kv, backing_root_key(index->backing), &entry->key,
                            &(struct catalogue_name){&change->key, change->name}, &left);
    const bool is_near = r > 0, hangs = r == 0 || r == -E2BIG;
    if (is_near || hangs)
        r = ignored_moved(index, &entry->key, entry->st.st_uid, is_near);
    if (r < 0)
        return r;
    return hangs ? enter_below(index, change, entry)
                 : scan_join_moved(index, &entry->key, entry->st.st_uid);
}

/* The name may have meant a directory before, with anything below it. */
static int put_alone(struct entering *entering, const struct change *change,
                     const struct tree_entry *entry)
{
    int r = enter_pending(entering);
    entering->directory.size_bytes = 0;
    entering->meanings_hold = false;
    if (r < 0)
        return r;
    return entry->type == ENTRY_DIRECTORY
               ? put_directory(entering, change, entry)
               : directory_removal_put(entering->index, &change->key, change->name, entry);
}

/* Behind enter_pending(). */
static int enter_replaced(struct entering *entering)
{
    struct index *index = entering->index;
    const size_t n = entering->n_replaced;
    struct catalogue_entry *now = n ? calloc(n, sizeof(*now)) : NULL;
    int r = n && !now ? -ENOMEM : 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct change *change = entering->replaced[i].change;
        const struct tree_entry *entry = &entering->replaced[i].file;
        now[i] =
            (struct catalogue_entry){change->key, entry->key, entry->type, (char *)change->name};
    }
    if (r == 0 && n)
        r = reconcile_take_names(index, now, n, entering->put, entering->n_put);
    for (size_t i = 0; r >= 0 && i < n; i++) {
        const struct change *change = entering->replaced[i].change;
        const struct tree_entry *entry = &entering->replaced[i].file;
        r = entry->type == ENTRY_DIRECTORY
                ? put_directory(entering, change, entry)
                : directory_removal_put(index, &change->key, change->name, entry);
    }
    free(now);
    entering->n_replaced = 0;
    entering->meanings_hold &= n == 0;
    return r < 0 ? r : 0;
}

/* The meaning of the name of a change, the at-th of all. */
static int meaning_of(struct entering *entering, const struct change *change, size_t at,
                      const struct catalogue_meaning **ret_meaning)
{
    const struct catalogue_name name = {&change->key, change->name};
    *ret_meaning = &entering->meanings[at];
    return entering->meanings_hold
               ? 0
               : catalogue_get_all(entering->index->kv, &name, 1, &entering->meanings[at]);
}

static int add_entry(struct entering *entering, const struct change *change, size_t at,
                     const struct tree_entry *entry)
{
    const struct catalogue_meaning *known = NULL;
    int r = 0;
    if (!entering->batch && !(entering->batch = kv_batch_new()))
        return -ENOMEM;
    r = meaning_of(entering, change, at, &known);
    if (r == 0)
        r = entry->type == ENTRY_FILE
                ? reconcile_add(&change->key, change->name, entry, known, entering->batch)
                : -EEXIST;
    if (r == -EEXIST && known->exists && known->type == ENTRY_FILE) {
        entering->replaced[entering->n_replaced++] = (struct pending){change, *entry};
        r = 0;
    } else if (r == -EEXIST) {
        r = put_alone(entering, change, entry);
    }
    if (r < 0 || entry->type == ENTRY_DIRECTORY)
        return r < 0 ? r : 0;
    /* One that is being written will be noted when it is closed. */
    if (!writing_set_has(entering->index->writing, &entry->key))
        entering->pending[entering->n++] = (struct pending){change, *entry};
    entering->put[entering->n_put++] =
        (struct catalogue_entry){change->key, entry->key, ENTRY_FILE, (char *)change->name};
    return 0;
}

static uid_t owner_of_directory(const struct entering *entering)
{
    struct stat st;
    return entering->dirfd >= 0 && fstat(entering->dirfd, &st) == 0 ? st.st_uid : 0;
}

static bool is_gone(int error)
{
    return error == -ENOENT || error == -ESTALE || error == -ENOTDIR;
}

/* The entry at the name, as by reconcile_look(), or -EAGAIN when a lister is to look first. */
static int look(struct entering *entering, const struct change *change, size_t at,
                struct tree_entry *ret_entry)
{
    const struct name_look *look = entering->looks ? entering->looks[at] : NULL;
    int r = look ? look->result
                 : reconcile_look_cached(entering->index, &change->key, entering->dirfd,
                                         change->name, ret_entry);
    if (look && r == 0)
        *ret_entry = look->entry;
    if (look && look->is_directory_gone) /* by a path of it that it had not any more */
        r = -EAGAIN;
    if (r == -EAGAIN)
        entering->owners[at] = owner_of_directory(entering);
    return r;
}

/* Returns ENTRY_GONE when nothing that is indexed is at the name any more, ENTRY_AWAY when its
 * directory is not where it was, 0 when what is there has been entered, there is nothing to do, or
 * a lister is to look first, or a store error. */
enum { ENTRY_GONE = 1, ENTRY_AWAY };
static int look_at_entry(struct entering *entering, const struct change *change, size_t at)
{
    struct index *index = entering->index;
    struct tree_entry entry;
    int error;
    int r = enter_directory(entering, &change->key, &error);
    if (error < 0)
        return error;
    if (r == -EXDEV)
        return 0;
    if (is_gone(r))
        return ENTRY_AWAY;
    scan_touch(index, &change->key, change->name);
    if (r >= 0 && (r = look(entering, change, at, &entry)) == -EAGAIN)
        return 0;
    if (strcmp(change->name, IGNORE_FILE) == 0)
        ignored_note_file(index, &change->key, entering->dirfd, r == 0 ? &entry.st : NULL);
    if (r == 0)
        return add_entry(entering, change, at, &entry);
    if (r == -EXDEV)
        reconcile_tell_covered(index, &change->key, change->name);
    if (is_gone(r) || r == -EXDEV)
        return ENTRY_GONE;
    /* It cannot be looked at. What is known stays; when that may pass, a scan comes by again. */
    if (!reconcile_may_pass_over(r))
        index_rescan(index);
    return 0;
}

/* Forgets the names that are gone. */
static int forget_all(struct entering *entering, struct change *const *changes, const size_t *gone,
                      size_t n)
{
    struct catalogue_list list = {0};
    int r = 0;
    if (n == 0)
        return 0;
    list.entries = calloc(n, sizeof(*list.entries));
    if (!list.entries)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct change *change = changes[gone[i]];
        const struct catalogue_meaning *known;
        r = meaning_of(entering, change, gone[i], &known);
        if (r < 0 || !known->exists)
            continue;
        struct catalogue_entry *entry = &list.entries[list.n_entries];
        *entry =
            (struct catalogue_entry){change->key, known->child, known->type, strdup(change->name)};
        if (!entry->name)
            r = -ENOMEM;
        else
            list.n_entries++;
    }
    if (r == 0)
        r = reconcile_remove_all(entering->index, list.entries, list.n_entries, entering->put,
                                 entering->n_put);
    catalogue_list_done(&list);
    return r;
}

static int look_at_meanings(struct entering *entering, struct change *const *changes, size_t n)
{
    struct catalogue_name names[RECONCILE_AT_ONCE];
    names[0] = (struct catalogue_name){0}; /* for a compiler that cannot know */
    for (size_t i = 0; i < n; i++)
        names[i] = (struct catalogue_name){&changes[i]->key, changes[i]->name};
    int r = catalogue_get_all(entering->index->kv, names, n, entering->meanings);
    entering->meanings_hold = r == 0;
    return r;
}

/* Entries that are gone are removed last: a file whose new name is among the others is not taken
 * for deleted.
 *
 * places  of the changes that are to be looked at; with ret_n_away it is left with those whose
 *         directories are away, else these are gone as well
 */
static int enter_some(struct entering *entering, struct change *const *changes, size_t *places,
                      size_t n, size_t *ret_n_away)
{
    size_t gone[RECONCILE_AT_ONCE], n_gone = 0, n_away = 0;
    int r = 0;
    for (size_t i = 0; r >= 0 && i < n; i++) {
        r = look_at_entry(entering, changes[places[i]], places[i]);
        if (r == ENTRY_AWAY && ret_n_away)
            places[n_away++] = places[i];
        else if (r > 0)
            gone[n_gone++] = places[i];
    }
    if (r >= 0)
        r = enter_pending(entering);
    if (r >= 0)
        r = enter_replaced(entering);
    if (r >= 0)
        r = forget_all(entering, changes, gone, n_gone);
    if (ret_n_away)
        *ret_n_away = n_away;
    return r;
}

/* A directory that is reached by its name may have a new one, which is among the changes: what is
 * in it is looked at once it has that. */
int reconcile_entries(struct index *index, struct change *const *changes,
                      struct name_look *const *looks, size_t n, uid_t *owners)
{
    _cleanup_(entering_done) struct entering entering;
    size_t places[RECONCILE_AT_ONCE], n_away = 0;
    assert(n <= RECONCILE_AT_ONCE);
    for (size_t i = 0; i < n; i++)
        places[i] = i;
    int r = entering_init(&entering, index, n, looks, owners);
    if (r == 0)
        r = look_at_meanings(&entering, changes, n);
    if (r == 0)
        r = enter_some(&entering, changes, places, n, &n_away);
    if (r < 0 || n_away == 0)
        return r;
    entering.directory.size_bytes = 0;
    entering.meanings_hold = false;
    return enter_some(&entering, changes, places, n_away, NULL);
}
