/* Calls of the backing tree that wait for a user, who may never come: for a lock, or for a lease to
 * be given up. Each has a thread of its own, so that those that serve stay free for everybody, also
 * for who is waited for.
 *
 * Threads are bounded (WAITERS_MAX), and shared out by user (user_room.h).
 *
 * Threads: waiter_start() is for those that serve, whose rights the new thread has, and may so act
 * as the caller (identity.h); the rest is for the one that calls fs_serve() or opens and closes
 * the mount.
 */
#ifndef KINFS_FS_INODES_WAITER_H
#define KINFS_FS_INODES_WAITER_H

#include "fs/state.h"

/* Some 40 KiB of memory each. Far fewer than the tasks systemd allows a service (4,915 or more),
 * which those that serve come out of too. */
enum { WAITERS_MAX = 1024 };

struct waiters;
int waiters_new(struct waiters **ret_waiters); /* 0 or -ENOMEM; gives */
/* Let all who wait give up (ECONNABORTED), and wait until they have replied. */
void waiters_end(struct waiters *waiters);
void waiters_free(struct waiters *waiters); /* NULL allowed */

/* The first member of what a call needs. */
struct waiter {
    fuse_req_t req;
    /* Makes the call, which may block. -EINTR says that a signal broke it: it is made again, unless
     * whoever asked was interrupted too. */
    int (*call)(struct waiter *waiter);
    /* Replies what came of it, -EINTR (interrupted) or -ECONNABORTED (the end); frees. */
    void (*answer)(struct waiter *waiter, int r);
    struct waiters *waiters; /* these two are waiter_start()'s */
    uid_t uid;
};

/* Make a call, and answer, in a thread of its own. Returns 0 (takes the waiter), -EAGAIN: the user
 * has too many, or there is no thread; then nothing was done. */
int waiter_start(struct waiters *waiters, struct waiter *waiter);

#endif
