#include "fs/inodes/stale.h"

#include <errno.h>
#include <stdint.h>

#include "base/cleanup.h"

int stale_attributes(struct fs *fs, const struct inode *inode)
{
    return fuse_lowlevel_notify_inval_inode(fs->session, ino_of(fs, inode), -1, 0);
}

/* There is no notice for this, but one that does it: that so many bytes were stored at an offset
 * beyond the end, here none. They count as written by somebody else: the kernel takes size and
 * times for old, and nothing else, and no page comes to be. Before Linux 5.16 the size became the
 * offset. */
static int tell_nothing_stored(struct fs *fs, const struct inode *inode)
{
    enum { LINUX_5_17 = 36 }; /* of the protocol */
    const off_t beyond_all = INT64_MAX / 2;
    struct fuse_bufvec nothing = FUSE_BUFVEC_INIT(0);
    if (inode->type != S_IFREG || atomic_load(&fs->protocol_minor) < LINUX_5_17)
        return -EOPNOTSUPP;
    return fuse_lowlevel_notify_store(fs->session, ino_of(fs, inode), beyond_all, &nothing,
                                      FUSE_BUF_NO_SPLICE);
}

int stale_content(struct fs *fs, const struct inode *inode)
{
    int r = tell_nothing_stored(fs, inode);
    return r == 0 || r == -ENOENT ? r : stale_attributes(fs, inode);
}

/* Said once for each change: said again, or by the watch a moment later, it would make the kernel
 * throw away the reply that whoever has opened the file is waiting for, and go on with the old size
 * where it does not ask, in copy_file_range(2). */
void stale_unless_told(struct fs *fs, struct inode *inode, const struct stat *st)
{
    LOCKED(inode_lock(&fs->inodes, inode));
    if (inode_is_surely_told(inode, st))
        return;
    stale_content(fs, inode);
    inode_tell_asking(inode, st);
}
