/* The entries of a directory of the views, for each kind.
 *
 * Listings are had in pieces where they can be: a mirrored directory follows the one in the tree
 * entry by entry (its offsets are that directory's own, so that they stay what they were whatever
 * comes and goes), and clusters/ follows the ids. So neither the memory nor the time until the
 * first entry grows with the number of entries. A directory of links is a snapshot of the query
 * made when it was opened.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fs/views/view_listing.h"
#include "fs/views/view_metrics.h"
#include "fs/views/view_topics.h"
#include "fs/views/views.h"

/* Each entry of a listing may be a query: for kin of a document, or readable members of a cluster.
 * After this time a reply is sent with what there is, so that a long listing shows, can be
 * interrupted, and others have their turn and the directory's lock; when that is nothing, as the
 * caller may see none of it, with an entry that none is shown.
 */
enum { REPLY_MS = 50 };
enum { N_IDS = 256 };

/* The offset of the name at the end of the top of unique/. Below INT64_MAX, which ext4 uses for the
 * end; no file system has it for an entry. */
#define OWN_NAME_OFFSET (INT64_MAX - 64)

void view_listing_close_tree(struct view_handle *handle)
{
    if (handle->fd >= 0)
        inode_close_paid(handle->inodes, TAKE_FD(handle->fd), handle->stay.uid, true);
    else if (handle->inodes)
        user_room_leave(&handle->inodes->descriptors, handle->stay.uid, 1);
    handle->inodes = NULL;
}

/* -- a reply in the making -- */

/* False: the entry does not fit any more. */
static bool add(struct view_reply *reply, const char *name, ino_t ino, mode_t type, off_t next)
{
    const struct view_task *task = reply->task;
    char *at = reply->buffer + reply->used;
    const size_t room = reply->size - reply->used;
    struct stat st = {.st_ino = ino, .st_mode = type};
    size_t n;
    if (task->plus) {
        /* Without a node id the kernel takes it for a plain entry. With one it would ask again
         * before its first use, as nothing may be kept. */
        struct fuse_entry_param entry = {.attr = st};
        n = fuse_add_direntry_plus(task->req, at, room, name, &entry, next);
    } else {
        n = fuse_add_direntry(task->req, at, room, name, &st, next);
    }
    if (n > room)
        return false;
    reply->used += n;
    return true;
}

static bool add_child(struct view_reply *reply, const char *name, mode_t type, off_t next)
{
    return add(reply, name, view_ino(reply->task->node, name), type, next);
}

static bool add_dot(struct view_reply *reply, off_t next)
{
    return add(reply, ".", reply->task->node->ino, S_IFDIR, next);
}

static bool add_dot_dot(struct view_reply *reply, off_t next)
{
    const struct view_node *node = reply->task->node;
    struct stat st = {.st_ino = node->parent ? node->parent->ino : node->ino};
    if (!node->parent)
        fstat(backing_root_fd(reply->task->fs->backing), &st);
    return add(reply, "..", st.st_ino, S_IFDIR, next);
}

/* -- each kind of listing: from the offset on, until there is no more or no room -- */

/* A view for root and the owner of the mount alone. */
static bool is_of_owners(const char *name)
{
    return strcmp(name, "unique") == 0 || strcmp(name, "lost") == 0 ||
           strcmp(name, "related") == 0 || strcmp(name, "topics") == 0;
}

/* What would show what is not indexed is not. */
static bool is_there(const struct fs *fs, const char *name)
{
    return (strcmp(name, "passages") != 0 && strcmp(name, "related") != 0 &&
            strcmp(name, "topics") != 0) ||
           views_has_root_name(fs, name);
}

static void list_kinfs(struct view_reply *reply, off_t offset)
{
    static const struct {
        const char *name;
        mode_t type;
    } names[] = {{"similar", S_IFDIR},         {"contains", S_IFDIR}, {"within", S_IFDIR},
                 {"clusters", S_IFDIR},        {"unique", S_IFDIR},   {"query", S_IFDIR},
                 {VIEW_METRICS_NAME, S_IFREG}, {"lost", S_IFDIR},     {"passages", S_IFDIR},
                 {"related", S_IFDIR},         {"topics", S_IFDIR}};
    const bool sees_all = reply->task->as->all;
    const off_t n_names = (off_t)(sizeof(names) / sizeof(names[0]));
    if (offset < 1 && !add_dot(reply, 1))
        return;
    if (offset < 2 && !add_dot_dot(reply, 2))
        return;
    for (off_t i = offset < 2 ? 0 : offset - 2; i < n_names; i++)
        if ((sees_all || !is_of_owners(names[i].name)) &&
            is_there(reply->task->fs, names[i].name) &&
            !add_child(reply, names[i].name, names[i].type, i + 3))
            return;
}

