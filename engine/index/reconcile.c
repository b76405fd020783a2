/* One entry of the tree against the catalogue. The tree is always right: whatever a notice said,
 * the entry is looked at as it is now, so notices may come late, twice or not at all.
 *
 * What is removed is removed from below: first what hangs on an entry (a document, or everything
 * under a directory), then the entry itself. A crash in between leaves an entry that the next scan
 * removes again.
 */
#include <errno.h>
#include <fcntl.h>

#include "engine/index/reconcile.h"

enum { PAGE = 256 };

static int apply_entry(struct index *index, bool put, const struct file_key *parent,
                       const char *name, const struct file_key *child, enum entry_type type)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    if (put)
        catalogue_put(batch, parent, name, child, type);
    else
        catalogue_delete(batch, parent, name, child);
    return kv_apply(index->kv, batch);
}

/* Whether the inode has another name than this one. */
static int has_other_link(struct index *index, const struct file_key *child,
                          const struct file_key *parent, const char *name)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = catalogue_links(index->kv, child, 2, &links);
    if (r < 0)
        return r;
    for (size_t i = 0; i < links.n_entries; i++)
        if (!file_key_equal(&links.entries[i].parent, parent) ||
            strcmp(links.entries[i].name, name) != 0)
            return 1;
    return 0;
}

static int remove_children(struct index *index, const struct file_key *directory)
{
    for (;;) {
        _cleanup_(catalogue_list_done) struct catalogue_list list = {0};
        int r = catalogue_children(index->kv, directory, NULL, PAGE, &list);
        for (size_t i = 0; r == 0 && i < list.n_entries; i++)
            r = reconcile_remove(index, &list.entries[i].parent, list.entries[i].name,
                                 &list.entries[i].child, list.entries[i].type);
        if (r < 0 || list.n_entries == 0)
            return r;
    }
}

int reconcile_remove(struct index *index, const struct file_key *parent, const char *name,
                     const struct file_key *child, enum entry_type type)
{
    int r = has_other_link(index, child, parent, name);
    if (r == 0)
        r = type == ENTRY_DIRECTORY ? remove_children(index, child)
                                    : committer_drop_document(index, child);
    else if (r == 1)
        r = 0;
    return r < 0 ? r : apply_entry(index, false, parent, name, child, type);
}

int reconcile_look(struct index *index, int dirfd, const char *name, struct tree_entry *ret_entry)
{
    struct tree_entry entry = {0};
    struct statx stx;
    if (statx(dirfd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &stx) < 0)
        return -errno;
    bool directory = S_ISDIR(stx.stx_mode);
    if (!directory && !S_ISREG(stx.stx_mode))
        return -ENOENT;
    /* Another file system, or a part of this one seen a second time: served, but not indexed. */
    if (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT)
        return -ENOENT;
    int r = backing_key_at(index->backing, dirfd, name, &entry.key);
    if (r < 0)
        return r;
    if (index->store_key.size_bytes && file_key_equal(&entry.key, &index->store_key))
        return -ENOENT;
    entry.type = directory ? ENTRY_DIRECTORY : ENTRY_FILE;
    entry.st = (struct stat){
        .st_mode = stx.stx_mode,
        .st_size = (off_t)stx.stx_size,
        .st_mtim = {stx.stx_mtime.tv_sec, stx.stx_mtime.tv_nsec},
        .st_ctim = {stx.stx_ctime.tv_sec, stx.stx_ctime.tv_nsec},
    };
    *ret_entry = entry;
    return 0;
}

int reconcile_add(struct index *index, const struct file_key *parent, const char *name,
                  const struct tree_entry *entry, bool removing, struct kv_batch *batch)
{
    struct file_key known;
    enum entry_type type;
    int r = catalogue_get(index->kv, parent, name, &known, &type);
    if (r == 0 && file_key_equal(&known, &entry->key) && type == entry->type)
        return 0;
    if (r < 0 && r != -ENOENT)
        return r;
    if (r == 0) { /* the name means another inode now */
        if (!removing)
            return -EEXIST;
        r = reconcile_remove(index, parent, name, &known, type);
        if (r < 0)
            return r;
    }
    catalogue_put(batch, parent, name, &entry->key, entry->type);
    return 1;
}

bool reconcile_is_new(struct index *index, const struct tree_entry *entry)
{
    struct file_row row;
    int r = catalogue_get_file(index->kv, &entry->key, &row);
    return r < 0 || !row.sid || row.racy || !file_row_matches(&row, &entry->st);
}

static int add_entry(struct index *index, const struct change *change,
                     const struct tree_entry *entry)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    if (!batch)
        return -ENOMEM;
    int r = catalogue_links(index->kv, &entry->key, 1, &links);
    if (r < 0)
        return r;
    bool first_name = links.n_entries == 0;
    r = reconcile_add(index, &change->key, change->name, entry, true, batch);
    if (r == 1)
        r = kv_apply(index->kv, batch);
    if (r < 0)
        return r;
    if (entry->type == ENTRY_DIRECTORY)
        return first_name ? scan_add_directory(index, &entry->key) : 0;
    /* One that is being written will be noted when it is closed. */
    if (writing_set_has(index->writing, &entry->key) || !reconcile_is_new(index, entry))
        return 0;
    r = change_queue_note(index->queue, LANE_FOREGROUND, CHANGE_CONTENT, &entry->key, NULL, change);
    if (r == -ENOBUFS) {
        index_rescan(index);
        r = 0;
    }
    return r < 0 ? r : 0;
}

int reconcile_entry(struct index *index, const struct change *change)
{
    struct tree_entry entry;
    struct file_key known;
    enum entry_type type;
    _cleanup_close_ int dirfd = worker_open(index, &change->key, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = dirfd < 0 ? dirfd : reconcile_look(index, dirfd, change->name, &entry);
    if (r == 0)
        return add_entry(index, change, &entry);
    if (r != -ENOENT && r != -ESTALE && r != -ENOTDIR)
        return 0; /* it cannot be looked at: what is known stays, a scan comes by again */
    r = catalogue_get(index->kv, &change->key, change->name, &known, &type);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    return reconcile_remove(index, &change->key, change->name, &known, type);
}
