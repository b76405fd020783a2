/* An inode that its key does not open is reached in another way: by the names it was seen under.
 *
 * Such an inode knows its places (a directory's inode and a name in it), the one seen last first,
 * and keeps those directories in the table. A descriptor that the cache has closed is opened again
 * from the nearest directory above that has one; what is found must have the inode's key. A place
 * that is not right any more, since somebody renamed beside the mount, is looked for in the same
 * directory, then by the other names of a hard link, then where table->find_path says.
 *
 * Names that change through the mount are changed here too (struct inode_change), and an inode that
 * loses its last name is pinned: a process may stand in a directory, or hold an O_PATH descriptor,
 * that nobody can open any more. That is so with file handles too: none opens what is gone.
 *
 * No lock keeps names as they are while an inode is looked for, be it in a large directory or in a
 * file system that does not answer. What changes its name is held by a descriptor until its place
 * is changed too, so that who failed to find it finds it in the next walk.
 *
 * Threads: any. A change of names is begun and ended by the thread that makes it.
 */
#ifndef KINFS_FS_INODES_INODE_PATH_H
#define KINFS_FS_INODES_INODE_PATH_H

#include <fcntl.h>

#include "base/cleanup.h"
#include "fs/inodes/inode.h"
#include "fs/inodes/inode_place.h"
#include "fs/inodes/path_fd_cache.h"

/* Under the table's lock. */
struct inode_path {
    struct path_fd fd;
    struct inode_place *places;
    unsigned n_looks; /* at its links, after changes of names */
    int64_t gone_ms;  /* since when a directory is known to be removed beside the mount; or 0 */
};

/* -- around a change of names -- */

/* The inodes that lose a name by a change, or change it. */
struct inode_change {
    struct inode *moved;   /* what is renamed, if it is by name: held until the end */
    struct inode *removed; /* or exchanged: pinned until the end, and then if it has no name left */
};

/* Before unlinkat(2) of a name or renameat2(2), and after it, also when the call has failed (not
 * done). No errors: what cannot be kept is not, what is not moved here will be looked for. */
void inode_removal_begin(struct inode_table *table, int dirfd, const char *name,
                         struct inode_change *ret_change);
void inode_removal_end(struct inode_table *table, struct inode_change *change, struct inode *parent,
                       const char *name, bool done);
void inode_rename_begin(struct inode_table *table, int old_dirfd, const char *old_name,
                        int new_dirfd, const char *new_name, struct inode_change *ret_change);
void inode_rename_end(struct inode_table *table, struct inode_change *change,
                      struct inode *old_parent, const char *old_name, struct inode *new_parent,
                      const char *new_name, unsigned flags, bool done);

/* Keep an inode that has no name, by any descriptor of it. Without memory or descriptors it is not
 * kept. And after it may have been given one. */
void inode_pin(struct inode_table *table, struct inode *inode, int fd);
void inode_path_linked(struct inode_table *table, struct inode *inode);

/* An inode without links lost them through the mount. If not, who opens its name means what has
 * come in its place beside the mount, and is to look it up again (-ESTALE). */
bool inode_is_pinned(struct inode_table *table, const struct inode *inode);

/* -- for other files of inodes -- */

/* The table's lock, where path_fds may give up descriptors; unlocking closes them, without it. */
struct inode_table *inode_paths_lock(struct inode_table *table);
void inode_paths_unlock(struct inode_table *table);
DEFINE_CLEANUP(struct inode_table *, inode_paths_unlock);
/* Holds it until the end of the scope. */
#define PATHS_LOCKED(table)                                                                        \
    _cleanup_(inode_paths_unlock_p) struct inode_table *LOCKED_NAME_(__LINE__)                     \
        __attribute__((unused)) = inode_paths_lock(table)

/* Closes a descriptor that counts in path_fds.n_late until then, and in a payer's room (or
 * USER_NOBODY's), by another thread; or at once if its inode has a name, which its owner may take
 * away in that moment. */
void inode_close_late(struct inode_table *table, int fd, uid_t payer);
void inode_close_if_named(struct inode_table *table, int fd, uid_t payer);

enum { INODE_PATH_FLAGS = O_PATH | O_NOFOLLOW | O_CLOEXEC };
/* As open_at(), with descriptors made free where they have run out. */
int inode_path_open_at(struct inode_table *table, int dirfd, const char *path, uint64_t flags,
                       uint64_t resolve);
/* With the lock held: a descriptor of the inode is open, and used until inode_path_return(). */
bool inode_path_use(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd);
/* With the lock held: the path of an inode, which may not be by name: then it has a descriptor only
 * while it is pinned, or asked for with the names in it. 0, -ENOMEM. */
int inode_path_make(struct inode *inode);

/* With the lock held: an inode that is by name was seen at a place (parent NULL: at none), with an
 * O_PATH descriptor (or -1), which is taken. n_links: of its attributes. Returns places that are no
 * more, for inode_places_free(). */
struct inode_place *inode_path_seen(struct inode_table *table, struct inode *inode,
                                    struct inode *parent, const char *name, nlink_t n_links,
                                    int *path_fd, bool nested);

/* A descriptor of an inode that is by name, or of one that is pinned; -ESTALE where it is neither
 * or not found. Given back with inode_path_return(). */
int inode_path_borrow(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd);
/* The same of a directory that its key opens: it is asked for with every name in it, and opening
 * and closing it again costs 5 us of each. */
int inode_path_borrow_directory(struct inode_table *table, struct inode *inode,
                                struct inode_fd *ret_fd);
/* Takes an O_PATH descriptor of such a directory, which was just looked up, if there is none: what
 * comes next is a name in it, or somebody is to stand in it. */
void inode_path_keep_directory(struct inode_table *table, struct inode *inode, int *path_fd);
/* One that is open; or -ESTALE. */
int inode_path_borrow_kept(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd);
/* One that somebody holds, whatever became of the directory; or -ESTALE. */
int inode_path_borrow_held(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd);
void inode_path_return(struct inode_table *table, struct inode *inode);
/* The same; the caller does not wait for what is closed, and the payer has of the room until it is.
 */
void inode_path_return_late(struct inode_table *table, struct inode *inode, uid_t payer);

#endif
