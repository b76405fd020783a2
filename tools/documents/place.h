/* The way to a document in a tree that others write: nobody can lead it elsewhere by a link or a
 * mount put in the place of a directory. */
#ifndef KINFS_TOOLS_DOCUMENTS_PLACE_H
#define KINFS_TOOLS_DOCUMENTS_PLACE_H

#include <stdint.h>

/* Open what is at a path, O_PATH. The first n_named bytes lead where they lead; 0: the path begins
 * at the root. Below that no link is followed. No other user's FUSE mount is asked.
 *
 * trusted  as of trust_open_anywhere(); not NULL
 *
 * Returns a descriptor the caller closes, which may be of a link; -EXDEV in another user's mount,
 * -ENOTDIR below a link, or another errno of open(2). Two system calls for each component, and a
 * look at the table of mounts where the mount is another than the trusted one. */
int place_open(const char *path, uint32_t n_named, uint64_t *trusted);

#endif
