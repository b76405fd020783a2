/* Inodes of the backing tree that the kernel knows, by file key.
 *
 * An inode holds no descriptor, so their number is not bounded by RLIMIT_NOFILE: it is opened by
 * its key or, where that is not allowed or not possible, by name, through a bounded cache of
 * descriptors (fs/inodes/inode_path.h). What was unlinked has neither: it is reached through one of
 * its open files, or through a descriptor pinned when its last name went.
 *
 * Threads: any, after inode_table_init() and before inode_table_done(), unless it is said that a
 * lock is held. What opens or looks up waits for the backing tree; the rest takes a lock for some
 * steps.
 */
#ifndef KINFS_FS_INODES_INODE_H
#define KINFS_FS_INODES_INODE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "base/files/backing.h"
#include "base/files/file_key.h"
#include "base/proc_path.h"
#include "fs/inodes/gone.h"
#include "fs/inodes/late_close.h"
#include "fs/inodes/node.h"
#include "fs/inodes/path_fd_cache.h"
#include "fs/inodes/user_room.h"

struct open_file;  /* fs/inodes/open_file.h */
struct inode_path; /* fs/inodes/inode_path.h */
struct lock_owner;

struct inode {
    struct node node;        /* first; the kernel's node id stands for it */
    mode_t type;             /* S_IFMT part of st_mode: never changes */
    bool by_name;            /* its key does not open; never changes */
    bool is_foreign;         /* of a file system mounted inside the tree; never changes */
    bool told_anew;          /* by a reply, which may be under way; under inode_lock() */
    bool superseded;         /* by a newer one of its key; under the table's lock, as owner */
    uid_t owner;             /* when it was last looked up; under the table's lock, as born_ns */
    ino_t ino;               /* st_ino, below; what is shown is inode_number() */
    int64_t born_ns;         /* as of struct inode_identity */
    struct inode *next;      /* in its bucket; under the table's lock */
    uint64_t n_lookups;      /* the kernel's; under the table's lock, as what follows */
    unsigned n_refs;         /* of places in it, open files, and calls under way */
    struct inode_path *path; /* NULL: not by name, never pinned, no directory in use */
    LIST_HEAD(, open_file) files;   /* under inode_lock(), as all below */
    int backing_id;                 /* of kernel passthrough, the same for all files; 0: none */
    uid_t backing_uid;              /* as whom the kernel writes by it */
    LIST_HEAD(, lock_owner) owners; /* of POSIX locks */
    void *owners_by_id;             /* the same, as tsearch(3) has them: one user's may be many */
    off_t told_size;                /* as the kernel was last told, or found when told to ask */
    struct timespec told_mtime, told_ctime;
    int64_t changed_ms; /* on the monotonic clock: since when a reply to what changes it, which the
                         * kernel takes for true whatever it is told, may be under way */
    uint32_t made_in;   /* of what was just created: of the directory's address what fits */
    unsigned char n_tells_new;     /* ... its own reply, and the next, by which that has arrived; 0
                                    * otherwise, or where another name may have led to it before */
    struct timespec changed_ctime; /* as such a reply last told */
    mode_t changed_mode;
    uid_t changed_uid;
    gid_t changed_gid;
    uint32_t told_ms; /* when told_size or told_mtime became another: what fits of clock_now_ms() */
    struct timespec closed_ctime; /* as a writer through the mount left it at its last close */
    atomic_uint n_may_store;      /* files passed through that may be mapped for writing */
    unsigned n_may_store_here;    /* those that are not passed through */
    atomic_int folds_case;        /* of a directory: 0 not known, or one of those below */
    struct file_key key;          /* never changes */
};

enum { FOLDS_NOTHING = 1, FOLDS_CASE };

enum { INODE_LOCKS = 64 };

struct inode_table {
    pthread_mutex_t lock; /* buckets, counts, path_fds and places; under it only gone's is */
    struct inode **buckets;
    size_t n_buckets, n_inodes;
    struct path_fd_cache path_fds;
    struct user_room descriptors; /* that users have open or lock by */
    dev_t device;                 /* st_dev of the root */
    enum judges judges;           /* the tree's own file system */
    bool any_by_name;             /* there is or was such an inode; only ever set */
    /* The path of a file or directory that may have moved beside the mount; -ENOENT: not known. Or
     * NULL. */
    int (*find_path)(void *user, const struct file_key *key, char **ret_path);
    void *find_user;
    struct inode *root; /* in no bucket, never forgotten */
    struct backing *backing;
    struct gone gone;
    struct late_close *late; /* closes what may be the last of a removed inode */
    pthread_mutex_t inode_locks[INODE_LOCKS];
};

