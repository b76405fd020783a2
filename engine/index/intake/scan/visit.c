/* A visit tells without names if a directory has lost entries, as names may be any number: those
 * that the tree has, as the catalogue does, and those that the catalogue has are summed up, each as
 * a number of its own that nobody can foretell; if one is missing the sums differ. Then a second
 * visit asks the tree for each name of the catalogue.
 *
 * Example: of a, b, c the catalogue has a, b, d. c is added, n(a) + n(b) + n(c) is the first sum,
 * n(a) + n(b) + n(c) + n(d) the second.
 *
 * Cost: some 10 us a name to look, 3 us to enter it. In memory are some names of one directory.
 */
#include "engine/index/intake/scan/listing.h"
#include "engine/index/intake/scan/scan_sets.h"
#include "engine/index/intake/scan/visit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <xxhash.h>

#include "engine/index/intake/directory_removal_step.h"
#include "engine/index/intake/reconcile.h"
#include "engine/index/intake/told_path.h"

/* A step is some milliseconds. Of a directory with more notices than TOUCHED_MAX while some names
 * were looked at these are looked at again. */
enum { LOOK_AT_ONCE = 256, TOUCHED_MAX = 1024, SPOILT_MAX = 8 };

struct visit {
    struct index *index;
    struct file_key directory;
    uid_t owner;
    bool removing, lossy;
    /* The names of the directory, until it is_read; then those of the catalogue. */
    enum { VISIT_PRESENT, VISIT_MISSING } phase;
    bool is_read; /* to its end */
    DIR *dir;
    int fd, error;             /* error: what kept it from being opened or read */
    char *names[LOOK_AT_ONCE]; /* to be looked at, */
    size_t n_names;
    struct {
        int result; /* of reconcile_look() */
        struct tree_entry entry;
    } looks[LOOK_AT_ONCE];      /* and what is there */
    struct catalogue_list list; /* of VISIT_MISSING that removes: the names looked at are its */
    bool is_list_last;
    char *after;      /* the last name of the catalogue that was looked at, or NULL */
    uint64_t present; /* the sum of the names that the catalogue has, too, */
    uint64_t known;   /* and of those that it has */
    uint64_t touched[TOUCHED_MAX];
    size_t n_touched;
    bool is_spoilt; /* touched has no room */
    unsigned n_spoilt, set;
};

struct visit *visit_new(struct index *index, const struct file_key *directory, uid_t owner,
                        unsigned set, bool removing)
{
    struct visit *visit = calloc(1, sizeof(*visit));
    if (!visit)
        return NULL;
    visit->index = index;
    visit->directory = *directory;
    visit->owner = owner;
    visit->set = set;
    visit->removing = removing;
    return visit;
}

static void forget_names(struct visit *visit)
{
    for (size_t i = 0; i < visit->n_names; i++)
        free(visit->names[i]);
    visit->n_names = 0;
}

void visit_free(struct visit *visit)
{
    if (!visit)
        return;
    forget_names(visit);
    catalogue_list_done(&visit->list);
    if (visit->dir)
        closedir(visit->dir);
    free(visit->after);
    free(visit);
}

const struct file_key *visit_directory(const struct visit *visit)
{
    return &visit->directory;
}

size_t visit_n_names(const struct visit *visit)
{
    return visit->n_names;
}

bool visit_is_lossy(const struct visit *visit)
{
    return visit->lossy && !visit->error && !visit->removing;
}

static uint64_t number_of(const char *name)
{
    return XXH3_64bits_withSeed(name, strlen(name), file_key_secret);
}

/* -- looking -- */

static int open_directory(struct visit *visit)
{
    visit->fd = listing_open(visit->index, &visit->directory);
    if (visit->fd < 0)
        return visit->fd;
    visit->dir = fdopendir(visit->fd);
    if (!visit->dir)
        close(visit->fd);
    return visit->dir ? 0 : -ENOMEM;
}

