#include "fs/views.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "fs/view.h"

int views_new(struct fs *fs, struct views **ret_views)
{
    struct views *views = calloc(1, sizeof(*views));
    if (!views)
        return -ENOMEM;
    views->fs = fs;
    clock_gettime(CLOCK_REALTIME, &views->since);
    view_links_memory_init(&views->memory);
    caller_numbers_init(&views->callers);
    int r = view_table_init(&views->nodes);
    if (!r)
        r = view_tasks_new(views);
    if (r < 0) {
        views_free(views);
        return r;
    }
    *ret_views = views;
    return 0;
}

void views_free(struct views *views)
{
    if (!views)
        return;
    defer_free(views->defer);
    view_table_done(&views->nodes);
    view_links_memory_done(&views->memory);
    caller_numbers_done(&views->callers);
    free(views);
}

/* -- attributes of nodes -- */

mode_t view_type(enum view_kind kind)
{
    return kind == VIEW_LINK ? S_IFLNK : kind == VIEW_TAG ? S_IFREG : S_IFDIR;
}

/* Only a directory or a document of the tree has times and an owner of its own. */
int views_stat(struct fs *fs, const struct view_node *node, struct stat *ret_stat)
{
    const mode_t type = view_type(node->kind);
    struct stat st = {
        .st_ino = node->ino,
        .st_mode = type | (type == S_IFLNK   ? 0777
                           : type == S_IFREG ? 0444
                                             : 0555),
        /* Two for every directory: their number of subdirectories is nobody's to count. */
        .st_nlink = type == S_IFDIR ? 2 : 1,
        .st_uid = geteuid(),
        .st_gid = getegid(),
        .st_blksize = 4096,
        .st_atim = fs->views->since,
        .st_mtim = fs->views->since,
        .st_ctim = fs->views->since,
    };
    if (node->kind == VIEW_TAG)
        st.st_size = sizeof(VIEW_TAG_TEXT) - 1;
    if (node->kind == VIEW_LINK)
        st.st_size = (off_t)strlen(node->target);
    if (node->kind == VIEW_DIRECTORY || node->kind == VIEW_DOCUMENT) {
        _cleanup_close_ int fd = -1;
        struct stat mirrored;
        int r = view_open_node(fs, node, &fd);
        if (!r && fstat(fd, &mirrored) < 0)
            r = -errno;
        if (r < 0)
            return r;
        st.st_uid = mirrored.st_uid;
        st.st_gid = mirrored.st_gid;
        st.st_atim = mirrored.st_atim;
        st.st_mtim = mirrored.st_mtim;
        st.st_ctim = mirrored.st_ctim;
    }
    *ret_stat = st;
    return 0;
}

void view_reply_entry(struct fs *fs, fuse_req_t req, const struct view_node *like)
{
    struct view_node *node;
    struct fuse_entry_param entry = {0};
    int r = view_table_lookup(&fs->views->nodes, like, &node);
    if (!r) {
        r = views_stat(fs, node, &entry.attr);
        entry.ino = (uintptr_t)node;
        entry.generation = node->generation;
        if (r < 0)
            view_table_forget(&fs->views->nodes, node, 1);
    }
    if (r < 0)
        fuse_reply_err(req, r == -ESTALE ? ENOENT : -r);
    else if (fuse_reply_entry(req, &entry) < 0) /* the kernel has not got it */
        view_table_forget(&fs->views->nodes, node, 1);
}

void views_forget(struct fs *fs, struct view_node *node, uint64_t n_lookups)
{
    view_table_forget(&fs->views->nodes, node, n_lookups);
}

void views_readlink(struct fs *fs, fuse_req_t req, struct view_node *node)
{
    (void)fs;
    if (node->kind != VIEW_LINK)
        fuse_reply_err(req, EINVAL);
    else
        fuse_reply_readlink(req, node->target);
}

void views_access(struct fs *fs, fuse_req_t req, struct view_node *node, int mask)
{
    (void)fs;
    bool refused = (mask & W_OK) || ((mask & X_OK) && node->kind == VIEW_TAG);
    fuse_reply_err(req, refused ? EACCES : 0);
}

void views_statfs(struct fs *fs, fuse_req_t req, struct view_node *node)
{
    (void)node;
    struct statvfs st;
    if (fstatvfs(backing_root_fd(fs->backing), &st) < 0)
        fuse_reply_err(req, errno);
    else
        fuse_reply_statfs(req, &st);
}

/* -- CACHEDIR.TAG -- */

void views_open(struct fs *fs, fuse_req_t req, struct view_node *node,
                const struct fuse_file_info *fi)
{
    (void)fs;
    struct fuse_file_info reply = *fi;
    reply.keep_cache = 1; /* the text never changes */
    if (node->kind != VIEW_TAG)
        fuse_reply_err(req, EISDIR);
    else if ((fi->flags & O_ACCMODE) != O_RDONLY)
        fuse_reply_err(req, EACCES);
    else
        fuse_reply_open(req, &reply);
}

void views_read(struct fs *fs, fuse_req_t req, struct view_node *node, size_t size, off_t offset,
                const struct fuse_file_info *fi)
{
    (void)fs, (void)node, (void)fi;
    const size_t all = sizeof(VIEW_TAG_TEXT) - 1;
    const size_t start = offset < 0 || (size_t)offset > all ? all : (size_t)offset;
    fuse_reply_buf(req, &VIEW_TAG_TEXT[start], size < all - start ? size : all - start);
}

void views_release(struct fs *fs, fuse_req_t req, struct view_node *node,
                   const struct fuse_file_info *fi)
{
    (void)fs, (void)node, (void)fi;
    fuse_reply_err(req, 0);
}
