/* The file systems that are mounted inside a tree, but those of other users: a FUSE mount of one
 * who is neither root nor the effective user is asked nothing. Any thread may call any of these. */
#ifndef KINFS_BASE_MOUNTS_NESTED_H
#define KINFS_BASE_MOUNTS_NESTED_H

#include <pthread.h>
#include <stddef.h>

#include "base/mounts/file_system.h"

struct nested {
    int root_fd; /* of the tree; borrowed */
    uint64_t root_fsid;
    int mounts_fd;                /* the table of mounts, which tells that it has changed; or -1 */
    unsigned n_changes;           /* as far as it was asked */
    pthread_mutex_t changes_lock; /* of asking */
    pthread_rwlock_t lock;        /* of all below */
    struct nested_file_system *file_systems;
    size_t n, n_room;
};

/* root_fsid  the id of the tree's own file system, which no other is given */
void nested_init(struct nested *nested, int root_fd, uint64_t root_fsid);
void nested_done(struct nested *nested); /* all but root_fd */

/* The id, for keys, of the file system that what is open (O_PATH will do) is of: its own, or where
 * another has that, or it is mounted twice, one made of it, for as long as it is there.
 *
 * mount_id  of the mount it is in
 *
 * Returns 0, -EACCES for another user's FUSE mount, -ESTALE for a mount that is not in the table of
 * mounts, -ENOMEM or another errno of fstat(2). Some microseconds where the table of mounts is as
 * it was; else that is read. */
int nested_identify(struct nested *nested, int fd, int mount_id, uint64_t *ret_fsid);

/* The facts of the file system with an id, as they were when a file was last identified in it;
 * false: it is not known (any more). Asks nobody. */
bool nested_find(struct nested *nested, uint64_t fsid, struct file_system *ret_facts);

/* Open the top directory of the mount of that file system, for reading, wherever it is by now.
 * Returns a descriptor the caller closes, -ESTALE where it is not known, or not mounted any more,
 * -EACCES where the way leads through another user's mount, or another errno of open(2). */
int nested_open(struct nested *nested, uint64_t fsid);

#endif
