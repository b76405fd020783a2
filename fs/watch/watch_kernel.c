/* Telling the kernel that what it keeps of the tree is not true any more.
 *
 * A reply that is under way while the tree changes would make the kernel keep what was. What saves
 * us from that:
 *   attributes of an inode the kernel knows: it drops a reply that was asked for before it was told
 *   ... of one it does not know yet: it says so (ENOENT), and is told again until it does, or until
 *       nobody looks the inode up any more. So an inode is in the table before its attributes are
 *       read (inode_lookup())
 *   ... of an open one that keeps nothing of before: it is told again a little later; of two
 *       replies that crossed it may have taken the older
 *   ... of what a request changes that has no attributes in its reply (the directories in which a
 *       name is made, removed or moved, what is moved): the kernel takes what it keeps for old, but
 *       also a reply asked for before. So it is told what it knows already. (What else it changes
 *       without a word of attributes, it counts as told; or it is told by the request itself)
 *   ... in a reply to what changes them: the kernel takes them for true whatever it was told since
 *       the request. So it is told now, and again when that reply has long arrived, unless that is
 *       known of one that made the inode: nobody asks about it before; or the reply says that they
 *       expire after a second
 *   names: the kernel holds the directory's lock from the request to the end of the reply, and
 *       telling it of a name waits for that lock. Where it asks without the lock, whether a name
 *       still means what it did, it is told in time to drop what it asks about
 *   ... that it moves itself: fs/watch/watch_moves.c
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "fs/inodes/open_file.h"
#include "fs/inodes/stale.h"
#include "fs/watch/watch_private.h"

/* Each inode once, by when it is due first: who is told then has it told again where that is too
 * early. So a batch costs as much as it has, in whatever order things are due. */
static void tell_again(struct watch *watch, const struct file_key *key, unsigned what,
                       int64_t due_ms)
{
    if (!watch->again)
        watch->again = watch_batch_new();
    struct watch_batch *again = watch->again;
    if (!again || watch_batch_add(again, key, NULL, what) < 0) {
        watch->all_again = true;
        return;
    }
    struct seen *seen = TAILQ_LAST(&again->seen, seen_list);
    if (!seen->due_ms || due_ms < seen->due_ms)
        seen->due_ms = due_ms;
    if (again->n_seen == 1 || due_ms < watch->again_due_ms)
        watch->again_due_ms = due_ms;
}

/* The kernel keeps nothing of an open file from before it became what it is; with its inode_lock().
 */
static bool is_told_now(const struct inode *inode)
{
    struct stat st;
    const struct open_file *file = LIST_FIRST(&inode->files);
    return inode->type == S_IFREG && file && fstat(file->fd, &st) == 0 &&
           inode_is_told(inode, &st) &&
           memcmp(&st.st_ctim, &inode->told_ctime, sizeof(st.st_ctim)) == 0;
}

/* Being told makes the kernel throw away a reply with the size of now that is under way, and go on
 * with the old one in copy_file_range(2): a copy would be cut short. So whoever has just opened the
 * file, and asks for its size, is left alone for a while. */
static void tell_inode(struct watch *watch, struct inode *inode, unsigned what)
{
    enum { LATER_MS = 700, TAKEN_MS = 1000 };
    struct fs *fs = watch->fs;
    int64_t now_ms = clock_now_ms();
    /* A mount inside the tree is asked again by the kernel itself; asked here it might never
     * answer.
     */
    if (backing_key_is_nested(fs->backing, &inode->key))
        return;
    LOCKED(inode_lock(&fs->inodes, inode)); /* this notice waits for nothing */
    if (!(what & SEEN_ANSWERED) && !inode->changed_ms)
        return;
    const uint32_t told_since_ms = (uint32_t)now_ms - inode->told_ms;
    if (told_since_ms < LATER_MS && is_told_now(inode)) {
        tell_again(watch, &inode->key, what, now_ms + LATER_MS - told_since_ms);
        return;
    }
    int r = what & SEEN_CONTENT ? stale_content(fs, inode) : stale_attributes(fs, inode);
    if (r == -ENOENT && inode != fs->inodes.root)
        tell_again(watch, &inode->key, what | SEEN_ANSWERED, now_ms);
    else if (now_ms < inode->changed_ms + TAKEN_MS)
        tell_again(watch, &inode->key, what & ~SEEN_ANSWERED, inode->changed_ms + TAKEN_MS);
}

/* The inode is as this process itself changed it, its reply told: if it is so still, it is
 * known. One that is not open is told of: opening it may wait (inode_borrow_open()). */
static bool is_as_changed(struct fs *fs, struct inode *inode)
{
    _cleanup_(inode_return_fd_late) struct inode_fd borrowed = INODE_FD_NONE;
    struct stat st;
    int fd = inode_borrow_open(&fs->inodes, inode, &borrowed);
    return fd >= 0 && fstat(fd, &st) == 0 && inode_is_changed_as(&fs->inodes, inode, &st);
}

static void tell_key(struct watch *watch, const struct file_key *key, unsigned what)
{
    struct inode_table *inodes = &watch->fs->inodes;
    struct inode *inode = inode_get(inodes, key);
    if (!inode)
        return;
    if (what & SEEN_CROSSED)
        what |= SEEN_ATTRIBUTES;
    if (what & SEEN_OWN && !(what & SEEN_ATTRIBUTES) && !is_as_changed(watch->fs, inode))
        what |= SEEN_ATTRIBUTES;
    const unsigned told = what & (what & SEEN_ATTRIBUTES ? SEEN_ATTRIBUTES : SEEN_CONTENT);
    if (told)
        tell_inode(watch, inode, told | (what & SEEN_ANSWERED));
    /* The reference may be the last by now: then the kernel does not know the inode. */
    inode_unref(inodes, inode);
}

