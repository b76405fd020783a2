/* Notices of entries, a batch of them, against the tree. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>

#include "engine/index/reconcile.h"

/* Entries on their way into the catalogue. Most that come together are new files of one directory:
 * it is opened, and known to be indexed, once; and their rows are one write. Whatever else changes
 * the catalogue, or looks for what may be among them, comes after enter_pending(). */
struct entering {
    struct index *index;
    struct file_key directory; /* no bytes: none yet */
    int dirfd;                 /* or an error */
    struct kv_batch *batch;    /* or NULL */
    size_t n;
    struct pending {
        const struct change *change;
        struct file_key file;
        enum stored_state state;
    } pending[RECONCILE_AT_ONCE];
    struct catalogue_entry put[RECONCILE_AT_ONCE]; /* of all of them; names are the changes' */
    size_t n_put;
};

static void entering_free(struct entering *entering)
{
    if (!entering)
        return;
    close_p(&entering->dirfd);
    kv_batch_free(entering->batch);
    free(entering);
}

static void entering_free_p(struct entering **entering)
{
    entering_free(*entering);
}

static int enter_pending(struct entering *entering)
{
    struct index *index = entering->index;
    int r = entering->batch ? kv_apply(index->kv, entering->batch) : 0;
    kv_batch_free(TAKE_PTR(entering->batch));
    for (size_t i = 0; r == 0 && i < entering->n; i++) {
        const struct pending *pending = &entering->pending[i];
        if (pending->state == STORED_NOT)
            index_note_unknown(index, &pending->file, pending->change);
        else if (pending->state == STORED_OLD)
            index_note(index, CHANGE_CONTENT, &pending->file, NULL, pending->change);
    }
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
    entering->dirfd =
        r == 0 ? -EXDEV /* below another file system, or gone with its directory */
               : worker_open(entering->index, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    entering->directory = *directory;
    return entering->dirfd;
}

static int put_directory(struct entering *entering, const struct change *change,
                         const struct tree_entry *entry)
{
    struct index *index = entering->index;
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = catalogue_links(index->kv, &entry->key, 1, &links);
    if (r == 0)
        r = reconcile_put(index, &change->key, change->name, entry);
    return r >= 0 && links.n_entries == 0 ? scan_add_directory(index, &entry->key) : r;
}

/* What the name meant before may have been a directory, and anything below it. */
static int put_alone(struct entering *entering, const struct change *change,
                     const struct tree_entry *entry)
{
    int r = enter_pending(entering);
    entering->directory.size_bytes = 0;
    if (r < 0)
        return r;
    return entry->type == ENTRY_DIRECTORY
               ? put_directory(entering, change, entry)
               : reconcile_put(entering->index, &change->key, change->name, entry);
}

static int add_entry(struct entering *entering, const struct change *change,
                     const struct tree_entry *entry)
{
    struct index *index = entering->index;
    int r = -EEXIST;
    if (!entering->batch && !(entering->batch = kv_batch_new()))
        return -ENOMEM;
    if (entry->type == ENTRY_FILE)
        r = reconcile_add(index, &change->key, change->name, entry, entering->batch);
    if (r == -EEXIST)
        r = put_alone(entering, change, entry);
    if (r < 0 || entry->type == ENTRY_DIRECTORY)
        return r < 0 ? r : 0;
    /* One that is being written will be noted when it is closed. */
    enum stored_state state = writing_set_has(index->writing, &entry->key)
                                  ? STORED_CURRENT
                                  : reconcile_state(index, entry);
    entering->pending[entering->n++] =
        (struct pending){.change = change, .file = entry->key, .state = state};
    entering->put[entering->n_put++] =
        (struct catalogue_entry){change->key, entry->key, ENTRY_FILE, (char *)change->name};
    return 0;
}

/* Returns 1 when nothing that is indexed is at the name any more, 0 when what is there has been
 * entered or there is nothing to do, or a store error. */
static int look_at_entry(struct entering *entering, const struct change *change)
{
    struct index *index = entering->index;
    struct tree_entry entry;
    int error;
    int r = enter_directory(entering, &change->key, &error);
    if (error < 0)
        return error;
    if (r == -EXDEV)
        return 0;
    if (r >= 0)
        r = reconcile_look(index, &change->key, entering->dirfd, change->name, &entry);
    if (r == 0)
        return add_entry(entering, change, &entry);
    if (r == -ENOENT || r == -ESTALE || r == -ENOTDIR)
        return 1;
    /* It cannot be looked at. What is known stays; when that may pass, a scan comes by again. */
    if (!reconcile_may_pass_over(r))
        index_rescan(index);
    return 0;
}

/* Changes whose names are gone. */
static int forget_all(const struct entering *entering, struct change *const *gone, size_t n)
{
    struct index *index = entering->index;
    struct catalogue_list list = {0};
    int r = 0;
    if (n == 0)
        return 0;
    list.entries = calloc(n, sizeof(*list.entries));
    if (!list.entries)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < n; i++) {
        struct catalogue_entry *entry = &list.entries[list.n_entries];
        r = catalogue_get(index->kv, &gone[i]->key, gone[i]->name, &entry->child, &entry->type);
        if (r == -ENOENT) {
            r = 0;
            continue;
        }
        entry->parent = gone[i]->key;
        if (r == 0 && !(entry->name = strdup(gone[i]->name)))
            r = -ENOMEM;
        if (r == 0)
            list.n_entries++;
    }
    if (r == 0)
        r = reconcile_remove_all(index, list.entries, list.n_entries, entering->put,
                                 entering->n_put);
    catalogue_list_done(&list);
    return r;
}

/* What is gone is removed last: a file whose new name is among the others is not taken for deleted.
 */
int reconcile_entries(struct index *index, struct change *const *changes, size_t n)
{
    _cleanup_(entering_free_p) struct entering *entering = calloc(1, sizeof(*entering));
    struct change *gone[RECONCILE_AT_ONCE];
    size_t n_gone = 0;
    int r = 0;
    assert(n <= RECONCILE_AT_ONCE);
    if (!entering)
        return -ENOMEM;
    entering->index = index;
    entering->dirfd = -1;
    for (size_t i = 0; r >= 0 && i < n; i++) {
        r = look_at_entry(entering, changes[i]);
        if (r == 1)
            gone[n_gone++] = changes[i];
    }
    if (r >= 0)
        r = enter_pending(entering);
    return r < 0 ? r : forget_all(entering, gone, n_gone);
}
