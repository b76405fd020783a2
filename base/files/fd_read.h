/* read(2) and pread(2) that a signal does not interrupt. */
#ifndef KINFS_BASE_FILES_FD_READ_H
#define KINFS_BASE_FILES_FD_READ_H

#include <errno.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

/* The call is repeated where a signal ended it. Returns the number of bytes, 0 at the end, or an
 * errno. */
static inline ssize_t fd_read(int fd, void *bytes, size_t n_bytes)
{
    ssize_t n;

    do
        n = read(fd, bytes, n_bytes);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

static inline ssize_t fd_pread(int fd, void *bytes, size_t n_bytes, off_t offset)
{
    ssize_t n;

    do
        n = pread(fd, bytes, n_bytes, offset);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

#endif
