/* Telling the kernel that attributes it keeps are not true any more. Any thread: it waits for
 * nothing, so it may be under inode_lock().
 *
 * Returns 0, -ENOENT when the kernel does not know the inode (yet), or another errno.
 */
#ifndef KINFS_FS_STALE_H
#define KINFS_FS_STALE_H

#include "fs/state.h"

/* All of them. Who opens the file next is kept waiting until they have been asked for anew. */
int stale_attributes(struct fs *fs, const struct inode *inode);

/* Size and times only: what writing changes. Mode and owner are kept, so that an open(2) does not
 * wait. Where the kernel cannot be told so little, all. */
int stale_content(struct fs *fs, const struct inode *inode);

#endif
