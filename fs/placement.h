/* The mount point, the source and the store: how they lie to one another. */
#ifndef KINFS_FS_PLACEMENT_H
#define KINFS_FS_PLACEMENT_H

#include "fs/state.h"

/* Refuse what would make the mount wait for itself: a mount point inside the source (the source
 * itself is good: it was opened before), a store the mount would cover. Learn where in the tree the
 * store is, so that it is not shown.
 *
 * fs  options, backing and inodes are set; store_key and store_ino will be
 *
 * Returns 0, -EINVAL, -EXDEV (what is above is in another user's mount, which is asked nothing),
 * -EBUSY or an errno of open(2), with a line of *ret_error (gives).
 */
int placement_check(struct fs *fs, char **ret_error);

#endif
