/* The way to a document in a tree that others write: nobody can lead it elsewhere by a link or a
 * mount put in the place of a directory, nor make it long for each of many documents
 * (base/files/way.h).
 */
#ifndef KINFS_TOOLS_DOCUMENTS_PLACE_H
#define KINFS_TOOLS_DOCUMENTS_PLACE_H

#include <stdint.h>

#include "base/files/trust.h"
#include "base/files/way.h"

/* Zero-initialised; ends with place_way_done(). Of one thread at a time. */
struct place_way {
    struct way way; /* the mark of a directory is its mount */
    struct trusted_mount trusted;
};

void place_way_done(struct place_way *way);

/* Open what is at a path, O_PATH. The first n_named bytes lead where they lead; 0: the path begins
 * at the root. Below that no link is followed, and no other user's FUSE mount is asked. A directory
 * that is kept open is the one that was found, wherever it is by now.
 *
 * Returns a descriptor the caller closes, which may be of a link; -EXDEV in another user's mount,
 * -ENOTDIR below a link, or another errno of open(2). Two system calls for each component that is
 * not known from before, and a look at the table of mounts where the mount is another than the
 * trusted one. */
int place_open(struct place_way *way, const char *path, uint32_t n_named);

#endif
