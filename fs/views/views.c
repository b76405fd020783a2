#include "fs/views/views.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "fs/views/view.h"
#include "fs/views/view_question.h"
#include "fs/views/view_text.h"

#define MIB ((uint64_t)1 << 20)

/* Documents of questions are kept beside the store, where they could fill its disk. A user has two
 * of the largest size. */
static const struct view_room_limits question_limits = {.n_max = 256,
                                                        .n_of_a_user_max = 64,
                                                        .bytes_max = 8192 * MIB,
                                                        .bytes_of_a_user_max = 2048 * MIB};
/* Lists of what unique/ leaves out, likewise: others can make them long, so that the disk alone
 * bounds what is on it (view_skipped.c). */
static const struct view_room_limits list_limits = {.n_max = 256, .n_of_a_user_max = 64};
/* Listings are kept in memory. A thousand is what a process may have open where nothing else is
 * said; a mirrored directory has 32 KiB. One cluster's listing can be larger than all else for who
 * sees all, where links are not limited, and is to be had nevertheless. */
static const struct view_room_limits listing_limits = {.n_max = 4096,
                                                       .n_of_a_user_max = 1024,
                                                       .bytes_max = 256 * MIB,
                                                       .bytes_of_a_user_max = 64 * MIB,
                                                       .any_size_alone = true};

static void hold(void *user, const struct view_node *node)
{
    struct fs *fs = user;
    if (node->inode)
        inode_ref(&fs->inodes, node->inode);
    if (node->skipped)
        view_skipped_ref(node->skipped);
}

static void let_go(void *user, const struct view_node *node)
{
    struct fs *fs = user;
    if (node->inode)
        inode_unref(&fs->inodes, node->inode);
    view_skipped_unref(node->skipped);
}

int views_new(struct fs *fs, struct views **ret_views)
{
    struct views *views = calloc(1, sizeof(*views));
    if (!views)
        return -ENOMEM;
    clock_gettime(CLOCK_REALTIME, &views->since);
    view_links_memory_init(&views->memory);
    caller_numbers_init(&views->callers);
    view_skipped_memory_init(&views->skipped);
    int r = view_table_init(&views->nodes);
    if (!r)
        r = index_unique_new(fs->index, &fs->options.unique, &views->unique);
    views->nodes.hold = hold;
    views->nodes.let_go = let_go;
    views->nodes.user = fs;
    if (!r)
        r = view_file_rooms_init(&views->questions, &question_limits);
    if (!r)
        r = view_file_rooms_init(&views->lists, &list_limits);
    if (!r)
        r = view_room_init(&views->listings, &listing_limits);
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
    looks_free(views->looks);
    user_room_done(&views->groups);
    slow_turns_done(&views->slow_turns);
    view_table_done(&views->nodes);
    view_skipped_memory_done(&views->skipped);
    index_unique_free(views->unique);
    view_links_memory_done(&views->memory);
    caller_numbers_done(&views->callers);
    view_file_rooms_done(&views->questions);
    view_file_rooms_done(&views->lists);
    view_room_done(&views->listings);
    free(views);
}

/* -- attributes of nodes -- */

mode_t view_type(enum view_kind kind)
{
    switch (kind) {
    case VIEW_LINK: return S_IFLNK;
    case VIEW_TAG:
    case VIEW_SKIPPED:
    case VIEW_METRICS:
    case VIEW_TOPIC_WORDS:
    case VIEW_QUESTION: return S_IFREG;
    default: return S_IFDIR;
    }
}

static mode_t mode_of(enum view_kind kind)
{
    switch (kind) {
    case VIEW_LINK: return 0777;
    case VIEW_TAG: return 0444;
    case VIEW_METRICS:
    case VIEW_TOPIC_WORDS:
    case VIEW_SKIPPED:
        return 0400; /* for the owner of the mount, whose it is, or root */
    /* A user who can reach the mount may ask, and only the owner watch what is asked. */
    case VIEW_QUESTIONS: return 01733;
    case VIEW_LOST: /* for the owner of the mount, and root */
    case VIEW_LOST_DOCUMENT:
    case VIEW_TOPICS:
    case VIEW_TOPIC: return 0500;
    case VIEW_QUESTION: return 0666;
    default: return 0555;
    }
}

