/* The scan: every directory of the tree against the catalogue, some names of one a step, so that
 * what users do goes before, and the queue is asked between two steps whether there is room.
 *
 * Two passes. The first only adds, and remembers the directories that have lost or exchanged
 * entries; the second goes over those and removes. So what was moved to a new name while nobody
 * looked is found there before it is missed under its old one, and keeps its sketch; a document
 * moved over another's name is sketched anew.
 *
 * Whether a directory has lost entries is told without its names, which may be any number: those
 * that the tree has, as the catalogue does, and those that the catalogue has are summed up, each as
 * a number of its own that nobody can foretell; if one is missing the sums differ. Then the second
 * pass asks the tree for each name of the catalogue.
 *
 * Memory: some names of one directory, and the keys of the directories seen but not yet read (depth
 * first, so the sum of their siblings along one path).
 */
#include <errno.h>
#include <fcntl.h>
#include <xxhash.h>

#include "base/escape.h"
#include "engine/index/intake/reconcile.h"
#include "engine/index/intake/directory_removal.h"

/* Names looked at (about 10 us each), and names only read, in one step: some milliseconds. As many
 * as are read at once are in memory. */
enum { LOOK_AT_ONCE = 256, READ_AT_ONCE = 512 };

int scan_add_directory(struct index *index, const struct file_key *directory)
{
    {
        LOCKED(&index->lock);
        index->scanning = true;
        index->n_scans_begun++;
    }
    return key_stack_push(&index->scan.directories, directory) ? 0 : -ENOMEM;
}

void scan_want_directory(struct index *index, const struct file_key *directory)
{
    LOCKED(&index->lock);
    if (index->damaged)
        return;
    if (key_stack_push(&index->wanted, directory))
        index->scanning = true;
    else
        index->rescan_wanted = true;
    index->n_scans_begun++;
    pthread_cond_signal(&index->wake_committer);
}

int scan_take_wanted(struct index *index)
{
    LOCKED(&index->lock);
    const bool any = !key_stack_is_empty(&index->wanted);
    while (!key_stack_is_empty(&index->wanted)) {
        const struct file_key directory = key_stack_pop(&index->wanted);
        if (!key_stack_push(&index->scan.directories, &directory))
            return -ENOMEM;
    }
    return any;
}

bool scan_is_idle(const struct index *index)
{
    const struct scan *scan = &index->scan;
    return key_stack_is_empty(&scan->directories) && key_stack_is_empty(&scan->lossy) &&
           !scan->visit;
}

int scan_begin(struct index *index)
{
    atomic_store(&index->scan_found, 0);
    ignored_forget(index->ignored, backing_root_key(index->backing));
    return scan_add_directory(index, backing_root_key(index->backing));
}

/* -- the names of a directory -- */

struct names {
    char *names[READ_AT_ONCE];
    size_t n_names;
};

