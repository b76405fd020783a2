/* Reading a file that somebody may keep locked: who stands in write(2) for ever, with memory that a
 * file system of their own never fills, holds the inode's lock, for which read(2) waits on XFS and
 * NFS, and lseek(2) to data and holes everywhere; no signal ends that. */
#ifndef KINFS_BASE_FILES_UNLOCKED_READ_H
#define KINFS_BASE_FILES_UNLOCKED_READ_H

#include <sys/types.h>

/* As pread(2), but no lock of the inode is waited for, only the disk; what is written meanwhile may
 * be there in part. What cannot be mapped is read by pread(2). Fewer bytes than asked for are no
 * sign of the end. Any thread.
 *
 * Returns the number of bytes, 0 at the end, -ENOMEM, -EIO (of the disk, too), or an errno of
 * pread(2). */
ssize_t unlocked_read(int fd, void *bytes, size_t n_bytes, off_t offset);

/* The same of a file that is holes for the most part: where bytes, n_bytes and offset are multiples
 * of a block, and the file system can, these take a hundredth of the time and no memory of the
 * kernel's, of which others would lose theirs. fd is O_DIRECT meanwhile. */
ssize_t unlocked_read_sparse(int fd, void *bytes, size_t n_bytes, off_t offset);

#endif
