/* Telling the kernel that what it keeps of the tree is not true any more.
 *
 * A reply that is under way while the tree changes would make the kernel keep what was. What saves
 * us from that:
 *   attributes of an inode the kernel knows: it drops a reply that was asked for before it was told
 *   ... of one it does not know yet: it says so (ENOENT), and is told again until it does, or until
 *       nobody looks the inode up any more. So an inode is in the table before its attributes are
 *       read (inode_lookup())
 *   ... of an open one that was just told what is so now: it is told again a little later; of two
 *       replies that crossed it may have taken the older
 *   ... in a reply to what changes them: the kernel takes them for true; they expire after a second
 *   names: the kernel holds the directory's lock from the request to the end of the reply, and
 *       telling it of a name waits for that lock. Where it asks without the lock, whether a name
 *       still means what it did, it is told in time to drop what it asks about
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fs/open_file.h"
#include "fs/ops.h"
#include "fs/watch_private.h"

static void tell_again(struct watch *watch, const struct file_key *key, int in_ms)
{
    if (watch->n_again == watch->max_again) {
        size_t max = watch->max_again ? 2 * watch->max_again : 64;
        struct watch_again *more = reallocarray(watch->again, max, sizeof(*more));
        if (!more) {
            watch->all_again = true;
            return;
        }
        watch->again = more;
        watch->max_again = max;
    }
    watch->again[watch->n_again++] =
        (struct watch_again){.key = *key, .due_ms = watch_now_ms() + in_ms, .told = in_ms > 0};
}

/* Whether the kernel was told of an open file as it is now; with its inode_lock(). */
static bool is_told_now(const struct inode *inode)
{
    struct stat st;
    return inode->type == S_IFREG && inode->files && fstat(inode->files->fd, &st) == 0 &&
           st.st_size == inode->told_size &&
           memcmp(&st.st_mtim, &inode->told_mtime, sizeof(st.st_mtim)) == 0 &&
           memcmp(&st.st_ctim, &inode->told_ctime, sizeof(st.st_ctim)) == 0;
}

/* Being told makes the kernel throw away a reply with the size of now that is under way, and go on
 * with the old one in copy_file_range(2): a copy would be cut short. So whoever has just opened the
 * file, and asked for its size, is left alone for a while. */
static void tell_inode(struct watch *watch, struct inode *inode, bool surely)
{
    enum { LATER_MS = 700 };
    struct fs *fs = watch->fs;
    LOCKED(inode_lock(&fs->inodes, inode)); /* this notice waits for nothing */
    if (!surely && is_told_now(inode)) {
        tell_again(watch, &inode->key, LATER_MS);
        return;
    }
    int r = fuse_lowlevel_notify_inval_inode(fs->session, ino_of(fs, inode), -1, 0);
    if (r == -ENOENT && inode != fs->inodes.root)
        tell_again(watch, &inode->key, 0);
}

static void tell_key(struct watch *watch, const struct file_key *key, bool surely)
{
    struct inode_table *inodes = &watch->fs->inodes;
    struct inode *inode = inode_get(inodes, key);
    if (!inode)
        return;
    tell_inode(watch, inode, surely);
    /* The reference may be the last by now: then the kernel does not know the inode. */
    inode_unref(inodes, inode);
}

void watch_tell_attributes(struct watch *watch, struct watch_batch *batch)
{
    _cleanup_free_ struct watch_again *again = watch->again;
    size_t n_again = watch->n_again;
    int64_t now_ms = watch_now_ms();
    watch->again = NULL;
    watch->n_again = watch->max_again = 0;
    for (size_t i = 0; i < n_again; i++) {
        if (again[i].due_ms <= now_ms)
            tell_key(watch, &again[i].key, again[i].told);
        else
            tell_again(watch, &again[i].key, (int)(again[i].due_ms - now_ms));
    }
    struct seen *seen;
    TAILQ_FOREACH(seen, &batch->seen, order)
    if (!*seen->name)
        tell_key(watch, &seen->key, false);
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
    tell_inode(watch, inodes->root, true);
    for (size_t i = 0; i < n_all; i++) {
        tell_inode(watch, all[i], true);
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

/* Pages the kernel holds of a file that it does not pass through, for as long as it is open; only
 * where the file is really another: whoever has mapped them would find them gone. */
static void tell_pages(struct watch *watch, struct inode *inode)
{
    struct fs *fs = watch->fs;
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    struct stat st;
    if (!open_file_is_cached(fs, inode))
        return;
    int fd = borrow_fd(fs, inode, &borrowed);
    if (fd >= 0 && fstat(fd, &st) == 0 && !inode_is_told(&fs->inodes, inode, &st))
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
    struct watch *watch = user;
    _cleanup_(watch_batch_unref_p) struct watch_batch *mounts = NULL;
    if (!batch)
        return -1;
    tell_batch(watch, batch);
    if (batch->n_seen || !watch_post_step(&watch->kernel))
        return -1;
    mounts = watch_batch_new();
    if (!mounts || watch_mounts_look(watch, mounts) < 0)
        atomic_store(&watch->names_lost, true);
    else
        tell_batch(watch, mounts);
    return -1;
}
