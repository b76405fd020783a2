/* Inodes of the backing tree that the kernel knows, by file key.
 *
 * An inode holds no descriptor where its file system can open it by key again, so their number is
 * not bounded by RLIMIT_NOFILE. A file that was unlinked while open has no key that opens it: it is
 * reached through one of its open files. Where there are no handles, each inode holds an O_PATH
 * descriptor.
 */
#ifndef KINFS_FS_INODE_H
#define KINFS_FS_INODE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "base/backing.h"
#include "base/file_key.h"
#include "fs/node.h"

struct open_file; /* fs/open_file.h */
struct lock_owner;

struct inode {
    struct node node;          /* first; the kernel's node id is its address */
    mode_t type;               /* S_IFMT part of st_mode: never changes */
    ino_t ino;                 /* st_ino */
    struct inode *next;        /* in its bucket; under the table's lock */
    uint64_t n_lookups;        /* the kernel's; under the table's lock */
    int path_fd;               /* where its key does not open, else -1; never changes */
    struct open_file *files;   /* under inode_lock(), as all below */
    int backing_id;            /* of kernel passthrough, the same for all files; 0: none */
    struct lock_owner *owners; /* of POSIX locks */
    off_t told_size;           /* as the kernel was last told */
    struct timespec told_mtime;
    struct file_key key; /* never changes */
};

enum { INODE_LOCKS = 64 };

struct inode_table {
    pthread_mutex_t lock; /* buckets and lookup counts; no other lock is taken under it */
    struct inode **buckets;
    size_t n_buckets, n_inodes;
    struct inode *root; /* in no bucket, never forgotten */
    struct backing *backing;
    pthread_mutex_t inode_locks[INODE_LOCKS];
};

int inode_table_init(struct inode_table *table, struct backing *backing);
void inode_table_done(struct inode_table *table); /* closes what is still open */

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

/* Note that the kernel is told these attributes, for as long as it likes to keep them. */
void inode_tell(struct inode_table *table, struct inode *inode, const struct stat *st);
/* Whether size and mtime are those the kernel was told last. */
bool inode_is_told(struct inode_table *table, const struct inode *inode, const struct stat *st);

/* A descriptor of the inode as open(2) with these flags gives it; the caller closes it.
 * Returns it, -ESTALE when the inode is gone, or another errno. */
int inode_open(struct inode_table *table, struct inode *inode, int flags);

/* A descriptor, maybe O_PATH, good for fstat(), as the dirfd of *at() calls, and by its path below
 * /proc/self/fd. Give it back with inode_return_fd(). Returns it too, or as inode_open(). */
struct inode_fd {
    struct open_file *file; /* whose descriptor it is, or NULL */
    bool is_own;            /* opened for the occasion */
    int fd;
};
#define INODE_FD_NONE ((struct inode_fd){.fd = -1})
int inode_borrow_fd(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd);
void inode_return_fd(struct inode_fd *fd); /* as a cleanup; INODE_FD_NONE allowed */

/* Guards what an inode says it guards. Taken before the table's lock; no other with it. */
pthread_mutex_t *inode_lock(struct inode_table *table, const struct inode *inode);

/* The path of a descriptor: what O_PATH descriptors need instead of f*() calls. */
struct proc_path {
    char text[32];
};
struct proc_path proc_path_of(int fd);

#endif