static void list_nothing(struct view_reply *reply, off_t offset)
{
    if (offset < 1 && !add_dot(reply, 1))
        return;
    if (offset < 2)
        add_dot_dot(reply, 2);
}

/* Behind n_before entries. */
static void list_links_behind(struct view_reply *reply, const struct view_links *links,
                              off_t n_before, off_t offset)
{
    for (size_t i = offset < n_before ? 0 : (size_t)(offset - n_before); i < links->n_links; i++)
        if (!add_child(reply, links->links[i].name, S_IFLNK, n_before + (off_t)i + 1))
            return;
}

static void list_links(struct view_reply *reply, const struct view_links *links, off_t offset)
{
    if (offset < 1 && !add_dot(reply, 1))
        return;
    if (offset < 2 && !add_dot_dot(reply, 2))
        return;
    list_links_behind(reply, links, 2, offset);
}

/* Once some entry has been looked at: whether the reply ends here. next: behind that entry. With
 * nothing to show there is one that readdir(3) passes over, as of a file that is gone: it has no
 * inode number, and programs that read without it pass over its name. */
static bool is_time_to_reply(struct view_reply *reply, int64_t end_ms, off_t next)
{
    if (clock_now_ms() < end_ms && !fuse_req_interrupted(reply->task->req))
        return false;
    if (!reply->used)
        add(reply, ".", 0, S_IFDIR, next);
    return true;
}

/* The named clusterings, behind ".." and before the clusters; the offset of what follows one is its
 * place + 1 above NAMES_OFFSET. Returns whether all did fit. */
#define NAMES_OFFSET ((off_t)1 << 60)
static bool list_clusterings(struct view_reply *reply, off_t offset)
{
    struct index_clustering_status clusterings[INDEX_CLUSTERINGS_MAX];
    const size_t n = index_get_clusterings(reply->task->fs->index, clusterings);
    for (size_t i = offset < NAMES_OFFSET ? 0 : (size_t)(offset - NAMES_OFFSET); i < n; i++)
        if (!add_child(reply, clusterings[i].clustering.name, S_IFDIR, NAMES_OFFSET + (off_t)i + 1))
            return false;
    return true;
}

static bool add_cluster(struct view_reply *reply, uint64_t id, off_t next)
{
    char name[24];
    snprintf(name, sizeof(name), "%" PRIu64, id & INDEX_CLUSTER_MAX);
    return add_child(reply, name, S_IFDIR, next);
}

/* The words, then sub-topics, then documents. */
static void list_topic(struct view_reply *reply, const struct view_handle *handle, off_t offset)
{
    if (offset < 1 && !add_dot(reply, 1))
        return;
    if (offset < 2 && !add_dot_dot(reply, 2))
        return;
    if (offset < 3 && !add_child(reply, VIEW_TOPICS_WORDS_NAME, S_IFREG, 3))
        return;
    for (off_t i = offset < 3 ? 0 : offset - 3; i < handle->n_parts; i++)
        if (!add_cluster(reply, handle->parts[i].id, i + 4))
            return;
    list_links_behind(reply, handle->links, 3 + handle->n_parts, offset);
}

/* The offset of what follows a cluster is its id, without its clustering's base, + 2. */
static int list_all_clusters(struct view_reply *reply, uint64_t base, uint64_t after)
{
    const int64_t end_ms = clock_now_ms() + REPLY_MS;
    uint64_t ids[N_IDS];
    for (;;) {
        int n = index_cluster_ids(reply->task->fs->index, base | after, N_IDS, ids);
        if (n <= 0)
            return n;
        for (int i = 0; i < n; i++) {
            after = ids[i] & INDEX_CLUSTER_MAX;
            if (!add_cluster(reply, ids[i], (off_t)after + 2) ||
                is_time_to_reply(reply, end_ms, (off_t)after + 2))
                return 0;
        }
    }
}

/* The offset of what follows a cluster is its place in the order in which they are found, from 1
 * on, + 2. */
