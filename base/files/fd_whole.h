/* A file, read from its beginning to the end that it had when that began. What is appended
 * meanwhile is not read: who appends as fast as it is read would keep the reader for ever. */
#ifndef KINFS_BASE_FILES_FD_WHOLE_H
#define KINFS_BASE_FILES_FD_WHOLE_H

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/files/unlocked_read.h"

/* The end of a file that does not tell its size, as some of /proc and of FUSE. */
#define FD_WHOLE_MOST_BYTES ((off_t)64 << 30)

struct fd_whole {
    int fd;
    off_t at, end;
};

/* fd can be seeked; its offset does not matter and stays. Returns 0 or an errno of fstat(2). */
static inline int fd_whole_begin(struct fd_whole *whole, int fd)
{
    struct stat st = {0};
    int r = fstat(fd, &st) < 0 ? -errno : 0;
    *whole = (struct fd_whole){fd, 0, st.st_size ? st.st_size : FD_WHOLE_MOST_BYTES};
    return r;
}

/* Returns the number of bytes, less than asked for only at the end, or an error of
 * unlocked_read(). */
static inline ssize_t fd_whole_read(struct fd_whole *whole, void *bytes, size_t n_bytes)
{
    size_t n_read = 0;
    if ((off_t)n_bytes > whole->end - whole->at)
        n_bytes = (size_t)(whole->end - whole->at);
    for (ssize_t n = 1; n > 0 && n_read < n_bytes; n_read += (size_t)n, whole->at += n) {
        n = unlocked_read(whole->fd, (char *)bytes + n_read, n_bytes - n_read, whole->at);
        if (n < 0)
            return n;
    }
    return (ssize_t)n_read;
}

#endif
