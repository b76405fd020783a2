/* The scan: every directory of the tree against the catalogue, one directory a step, so that what
 * users do goes before.
 *
 * Two passes. The first only adds, and remembers the directories that have lost or exchanged
 * entries; the second goes over those and removes. So what was moved to a new name while nobody
 * looked is found there before it is missed under its old one, and keeps its sketch; a document
 * moved over another's name is sketched anew.
 *
 * Memory: the names of one directory, and the keys of the directories seen but not yet read (depth
 * first, so the sum of their siblings along one path).
 */
#include <errno.h>
#include <fcntl.h>

#include "base/escape.h"
#include "engine/index/reconcile.h"

enum { BATCH_MAX = 512, PAGE = 1024 };

static int push(struct file_key **keys, size_t *n, size_t *max, const struct file_key *key)
{
    if (*n == *max) {
        size_t wanted = *max ? *max * 2 : 64;
        struct file_key *larger = reallocarray(*keys, wanted, sizeof(**keys));
        if (!larger)
            return -ENOMEM;
        *keys = larger;
        *max = wanted;
    }
    (*keys)[(*n)++] = *key;
    return 0;
}

int scan_add_directory(struct index *index, const struct file_key *directory)
{
    struct scan *scan = &index->scan;
    {
        LOCKED(&index->lock);
        index->scanning = true;
    }
    return push(&scan->stack, &scan->n_stack, &scan->max_stack, directory);
}

bool scan_is_idle(const struct index *index)
{
    return index->scan.n_stack == 0 && index->scan.n_lossy == 0;
}

void scan_done(struct scan *scan)
{
    free(scan->stack);
    free(scan->lossy);
    *scan = (struct scan){0};
}

int scan_begin(struct index *index)
{
    atomic_store(&index->scan_found, 0);
    return scan_add_directory(index, backing_root_key(index->backing));
}

/* -- the names of a directory -- */

struct names {
    char **names;
    size_t n_names, max_names;
};