static int list_readable_clusters(struct view_reply *reply, struct view_handle *handle,
                                  uint64_t place)
{
    struct index_readable_clusters *clusters = handle->clusters;
    const int64_t end_ms = clock_now_ms() + REPLY_MS;
    const struct index_query query = view_query_of(reply->task, 1);
    bool has_stepped = false;
    for (;;) {
        const uint64_t *ids;
        const size_t n = index_readable_clusters_ids(clusters, &ids);
        for (; place < n; place++)
            if (!add_cluster(reply, ids[place], (off_t)place + 3))
                return 0;
        if (has_stepped &&
            is_time_to_reply(reply, end_ms, place ? (off_t)place + 2 : reply->task->offset))
            return 0;
        int r = index_readable_clusters_step(clusters, &query);
        if (r <= 0)
            return r;
        has_stepped = true;
        r = view_room_hold(&handle->stay,
                           handle->n_bytes + index_readable_clusters_bytes(clusters));
        if (r < 0)
            return r;
    }
}

static int list_clusters(struct view_reply *reply, struct view_handle *handle, off_t offset)
{
    const bool begins = offset < 2 || offset >= NAMES_OFFSET;
    const uint64_t after = begins ? 0 : (uint64_t)offset - 2;
    if (offset < 1 && !add_dot(reply, 1))
        return 0;
    if (offset < 2 && !add_dot_dot(reply, 2))
        return 0;
    if (!reply->task->node->cluster_id && !after && !list_clusterings(reply, offset))
        return 0;
    return handle->clusters ? list_readable_clusters(reply, handle, after)
                            : list_all_clusters(reply, reply->task->node->cluster_id, after);
}

static int list_topics(struct view_reply *reply, off_t offset)
{
    uint64_t base;
    int r = view_topics_base(reply->task, &base);
    if (r < 0)
        return r;
    if (offset < 1 && !add_dot(reply, 1))
        return 0;
    if (offset < 2 && !add_dot_dot(reply, 2))
        return 0;
    return list_all_clusters(reply, base, offset < 2 ? 0 : (uint64_t)offset - 2);
}

/* 1: the document at an entry of the directory has kin that the caller may see. */
static int is_document_shown(const struct view_task *task, const struct file_key *key,
                             const char *name)
{
    _cleanup_free_ char *path = view_node_tree(task->node, name);
    if (!path)
        return -ENOMEM;
    _cleanup_close_ int readable_fd = caller_open_readable(&task->caller, path);
    struct file_key found;
    if (readable_fd < 0 || backing_key_at(task->fs->backing, readable_fd, "", &found) < 0 ||
        !file_key_equal(&found, key))
        return 0;
    return view_has_kin(task, key);
}

/* The type of what is shown for an entry of the tree, 0 for nothing, or an error. */
static int shown_type(const struct view_task *task, int fd, const struct dirent64 *entry)
{
    struct file_key key;
    struct stat st;
    const char *name = entry->d_name;
    const bool at_top = view_node_is_top(task->node);
    if (at_top && (strcmp(name, VIEW_TAG_NAME) == 0 || strcmp(name, ".kinfs") == 0))
        return 0; /* those names mean something else in the mount */
    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_DIR && entry->d_type != DT_REG)
        return 0;
    /* Gone meanwhile, in a directory that is locked, or mounted, and then not indexed. */
    _cleanup_close_ int entry_fd = looks_open(task->caller.looking, fd, name, 0);
    if (entry_fd < 0 || fstat(entry_fd, &st) < 0 ||
        backing_key_at(task->fs->backing, entry_fd, "", &key) < 0)
        return 0;
    if (S_ISDIR(st.st_mode))
        return file_key_equal(&key, &task->fs->store_key) ? 0 : S_IFDIR;
    if (!S_ISREG(st.st_mode))
        return 0;
    int r = is_document_shown(task, &key, name);
    return r <= 0 ? r : S_IFDIR;
}

/* The same in unique/: 0 of what is left out. What cannot be looked at is shown. */
static int unique_type(const struct view_task *task, int fd, const struct dirent64 *entry)
{
    struct file_key key;
    struct stat st;
    const char *name = entry->d_name;
    const struct view_node *node = task->node;
    const mode_t type = DTTOIF(entry->d_type);
    if (views_unique_is_own(node, name) ||
        (node->inode == task->fs->inodes.root && strcmp(name, ".kinfs") == 0))
        return 0;
    if (type && !S_ISREG(type) && !S_ISDIR(type))
        return (int)type;
    _cleanup_close_ int entry_fd = looks_open(task->caller.looking, fd, name, 0);
    if (entry_fd < 0)
        return entry_fd == -ENOENT ? 0 : type ? (int)type : S_IFREG;
    if (fstat(entry_fd, &st) < 0 || backing_key_at(task->fs->backing, entry_fd, "", &key) < 0)
        return 0; /* gone meanwhile */
    if (S_ISDIR(st.st_mode))
        return file_key_equal(&key, &task->fs->store_key) ? 0 : S_IFDIR;
    int r = S_ISREG(st.st_mode) ? view_is_left_out(task, node, name, &key) : 0;
    return r < 0 ? r : r ? 0 : (int)(st.st_mode & S_IFMT);
}

