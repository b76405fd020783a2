/* Directories and files are opened as one's own when nobody but the effective user (and root, who
 * can do everything) can have made or changed them, or put another thing in their place. This is
 * the one place that decides it, as strictly as sshd does for its keys.
 *
 * A directory is reached component by component from "/", by descriptors. Each directory and each
 * symbolic link on the way belongs to root or the effective user; others can write none of them but
 * a sticky one, as /tmp is, from which only the owner of an entry removes it. Access control lists
 * count by their mask, which the mode shows for the group. A FUSE mount counts where the kernel
 * says that it is root's or the effective user's: in another's, owners and modes are made up. One
 * that the table of mounts has not counts only where "/" is in it, or what has no path, as a pipe:
 * nothing is asked what it is.
 *
 * A directory or file that was opened by these functions stays what it is: later uses of the same
 * path need not look again.
 *
 * Everywhere ret_why (may be NULL; it points to NULL before) is given with -EPERM alone: a line
 * without newline that names the path and what to change. Any thread may call any of these; each
 * costs a few system calls for each component of a path. Descriptors are closed by the caller and
 * at an exec.
 */
#ifndef KINFS_BASE_FILES_TRUST_H
#define KINFS_BASE_FILES_TRUST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

/* Open a directory of the effective user's, which nobody else can write, for reading.
 *
 * Returns a descriptor, -EPERM (not to be trusted), -ENOENT, -ENOTDIR, -EACCES, -ELOOP (more than
 * 40 symbolic links), -ENOMEM or another errno of open(2). */
int trust_open_directory(const char *path, char **ret_why);

/* The same, and make the last component (0700) where it is missing: then *ret_made (may be NULL)
 * becomes true, else it is untouched. Returns as above, or an errno of mkdir(2). */
int trust_make_directory(const char *path, bool *ret_made, char **ret_why);

/* Make the directories above the last component that are missing (0700). Those that are there may
 * be anybody's that is to be trusted on the way. Returns 0, or as above. */
int trust_make_parents(const char *path, char **ret_why);

/* The absolute path, without links, "." and "..", of a directory that trust_open_directory() opens,
 * or of one to be made, whose last components are missing: components that are there can be trusted
 * on the way, and missing ones are appended as they are named. ret_path gives. Returns 0, or as
 * trust_open_directory(); -ENOENT for ".." behind a missing component. */
int trust_resolve(const char *path, char **ret_path, char **ret_why);

/* Open the directory that a path's last component is in. It may be one that is allowed on the way:
 * root's, or sticky, as /tmp is; a file that trust_open_file() opens there is one's own
 * nevertheless. Returns as trust_open_directory(). */
int trust_open_parent(const char *path, char **ret_why);

/* Open a directory that may be anybody's, O_PATH, where nobody else can have chosen to what the
 * path leads by a symbolic link: each is root's or the effective user's. Directories on the way are
 * not looked at: who may rename them puts no directory there but those of their own. Links of /proc
 * are followed by the kernel. Neither it nor anything on the way is in another user's FUSE mount,
 * whose server is asked nothing: it could keep who waits for its answer for ever.
 * Returns as trust_open_directory(). */
int trust_open_anybodys(const char *path, char **ret_why);

/* Open a regular file for reading that says what is to be done: root's or the effective user's, and
 * none that others can write, by such links and mounts alone. Directories on the way may be
 * anybody's.
 * Returns as trust_open_directory(), or -EINVAL for what is no regular file. */
int trust_open_order(const char *path, char **ret_why);

/* A mount known to be no other user's. It is kept in use, as the next mount may get the number of
 * one that is gone. Zero-initialised; ends with trusted_mount_done(). */
struct trusted_mount {
    uint64_t id; /* 0: none yet */
    int fd;      /* where there is one */
};
void trusted_mount_done(struct trusted_mount *trusted);

/* Open what is at a path, be it a file, O_PATH, by anybody's links, but as above in no other user's
 * FUSE mount, nor by way of one.
 *
 * trusted  to be given to the next call, which is cheaper with it; may be NULL
 *
 * Returns a descriptor, -EXDEV for such a mount, or another errno of open(2). */
int trust_open_anywhere(const char *path, struct trusted_mount *trusted);

/* The same of a path that others have chosen, as one in a document, in a directory that is open: no
 * automounter is asked, nothing in .kinfs, and no link of /proc is followed; all of that is -EXDEV.
 * A view at the top of a mount of kinfs is not there (-ENOENT). */
int trust_open_by_word(int directory_fd, const char *path, struct trusted_mount *trusted);

/* The same of a mount point: what is mounted there may be another user's, and is not asked. */
int trust_open_mount_point(const char *path);

/* A directory within one that was opened above; name has no slash. A symbolic link is refused.
 * Returns as trust_open_directory(). */
int trust_open_directory_at(int directory_fd, const char *name, char **ret_why);

/* A regular file within one: of the effective user's, with this name alone, and such that others
 * cannot write it; where they cannot search the directory, its mode, which some umask made, is no
 * matter. Links, FIFOs, devices, sockets and directories are refused; none is waited for.
 *
 * flags  as of open(2); O_CREAT makes it 0600, O_TRUNC empties it when it has been looked at
 *
 * Returns a descriptor, -EPERM, -ENOENT, -EACCES or another errno of open(2). */
int trust_open_file(int directory_fd, const char *name, int flags, char **ret_why);

/* The same as a stream, which the caller closes, for writing with O_WRONLY and else for reading.
 * Returns 0, or as above. */
int trust_open_stream(int directory_fd, const char *name, int flags, FILE **ret_stream);

/* Take from others what they may do with a file or directory of one's own that is open: who can
 * read it can keep it locked (flock(2)). Of a file system that does not let it is as it was. */
void trust_keep_from_others(int fd);

/* Check that an entry is such a file, by its lstat(2), but for its number of names.
 * Returns 0, -EPERM or an errno of fstat(2). */
int trust_check_file(int directory_fd, const char *name, const struct stat *st, char **ret_why);

#endif
