/* Mounts inside a tree, by the relative path of their mount point: the one way to reach a mount
 * that does not keep it from being unmounted. */
#ifndef KINFS_BASE_MOUNTS_MOUNT_POINT_H
#define KINFS_BASE_MOUNTS_MOUNT_POINT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/mounts/mount_id.h"

/* The mount point of a mount below a directory, by its present id (name_to_handle_at(2)).
 *
 * root_fd   the directory, as it was opened: mounts over it do not matter
 * ret_path  gives, relative to root_fd
 *
 * Returns 0, -ENOENT when there is none, -ENOMEM or another errno. Reads /proc/self/mountinfo, some
 * microseconds for each mount there.
 */
int mount_point_of_id(int root_fd, int mount_id, char **ret_path);

/* The mounts on a directory's own mount below it, and those on top of these, but not those inside
 * of these, which only their server could lead to: one string each, a number of the mount, a space,
 * and the path of the mount point relative to root_fd. The number is one that no other mount has
 * had where the kernel has such numbers (from 6.8 on), so that another mount in the place of one is
 * told from it. Gives both the array and the strings.
 *
 * Asks no file server of theirs. Returns 0, -ENOMEM or another errno.
 */
int mount_points_below(int root_fd, char ***ret_points, size_t *ret_n_points);

/* The caller decides if anything in a mount may be asked: 0, or the error to end with. */
typedef int mount_point_may_fn(void *user, uint64_t mount_id);

/* Open what is at a path, O_PATH, name by name: of each mount on the way, the last too, is known
 * whether it may be asked before a name is looked up in it. Symbolic links are not followed.
 *
 * ret_mount  which mount it is in
 *
 * Returns a descriptor the caller closes, what may() refused with, or an errno of open(2). Two
 * system calls for each name.
 */
int mount_point_open(int root_fd, const char *path, mount_point_may_fn *may, void *user,
                     struct mount_id *ret_mount);

/* Open a name in a directory, but nothing in a mount on it or on the way there. The mount is asked
 * for nothing, as its server may be anybody's, and never answer. No symbolic link is followed.
 *
 * flags  of open(2); with O_PATH and O_NOFOLLOW a symbolic link itself is opened
 *
 * Returns a descriptor the caller closes, -EXDEV when a mount is there, or another errno of
 * openat2(2). Any thread; about 1 us.
 */
int mount_point_avoid(int dirfd, const char *name, int flags);

/* The same without ever waiting for the directory, which somebody may keep locked: -EAGAIN where
 * the kernel would have to look into it. */
int mount_point_avoid_cached(int dirfd, const char *name, int flags);

/* The type and owner (STATX_TYPE, STATX_UID) of what a name in a directory is, symbolic links not
 * followed. A mount there is asked nothing: of it the kernel says what it knows.
 * Returns 0, -ENOENT or another errno of statx(2). Any thread; one system call. */
int mount_point_stat(int dirfd, const char *name, struct statx *ret_stat);

#endif
