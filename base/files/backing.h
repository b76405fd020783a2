/* The backing tree: opened once, before anything is mounted over it, and reached ever after only
 * relative to that descriptor or by file key; so the daemon can never wait for its own mount.
 */
#ifndef KINFS_BASE_FILES_BACKING_H
#define KINFS_BASE_FILES_BACKING_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/files/file_key.h"
#include "base/mounts/judges.h"

struct backing;

/* Open the tree below a directory.
 *
 * path        borrowed; an existing directory
 * ret_backing gives; end with backing_close()
 *
 * Returns 0, -ENOENT, -ENOTDIR, -EACCES, -ENOMEM or another errno of open(2).
 */
int backing_open(const char *path, struct backing **ret_backing);

/* The same below a directory that is open (O_PATH will do), wherever its name leads by now. The
 * descriptor is the caller's, and may be closed. */
int backing_open_at(int directory_fd, struct backing **ret_backing);
void backing_close(struct backing *backing);

/* The root's descriptor (O_RDONLY|O_DIRECTORY), borrowed, valid until backing_close(). */
int backing_root_fd(const struct backing *backing);
const struct file_key *backing_root_key(const struct backing *backing);

/* True when files can be opened by key (CAP_DAC_READ_SEARCH and a file system with handles). Where
 * they cannot, keys still identify (from fsid and inode number) but backing_open_key() gives
 * -EOPNOTSUPP for all but the root, and the caller must hold a descriptor or a path.
 */
bool backing_has_handles(const struct backing *backing);

/* As backing_key_at(). *ret_nested: the file is on a mount inside the tree, which any descriptor
 * that is kept there would keep from being unmounted. */
int backing_identify(struct backing *backing, int dirfd, const char *name, struct file_key *ret_key,
                     bool *ret_nested);

/* True when backing_open_key() can open files of this key's file system (the file may be gone all
 * the same); the mounts inside the tree need not all have handles. */
bool backing_key_opens(struct backing *backing, const struct file_key *key);

/* True when the key, which was made since backing_open(), is of a mount inside the tree, which may
 * be anybody's. Any thread; asks nobody. */
bool backing_key_is_nested(const struct backing *backing, const struct file_key *key);

/* The restrictions of the mount that a key is of: those of ST_NOSUID and ST_NODEV (statvfs(3)) that
 * it has, the tree's own as it was at backing_open(), one inside the tree as it was when a file was
 * last identified in it, and both where that is not known. Any thread; asks nobody. */
unsigned long backing_key_denies(struct backing *backing, const struct file_key *key);

/* The way in which the file system of a key judges who may do what: the tree's own as it was at
 * backing_open(), one inside the tree as it was when a file was last identified in it, and
 * JUDGES_BY_OWNER where that is not known. Where the key is an inode number alone it is never
 * JUDGES_BY_MODE, as the number may be another file's by now. Any thread; asks nobody. */
enum judges backing_key_judges(struct backing *backing, const struct file_key *key);

/* A file may have the key that a removed one had: any, where the key is an inode number alone; one
 * whose owner has set the generation (FS_IOC_SETVERSION), where it is of a handle. */
enum key_recurrence { KEY_RECURS_NEVER, KEY_RECURS_BY_OWNER, KEY_RECURS };
enum key_recurrence backing_key_recurs(const struct file_key *key);

/* The key of the file that name is in the directory dirfd, symbolic links not followed.
 *
 * name  "" means dirfd itself (which may be O_PATH)
 *
 * In a FUSE mount inside the tree that is neither root's nor the effective user's nothing is asked:
 * whoever waits for its server holds a lock or a thread that others want.
 *
 * Returns 0, -ENOENT, -ENAMETOOLONG, -EACCES (such a mount, too), -ENOMEM or another errno of
 * name_to_handle_at(2).
 * Any thread; about 1.5 us.
 */
int backing_key_at(struct backing *backing, int dirfd, const char *name, struct file_key *ret_key);

/* Open an inode by its key; open(2)'s flags (O_PATH included).
 *
 * Returns a descriptor the caller closes, -ESTALE when the inode is gone, -EINVAL for a key that
 * is none, -ESTALE also for one of a file system that was not seen below the root since
 * backing_open(), or is not mounted there any more, -EOPNOTSUPP without handles, or another errno
 * of open_by_handle_at(2). Any thread; about 3 us, and twice that on a mount inside the tree.
 */
int backing_open_key(struct backing *backing, const struct file_key *key, int flags);

#endif
