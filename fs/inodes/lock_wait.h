/* Locks that have to be waited for: each in a thread of its own (fs/inodes/waiter.h).
 *
 * Threads: those that serve, whose rights the new one has.
 */
#ifndef KINFS_FS_INODES_LOCK_WAIT_H
#define KINFS_FS_INODES_LOCK_WAIT_H

#include "fs/inodes/posix_lock.h"

struct lock_wanted {
    struct open_file *file;
    int flock_op; /* of the whole file; or 0, and */
    struct flock lock;
    struct locker locker;
};

/* Wait for a lock and reply: EINTR when the caller is interrupted, ENOLCK when the caller's user
 * waits for too many locks, or there can be no thread. The wanted lock is copied; the reference
 * to its file is taken. */
void lock_wait(fuse_req_t req, const struct lock_wanted *wanted);

#endif
