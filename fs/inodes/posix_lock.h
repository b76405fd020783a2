/* POSIX record locks of the mount's callers, held on the backing tree.
 *
 * To the backing tree all callers are this one process, so a lock of theirs is an open file
 * description lock on a descriptor of its own for each lock owner and inode. They are seen by
 * processes that use the backing tree directly, and the other way round. As POSIX has it, an
 * owner's locks on an inode end with its first close of any of its descriptors (FLUSH). The mount
 * asks for no FLUSH of files open for reading only: there they end with the last close. Deadlocks
 * are not detected (EDEADLK): the mount is not told which locks are a process's and which are of
 * open files themselves, which may wait in circles (docs/decisions/0012).
 *
 * Threads: posix_lock_owner() and posix_lock_await_lease() may act as the caller, so they are for
 * those that serve and for waiters (identity.h). The rest: any.
 */
#ifndef KINFS_FS_INODES_POSIX_LOCK_H
#define KINFS_FS_INODES_POSIX_LOCK_H

#include "fs/inodes/open_file.h"

struct lock_owner; /* of one inode */

struct locker {
    uint64_t id; /* of the owner */
    pid_t pid;   /* of the process that locks */
    bool waits;  /* no close takes the owner away before posix_lock_waited() */
};

/* The owner's descriptor for locks, made when needed: of whoever locks, not of who unlocks.
 *
 * Returns 0, -ENOLCK (no memory, or the user has too many descriptors), -EWOULDBLOCK (a lease is
 * about to be broken), or another errno of open(2); gives a reference. Waits for nobody but the
 * file system, and not under inode_lock(). */
int posix_lock_owner(fuse_req_t req, struct open_file *file, const struct locker *locker,
                     struct lock_owner **ret_owner);
/* The wait through a file is over, and what it was granted ends with that file. Takes the
 * reference. */
void posix_lock_waited(struct fs *fs, struct open_file *file, struct lock_owner *owner);
/* The same of one that is there; NULL: has no locks. Gives a reference. */
struct lock_owner *posix_lock_known(struct fs *fs, struct inode *inode, uint64_t id);
/* Wait until a lease is broken. Returns 0, -EINTR (a signal), or another errno of open(2). */
int posix_lock_await_lease(fuse_req_t req, const struct open_file *file);
void posix_lock_unref(struct lock_owner *owner);
int posix_lock_fd(const struct lock_owner *owner);

/* The pid to name as the holder of a conflicting lock: 0 when it is not known. */
pid_t posix_lock_other_pid(struct fs *fs, struct inode *inode, const struct lock_owner *owner);

/* End an owner's locks on an inode. */
void posix_lock_drop_owner(struct fs *fs, struct inode *inode, uint64_t id);
/* Under inode_lock(): those last taken through a file are its inode's no more. Gives a list (NULL:
 * none) for posix_lock_drop(), which ends their locks and is not called under a lock: to close what
 * is on a file system that does not answer waits. */
struct lock_owner *posix_lock_take_file(struct open_file *file);
void posix_lock_drop(struct lock_owner *taken);

#endif