static void names_done(struct names *names)
{
    for (size_t i = 0; i < names->n_names; i++)
        free(names->names[i]);
    free(names->names);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(struct names *names, const char *name)
{
    if (names->n_names == names->max_names) {
        size_t wanted = names->max_names ? names->max_names * 2 : 64;
        char **larger = reallocarray(names->names, wanted, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        names->names = larger;
        names->max_names = wanted;
    }
    if (!(names->names[names->n_names] = strdup(name)))
        return -ENOMEM;
    names->n_names++;
    return 0;
}

/* Directories and regular files, and what the directory does not tell the type of. */
static int read_names(DIR *dir, struct names *names)
{
    struct dirent *entry;
    while ((errno = 0, entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (entry->d_type != DT_DIR && entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN)
            continue;
        int r = add_name(names, entry->d_name);
        if (r < 0)
            return r;
    }
    if (errno)
        return -errno;
    if (names->n_names)
        qsort(names->names, names->n_names, sizeof(*names->names), compare_names);
    return 0;
}

/* -- one directory -- */

struct visit {
    struct index *index;
    struct file_key directory;
    int fd;
    bool removing, lossy;
    struct kv_batch *batch;
};

static int write_batch(struct visit *visit)
{
    int r = kv_apply(visit->index->kv, visit->batch);
    kv_batch_clear(visit->batch);
    return r;
}

static int note_document(struct index *index, const struct tree_entry *entry)
{
    atomic_fetch_add(&index->scan_found, 1);
    int r = 0;
    if (reconcile_is_new(index, entry))
        r = change_queue_note(index->queue, LANE_SCAN, CHANGE_CONTENT, &entry->key, NULL, NULL);
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
        index_log(index, INDEX_LOG_WARNING, "the tree is scanned again: %s", strerror(-error));
        index_rescan(index);
        usleep(PAUSE_MS * 1000);
    }
    return 0;
}

static int visit_present(struct visit *visit, const char *name)
{
    struct index *index = visit->index;
    struct tree_entry entry;
    int r = reconcile_look(index, &visit->directory, visit->fd, name, &entry);
    if (r < 0) {
        visit->lossy |= r == -ENOENT;
        if (r == -ENOENT && visit->removing) /* there, but not to be indexed (any more) */
            return reconcile_forget(index, &visit->directory, name);
        return pass_over(index, r);
    }
    if (visit->removing)
        r = reconcile_put(index, &visit->directory, name, &entry);
    else
        r = reconcile_add(index, &visit->directory, name, &entry, visit->batch);
    if (r == -EEXIST) {
        visit->lossy = true;
        return 0;
    }
    /* The rows are written before a result is looked at: that is this thread's work too, later. */
    bool added = r == 1;
    if (kv_batch_count(visit->batch) >= BATCH_MAX)
        r = write_batch(visit);
    if (r < 0)
        return r;
    if (visit->removing && !added)
        return 0;
    return entry.type == ENTRY_FILE ? note_document(index, &entry)
                                    : scan_add_directory(index, &entry.key);
}

/* Every entry of the catalogue whose name is not in the directory. */
static int visit_missing(struct visit *visit, const struct names *names)
{
    _cleanup_free_ char *after = NULL;
    for (bool more = true; more;) {
        _cleanup_(catalogue_list_done) struct catalogue_list list = {0};
        int r = catalogue_children(visit->index->kv, &visit->directory, after, PAGE, &list);
        if (r < 0)
            return r;
        for (size_t i = 0; i < list.n_entries; i++) {
            const struct catalogue_entry *entry = &list.entries[i];
            struct tree_entry present;
            if (names->n_names && bsearch(&entry->name, names->names, names->n_names,
                                          sizeof(*names->names), compare_names))
                continue;
            if (!visit->removing) {
                visit->lossy = true;
                return 0;
            }
            if (reconcile_look(visit->index, &visit->directory, visit->fd, entry->name, &present) !=
                -ENOENT)
                continue; /* it came back meanwhile */
            r = reconcile_remove(visit->index, &entry->parent, entry->name, &entry->child,
                                 entry->type);
            if (r < 0)
                return r;
        }
        more = list.n_entries == PAGE;
        if (more) {
            free(after);
            after = strdup(list.entries[PAGE - 1].name);
            if (!after)
                return -ENOMEM;
        }
    }
    return 0;
}

/* Its access time stays as it is where the kernel lets us. */
static int open_directory(struct index *index, const struct file_key *directory)
{
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    int fd = worker_open(index, directory, flags | O_NOATIME);
    return fd == -EPERM ? worker_open(index, directory, flags) : fd;
}

/* Once a scan: what is below it is neither indexed nor forgotten. */
static void tell_unreadable(struct index *index, const struct file_key *directory, int error)
{
    _cleanup_free_ char *path = NULL, *escaped = NULL;
    if (index_path(index, directory, &path) == 0 && escape_name(path, &escaped) == 0)
        index_log(index, INDEX_LOG_WARNING, "%s: cannot be listed: %s", escaped, strerror(-error));
}

static int visit_directory(struct index *index, const struct file_key *directory, bool removing)
{
    _cleanup_(names_done) struct names names = {0};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    _cleanup_closedir_ DIR *dir = NULL;
    if (!batch)
        return -ENOMEM;
    int fd = open_directory(index, directory);
    if (fd == -EACCES || fd == -EPERM)
        tell_unreadable(index, directory, fd);
    if (fd < 0) /* gone: its parent's visit removes it; not for us to read: it stays */
        return pass_over(index, fd);
    if (!(dir = fdopendir(fd))) {
        close(fd);
        return -ENOMEM;
    }
    int r = read_names(dir, &names);
    if (r < 0)
        return pass_over(index, r);

    struct visit visit = {index, *directory, fd, removing, false, batch};
    for (size_t i = 0; r >= 0 && i < names.n_names; i++)
        r = visit_present(&visit, names.names[i]);
    if (r >= 0 && kv_batch_count(batch))
        r = write_batch(&visit);
    if (r >= 0)
        r = visit_missing(&visit, &names);
    if (r >= 0 && visit.lossy && !removing)
        r = push(&index->scan.lossy, &index->scan.n_lossy, &index->scan.max_lossy, directory);
    return r;
}

/* Once all is found that is below the root, what hangs on the root of before is gone. */
static int forget_old_root(struct index *index)
{
    struct file_key old_root;
    int r = identity_old_root(index, &old_root);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    r = reconcile_remove_children(index, &old_root);
    return r < 0 ? r : identity_delete(index, "old_root");
}

int scan_step(struct index *index)
{
    struct scan *scan = &index->scan;
    struct file_key directory;
    bool removing = scan->n_stack == 0;
    if (removing)
        directory = scan->lossy[--scan->n_lossy];
    else
        directory = scan->stack[--scan->n_stack];
    int r = visit_directory(index, &directory, removing);
    if (r < 0 || !scan_is_idle(index))
        return r < 0 ? r : 1;
    return forget_old_root(index);
}
