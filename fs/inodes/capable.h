/* Changes by callers who are not root and yet may do more than their own files allow, by
 * capabilities: root of a user namespace (a container), or a service with some of root's rights.
 *
 * The kernel decides about each by the capabilities a process has in its user namespace, and
 * whether owner and group of the file are mapped there. Asked before the change that would be of
 * another file by then; so the change itself is made by somebody who is what the caller is, in the
 * caller's user namespace. A thread cannot enter one, a process of a single thread can: a child
 * that shares this process's memory, becomes the caller, makes the one system call, and ends.
 *
 * The caller is known by /proc. It waits in its system call for the answer, where it cannot end,
 * execute or change what it may; and so is what /proc says of it until then.
 *
 * Whoever is root of that namespace has power over the child while it is there. Its memory is kept
 * by that of this process not being dumpable, which the change of user has made so (ptrace(2)); it
 * can be stopped, and then is ended. But a process that ends gives back its memory before its
 * descriptors, and in between kernels of before 2026 let them be taken (pidfd_getfd(2)); when it
 * ends its root may choose. So before it enters another namespace it leaves this process's
 * descriptors and keeps those of the change, and that of the namespace. What can be taken is an
 * O_PATH descriptor of a file or directory that the caller has named: modes and ACLs hold for it,
 * but it is below the mount, which keeps nothing from it any more; or, of an ioctl(2), what the
 * caller has open.
 */
#ifndef KINFS_FS_INODES_CAPABLE_H
#define KINFS_FS_INODES_CAPABLE_H

#include <stdbool.h>

#include "fs/callers/thread_rights.h"
#include "fs/state.h"

/* Ids as a system call of the child takes them: those of its user namespace. NULL: that of this
 * process. An id that has none there is (uid_t)-1. */
struct capable_ids;
uid_t capable_uid(const struct capable_ids *ids, uid_t uid);
gid_t capable_gid(const struct capable_ids *ids, gid_t gid);

/* The descriptors that a change is made by: all that it has. */
struct change_fds {
    int fd;
    int other_fd; /* of a second file or directory, or -1 */
    bool is_open; /* fd is what the caller has open, and needed so; else O_PATH will do */
};
static inline struct change_fds change_of(int fd)
{
    return (struct change_fds){.fd = fd, .other_fd = -1};
}

/* One system call, with what it is given. Returns 0 or a negative errno. Takes no lock, allocates
 * nothing and makes no descriptor: a child may make it. */
typedef int change_fn(const struct change_fds *fds, const void *what,
                      const struct capable_ids *ids);

/* Before there is a change in another user namespace, which is refused otherwise, and after the
 * last. By one thread, with no other in here. */
void capable_begin(void);
void capable_end(void);

/* Make a change that the caller of a request was refused as somebody without capabilities.
 *
 * ctx      of the request
 * refused  the negative errno it was refused with
 * own      what the calling thread is by itself, and is now
 *
 * Returns what make returned, or refused: the caller has no capability that would count, cannot be
 * known (another pid namespace, /proc of another), or cannot be acted as. Reads a file of /proc
 * where it has no capability that would count, else several, and starts a process. Any thread that
 * takes no signals.
 */
int capable_change(const struct fuse_ctx *ctx, int refused, const struct thread_rights_own *own,
                   const struct change_fds *fds, change_fn *make, const void *what);

#endif