static int add_name(struct visit *visit, const char *name)
{
    visit->names[visit->n_names] = strdup(name);
    return visit->names[visit->n_names++] ? 0 : -ENOMEM;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Directories and regular files, and what the directory does not tell the type of; in the order of
 * the catalogue. */
static int read_names(struct visit *visit)
{
    int r = 0;
    while (r == 0 && visit->n_names < LOOK_AT_ONCE) {
        errno = 0;
        const struct dirent *entry = readdir(visit->dir);
        visit->is_read = !entry;
        if (!entry && errno)
            return -errno;
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (entry->d_type == DT_DIR || entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN)
            r = add_name(visit, entry->d_name);
    }
    if (r == 0)
        qsort(visit->names, visit->n_names, sizeof(visit->names[0]), compare_names);
    return r;
}

/* An error that may pass (no descriptors, no memory, a read error) has another scan follow, and not
 * in haste. */
void visit_look(struct visit *visit)
{
    enum { PAUSE_MS = 200 };
    int r = visit->dir ? 0 : open_directory(visit);
    if (r == 0 && visit->phase == VISIT_PRESENT && visit->n_names == 0)
        r = read_names(visit);
    visit->error = r;
    for (size_t i = 0; visit->error == 0 && i < visit->n_names; i++) {
        visit->looks[i].result = reconcile_look(visit->index, &visit->directory, visit->fd,
                                                visit->names[i], &visit->looks[i].entry);
        if (visit->looks[i].result < 0 && visit->looks[i].result != -EXDEV)
            r = reconcile_may_pass_over(visit->looks[i].result) ? r : visit->looks[i].result;
    }
    if (r < 0 && !reconcile_may_pass_over(r))
        usleep(PAUSE_MS * 1000);
}

/* -- what others were told meanwhile -- */

void visit_touch(struct visit *visit, const char *name)
{
    if (visit->n_touched == TOUCHED_MAX)
        visit->is_spoilt = true;
    else
        visit->touched[visit->n_touched++] = number_of(name);
}

static bool is_touched(const struct visit *visit, const char *name)
{
    const uint64_t number = visit->n_touched ? number_of(name) : 0;
    for (size_t i = 0; i < visit->n_touched; i++)
        if (visit->touched[i] == number)
            return true;
    return false;
}

/* There are too many notices to come by among them: it is visited anew, with the next scan. */
static int give_up(struct visit *visit)
{
    scan_want_directory(visit->index, &visit->directory, visit->owner);
    visit->lossy = false;
    return VISIT_OVER;
}

static int look_again(struct visit *visit)
{
    visit->n_touched = 0;
    visit->is_spoilt = false;
    return VISIT_LOOKS;
}

/* -- the names of the directory -- */

static int note_document(struct index *index, const struct tree_entry *entry,
                         enum stored_state state)
{
    atomic_fetch_add(&index->scan_found, 1);
    int r = 0;
    switch (state) {
    case STORED_NOT:
        r = change_queue_note_unknown(index->queue, LANE_SCAN, &entry->key, entry->st.st_uid, NULL);
        break;
    case STORED_OLD:
        r = change_queue_note(index->queue, LANE_SCAN, CHANGE_CONTENT, &entry->key, NULL,
                              entry->st.st_uid, NULL);
        break;
    case STORED_CURRENT: break;
    }
    if (r == -ENOBUFS) { /* more documents in one directory than the lane holds: the rest later */
        atomic_fetch_sub(&index->scan_found, 1);
        index_rescan(index);
        r = 0;
    }
    return r < 0 ? r : 0;
}

static int pass_over(struct index *index, int error)
{
    if (!reconcile_may_pass_over(error)) {
        messages_log(&index->messages, INDEX_LOG_WARNING, "the tree is scanned again: %s",
                     strerror(-error));
        index_rescan(index);
    }
    return 0;
}

/* The names that are entered in one step. */
struct entered {
    const char *names[LOOK_AT_ONCE];
    const struct tree_entry *entries[LOOK_AT_ONCE], *files[LOOK_AT_ONCE];
    struct catalogue_name of[LOOK_AT_ONCE];
    struct catalogue_meaning meanings[LOOK_AT_ONCE];
    enum stored_state states[LOOK_AT_ONCE];
    struct catalogue_name left_out[LOOK_AT_ONCE];
    struct catalogue_entry now[LOOK_AT_ONCE]; /* of names that meant other files, */
    size_t replaced[LOOK_AT_ONCE];            /* and their places */
    size_t n, n_files, n_left_out, n_replaced;
    struct kv_batch *batch;
};

static void entered_free(struct entered *entered)
{
    if (entered)
        kv_batch_free(entered->batch);
    free(entered);
}
DEFINE_CLEANUP(struct entered *, entered_free);

/* A name that is not to be entered, by what was found there. */
static int leave_out(struct visit *visit, struct entered *entered, const char *name, int result)
{
    struct index *index = visit->index;
    const bool covered = result == -EXDEV, left_out = covered || result == -ENOENT;
    if (!left_out)
        return pass_over(index, result);
    visit->lossy = true;
    if (covered && visit->removing)
        reconcile_tell_covered(index, &visit->directory, name);
    if (visit->removing) /* there, but not to be indexed (any more) */
        entered->left_out[entered->n_left_out++] = (struct catalogue_name){&visit->directory, name};
    return 0;
}

static int remove_left_out(struct visit *visit, struct entered *entered)
{
    struct kv *kv = visit->index->kv;
    _cleanup_free_ struct catalogue_entry *going = calloc(entered->n_left_out + 1, sizeof(*going));
    size_t n = 0;
    int r = going ? catalogue_get_all(kv, entered->left_out, entered->n_left_out, entered->meanings)
                  : -ENOMEM;
    for (size_t i = 0; r == 0 && i < entered->n_left_out; i++)
        if (entered->meanings[i].exists)
            going[n++] = (struct catalogue_entry){visit->directory, entered->meanings[i].child,
                                                  entered->meanings[i].type,
                                                  (char *)entered->left_out[i].name};
    return r < 0 || n == 0 ? r : reconcile_remove_all(visit->index, going, n, NULL, 0);
}

/* Names that meant other files come behind the rest: somebody may have replaced very many names of
 * one, which is asked about once (other_names.h). */
static int replace_names(struct visit *visit, struct entered *entered)
{
    struct index *index = visit->index;
    int r = reconcile_take_names(index, entered->now, entered->n_replaced, NULL, 0);
    for (size_t k = 0; r >= 0 && k < entered->n_replaced; k++) {
        const size_t i = entered->replaced[k];
        r = directory_removal_put(index, &visit->directory, entered->names[i], entered->entries[i]);
    }
    return r < 0 ? r : 0;
}

static int put_name(struct visit *visit, struct entered *entered, size_t i)
{
    const struct tree_entry *entry = entered->entries[i];
    const struct catalogue_meaning *known = &entered->meanings[i];
    const char *name = entered->names[i];
    if (!visit->removing)
        return reconcile_add(&visit->directory, name, entry, known, entered->batch);
    if (!known->exists || known->type != ENTRY_FILE || file_key_equal(&known->child, &entry->key))
        return directory_removal_put(visit->index, &visit->directory, name, entry);
    entered->now[entered->n_replaced] =
        (struct catalogue_entry){visit->directory, entry->key, entry->type, (char *)name};
    entered->replaced[entered->n_replaced++] = i;
    return 1;
}

static int enter_name(struct visit *visit, struct entered *entered, size_t i)
{
    struct index *index = visit->index;
    const struct tree_entry *entry = entered->entries[i];
    int r = put_name(visit, entered, i);
    if (r == -EEXIST) {
        visit->lossy = true;
        /* A directory that took another's name may be at its new place before the second pass comes
         * by: what is in it is looked at now. One that is not known yet is found there. */
        return entry->type == ENTRY_DIRECTORY ? scan_add_found(index, entry, visit->set, true) : 0;
    }
    if (r < 0 || (visit->removing && r == 0))
        return r < 0 ? r : 0;
    visit->present += number_of(entered->names[i]);
    if (entry->type == ENTRY_DIRECTORY)
        return scan_add_found(index, entry, visit->set, r > 0);
    entered->files[entered->n_files++] = entry;
    return 0;
}

/* Their rows are written before documents are noted: who reads one asks for its name. */
static int enter(struct visit *visit, struct entered *entered)
{
    struct index *index = visit->index;
    int r = catalogue_get_all(index->kv, entered->of, entered->n, entered->meanings);
    for (size_t i = 0; r == 0 && i < entered->n; i++)
        r = enter_name(visit, entered, i);
    if (r == 0 && entered->n_replaced)
        r = replace_names(visit, entered);
    if (r == 0 && kv_batch_count(entered->batch))
        r = reconcile_write(index, entered->batch);
    if (r == 0)
        reconcile_states(index, entered->files, entered->n_files, entered->states);
    for (size_t i = 0; r == 0 && i < entered->n_files; i++)
        r = note_document(index, entered->files[i], entered->states[i]);
    return r;
}

static int enter_present(struct visit *visit)
{
    _cleanup_(entered_free_p) struct entered *entered = malloc(sizeof(*entered));
    int r = 0;
    if (!entered)
        return -ENOMEM;
    entered->n = entered->n_files = entered->n_left_out = entered->n_replaced = 0;
    entered->batch = kv_batch_new();
    if (!entered->batch)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < visit->n_names; i++) {
        const char *name = visit->names[i];
        if (is_touched(visit, name))
            continue;
        if (visit->looks[i].result < 0) {
            r = leave_out(visit, entered, name, visit->looks[i].result);
            continue;
        }
        entered->names[entered->n] = name;
        entered->entries[entered->n] = &visit->looks[i].entry;
        entered->of[entered->n++] = (struct catalogue_name){&visit->directory, name};
    }
    if (r == 0)
        r = enter(visit, entered);
    if (r == 0 && entered->n_left_out)
        r = remove_left_out(visit, entered);
    forget_names(visit);
    if (r < 0)
        return r;
    if (!visit->is_read)
        return look_again(visit);
    visit->phase = VISIT_MISSING;
    return VISIT_STEPS;
}