/* Only a directory or a document of the tree has times, an owner and rights of its own. */
int views_stat(struct fs *fs, const struct view_node *node, struct stat *ret_stat)
{
    const mode_t type = view_type(node->kind);
    struct stat st = {
        .st_ino = node->ino,
        .st_mode = type | mode_of(node->kind),
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
    if (node->kind == VIEW_LINK) {
        _cleanup_free_ char *target = view_node_target(node);
        if (!target)
            return -ENOMEM;
        st.st_size = (off_t)strlen(target);
    }
    if (node->kind == VIEW_SKIPPED)
        view_skipped_stat(node->skipped, &st);
    if (view_is_mirror(node)) {
        _cleanup_close_ int fd = -1;
        struct stat mirrored;
        int r = view_open_node(fs, NULL, node, &fd);
        if (!r && fstat(fd, &mirrored) < 0)
            r = -errno;
        if (r < 0)
            return r;
        st.st_uid = mirrored.st_uid;
        st.st_gid = mirrored.st_gid;
        st.st_mode = type | view_mode(node, mirrored.st_mode);
        st.st_atim = mirrored.st_atim;
        st.st_mtim = mirrored.st_mtim;
        st.st_ctim = mirrored.st_ctim;
    }
    *ret_stat = st;
    return 0;
}

/* As view_table_lookup(), with what the kernel is told of it. Undo with views_forget(). */
static int make_entry(struct fs *fs, const struct view_node *like,
                      struct fuse_entry_param *ret_entry)
{
    struct view_node *node;
    struct fuse_entry_param entry = {0};
    int r = view_table_lookup(&fs->views->nodes, like, &node);
    if (r < 0)
        return r;
    r = views_stat(fs, node, &entry.attr);
    if (r < 0) {
        view_table_forget(&fs->views->nodes, node, 1);
        return r;
    }
    entry.ino = node_id(node);
    entry.generation = node->generation;
    *ret_entry = entry;
    return 0;
}

void view_reply_entry(struct fs *fs, fuse_req_t req, const struct view_node *like)
{
    struct fuse_entry_param entry;
    int r = make_entry(fs, like, &entry);
    if (r < 0)
        fuse_reply_err(req, r == -ESTALE ? ENOENT : -of_daemon(r));
    else if (fuse_reply_entry(req, &entry) < 0) /* the kernel has not got it */
        view_table_forget(&fs->views->nodes, node_to_view(node_of_id(entry.ino)), 1);
}

void views_forget(struct fs *fs, struct view_node *node, uint64_t n_lookups)
{
    view_table_forget(&fs->views->nodes, node, n_lookups);
}

void views_readlink(struct fs *fs, fuse_req_t req, struct view_node *node)
{
    (void)fs;
    _cleanup_free_ char *target = node->kind == VIEW_LINK ? view_node_target(node) : NULL;
    if (target)
        fuse_reply_readlink(req, target);
    else
        fuse_reply_err(req, node->kind == VIEW_LINK ? ENOMEM : EINVAL);
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

/* -- files: CACHEDIR.TAG, what is skipped, metrics, words of topics, and questions -- */

static bool has_text(const struct view_node *node)
{
    return node->kind == VIEW_METRICS || node->kind == VIEW_TOPIC_WORDS;
}

void views_create(struct fs *fs, fuse_req_t req, struct view_node *parent, const char *name,
                  const struct fuse_file_info *fi)
{
    struct fuse_file_info reply = *fi;
    struct fuse_entry_param entry;
    if (parent->kind != VIEW_QUESTIONS) {
        fuse_reply_err(req, EROFS);
        return;
    }
    int r = question_open(fs, req, name, &reply);
    if (r < 0) {
        fuse_reply_err(req, -r);
        return;
    }
    /* A node of its own: pages and the size that the kernel keeps of one are for all who have it.
     */
    const struct view_node like = {.kind = VIEW_QUESTION,
                                   .parent = parent,
                                   .name = name,
                                   .question = atomic_fetch_add(&fs->views->n_questions, 1)};
    r = make_entry(fs, &like, &entry);
    if (r < 0) {
        question_release(&reply);
        fuse_reply_err(req, -of_daemon(r));
    } else if (fuse_reply_create(req, &entry, &reply) < 0) {
        question_release(&reply);
        view_table_forget(&fs->views->nodes, node_to_view(node_of_id(entry.ino)), 1);
    }
}

/* A question is opened again only by /proc: its name is not found. */
static void open_question(struct fs *fs, fuse_req_t req, const struct view_node *node,
                          struct fuse_file_info *fi)
{
    int r = question_open(fs, req, node->name, fi);
    if (r < 0)
        fuse_reply_err(req, -r);
    else if (fuse_reply_open(req, fi) < 0)
        question_release(fi);
}

static void open_skipped(fuse_req_t req, const struct view_node *node, struct fuse_file_info *fi)
{
    int r = view_skipped_open(node->skipped);
    if (r < 0)
        fuse_reply_err(req, -r);
    else if (fuse_reply_open(req, fi) < 0)
        view_skipped_close(node->skipped);
}

void views_open(struct fs *fs, fuse_req_t req, struct view_node *node,
                const struct fuse_file_info *fi)
{
    struct fuse_file_info reply = *fi;
    if (node->kind == VIEW_QUESTION) {
        open_question(fs, req, node, &reply);
        return;
    }
    if (has_text(node)) {
        view_text_open(fs, req, node, fi);
        return;
    }
    reply.keep_cache = 1; /* the text never changes */
    if (node->kind != VIEW_TAG && node->kind != VIEW_SKIPPED)
        fuse_reply_err(req, EISDIR);
    else if ((fi->flags & O_ACCMODE) != O_RDONLY ||
             (node->kind == VIEW_SKIPPED && views_unique_refuses(req)))
        fuse_reply_err(req, EACCES);
    else if (node->kind == VIEW_SKIPPED)
        open_skipped(req, node, &reply);
    else
        fuse_reply_open(req, &reply);
}

void views_read(struct fs *fs, fuse_req_t req, struct view_node *node, size_t size, off_t offset,
                const struct fuse_file_info *fi)
{
    if (node->kind == VIEW_QUESTION) {
        question_read(fs, req, node, size, offset, fi);
        return;
    }
    if (has_text(node)) {
        view_text_read(req, fi, size, offset);
        return;
    }
    if (node->kind == VIEW_SKIPPED) {
        view_skipped_read(req, node->skipped, size, offset);
        return;
    }
    const size_t all = sizeof(VIEW_TAG_TEXT) - 1;
    const size_t start = offset < 0 || (size_t)offset > all ? all : (size_t)offset;
    fuse_reply_buf(req, &VIEW_TAG_TEXT[start], size < all - start ? size : all - start);
}

ssize_t views_write(fuse_req_t req, const struct view_node *node, const struct fuse_file_info *fi,
                    struct fuse_bufvec *in, off_t offset)
{
    return node->kind == VIEW_QUESTION ? question_write(req, fi, in, offset) : -EROFS;
}

void views_release(struct fs *fs, fuse_req_t req, struct view_node *node,
                   const struct fuse_file_info *fi)
{
    (void)fs;
    if (node->kind == VIEW_QUESTION)
        question_release(fi);
    if (has_text(node))
        view_text_release(fi);
    if (node->kind == VIEW_SKIPPED)
        view_skipped_close(node->skipped);
    fuse_reply_err(req, 0);
}