static bool add_tree_entry(struct view_reply *reply, const struct dirent64 *entry, mode_t type)
{
    const struct view_node *node = reply->task->node;
    return node->kind == VIEW_UNIQUE
               ? add(reply, entry->d_name, inode_number(node->inode, entry->d_ino), type,
                     entry->d_off)
               : add_child(reply, entry->d_name, type, entry->d_off);
}

/* The next entry of the tree's directory, NULL at its end. One that was locked for too long is not
 * read again: what would wait for it then is the lock of the offset. */
static int peek(struct looking *looking, struct view_handle *handle,
                const struct dirent64 **ret_entry)
{
    if (handle->fd < 0)
        return -EAGAIN;
    if (handle->used == handle->filled) {
        int n = looks_list(looking, handle->fd, handle->from, handle->buffer, VIEW_DIRENT_BYTES);
        if (n == -ETIMEDOUT) {
            view_listing_close_tree(handle);
            n = -EAGAIN;
        }
        if (n < 0)
            return n;
        handle->from = -1;
        handle->used = 0;
        handle->filled = (size_t)n;
    }
    *ret_entry = handle->used == handle->filled
                     ? NULL
                     : (const struct dirent64 *)(handle->buffer + handle->used);
    return 0;
}

static int list_mirrored(struct view_reply *reply, struct view_handle *handle, off_t offset)
{
    const int64_t end_ms = clock_now_ms() + REPLY_MS;
    const bool is_unique = reply->task->node->kind == VIEW_UNIQUE;
    const bool is_top = view_node_is_top(reply->task->node);
    reply->task->equal = &handle->equal;
    if (offset == OWN_NAME_OFFSET)
        return 0;
    if (offset != handle->at && offset != handle->told) {
        handle->at = handle->told = handle->from = offset;
        handle->used = handle->filled = 0;
    }
    for (;;) {
        const struct dirent64 *entry = NULL;
        int r = peek(reply->task->caller.looking, handle, &entry);
        if (r == 0 && !entry && is_unique && is_top)
            add_child(reply, INDEX_UNIQUE_SKIPPED, S_IFREG, OWN_NAME_OFFSET);
        if (r < 0 || !entry)
            return r;
        bool shown = true, fits = true;
        if (strcmp(entry->d_name, ".") == 0) {
            fits = is_unique && !is_top ? add_tree_entry(reply, entry, S_IFDIR)
                                        : add_dot(reply, entry->d_off);
        } else if (strcmp(entry->d_name, "..") == 0) {
            fits = is_unique && !is_top && !view_node_is_top(reply->task->node->parent)
                       ? add_tree_entry(reply, entry, S_IFDIR)
                       : add_dot_dot(reply, entry->d_off);
        } else {
            r = is_unique ? unique_type(reply->task, handle->fd, entry)
                          : shown_type(reply->task, handle->fd, entry);
            if (r < 0)
                return r;
            shown = r != 0;
            fits = !shown || add_tree_entry(reply, entry, (mode_t)r);
        }
        if (!fits)
            return 0;
        handle->at = entry->d_off;
        if (shown)
            handle->told = entry->d_off;
        handle->used += entry->d_reclen;
        if (is_time_to_reply(reply, end_ms, handle->at))
            return 0;
    }
}

int view_listing_fill(struct view_reply *reply, struct view_handle *handle)
{
    const off_t offset = reply->task->offset;
    switch (reply->task->node->kind) {
    case VIEW_DIRECTORY:
    case VIEW_UNIQUE: return list_mirrored(reply, handle, offset);
    case VIEW_CLUSTERS: return list_clusters(reply, handle, offset);
    case VIEW_DOCUMENT:
    case VIEW_LOST_DOCUMENT:
    case VIEW_CLUSTER: list_links(reply, handle->links, offset); return 0;
    case VIEW_TOPICS: return list_topics(reply, offset);
    case VIEW_TOPIC: list_topic(reply, handle, offset); return 0;
    case VIEW_KINFS: list_kinfs(reply, offset); return 0;
    case VIEW_LOST:
    case VIEW_QUESTIONS: list_nothing(reply, offset); return 0;
    case VIEW_LINK:
    case VIEW_QUESTION:
    case VIEW_SKIPPED:
    case VIEW_METRICS:
    case VIEW_TOPIC_WORDS:
    case VIEW_PART:
    case VIEW_TAG: break;
    }
    return -ENOTDIR;
}