/* -- the names of the catalogue that are not in the directory -- */

static int next_of_catalogue(struct visit *visit, struct catalogue_list *ret_list, bool *ret_last)
{
    int r = catalogue_children(visit->index->kv, &visit->directory, visit->after, LOOK_AT_ONCE,
                               ret_list);
    if (r < 0)
        return r;
    *ret_last = ret_list->n_entries < LOOK_AT_ONCE;
    free(visit->after);
    visit->after = *ret_last ? NULL : strdup(ret_list->entries[ret_list->n_entries - 1].name);
    return *ret_last || visit->after ? 0 : -ENOMEM;
}

static int sum_up(struct visit *visit)
{
    _cleanup_(catalogue_list_done) struct catalogue_list list = {0};
    bool last;
    if (visit->lossy)
        return VISIT_OVER;
    int r = next_of_catalogue(visit, &list, &last);
    if (r < 0)
        return r;
    for (size_t i = 0; i < list.n_entries; i++)
        visit->known += number_of(list.entries[i].name);
    visit->lossy = last && visit->known != visit->present;
    return last ? VISIT_OVER : VISIT_STEPS;
}

static int ask_for_missing(struct visit *visit)
{
    int r = next_of_catalogue(visit, &visit->list, &visit->is_list_last);
    for (size_t i = 0; r == 0 && i < visit->list.n_entries; i++)
        r = add_name(visit, visit->list.entries[i].name);
    if (r < 0)
        return r;
    return visit->n_names ? look_again(visit) : VISIT_OVER;
}

