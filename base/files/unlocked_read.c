/* Pages that the kernel has in memory are read by RWF_NOWAIT. All others, those of a locked file,
 * and those of a file system without RWF_NOWAIT are copied out of a mapping: to fault a page in
 * takes no lock of the inode. The kernel copies, so that what is cut off meanwhile is an error and
 * no SIGBUS. Neither posix_fadvise(2) nor MADV_WILLNEED may ask for the pages before: on XFS they
 * wait for it. */
#include "base/files/unlocked_read.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/files/fd_read.h"

/* The number of the n_bytes from offset on that the file has, or an error. */
static ssize_t there_are(int fd, size_t n_bytes, off_t offset)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (st.st_size <= offset)
        return 0;
    const uint64_t left = (uint64_t)(st.st_size - offset);
    return (ssize_t)(left < n_bytes ? left : n_bytes);
}

static ssize_t copy(int fd, void *from, void *to, size_t n_bytes, off_t offset)
{
    const ssize_t n = there_are(fd, n_bytes, offset);
    if (n <= 0)
        return n;
    const struct iovec source = {from, (size_t)n}, target = {to, (size_t)n};
    const ssize_t n_copied = process_vm_readv(getpid(), &target, 1, &source, 1, 0);
    if (n_copied > 0)
        return n_copied;
    if (errno == ENOSYS || errno == EPERM)
        return fd_pread(fd, to, n_bytes, offset);
    if (errno != EFAULT)
        return -errno;
    return there_are(fd, n_bytes, offset) == 0 ? 0 : -EIO;
}

static ssize_t read_mapped(int fd, void *bytes, size_t n_bytes, off_t offset)
{
    const size_t before = (size_t)(offset % sysconf(_SC_PAGESIZE));
    const size_t n_mapped = before + n_bytes;
    uint8_t *map = mmap(NULL, n_mapped, PROT_READ, MAP_PRIVATE, fd, offset - (off_t)before);
    if (map == MAP_FAILED)
        return errno == ENOMEM ? -ENOMEM : fd_pread(fd, bytes, n_bytes, offset);
    const ssize_t n = copy(fd, map + before, bytes, n_bytes, offset);
    munmap(map, n_mapped);
    return n;
}

/* With holes of tmpfs a mapping would fill the memory; its reads take no lock. */
static bool is_in_memory(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

/* Returns the number of bytes, or an errno. */
static ssize_t read_now(int fd, void *bytes, size_t n_bytes, off_t offset)
{
    const struct iovec target = {bytes, n_bytes};
    ssize_t n;
    do
        n = preadv2(fd, &target, 1, offset, RWF_NOWAIT);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

ssize_t unlocked_read(int fd, void *bytes, size_t n_bytes, off_t offset)
{
    const ssize_t n = read_now(fd, bytes, n_bytes, offset);
    if (n == -EAGAIN || (n == -EOPNOTSUPP && !is_in_memory(fd)))
        return read_mapped(fd, bytes, n_bytes, offset);
    return n == -EOPNOTSUPP ? fd_pread(fd, bytes, n_bytes, offset) : n;
}

ssize_t unlocked_read_sparse(int fd, void *bytes, size_t n_bytes, off_t offset)
{
    const int flags = fcntl(fd, F_GETFL);
    ssize_t n = -EINVAL;
    if (flags >= 0 && fcntl(fd, F_SETFL, flags | O_DIRECT) == 0) {
        n = read_now(fd, bytes, n_bytes, offset);
        (void)fcntl(fd, F_SETFL, flags);
    }
    return n < 0 ? unlocked_read(fd, bytes, n_bytes, offset) : n;
}
