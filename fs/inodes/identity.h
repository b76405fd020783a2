/* On whose behalf a thread of the mount acts.
 *
 * A file that is created belongs to the caller, whose fsuid, fsgid and umask the thread takes for
 * one system call. Whether the caller may was decided by the kernel (default_permissions), with
 * groups and access control lists it knows better: so capabilities that decide it again are kept.
 *
 * Serving threads do without CAP_FSETID: with it a write or truncation would not clear the suid and
 * sgid bits; with kernel passthrough the credentials of the thread that opened count.
 *
 * Without privileges a mount acts as its owner, and all this does nothing.
 *
 * Threads: what acts as somebody (identity_enter*(), identity_leave(), identity_change(),
 * identity_move(), identity_again()) is for threads that were begun after
 * identity_begin_serving(), by the one that called it or by such: those that serve, waiters, and
 * those of the views. Those of the watch were begun before, and would lose rights by
 * identity_leave(). identity_begin_serving() and identity_end_serving() are for the one in
 * fs_serve(). The rest: any.
 */
#ifndef KINFS_FS_INODES_IDENTITY_H
#define KINFS_FS_INODES_IDENTITY_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "fs/inodes/capable.h"
#include "fs/state.h"

/* Learn what this process may do, and give up CAP_FSETID and CAP_SYS_RESOURCE in the calling
 * thread, whose descendants are to serve. identity_end_serving() takes them back. */
void identity_begin_serving(void);
void identity_end_serving(void);

/* The kernel lets this process offer backing files (CAP_SYS_ADMIN). */
bool identity_can_pass_through(void);

/* The limits of this process for want of privileges; before identity_begin_serving() too. */
struct identity_limits {
    bool no_passthrough; /* offer backing files */
    bool no_others;      /* act as somebody else */
    bool no_owners;      /* change owners */
};
struct identity_limits identity_get_limits(void);

/* Act as the caller until identity_leave() where the file system of an inode judges by itself
 * (base/mounts/judges.h): with the caller's supplementary groups and without any capability.
 * Elsewhere, and for root and the owner of the process, nothing is done.
 *
 * Returns 0, -ENOMEM, or -EACCES: the caller cannot be acted as, has groups that cannot be known,
 * or is somebody whom the kernel would not let in. 30 us where it is done. */
int identity_enter_judged(fuse_req_t req, const struct inode *inode);
bool identity_is_judged(fuse_req_t req, const struct inode *inode); /* whether it is done */

/* Act as the caller of a request, with his umask, until identity_leave(), which keeps errno.
 * in is the directory, and mode that of what is to be created; an sgid bit in it stays only where
 * the caller is of the group that it comes to have, which the kernel decides once more (30 us).
 *
 * Returns 0, or a negative errno when the thread cannot, and then it acts as before: -EPERM,
 * -ENOMEM; -EACCES where groups count and cannot be known.
 */
int identity_enter(fuse_req_t req, const struct inode *in, mode_t mode);
void identity_leave(void);

/* The same to remove or rename names, in one or two directories, which may grow by that or get a
 * whiteout. The kernel has decided by what it last knew of a name, which may be another file's
 * since. Where a sticky bit makes that count, the kernel decides once more, for the caller and the
 * files there are, as the names change; there -EPERM where the process cannot act as others. Some
 * 2 us and one fstat(2) of each directory for other users than the process's and root.
 *
 * in  the first directory, whose file system may judge; a name moves within one */
int identity_enter_removal(fuse_req_t req, const struct inode *in, int dirfd, int other_dirfd);

/* Make one change of a file's attributes as the caller: mode, owner, times, flags, extended ones.
 * The kernel has decided by the owner it last knew, and whoever has given a file away could make it
 * a program with another's rights meanwhile; so the kernel decides once more, for the caller and
 * the file as it is, without the capabilities that would overrule it, and where it refuses, by
 * identity_again(). The caller's groups are asked for only where they may count: of who does not
 * own the file, and of who gives it to a group. Root and the owner of the process act as before,
 * and so does a process that cannot act as others, which has no such capabilities.
 *
 * inode, fds   the file, maybe O_PATH; where its file system judges, it judges the caller
 * with_groups  whether they count for the owner of the file, too
 * with_sgid    whether an sgid bit is to be set or to stay: by CAP_FSETID where that is the
 * caller's, root's or that of the owner of the process; of all others it stays who are of the
 *              file's group, as that is when the thread acts as them
 *
 * Returns what make returns; -EACCES also where groups count and cannot be known. Some 2 us, with
 * groups 30 us. */
int identity_change(fuse_req_t req, const struct inode *inode, const struct change_fds *fds,
                    bool with_groups, bool with_sgid, change_fn *make, const void *what);

/* The mount makes changes as the one who asks for them. */
bool identity_can_switch(void);

/* Move a name to another directory, or link a file, as the caller, who is another than root and the
 * owner of the process. The kernel has decided whether what is moved may be written to, as a
 * directory has to be that gets another parent, and whose a file is, by what it last knew; so the
 * kernel decides once more, for the caller and what there is. The caller's groups are asked for
 * with_groups, and where it is refused without. Returns what make returns, or -EPERM of a process
 * that cannot act as others; 3 us, with groups 40 us. */
int identity_move(fuse_req_t req, bool with_groups, const struct change_fds *fds, change_fn *make,
                  const void *what);

/* Make a change that failed once more where that may be for want of capabilities which the caller
 * has (fs/inodes/capable.h), on a thread that acts as itself.
 *
 * inode  it, or its directory
 * r      what it returned without
 *
 * Returns r or what make returns. Costs nothing of what did not fail. */
int identity_again(fuse_req_t req, const struct inode *inode, int r, const struct change_fds *fds,
                   change_fn *make, const void *what);

/* Act as the caller until identity_leave() for what the kernel leaves to the file system to decide:
 * with the caller's supplementary groups and without any capability; root's and the owner's of the
 * process are its own. Also -EACCES where the groups cannot be known. Reads /proc, some 30 us. */
int identity_enter_alone(fuse_req_t req);

/* The supplementary groups of the caller, which the asker frees. Returns 0, -ENOMEM, or -EACCES
 * where they cannot be known: of a process that is gone, or that this one cannot see. Without them
 * nothing may be allowed: who is of a group may be denied what others may. */
int identity_get_groups(fuse_req_t req, gid_t **ret_groups, size_t *ret_n_groups);
int identity_groups_of(const struct fuse_ctx *ctx, gid_t **ret_groups, size_t *ret_n_groups);

/* The request is of the thread that sent it: not of one that sent it for a file system stacked on
 * the mount, which asks as whoever mounted that (overlayfs). Returns 0, -ENOMEM, or -EACCES, as of
 * who cannot be seen or asks by io_uring. Reads /proc, some 30 us. */
int identity_check_sender(fuse_req_t req);

/* Allocate as a user, until identity_leave(): the blocks a file system reserves for root, and
 * quotas, count for others (who are refused CAP_SYS_RESOURCE by all threads that serve). */
void identity_enter_allocation(uid_t uid);

/* Read, write or allocate in an open file as the caller, until identity_leave(): where its file
 * system judges as identity_enter_judged(), whose errors it returns, for such a one may judge each
 * transfer; elsewhere as identity_enter_allocation(). */
int identity_enter_transfer(fuse_req_t req, const struct inode *inode);

#endif
