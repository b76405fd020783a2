/* The directories on the way to the file that was looked at last, as far as who asks can list them:
 * the way to the next file begins at the deepest that both have in common (base/files/way.h).
 *
 * That a directory can be listed is believed for LISTED_WAY_MS; then all of it is walked again.
 *
 * Threads: one at a time for a way, acting as who asks.
 */
#ifndef KINFS_FS_CALLERS_LISTED_WAY_H
#define KINFS_FS_CALLERS_LISTED_WAY_H

#include <stdint.h>

#include "base/files/way.h"
#include "fs/callers/looks.h"

enum { LISTED_WAY_MS = 50 };

/* Zero-initialised; ends with listed_way_done(). Of one asker. */
struct listed_way {
    struct way way;
    int64_t since_ms;
};

void listed_way_done(struct listed_way *way);

/* Open what is at a path, on the way of which each directory can be listed and searched, on a
 * thread that is who asks; no link is followed, none leads out, nor into a mount.
 *
 * looking  what of it the kernel does not know (fs/callers/looks.h)
 * root_fd  of the tree, borrowed
 * path     relative to it
 *
 * Returns an O_PATH descriptor the caller closes; -EACCES, -ENOENT, -ENOMEM, -ENAMETOOLONG or
 * another error of looks_open() or faccessat2(2). Three calls for each directory that is not known
 * from before.
 */
int listed_way_open(struct listed_way *way, struct looking *looking, int root_fd, const char *path);

/* Returns 0 where the thread may read what a descriptor is of, or an error. */
int listed_way_check_readable(int fd);

#endif
