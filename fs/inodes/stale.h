/* Telling the kernel that attributes it keeps are not true any more. Any thread: it waits for
 * nothing, so it may be under inode_lock()
 * where nothing else is said.
 *
 * Returns 0, -ENOENT when the kernel does not know the inode (yet), or another errno.
 */
#ifndef KINFS_FS_INODES_STALE_H
#define KINFS_FS_INODES_STALE_H

#include "fs/state.h"

/* All of them. Who opens the file next is kept waiting until they have been asked for anew. */
int stale_attributes(struct fs *fs, const struct inode *inode);

/* Size and times only: what writing changes. Mode and owner are kept, so that an open(2) does not
 * wait. Where the kernel cannot be told so little, all. */
int stale_content(struct fs *fs, const struct inode *inode);

/* stale_content() of a file that is being opened and is as in st, where the kernel may keep what
 * was so before a change behind the mount: with the size of yesterday a copy would be cut short.
 * Without inode_lock(). */
void stale_unless_told(struct fs *fs, struct inode *inode, const struct stat *st);

#endif
