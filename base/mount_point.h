/* Mounts inside a tree, by the relative path of their mount point: the one way to reach a mount
 * that does not keep it from being unmounted. */
#ifndef KINFS_BASE_MOUNT_POINT_H
#define KINFS_BASE_MOUNT_POINT_H

#include <stddef.h>
#include <sys/types.h>

/* Where a mount below a directory is, by its id of now (name_to_handle_at(2)).
 *
 * root_fd   the directory, as it was opened: nothing is reached by way of what was mounted over it
 * ret_path  gives, relative to root_fd
 *
 * Returns 0, -ENOENT when there is none, -ENOMEM or another errno. Reads /proc/self/mountinfo, some
 * microseconds for each mount there.
 */
int mount_point_of_id(int root_fd, int mount_id, char **ret_path);

/* The mounts below a directory that belong to its tree, and not to what was mounted over it: one
 * string each, a number of the mount, a space, and the path of the mount point relative to root_fd.
 * The number is one that no other mount has had where the kernel has such numbers (from 6.8 on), so
 * that another mount in the place of one is told from it. Gives both the array and the strings.
 *
 * Returns 0, -ENOMEM or another errno.
 */
int mount_points_below(int root_fd, char ***ret_points, size_t *ret_n_points);

/* Open the top directory of what is mounted at a path for reading; symbolic links are not followed.
 *
 * device  if not 0, of the directory wanted: -ENOENT for another
 *
 * Returns a descriptor the caller closes, or an errno of openat2(2).
 */
int mount_point_open(int root_fd, const char *path, dev_t device);

/* A path as the kernel's tables of mounts write it, with space, tab, newline and backslash as \ooo,
 * made into the path itself. In place. */
void mount_point_unescape(char *text);

#endif
