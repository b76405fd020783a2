/* The ids and groups of a thread of another process, by /proc. */
#ifndef KINFS_FS_CALLERS_THREAD_GROUPS_H
#define KINFS_FS_CALLERS_THREAD_GROUPS_H

#include <stddef.h>
#include <sys/types.h>

/* Gives the groups, which may be none, to be freed. thread 0: one that this process cannot see.
 * uid and gid are those it asked by: its fsuid and fsgid, or the real ones.
 *
 * Returns 0, -ENOMEM, -ENFILE (no descriptor is left to the daemon), or -EACCES where they cannot
 * be known: of a thread that is gone, or has another's ids (its number was given to another since,
 * or a file system in between asks as somebody else), of all where /proc numbers them as another
 * pid namespace does, and of a worker of io_uring, which may have groups that who asks by it has
 * given up. Any thread; 30 us, but 30 ms of the 65,536 groups that a thread may have, each of which
 * the kernel writes out: once, where fuse_req_getgroups() has it done again for each larger buffer.
 */
int thread_groups(pid_t thread, uid_t uid, gid_t gid, gid_t **ret_groups, size_t *ret_n_groups);

/* A thread is known to have the ids it asks by, for files: a server that acts as others has its
 * real ones all the while. Returns what thread_groups() does, and takes as long. */
int thread_check_ids(pid_t thread, uid_t uid, gid_t gid);

/* The real user of whatever thread has the number now. Returns what thread_groups() does, and takes
 * as long. */
int thread_real_uid(pid_t thread, uid_t *ret_uid);

#endif
