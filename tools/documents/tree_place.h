/* A path of a tree that others write, below a directory that is open: nobody can lead it elsewhere.
 */
#ifndef KINFS_TOOLS_DOCUMENTS_TREE_PLACE_H
#define KINFS_TOOLS_DOCUMENTS_TREE_PLACE_H

#include <stdbool.h>

/* The path has names alone, none of them "." or "..", and is no longer than the kernel takes: it
 * leads to nothing above. */
bool tree_place_is_path(const char *path);

/* Open the directory that such a path is in, O_RDONLY: by no link, and in no mount below tree_fd.
 *
 * ret_name  the last name; of path
 *
 * Returns a descriptor the caller closes, or as mount_point_avoid(); -ENOMEM. Any thread. */
int tree_place_open_directory(int tree_fd, const char *path, const char **ret_name);

#endif
