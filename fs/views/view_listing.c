/* Listings of the views: a directory is opened, read and released. What is in it is in
 * view_listing_entries.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "fs/views/view_listing.h"
#include "fs/views/view_lost.h"
#include "fs/views/view_topics.h"
#include "fs/views/views.h"

static void handle_free(struct view_handle *handle)
{
    view_listing_close_tree(handle);
    view_room_leave(&handle->stay);
    caller_done(&handle->opener);
    view_links_unref(handle->links);
    index_readable_clusters_free(handle->clusters);
    free(handle->parts);
    free(handle);
}
DEFINE_CLEANUP(struct view_handle *, handle_free);

static struct view_handle *handle_of(const struct fuse_file_info *fi)
{
    return (struct view_handle *)(uintptr_t)fi->fh;
}

static int open_unique(const struct view_task *task, struct view_handle *handle)
{
    _cleanup_inode_fd_ struct inode_fd held = INODE_FD_NONE;
    struct inode_table *inodes = &task->fs->inodes;
    int held_fd = inode_borrow_fd(inodes, task->node->inode, &held);
    if (held_fd < 0)
        return held_fd;
    handle->fd = inode_reopen(inodes, task->node->inode, held_fd, O_RDONLY | O_DIRECTORY);
    return handle->fd < 0 ? handle->fd : 0;
}

static int open_mirrored(const struct view_task *task, struct view_handle *handle)
{
    _cleanup_close_ int path_fd = -1;
    struct inode_table *inodes = &task->fs->inodes;
    if (!user_room_enter(&inodes->descriptors, handle->stay.uid, 1))
        return -ENFILE;
    handle->inodes = inodes;
    if (task->node->kind == VIEW_UNIQUE)
        return open_unique(task, handle);
    int r = view_open_node(task->fs, task->caller.looking, task->node, &path_fd);
    if (!r)
        r = caller_access(&task->caller, path_fd, "", R_OK);
    if (r < 0)
        return r;
    handle->fd = openat(path_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return handle->fd < 0 ? -errno : 0;
}

/* The contents of a listing are found when it is opened. view_settle() is the promise: what was
 * closed before this opening is in it. The later waits, out of the same time, are for what nobody
 * has told of: the document itself (view_document()), or one that is in its answer
 * (index_similar()), has another size or times than those it was sketched with. */
static int find_contents(const struct view_task *task, struct view_handle *handle)
{
    const enum view_kind kind = task->node->kind;
    if ((kind == VIEW_UNIQUE || task->node->relation == INDEX_RELATED) && !task->caller.all)
        return -EACCES;
    int r = kind == VIEW_UNIQUE ? view_unique_settle(task) : view_settle(task);
    if (!r && view_follows_the_tree(kind))
        r = open_mirrored(task, handle);
    if (!r && kind == VIEW_LOST)
        r = view_lost_allows(task);
    if (!r && (kind == VIEW_TOPICS || kind == VIEW_TOPIC))
        r = view_topics_allow(task);
    if (!r && (kind == VIEW_DOCUMENT || kind == VIEW_LOST_DOCUMENT || kind == VIEW_CLUSTER ||
               kind == VIEW_TOPIC))
        r = view_links(task, true, &handle->links);
    if (!r && kind == VIEW_TOPIC) {
        handle->n_parts = view_topics_parts(task, &handle->parts);
        r = handle->n_parts < 0 ? (int)handle->n_parts : 0;
    }
    if (!r && kind == VIEW_CLUSTERS && !task->caller.all)
        r = index_readable_clusters_new(task->fs->index, task->node->cluster_id, &handle->clusters);
    return r;
}

static int make_handle(const struct view_task *task, struct view_handle **ret_handle)
{
    const enum view_kind kind = task->node->kind;
    const size_t n_bytes =
        sizeof(struct view_handle) + (view_follows_the_tree(kind) ? VIEW_DIRENT_BYTES : 0);
    _cleanup_(handle_free_p) struct view_handle *handle = malloc(n_bytes);
    if (!handle)
        return -ENOMEM;
    /* Some have thousands of groups. */
    *handle = (struct view_handle){
        .fd = -1, .from = -1, .n_bytes = n_bytes + task->caller.n_groups * sizeof(gid_t)};
    int r = view_room_enter(&task->fs->views->listings, task->caller.uid, &handle->stay);
    if (!r)
        r = of_daemon(find_contents(task, handle));
    if (!r)
        r = view_room_hold(&handle->stay,
                           handle->n_bytes + (handle->links ? handle->links->n_bytes : 0));
    if (r < 0)
        return r;
    *ret_handle = TAKE_PTR(handle);
    return 0;
}

static void open_directory(struct view_task *task)
{
    struct view_handle *handle;
    int r = make_handle(task, &handle);
    if (r < 0) {
        fuse_reply_err(task->req, -r);
        return;
    }
    handle->opener = task->caller;
    handle->opener.looking = NULL;
    task->caller = (struct caller){0};
    task->fi.fh = (uintptr_t)handle;
    if (fuse_reply_open(task->req, &task->fi) < 0)
        handle_free(handle);
}

void views_opendir(struct fs *fs, fuse_req_t req, struct view_node *node,
                   const struct fuse_file_info *fi)
{
    if (view_type(node->kind) != S_IFDIR)
        fuse_reply_err(req, ENOTDIR);
    else
        view_defer(fs, req, &(struct view_task){.run = open_directory, .node = node, .fi = *fi});
}

void views_releasedir(struct fs *fs, fuse_req_t req, struct view_node *node,
                      const struct fuse_file_info *fi)
{
    (void)fs, (void)node;
    handle_free(handle_of(fi));
    fuse_reply_err(req, 0);
}

static void read_directory(struct view_task *task)
{
    struct view_handle *handle = handle_of(&task->fi);
    _cleanup_free_ char *buffer = malloc(task->size);
    struct view_reply reply = {.task = task, .buffer = buffer, .size = task->size};
    int r = buffer ? 0 : -ENOMEM;
    if (!r)
        r = view_listing_fill(&reply, handle);
    /* An error after some entries shows again at the next call. */
    if (r < 0 && !reply.used)
        view_reply_err(task, r);
    else
        fuse_reply_buf(task->req, buffer, reply.used);
}

static void list(struct fs *fs, fuse_req_t req, const struct view_task *task)
{
    const enum view_kind kind = task->node->kind;
    struct view_task now = *task;
    now.as = &handle_of(&task->fi)->opener;
    now.holds_lock = true;
    if (view_follows_the_tree(kind) || kind == VIEW_CLUSTERS || kind == VIEW_TOPICS) {
        view_defer(fs, req, &now);
        return;
    }
    now.fs = fs; /* the others wait for nothing and ask for nobody */
    now.req = req;
    read_directory(&now);
}

void views_readdir(struct fs *fs, fuse_req_t req, struct view_node *node, size_t size, off_t offset,
                   const struct fuse_file_info *fi)
{
    list(fs, req,
         &(struct view_task){
             .run = read_directory, .node = node, .size = size, .offset = offset, .fi = *fi});
}

void views_readdirplus(struct fs *fs, fuse_req_t req, struct view_node *node, size_t size,
                       off_t offset, const struct fuse_file_info *fi)
{
    list(fs, req,
         &(struct view_task){.run = read_directory,
                             .node = node,
                             .size = size,
                             .offset = offset,
                             .fi = *fi,
                             .plus = true});
}
