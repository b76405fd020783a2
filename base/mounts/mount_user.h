/* The user a FUSE mount belongs to, as the kernel says it: the files in such a mount, their owners
 * and modes included, are whatever that user wants them to be. */
#ifndef KINFS_BASE_MOUNTS_MOUNT_USER_H
#define KINFS_BASE_MOUNTS_MOUNT_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The user by the type and the options of the file system, as a table of mounts has them. ret_uid
 * is root's for another file system than FUSE, since nobody else can mount one. Returns 0, or
 * -ENOENT for a FUSE mount whose user the kernel does not tell. Any thread; no system call. */
int mount_user_of_options(const char *type, const char *options, uid_t *ret_uid);

/* The user by stx_mnt_id of statx(2); root, too, for the mount "/" is in where the root was changed
 * (chroot(2)) and the table of mounts has it not. Returns 0, -ENOENT for another mount that this
 * process does not see, or another errno of base/mounts/mount_table.h. Any thread; reads the table,
 * some microseconds for each mount there. */
int mount_user_of_id(uint64_t mount_id, uid_t *ret_uid);

/* True when the mounts of this user can be trusted: it is the effective user, or root. */
bool mount_user_is_trusted(uid_t uid);

/* True when a mount that was found by its id may be another user's: nothing in it is to be asked. A
 * mount that this process does not see counts as such. Any thread; reads the table of mounts. */
bool mount_is_anothers(uint64_t mount_id);

#endif