/* Removes those entries of the list that are not there any more. */
static int remove_missing(struct visit *visit)
{
    struct catalogue_list *list = &visit->list;
    size_t n = 0;
    for (size_t i = 0; i < list->n_entries; i++) {
        struct catalogue_entry entry = list->entries[i];
        if (visit->looks[i].result != -ENOENT || is_touched(visit, entry.name))
            continue;
        list->entries[i] = list->entries[n];
        list->entries[n++] = entry;
    }
    int r = reconcile_remove_all(visit->index, list->entries, n, NULL, 0);
    forget_names(visit);
    catalogue_list_done(list);
    *list = (struct catalogue_list){0};
    return r < 0 ? r : visit->is_list_last ? VISIT_OVER : VISIT_STEPS;
}

/* Says of a directory that cannot be read, once a scan, that what is below it is neither indexed
 * nor forgotten. */
static void tell_unreadable(struct index *index, const struct file_key *directory, int error)
{
    _cleanup_free_ char *told = told_path(index, directory);
    if (told)
        messages_warn(&index->messages, "%s: cannot be listed: %s", told, strerror(-error));
}

int visit_step(struct visit *visit)
{
    struct index *index = visit->index;
    if (visit->error == -EACCES || visit->error == -EPERM)
        tell_unreadable(index, &visit->directory, visit->error);
    if (visit->error < 0) /* gone: its parent's visit removes it; not for us to read: it stays */
        return pass_over(index, visit->error);
    /* It may have left the tree since it was found. */
    int r = reconcile_is_known(index, &visit->directory);
    if (r <= 0)
        return r;
    if (visit->is_spoilt)
        return ++visit->n_spoilt > SPOILT_MAX ? give_up(visit) : look_again(visit);
    if (visit->phase == VISIT_PRESENT)
        return enter_present(visit);
    if (!visit->removing)
        return sum_up(visit);
    return visit->n_names ? remove_missing(visit) : ask_for_missing(visit);
}
