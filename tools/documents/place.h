/* The way to a document in a tree that others write: nobody can lead it elsewhere by a link or a
 * mount put in the place of a directory, nor make it long for each of many documents.
 *
 * Somebody can lay thousands of files below two thousand directories, so that each file takes
 * thousands of system calls. The way to the next one begins at the deepest directory that it has in
 * common with the last. Kept open are the last directory, those that are 1, 2, 4, 8 ... above it,
 * and what was named, a dozen in all: so the way from one file to any other takes at most twice as
 * many steps as there are directories on it that the one before has not.
 */
#ifndef KINFS_TOOLS_DOCUMENTS_PLACE_H
#define KINFS_TOOLS_DOCUMENTS_PLACE_H

#include <stddef.h>
#include <stdint.h>

enum { PLACE_WAY_KEPT = 32 };

/* Zero-initialised; ends with place_way_done(). Of one thread at a time. */
struct place_way {
    char *path; /* of the last call that had a way to go */
    uint32_t n_named;
    uint64_t trusted; /* a mount known to be no other user's; 0: none yet */
    size_t n_kept;
    struct {
        size_t n_bytes; /* of the path, to the directory's end; the first is what was named */
        int fd;         /* O_PATH */
        uint64_t mount;
    } kept[PLACE_WAY_KEPT];
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
