/* A way down a path of directories, by descriptors. The next one goes on from the deepest directory
 * that it has in common with the one before.
 *
 * Somebody can lay thousands of files below two thousand directories, so that each file takes
 * thousands of system calls. Kept open of a way are its last directory, those that are 1, 2, 4, 8
 * ... above it, and the first, a dozen in all: the ways to a file in each of these directories,
 * from the deepest one up, take five steps each, and not a thousand.
 *
 * How a directory is opened, and what is looked at in it, is the caller's:
 *
 *     r = way_turn(way, path, 0);
 *     if (r == 0 && !way->n_kept)
 *         r = way_keep(way, open(...the first...), 0);
 *     while (r == 0 && (r = way_next(way)) > 0)
 *         r = way_keep(way, openat(way_last(way)->fd, way->name, ...), 0);
 *     if (r == 0)
 *         ... what the path leads to is way->name in way_last(way)->fd
 *
 * A directory that is kept is the one that was found, wherever it is by now. No function makes a
 * system call, but for close(2). Of one thread at a time.
 */
#ifndef KINFS_BASE_FILES_WAY_H
#define KINFS_BASE_FILES_WAY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WAY_KEPT = 32 };

struct way_directory {
    size_t n_bytes; /* of the path, to the directory's end */
    int fd;
    uint64_t mark; /* the caller's */
};

/* Zero-initialised; ends with way_done(). */
struct way {
    char name[NAME_MAX + 1]; /* of the step to be taken, from the last directory that is kept */
    size_t n_kept;
    struct way_directory kept[WAY_KEPT]; /* owned; the first is where the path begins */
    char *path;
    size_t n_end;  /* of the path's bytes, to the end of the step to be taken */
    size_t n_left; /* directories that follow the last that is kept, or more */
    bool may_go;   /* that one, once the next is kept */
};

void way_done(struct way *way);

/* Turn to another path, and keep of the directories those that are on it. The first n_first bytes
 * lead to the first one; what follows them has a component or more. Where none is kept afterwards
 * the first is the step to be taken. Returns 0 or -ENOMEM. */
int way_turn(struct way *way, const char *path, size_t n_first);

/* Returns 1: the step to be taken is to a directory; 0: it is the last of the path, to whatever it
 * may be; -ENAMETOOLONG. */
int way_next(struct way *way);

/* Takes the descriptor of the directory that the step has led to. Returns 0, or the descriptor
 * where that is a negative errno. */
int way_keep(struct way *way, int fd, uint64_t mark);

static inline const struct way_directory *way_last(const struct way *way)
{
    return &way->kept[way->n_kept - 1];
}

#endif