#define BORN_UNKNOWN INT64_MIN /* the file system has no birth times */

/* The marks that an inode is known by again. */
struct inode_identity {
    struct file_key key;
    bool nested; /* see backing_identify() */
    mode_t type; /* S_IFMT part of st_mode */
    uid_t owner;
    int64_t born_ns; /* birth time, or BORN_UNKNOWN, where another file may come to have the key; or
                        0 */
};

int inode_table_init(struct inode_table *table, struct backing *backing);
/* Closes what is still open; what takes more than seconds the end of the process closes. */
void inode_table_done(struct inode_table *table);

/* A name of a directory as an O_PATH descriptor, symbolic links not followed. Returns it, -ENOENT
 * or another errno of open(2). */
int inode_open_name(struct inode_table *table, int dirfd, const char *name);

/* The inode of what a name was found to be, its lookup count one higher.
 *
 * parent, name  where it is
 * fd            inode_open_name()'s; taken
 * ret_stat      its attributes
 *
 * Returns 0, -ENOENT, -ENOMEM or another errno. Undo with inode_forget(table, inode, 1).
 */
int inode_lookup(struct inode_table *table, struct inode *parent, const char *name, int fd,
                 struct inode **ret_inode, struct stat *ret_stat);

/* The same of what was just created and is open; the descriptor is borrowed.
 *
 * parent, name  where it is; NULL: it has no name yet
 */
int inode_lookup_fd(struct inode_table *table, struct inode *parent, const char *name, int fd,
                    struct inode **ret_inode, struct stat *ret_stat);
void inode_forget(struct inode_table *table, struct inode *inode, uint64_t n_lookups);

/* The newest inode of a key, with a reference, or NULL. To be ended with inode_unref(). */
struct inode *inode_get(struct inode_table *table, const struct file_key *key);
/* One more reference to an inode that is known to be there. */
void inode_ref(struct inode_table *table, struct inode *inode);
/* All but the root, each with a reference. 0, or -ENOMEM; gives. */
int inode_get_all(struct inode_table *table, struct inode ***ret_inodes, size_t *ret_n_inodes);

/* Note how an inode is that was written through the mount and has been closed; whether it is so
 * still. */
void inode_note_closed(struct inode_table *table, struct inode *inode, const struct stat *st);
bool inode_is_closed_as(struct inode_table *table, const struct inode *inode,
                        const struct stat *st);

/* Note that attributes are about to be read for a reply to what changes, or has made it (then
 * made_in is where, if it was not known before; else NULL); that they are these; whether they still
 * are, with mode, owner and all that leaves a ctime. */
void inode_change_begin(struct inode_table *table, struct inode *inode,
                        const struct inode *made_in);
void inode_changed(struct inode_table *table, struct inode *inode, const struct stat *st);
bool inode_is_changed_as(struct inode_table *table, const struct inode *inode,
                         const struct stat *st);

/* Note that the kernel is told these attributes, for as long as it likes to keep them. */
void inode_tell(struct inode_table *table, struct inode *inode, const struct stat *st);
/* The same in a reply about a name in a directory (NULL: none). */
void inode_tell_entry(struct inode_table *table, struct inode *inode, const struct inode *directory,
                      const struct stat *st);
/* With inode_lock(): note that the kernel was told to ask when these were the attributes. */
void inode_tell_asking(struct inode *inode, const struct stat *st);
/* With inode_lock(): whether size and mtime are those of which the kernel was last told; whether it
 * is also certain to keep nothing that is older, be its reply still under way. */
bool inode_is_told(const struct inode *inode, const struct stat *st);
bool inode_is_surely_told(const struct inode *inode, const struct stat *st);

/* A descriptor of the inode as open(2) with these flags gives it; the caller closes it.
 * Returns it, -ESTALE when the inode is gone, -ENOENT for a directory that is gone and that the
 * asker does not reach by a name (fs/inodes/gone.h), or another errno. */
int inode_open(struct inode_table *table, struct inode *inode, int flags);
/* The file that its key opened is the inode, by statx(2) of that, with STATX_BTIME. */
bool inode_is_opened(struct inode_table *table, const struct inode *inode, const struct statx *sx);
/* The same as inode_open() of one that is borrowed already, by the descriptor there is: it cannot
 * be gone. */
