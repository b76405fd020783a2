/* Inodes of the backing tree that the kernel knows, by file key.
 *
 * An inode holds no descriptor where its file system can open it by key again, so their number is
 * not bounded by RLIMIT_NOFILE. A descriptor is held (the anchor) while the file is open, since an
 * unlinked file has no key that opens it, and for good where there are no handles.
 */
#ifndef KINFS_FS_INODE_H
#define KINFS_FS_INODE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/backing.h"
#include "base/file_key.h"
#include "fs/node.h"

struct inode {
    struct node node;    /* first; the kernel's node id is its address */
    mode_t type;         /* S_IFMT part of st_mode: never changes */
    ino_t ino;           /* st_ino */
    struct inode *next;  /* in its bucket */
    uint64_t n_lookups;  /* the kernel's; under the table's lock */
    int anchor;          /* descriptor or -1; under the inode's lock (inode_lock()) */
    unsigned n_anchored; /* users of the anchor */
    int backing_id;      /* of kernel passthrough while open, 0: none */
    unsigned n_open;     /* open files of the kernel */
    bool passthrough;    /* decided at the first open, the same for all until the last release */
    struct file_key key;
};

struct inode_table {
    pthread_mutex_t lock; /* lookup counts and buckets; taken before an inode's lock */
    struct inode **buckets;
    size_t n_buckets, n_inodes;
    struct inode *root; /* not counted, never forgotten */
    struct backing *backing;
};

int inode_table_init(struct inode_table *table, struct backing *backing);
void inode_table_done(struct inode_table *table);

/* The inode of a name in a directory descriptor, its lookup count one higher.
 *
 * dirfd, name  name "" means dirfd itself; symbolic links are not followed
 * ret_stat     its attributes
 *
 * Returns 0, -ENOENT, -ENOMEM or another errno. Undo with inode_forget(table, inode, 1).
 */
int inode_lookup(struct inode_table *table, int dirfd, const char *name, struct inode **ret_inode,
                 struct stat *ret_stat);
void inode_forget(struct inode_table *table, struct inode *inode, uint64_t n_lookups);

/* A descriptor of the inode as open(2) with these flags gives it; the caller closes it.
 * Returns it, -ESTALE when the inode is gone, or another errno. */
int inode_open(struct inode_table *table, struct inode *inode, int flags);

/* A descriptor good for *at() calls and fstat(), maybe O_PATH, for a short while:
 * the anchor where there is one. Give it back with inode_return_fd(). */
struct inode_fd {
    struct inode *inode; /* whose anchor it is, or NULL: its own */
    int fd;
};
int inode_borrow_fd(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd);
void inode_return_fd(struct inode_fd *fd); /* usable as a cleanup; fd -1 allowed */

/* The inode's own lock: anchor, n_open, backing_id. Held for a few system calls at most. */
pthread_mutex_t *inode_lock(struct inode *inode);

#endif
