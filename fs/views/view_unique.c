/* unique/: directories of the tree as they are, and in them what is not left out, which is the
 * tree's own: the kernel is given the inode that it has of the file already, so that it is read,
 * written, locked and mapped as elsewhere in the mount. A directory cannot be in two places of a
 * mount, so each has a node here; it answers as its inode does (fs/ops/).
 *
 * Nothing may be kept of a name: whether it is left out may be another thing at once.
 *
 * It is for root and the owner of the mount alone, who may read everything
 * (views_unique_refuses()); what is left out is decided for these alone, wherever it is asked
 * (view_is_left_out()). To all the kernel is told that there is a directory unique, since a name
 * that one user finds and another does not is no more the one that the first has as the working
 * directory; of no attribute, and so of no right in it, to any but these.
 */
#include <errno.h>

#include "base/clock.h"
#include "fs/views/view.h"
#include "fs/views/views.h"

struct inode *views_unique_directory(const struct view_node *node)
{
    return node->inode;
}

bool views_unique_refuses(fuse_req_t req)
{
    return caller_is_restricted(fuse_req_ctx(req)->uid);
}

void views_unique_stat(const struct view_node *node, struct stat *st)
{
    if (view_node_is_top(node))
        st->st_ino = node->ino;
}

bool views_unique_is_own(const struct view_node *parent, const char *name)
{
    return view_node_is_top(parent) && strcmp(name, INDEX_UNIQUE_SKIPPED) == 0;
}

/* A signal that the asker handles is no reason to be shown more, nor one for an error that lstat(2)
 * has nowhere else; one that ends the asker, which cannot be told from it, waits so long. */
enum { PATIENCE_MS = 1000 };

static bool gives_up(void *user)
{
    const struct view_task *task = user;
    return defer_is_ending(task->fs->views->defer) || view_is_late(task) ||
           (fuse_req_interrupted(task->req) && clock_now_ms() > task->come_ms + PATIENCE_MS);
}

/* While a document takes an extractor a minute, or a copy is written, a walk of a thousand names
 * would wait a thousand times. */
enum { IMPATIENT_MS = 30000 };

static bool is_impatient(const struct views *views)
{
    return clock_now_ms() < atomic_load(&views->impatient_until_ms);
}

int view_unique_settle(const struct view_task *task)
{
    struct views *views = task->fs->views;
    if (is_impatient(views))
        return defer_is_ending(views->defer) ? -ESHUTDOWN : 0;
    int r = view_settle(task);
    if (r == 0 && clock_now_ms() >= task->end_ms)
        atomic_store(&views->impatient_until_ms, clock_now_ms() + IMPATIENT_MS);
    return r;
}

struct index_query view_unique_query(const struct view_task *task)
{
    struct index_query query = view_query_of(task, 0);
    query.stop = gives_up;
    if (is_impatient(task->fs->views))
        query.wait_ms = 0;
    return query;
}

static int is_left_out(const struct view_task *task, int decided,
                       const struct index_stand_in *stand_in)
{
    if (decided <= 0)
        return defer_is_ending(task->fs->views->defer) ? -ESHUTDOWN : 0;
    /* A document that was moved out with a directory above it is no more in the tree, whatever its
     * row says.
     */
    const struct view_link link = {.path = stand_in->path, .key = stand_in->key};
    return view_link_is_alive(task, &link);
}

int view_is_left_out(const struct view_task *task, const struct view_node *directory,
                     const char *name, const struct file_key *key)
{
    struct views *views = task->fs->views;
    _cleanup_(index_stand_in_done) struct index_stand_in stand_in = {0};
    const struct index_query query = view_unique_query(task);
    if (!task->caller.all)
        return -EACCES;
    int r = index_unique_left_out(views->unique, &directory->key, name, key, &query, &stand_in);
    return is_left_out(task, r, &stand_in);
}

int view_leaves_out(const struct view_task *task)
{
    struct views *views = task->fs->views;
    _cleanup_(index_stand_in_done) struct index_stand_in stand_in = {0};
    const struct index_query query = view_unique_query(task);
    if (!task->caller.all)
        return 0;
    int r = index_unique_leaves_out(views->unique, &task->key, &query, &stand_in);
    return is_left_out(task, r, &stand_in);
}

static void reply_directory(struct fs *fs, fuse_req_t req, struct view_node *parent,
                            const char *name, struct inode *inode,
                            const struct fuse_entry_param *entry)
{
    struct view_node *node;
    struct fuse_entry_param here = *entry;
    const struct view_node like = {
        .kind = VIEW_UNIQUE, .parent = parent, .name = name, .key = inode->key, .inode = inode};
    int r = view_table_lookup(&fs->views->nodes, &like, &node);
    inode_forget(&fs->inodes, inode, 1); /* the node has it */
    if (r < 0) {
        fuse_reply_err(req, -r);
        return;
    }
    here.ino = node_id(node);
    here.generation = node->generation;
    here.attr_timeout = here.entry_timeout = 0;
    if (fuse_reply_entry(req, &here) < 0)
        view_table_forget(&fs->views->nodes, node, 1);
}

/* The lookup of the inode is the kernel's when it has got the entry, else the task's. */
static void reply_file(struct view_task *task)
{
    struct inode *inode = task->inode;
    int r = view_unique_settle(task);
    if (r == 0)
        r = view_is_left_out(task, task->node, task->name, &inode->key);
    if (r != 0)
        view_reply_err(task, r < 0 ? r : -ENOENT);
    else if (fuse_reply_entry(task->req, &task->entry) == 0)
        task->inode = NULL;
}

void views_unique_reply(struct fs *fs, fuse_req_t req, struct view_node *parent, const char *name,
                        const struct fuse_entry_param *entry)
{
    struct inode *inode = node_to_inode(node_of(fs, entry->ino));
    struct view_task task = {.run = reply_file,
                             .holds_lock = true,
                             .node = parent,
                             .name = (char *)name,
                             .entry = *entry,
                             .inode = inode};
    task.entry.entry_timeout = 0;
    if (S_ISDIR(entry->attr.st_mode))
        reply_directory(fs, req, parent, name, inode, entry);
    else if (S_ISREG(entry->attr.st_mode))
        view_defer(fs, req, &task);
    else if (fuse_reply_entry(req, &task.entry) < 0)
        inode_forget(&fs->inodes, inode, 1);
}
