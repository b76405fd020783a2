/* Locks that have to be waited for: each in a thread of its own, so that the workers of the mount
 * stay free to serve the unlock. */
#ifndef KINFS_FS_LOCK_WAIT_H
#define KINFS_FS_LOCK_WAIT_H

#include "fs/open_file.h"
#include "fs/posix_lock.h"

struct lock_waiters;

int lock_waiters_new(struct lock_waiters **ret_waiters);
/* Let all who wait give up (ECONNABORTED), and wait until they have replied. */
void lock_waiters_end(struct lock_waiters *waiters);
void lock_waiters_free(struct lock_waiters *waiters); /* NULL allowed */

/* Wait for a lock and reply: EINTR when the caller is interrupted, ENOLCK when there can be no
 * thread. The references are taken.
 *
 * owner, lock     a record lock
 * flock_op        or, with owner NULL, of the whole file
 */
void lock_wait(fuse_req_t req, struct open_file *file, struct lock_owner *owner,
               const struct flock *lock, int flock_op);

#endif
