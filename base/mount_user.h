/* The user a FUSE mount belongs to, as the kernel says it: the files in such a mount, their owners
 * and modes included, are whatever that user wants them to be. */
#ifndef KINFS_BASE_MOUNT_USER_H
#define KINFS_BASE_MOUNT_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* By the type and the options of the file system, as a table of mounts has them. ret_uid is root's
 * for what is no FUSE mount, since nobody else can make one. Returns 0, or -ENOENT for a FUSE mount
 * whose user the kernel does not tell. Any thread; no system call. */
int mount_user_of_options(const char *type, const char *options, uid_t *ret_uid);

/* By what statx(2) calls stx_mnt_id. Returns 0, -ENOENT for a mount that this process does not see,
 * or another errno of base/mount_table.h. Any thread; reads the table of mounts, some microseconds
 * for each there. */
int mount_user_of_id(uint64_t mount_id, uid_t *ret_uid);

/* True: such a mount is to be believed, for it is the effective user's, or root's. */
bool mount_user_is_trusted(uid_t uid);

#endif
