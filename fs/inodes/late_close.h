/* Closing what is the last descriptor of a removed file: the file system then frees all it has,
 * which takes longer than removing the name did. A thread of its own does it, so that nobody who is
 * served waits for that; not for longer than a millisecond or two, so that the room is there again.
 */
#ifndef KINFS_FS_INODES_LATE_CLOSE_H
#define KINFS_FS_INODES_LATE_CLOSE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { LATE_CLOSE_ROOM = 64 };

struct late_close {
    pthread_mutex_t lock; /* of all below; nothing else is taken under it */
    pthread_cond_t called;
    pthread_t thread;
    bool started, sleeps, ending;
    int fds[LATE_CLOSE_ROOM];
    size_t n_fds;
};

void late_close_init(struct late_close *late);
/* Closes all. No other thread uses it any more. */
void late_close_done(struct late_close *late);

/* Takes the descriptor. Where there is no room, or no thread to be had, it is closed at once. Any
 * thread. */
void late_close(struct late_close *late, int fd);

#endif
