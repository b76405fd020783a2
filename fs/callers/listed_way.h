/* The directories on the way to the file that was looked at last, as far as who asks can list them:
 * the way to the next file begins at the deepest that both have in common.
 *
 * Somebody can lay thousands of files below two thousand directories, so that each file takes
 * thousands of system calls. Kept open of a way are its last directory, those that are 1, 2, 4, 8
 * ... directories above it, and the root, a dozen in all. So the way from one file to any other
 * takes at most twice as many steps as there are directories on it that the one before has not.
 *
 * That a directory can be listed is believed for LISTED_WAY_MS; then all of it is walked again.
 */
#ifndef KINFS_FS_CALLERS_LISTED_WAY_H
#define KINFS_FS_CALLERS_LISTED_WAY_H

#include <stddef.h>
#include <stdint.h>

#include "fs/callers/looks.h"

enum { LISTED_WAY_KEPT = 32, LISTED_WAY_MS = 50 };

/* Zero-initialised; ends with listed_way_done(). Of one asker and one thread at a time. */
struct listed_way {
    char *path; /* of the last file */
    size_t n_kept;
    struct {
        size_t n_bytes; /* of the path, to the directory's end; 0: the root */
        int fd;         /* O_PATH */
    } kept[LISTED_WAY_KEPT];
    int64_t since_ms;
};

void listed_way_done(struct listed_way *way);

/* The directory of a path, on the way of which each can be listed and searched, on a thread that is
 * who asks; no link is followed, none leads out, nor into a mount.
 *
 * looking   what of it the kernel does not know (fs/callers/looks.h)
 * root_fd   of the tree, borrowed
 * path      relative to it
 * ret_name  borrowed from path: what follows the directory
 *
 * Returns an O_PATH descriptor, borrowed until the next call; -EACCES, -ENOENT, -ENOMEM,
 * -ENAMETOOLONG or another error of looks_open() or faccessat2(2), with *ret_name then of the first
 * that cannot be had. Three calls for each directory that is not known from before.
 */
int listed_way_open(struct listed_way *way, struct looking *looking, int root_fd, const char *path,
                    const char **ret_name);

/* Returns 0 where the thread may read what a descriptor is of, or an error. */
int listed_way_check_readable(int fd);

#endif
