/* Files the kernel has open: one descriptor of the backing tree each.
 *
 * Kernel passthrough of reads and writes is decided for an inode at its first open and holds for
 * all of its files until the last is released: they share one backing id, since the kernel answers
 * EIO to a second one, and to a mix of passed-through and other files.
 *
 * The kernel writes by that id as who opened the inode first, so that blocks reserved for that user
 * would be another's. A file that another opens for writing is read and written by the daemon
 * therefore, as who asks (direct_io, which the kernel allows beside; mappings are still passed
 * through: it stores by these as who stores).
 *
 * Where the file system of an inode judges by itself (base/mounts/judges.h) nothing is passed
 * through: it is asked as who asks.
 *
 * A file that may only be appended to (chattr +a) cannot be mapped for writing in the tree, which
 * the kernel does not know of one that is passed through. So it is not; and one that may be written
 * is not cached either (direct_io): it cannot be mapped shared, and what is appended does not show
 * in the pages that others have of it where its writer claims that it goes.
 *
 * The kernel appends to a file that is opened for that (O_APPEND) for as long as it passes it
 * through, whatever fcntl(2) has made of the flag since. So the daemon writes it.
 *
 * Threads: open_file_new() acts as the caller, so it is for those that serve and for waiters
 * (identity.h); open_file_close_all() is for the last one. The rest: any. None but open_file_ref()
 * is called under inode_lock().
 */
#ifndef KINFS_FS_INODES_OPEN_FILE_H
#define KINFS_FS_INODES_OPEN_FILE_H

#include <stdatomic.h>
#include <sys/queue.h>

#include "fs/state.h"

struct open_file {
    LIST_ENTRY(open_file) of_inode;  /* under inode_lock() */
    LIST_HEAD(, lock_owner) lockers; /* that last locked through it; under inode_lock() */
    struct inode *inode;
    int fd;
    uid_t uid;   /* who opened it; never changes */
    uid_t payer; /* who has it of the room for descriptors until it is closed, which may
                  * take long; set by who calls open_file_new() */
    struct inode_table *table;
    bool writes, may_store; /* may_store: by a mapping */
    atomic_uint n_refs;
};

static inline struct open_file *open_file_of(const struct fuse_file_info *fi)
{
    return (struct open_file *)(uintptr_t)fi->fh;
}

/* Enter a descriptor as an open file, and answer in fi how the kernel shall treat it.
 *
 * fd           taken, also on failure; on success with the room for it
 * append_only  whether it may only be appended to, by whomever
 * fi           flags are read; fh, backing_id, direct_io, noflush are set
 *
 * Returns 0, -ENOMEM, or -EBUSY: may only be appended to since it was opened, and could be mapped
 * until all who have it open by passthrough have closed it. Ended by open_file_release().
 */
int open_file_new(fuse_req_t req, struct inode *inode, int fd, bool append_only,
                  struct fuse_file_info *fi, struct open_file **ret_file);

/* The kernel has closed it, or has not heard of it, and the request to open it is gone. */
void open_file_release(struct fs *fs, struct open_file *file);

/* The kernel may hold pages of the file that is open. */
bool open_file_is_cached(struct fs *fs, const struct inode *inode);

/* Hold the descriptor for longer than the lock. */
struct open_file *open_file_ref(struct open_file *file);
void open_file_unref(struct open_file *file);
void open_file_unref_late(struct open_file *file); /* the last is closed by another thread */

/* At the end of the mount: whatever an inode still has. Waits for none to be closed. */
void open_file_close_all(struct inode *inode);

#endif