int inode_reopen(struct inode_table *table, const struct inode *inode, int fd, int flags);

/* A descriptor, maybe O_PATH, good for fstat(), as the dirfd of *at() calls, and by its path below
 * /proc/self/fd. Give it back with inode_return_fd(). Returns it too, or as inode_open(). */
struct inode_fd {
    struct open_file *file;    /* whose descriptor it is, or NULL */
    struct inode_table *table; /* of what is borrowed */
    struct inode *inode;       /* whose descriptor of path_fds it is, or NULL */
    bool is_own;               /* opened for the occasion */
    int fd;
};
#define INODE_FD_NONE ((struct inode_fd){.fd = -1})
int inode_borrow_fd(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd);
void inode_return_fd(struct inode_fd *fd); /* as a cleanup; INODE_FD_NONE allowed */
/* The same of what is open already, for a thread that never waits; else -ESTALE. By its key an
 * inode that is being freed opens no sooner than that is done, which takes seconds of a large file.
 */
int inode_borrow_open(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd);
/* For whom no user waits who has to do with the inode: what may be the last descriptor is not
 * closed by the calling thread. */
void inode_return_fd_late(struct inode_fd *fd);
/* The same of one for which a payer has of the room for descriptors until it is kept for nobody, or
 * closed. */
void inode_return_fd_paid(struct inode_table *table, struct inode_fd *fd, uid_t payer);
/* Closes a descriptor that a payer has of the room until it is closed: late where the inode was
 * removed, else at once.
 *
 * is_last  it may be the last one; if not, late only what is the payer's own, who may make it slow
 */
void inode_close_paid(struct inode_table *table, int fd, uid_t payer, bool is_last);

/* Closes descriptors that only save openings, where they have run out (EMFILE). Whether there were
 * any, so that it is worth another try: of the one system call that wanted a descriptor, not of
 * what has borrowed one before it, which would be what is closed here, again and again. */
bool inode_table_shed(struct inode_table *table);

/* For inode_path.c: of the name in a directory, or "" of the descriptor itself. Returns
 * 0, or an errno of statx(2) or backing_identify(). */
int inode_identify(struct inode_table *table, int dirfd, const char *name,
                   struct inode_identity *ret_identity);
/* True when that is the inode. A directory, or what has a handle, is another where birth time and
 * owner both are: a copy-up of overlayfs changes the one, and chown(2) the other. Without birth
 * times (ext2, ext4 with inodes of 128 bytes) the owner alone decides of directories, and nothing
 * of others. With the table's lock held. */
bool inode_is(const struct inode *inode, const struct inode_identity *identity);

/* With the table's lock held: the inode of an identity, or NULL; one more, of an identity that is
 * not found, by its attributes, or NULL: no memory. And the end of a reference. */
struct inode *inode_find(struct inode_table *table, const struct inode_identity *identity);
struct inode *inode_add(struct inode_table *table, const struct inode_identity *identity,
                        const struct stat *st, bool by_name);
void inode_unref(struct inode_table *table, struct inode *inode);

/* The way in which the file system of an inode judges, as it was when a file was last identified in
 * it: what has taken its place since may judge otherwise, so an inode by name is borrowed first. */
static inline enum judges inode_judges(const struct inode_table *table, const struct inode *inode)
{
    return inode->is_foreign || inode->by_name ? backing_key_judges(table->backing, &inode->key)
                                               : table->judges;
}

/* Guards what an inode says it guards. Taken before the table's lock; no other with it. */
static inline pthread_mutex_t *inode_lock(struct inode_table *table, const struct inode *inode)
{
    /* An inode is some 250 bytes: the bits below say nothing. */
    return &table->inode_locks[((uintptr_t)inode >> 8) % INODE_LOCKS];
}

/* The number to show for one of the inode's file system: its own st_ino, or that of an entry of the
 * directory it is. All of a mount has one st_dev, and who knows files by both (tar and cp hard
 * links, find the directories it is in) would take one of a file system mounted inside the tree for
 * one of the tree's, or of a third: so of those the number is mixed with which it is. Lasts as file
 * keys do; bit 61 set, 62 and 63 not, and so no number of a view (base/view_number.h). */
ino_t inode_number(const struct inode *inode, ino_t ino);

#endif
