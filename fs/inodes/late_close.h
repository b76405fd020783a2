/* Closing what may be the last descriptor of a removed inode: the file system then frees all it
 * has, which takes longer than removing the name did, and its owner can make it wait for the disk
 * (chattr +S). Threads that do nothing else close it, so that nobody waits who has not to do with
 * it: neither who is served, nor the watch, nor the end of the mount.
 *
 * Descriptors that come in a millisecond are gathered and put to the inodes' owners by one of these
 * threads, which then closes those of one owner, while another gathers. So an owner's closes take
 * one thread at a time, however long they take.
 *
 * Each descriptor counts where its asker says until it is closed, by which their number is bounded.
 */
#ifndef KINFS_FS_INODES_LATE_CLOSE_H
#define KINFS_FS_INODES_LATE_CLOSE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "fs/inodes/user_room.h"

/* While the closes of fewer owners than threads stand still, those of all others go on. */
enum { LATE_CLOSE_THREADS = 16, LATE_CLOSE_BUCKETS = 256 };

/* The counts that a descriptor is part of until it is closed. */
struct late_count {
    atomic_size_t *n;       /* or NULL */
    struct user_room *room; /* or NULL: of a payer, who has taken one of it */
    uid_t payer;
};

struct late_fd;
struct late_owner;
STAILQ_HEAD(late_fds, late_fd);

struct late_close {
    int (*close_fd)(int fd); /* close(2) */
    pthread_mutex_t lock;    /* of all below; a room's alone is taken under it */
    pthread_cond_t called, gather_called, emptied;
    pthread_t threads[LATE_CLOSE_THREADS];
    unsigned n_threads, n_resting; /* resting: until there is nobody who gathers */
    bool is_gathering, sleeps, ending;
    bool is_left; /* nobody is there any more for whom something counts */
    size_t n_fds;
    struct late_fds fds; /* not gathered yet */
    STAILQ_HEAD(, late_owner) waiting;
    LIST_HEAD(, late_owner) owners[LATE_CLOSE_BUCKETS]; /* with descriptors, or being closed */
};

/* Returns 0 or -ENOMEM; gives. */
int late_close_new(struct late_close **ret_late);

/* Waits until all are closed, but not for longer than that: then the threads are left behind, and
 * the memory they use. The end of the process closes those that they do not. No other thread uses
 * it any more. NULL allowed. */
void late_close_free(struct late_close *late, int wait_ms);

/* Takes the descriptor. Where there is no memory, or no thread to be had, it is closed at once.
 * Any thread, under any lock but a user_room's. A tenth of a microsecond, but for the first, which
 * starts a thread, and one that is closed at once. */
void late_close(struct late_close *late, int fd, struct late_count count);

/* The same where the inode has no name any more, or where that cannot be told. Else it is closed at
 * once: its owner may take the name away in that moment. Not under locks.
 *
 * is_last  it may be the last one; if not, only a payer waits for how slow what is his own may be
 */
void late_close_removed(struct late_close *late, int fd, struct late_count count, bool is_last);

#endif
