/* The directories that inotify watches, by the kernel's number of the watch.
 *
 * The kernel does not give a number again before it has given all there are, so that numbers grow
 * as directories come and go. What is kept takes memory for as many as there ever were at a time.
 *
 * One thread; what is found is borrowed until it is forgotten.
 */
#ifndef KINFS_FS_WATCH_WATCHED_DIRECTORIES_H
#define KINFS_FS_WATCH_WATCHED_DIRECTORIES_H

#include "base/files/file_key.h"

struct watched_directory {
    struct watched_directory *next; /* of the same bucket */
    int watch_id;
    struct file_key key;
};

/* All zero: none. */
struct watched_directories {
    struct watched_directory **buckets;
    size_t n_buckets, n; /* a power of two, or 0 */
};

void watched_directories_done(struct watched_directories *directories);

/* A directory that has that number already is the same one. Returns 0, or -ENOMEM: nothing has
 * changed. */
int watched_directories_put(struct watched_directories *directories, int watch_id,
                            const struct file_key *key);
/* NULL: there is none. */
const struct watched_directory *
watched_directories_find(const struct watched_directories *directories, int watch_id);
void watched_directories_forget(struct watched_directories *directories, int watch_id);

#endif