bool watch_again_is_due(const struct watch *watch)
{
    return watch->again && watch->again->n_seen && watch->again_due_ms <= clock_now_ms();
}

/* The inodes that are due, or NULL. */
static struct watch_batch *take_due(struct watch *watch)
{
    const int64_t now_ms = clock_now_ms();
    struct watch_batch *due = watch_again_is_due(watch) ? watch_batch_new() : NULL;
    if (!due)
        return NULL;
    watch->again_due_ms = INT64_MAX;
    for (struct seen *seen = TAILQ_FIRST(&watch->again->seen), *next; seen; seen = next) {
        next = TAILQ_NEXT(seen, order);
        if (seen->due_ms > now_ms) {
            if (seen->due_ms < watch->again_due_ms)
                watch->again_due_ms = seen->due_ms;
            continue;
        }
        watch->all_again |= watch_batch_add(due, &seen->key, NULL, seen->what) < 0;
        watch_batch_remove(watch->again, seen);
    }
    return due;
}

static void tell_keys(struct watch *watch, const struct watch_batch *batch, unsigned also)
{
    const struct seen *seen;
    TAILQ_FOREACH(seen, &batch->seen, order)
    if (!*seen->name)
        tell_key(watch, &seen->key, seen->what | also);
}

void watch_tell_attributes(struct watch *watch, struct watch_batch *batch)
{
    _cleanup_(watch_batch_unref_p) struct watch_batch *due = take_due(watch);
    if (due)
        tell_keys(watch, due, 0);
    tell_keys(watch, batch, SEEN_ANSWERED);
}

int watch_tell_all(struct watch *watch)
{
    struct inode_table *inodes = &watch->fs->inodes;
    struct inode **all;
    size_t n_all;
    watch->all_again = false;
    int r = inode_get_all(inodes, &all, &n_all);
    if (r < 0)
        return r;
    tell_inode(watch, inodes->root, SEEN_ATTRIBUTES | SEEN_ANSWERED);
    for (size_t i = 0; i < n_all; i++) {
        tell_inode(watch, all[i], SEEN_ATTRIBUTES | SEEN_ANSWERED);
        inode_unref(inodes, all[i]);
    }
    free(all);
    watch_post_clear(&watch->kernel);
    watch_forget_names(watch);
    return watch->all_again ? -EAGAIN : 0;
}

void watch_forget_names(struct watch *watch)
{
#ifdef HAVE_NOTIFY_INCREMENT_EPOCH
    fuse_lowlevel_notify_increment_epoch(watch->fs->session);
#else
    (void)watch;
#endif
}

/* -- the thread that may wait -- */

static void tell_name(struct watch *watch, const struct seen *seen)
{
    struct fs *fs = watch->fs;
    struct inode *directory = inode_get(&fs->inodes, &seen->key);
    if (!directory)
        return;
    fuse_lowlevel_notify_inval_entry(fs->session, ino_of(fs, directory), seen->name,
                                     strlen(seen->name));
    inode_unref(&fs->inodes, directory);
}

static bool is_told(struct fs *fs, struct inode *inode, const struct stat *st)
{
    LOCKED(inode_lock(&fs->inodes, inode));
    return inode_is_told(inode, st);
}

/* Pages the kernel holds of a file that it does not pass through, for as long as it is open; only
 * where the file is really another: whoever has mapped them would find them gone. */
static void tell_pages(struct watch *watch, struct inode *inode)
{
    struct fs *fs = watch->fs;
    _cleanup_(inode_return_fd_late) struct inode_fd borrowed = INODE_FD_NONE;
    struct stat st;
    if (!open_file_is_cached(fs, inode))
        return;
    int fd = inode_borrow_open(&fs->inodes, inode, &borrowed);
    if (fd >= 0 && fstat(fd, &st) == 0 && !is_told(fs, inode, &st))
        fuse_lowlevel_notify_inval_inode(fs->session, ino_of(fs, inode), 0, 0);
}

/* The kernel keeps listings, and is told of attributes, by which it would know; but within a tick
 * of a coarse clock a directory may change twice. Whoever reads the listing holds a page of it. */
static void tell_listing(struct watch *watch, struct inode *inode)
{
    atomic_store(&inode->folds_case, 0); /* it may have been made to fold the case of names */
    fuse_lowlevel_notify_inval_inode(watch->fs->session, ino_of(watch->fs, inode), 0, 0);
}

static void tell_content(struct watch *watch, const struct seen *seen)
{
    if (!(seen->what & ~SEEN_CROSSED))
        return;
    struct inode *inode = inode_get(&watch->fs->inodes, &seen->key);
    if (!inode)
        return;
    if (inode->type == S_IFREG)
        tell_pages(watch, inode);
    else if (inode->type == S_IFDIR)
        tell_listing(watch, inode);
    inode_unref(&watch->fs->inodes, inode);
}

static void tell_batch(struct watch *watch, struct watch_batch *batch)
{
    struct seen *seen;
    TAILQ_FOREACH(seen, &batch->seen, order)
    {
        if (!watch_post_step(&watch->kernel))
            return;
        if (*seen->name)
            tell_name(watch, seen);
        else
            tell_content(watch, seen);
    }
}

int watch_kernel_work(void *user, struct watch_batch *batch)
{
    if (batch)
        tell_batch(user, batch);
    return -1;
}