static void forget_names(struct names *names)
{
    for (size_t i = 0; i < names->n_names; i++)
        free(names->names[i]);
    names->n_names = 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Directories and regular files, and what the directory does not tell the type of; in the order of
 * the catalogue. Returns 1 when there are more, 0 at the end. */
static int read_names(DIR *dir, struct names *names)
{
    struct dirent *entry;
    for (size_t n = 0; n < READ_AT_ONCE; n++) {
        errno = 0;
        entry = readdir(dir);
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (entry->d_type != DT_DIR && entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN)
            continue;
        if (!(names->names[names->n_names] = strdup(entry->d_name)))
            return -ENOMEM;
        names->n_names++;
    }
    if (!entry && errno)
        return -errno;
    qsort(names->names, names->n_names, sizeof(names->names[0]), compare_names);
    return entry != NULL;
}

static uint64_t number_of(const char *name)
{
    return XXH3_64bits_withSeed(name, strlen(name), file_key_secret);
}

/* -- one directory -- */

struct visit {
    struct index *index;
    struct file_key directory;
    DIR *dir;
    int fd;
    bool removing, lossy, is_read; /* to its end */
    enum { VISIT_READ, VISIT_PRESENT, VISIT_MISSING } phase;
    struct names names;
    size_t at;        /* of the names, the next to be looked at */
    char *after;      /* the last name of the catalogue that was looked at, or NULL */
    uint64_t present; /* the sum of the names that the catalogue has, too, */
    uint64_t known;   /* and of those that it has */
    struct kv_batch *batch;
};

static void visit_free(struct visit *visit)
{
    if (!visit)
        return;
    forget_names(&visit->names);
    kv_batch_free(visit->batch);
    if (visit->dir)
        closedir(visit->dir);
    free(visit->after);
    free(visit);
}
DEFINE_CLEANUP(struct visit *, visit_free);

void scan_done(struct scan *scan)
{
    visit_free(scan->visit);
    key_stack_done(&scan->directories);
    key_stack_done(&scan->lossy);
    *scan = (struct scan){0};
}

static int write_batch(struct visit *visit)
{
    int r = kv_batch_count(visit->batch) ? kv_apply(visit->index->kv, visit->batch) : 0;
    kv_batch_clear(visit->batch);
    return r;
}

static int note_document(struct index *index, const struct tree_entry *entry,
                         enum stored_state state)
{
    atomic_fetch_add(&index->scan_found, 1);
    int r = 0;
    switch (state) {
    case STORED_NOT:
        r = change_queue_note_unknown(index->queue, LANE_SCAN, &entry->key, NULL);
        break;
    case STORED_OLD:
        r = change_queue_note(index->queue, LANE_SCAN, CHANGE_CONTENT, &entry->key, NULL, NULL);
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

/* Something could not be looked at. Where that may pass (no descriptors, no memory, a read error),
 * another scan follows, and not in haste. */
static int pass_over(struct index *index, int error)
{
    enum { PAUSE_MS = 200 };
    if (!reconcile_may_pass_over(error)) {
        messages_log(&index->messages, INDEX_LOG_WARNING, "the tree is scanned again: %s",
                     strerror(-error));
        index_rescan(index);
        usleep(PAUSE_MS * 1000);
    }
    return 0;
}

/* What is looked at in one step. */
struct looks {
    const char *names[LOOK_AT_ONCE];
    struct tree_entry entries[LOOK_AT_ONCE];
    struct catalogue_name of[LOOK_AT_ONCE];
    struct catalogue_meaning meanings[LOOK_AT_ONCE];
    const struct tree_entry *files[LOOK_AT_ONCE];
    enum stored_state states[LOOK_AT_ONCE];
    size_t n, n_files;
};

static int look_at_name(struct visit *visit, const char *name, struct looks *looks)
{
    struct index *index = visit->index;
    int r = reconcile_look(index, &visit->directory, visit->fd, name, &looks->entries[looks->n]);
    if (r == 0) {
        looks->names[looks->n] = name;
        looks->of[looks->n++] = (struct catalogue_name){&visit->directory, name};
        return 0;
    }
    const bool covered = r == -EXDEV, left_out = covered || r == -ENOENT;
    visit->lossy |= left_out;
    if (covered && visit->removing)
        reconcile_tell_covered(index, &visit->directory, name);
    if (left_out && visit->removing) /* there, but not to be indexed (any more) */
        return reconcile_forget(index, &visit->directory, name);
    return left_out ? 0 : pass_over(index, r);
}

static int enter_name(struct visit *visit, struct looks *looks, size_t i)
{
    struct index *index = visit->index;
    const struct tree_entry *entry = &looks->entries[i];
    int r = visit->removing ? reconcile_put(index, &visit->directory, looks->names[i], entry)
                            : reconcile_add(&visit->directory, looks->names[i], entry,
                                            &looks->meanings[i], visit->batch);
    if (r == -EEXIST) {
        visit->lossy = true;
        /* A directory that took another's name may be at its new place before the second pass comes
         * by: what is in it is looked at now. One that is not known yet is found there. */
        return entry->type == ENTRY_DIRECTORY ? scan_add_directory(index, &entry->key) : 0;
    }
    if (r < 0 || (visit->removing && r == 0))
        return r < 0 ? r : 0;
    visit->present += number_of(looks->names[i]);
    if (entry->type == ENTRY_DIRECTORY)
        return scan_add_directory(index, &entry->key);
    looks->files[looks->n_files++] = entry;
    return 0;
}

/* Their rows are written at the end of the step, before a result is looked at: that is this
 * thread's work too, later. */
static int enter_names(struct visit *visit, struct looks *looks)
{
    struct index *index = visit->index;
    int r =
        visit->removing ? 0 : catalogue_get_all(index->kv, looks->of, looks->n, looks->meanings);
    for (size_t i = 0; r == 0 && i < looks->n; i++)
        r = enter_name(visit, looks, i);
    if (r == 0)
        reconcile_states(index, looks->files, looks->n_files, looks->states);
    for (size_t i = 0; r == 0 && i < looks->n_files; i++)
        r = note_document(index, looks->files[i], looks->states[i]);
    looks->n = looks->n_files = 0;
    return r;
}

/* Each of the phases returns 1 when it has more to do, 0 at its end, or an error. */
static int visit_present(struct visit *visit)
{
    _cleanup_free_ struct looks *looks = malloc(sizeof(*looks));
    size_t end = visit->at + LOOK_AT_ONCE;
    int r = looks ? 0 : -ENOMEM;
    if (r == 0)
        looks->n = looks->n_files = 0;
    for (; r == 0 && visit->at < visit->names.n_names && visit->at < end; visit->at++) {
        r = look_at_name(visit, visit->names.names[visit->at], looks);
        if (r == 0 && visit->removing) /* one may change what others mean */
            r = enter_names(visit, looks);
    }
    if (r == 0)
        r = enter_names(visit, looks);
    if (r == 0)
        r = write_batch(visit);
    return r < 0 ? r : visit->at < visit->names.n_names;
}

/* Removes those entries of a list that are not there any more; the list keeps the others, and its
 * order is lost. */
static int remove_missing(struct visit *visit, struct catalogue_list *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n_entries; i++) {
        struct catalogue_entry entry = list->entries[i];
        struct tree_entry present;
        if (reconcile_look(visit->index, &visit->directory, visit->fd, entry.name, &present) !=
            -ENOENT)
            continue;
        list->entries[i] = list->entries[n];
        list->entries[n++] = entry;
    }
    return reconcile_remove_all(visit->index, list->entries, n, NULL, 0);
}

/* The entries of the catalogue whose name is not in the directory. */
static int visit_missing(struct visit *visit)
{
    _cleanup_(catalogue_list_done) struct catalogue_list list = {0};
    int r =
        catalogue_children(visit->index->kv, &visit->directory, visit->after, LOOK_AT_ONCE, &list);
    if (r < 0)
        return r;
    bool more = list.n_entries == LOOK_AT_ONCE;
    free(visit->after);
    visit->after = more ? strdup(list.entries[list.n_entries - 1].name) : NULL;
    if (more && !visit->after)
        return -ENOMEM;
    if (visit->removing) {
        r = remove_missing(visit, &list);
        return r < 0 ? r : more;
    }
    for (size_t i = 0; i < list.n_entries; i++)
        visit->known += number_of(list.entries[i].name);
    visit->lossy |= !more && visit->known != visit->present;
    return more && !visit->lossy;
}

int scan_open_directory(struct index *index, const struct file_key *directory)
{
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    int fd = worker_open(index, directory, flags | O_NOATIME);
    return fd == -EPERM ? worker_open(index, directory, flags) : fd;
}

/* Says of a directory that cannot be read, once a scan, that what is below it is neither indexed
 * nor forgotten. */
static void tell_unreadable(struct index *index, const struct file_key *directory, int error)
{
    _cleanup_free_ char *path = NULL, *escaped = NULL;
    if (index_path(index, directory, &path) == 0 && escape_name(path, &escaped) == 0)
        messages_warn(&index->messages, "%s: cannot be listed: %s", escaped, strerror(-error));
}

/* Returns 1, 0 when the directory cannot be read, or an error. */
static int begin_visit(struct index *index, const struct file_key *directory, bool removing)
{
    _cleanup_(visit_free_p) struct visit *visit = calloc(1, sizeof(*visit));
    if (!visit || !(visit->batch = kv_batch_new()))
        return -ENOMEM;
    visit->index = index;
    visit->directory = *directory;
    visit->removing = removing;
    visit->fd = scan_open_directory(index, directory);
    if (visit->fd == -EACCES || visit->fd == -EPERM)
        tell_unreadable(index, directory, visit->fd);
    if (visit->fd < 0) /* gone: its parent's visit removes it; not for us to read: it stays */
        return pass_over(index, visit->fd);
    if (!(visit->dir = fdopendir(visit->fd))) {
        close(visit->fd);
        return -ENOMEM;
    }
    index->scan.visit = TAKE_PTR(visit);
    return 1;
}

/* Returns 1 when the visit goes on, 0 when it is over, or an error. */
static int go_on_visiting(struct index *index, struct visit *visit)
{
    /* It may have left the tree since it was found. */
    int r = reconcile_is_known(index, &visit->directory);
    if (r <= 0)
        return r;
    switch (visit->phase) {
    case VISIT_READ:
        r = read_names(visit->dir, &visit->names);
        if (r < 0)
            return pass_over(index, r);
        visit->is_read = r == 0;
        visit->phase = VISIT_PRESENT;
        return 1;
    case VISIT_PRESENT:
        r = visit_present(visit);
        if (r != 0)
            return r;
        forget_names(&visit->names);
        visit->at = 0;
        visit->phase = visit->is_read ? VISIT_MISSING : VISIT_READ;
        return 1;
    case VISIT_MISSING:
    default:
        r = visit_missing(visit);
        if (r == 0 && visit->lossy && !visit->removing &&
            !key_stack_push(&index->scan.lossy, &visit->directory))
            r = -ENOMEM;
        return r;
    }
}

/* Once all is found that is below the root, what hangs on the root of before is gone. */
static int forget_old_root(struct index *index)
{
    struct file_key old_root;
    int r = store_identity_old_root(index, &old_root);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    r = directory_removal_add(index, &old_root);
    return r < 0 ? r : meta_delete(index->kv, "old_root");
}

int scan_step(struct index *index)
{
    struct scan *scan = &index->scan;
    int r;
    if (scan->visit) {
        r = go_on_visiting(index, scan->visit);
        if (r <= 0) {
            visit_free(scan->visit);
            scan->visit = NULL;
        }
    } else {
        bool removing = key_stack_is_empty(&scan->directories);
        struct file_key directory = key_stack_pop(removing ? &scan->lossy : &scan->directories);
        r = begin_visit(index, &directory, removing);
    }
    if (r < 0 || !scan_is_idle(index))
        return r < 0 ? r : 1;
    return forget_old_root(index);
}
