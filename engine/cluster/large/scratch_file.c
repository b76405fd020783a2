/* A scratch file has no name, so that nothing has to be cleaned up. Room is reserved by one atomic
 * addition and then written at its place, so threads append without a lock.
 *
 * Example: two threads reserve 1 MiB each, get the offsets 0 and 1 MiB, and write at the same time.
 * Cost: a system call a piece; callers gather pieces of 16 KiB or more. Left out: mapping the file,
 * which would count as memory of the process and turn a full disk into a signal.
 */
#include "engine/cluster/large/scratch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/files/unnamed_file.h"

int scratch_file_open(const char *directory, struct scratch_file *ret_file)
{
    int fd = unnamed_file_make(directory);
    if (fd < 0)
        return fd;
    *ret_file = (struct scratch_file){.fd = fd};
    return 0;
}

void scratch_file_done(struct scratch_file *file)
{
    if (file->fd > 0)
        close(file->fd);
    *file = (struct scratch_file){0};
}

uint64_t scratch_file_reserve(struct scratch_file *file, size_t size_bytes)
{
    return __atomic_fetch_add(&file->size_bytes, size_bytes, __ATOMIC_RELAXED);
}

static void use_more(struct scratch_use *use, uint64_t n_bytes)
{
    if (!use)
        return;
    uint64_t now = __atomic_add_fetch(&use->now_bytes, n_bytes, __ATOMIC_RELAXED);
    uint64_t most = __atomic_load_n(&use->most_bytes, __ATOMIC_RELAXED);
    while (now > most && !__atomic_compare_exchange_n(&use->most_bytes, &most, now, 0,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

void scratch_file_give_back(struct scratch_file *file)
{
    uint64_t n_bytes = file->written_bytes - file->given_back_bytes;
    if (ftruncate(file->fd, 0) < 0)
        return; /* the room is given back with the file */
    file->size_bytes = 0;
    file->given_back_bytes = file->written_bytes;
    if (file->use)
        __atomic_sub_fetch(&file->use->now_bytes, n_bytes, __ATOMIC_RELAXED);
}

void scratch_file_give_back_part(struct scratch_file *file, uint64_t offset, uint64_t size_bytes)
{
    if (fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                  (off_t)size_bytes) < 0)
        return;
    __atomic_fetch_add(&file->given_back_bytes, size_bytes, __ATOMIC_RELAXED);
    if (file->use)
        __atomic_sub_fetch(&file->use->now_bytes, size_bytes, __ATOMIC_RELAXED);
}

/* A store, and whatever else is in the file system, needs room while this goes on. */
static int check_room(const struct scratch_file *file, uint64_t before_bytes, size_t size_bytes)
{
    enum { CHECK_EVERY_BYTES = 16 << 20, LEFT_MAX_BYTES = 256 << 20, LEFT_PART = 20 };
    struct statvfs fs;
    if (before_bytes / CHECK_EVERY_BYTES == (before_bytes + size_bytes) / CHECK_EVERY_BYTES ||
        fstatvfs(file->fd, &fs) < 0)
        return 0;
    const uint64_t all_bytes = (uint64_t)fs.f_blocks * fs.f_frsize,
                   left_bytes = all_bytes / LEFT_PART < LEFT_MAX_BYTES ? all_bytes / LEFT_PART
                                                                       : LEFT_MAX_BYTES;
    return (uint64_t)fs.f_bavail * fs.f_frsize < left_bytes + CHECK_EVERY_BYTES ? -ENOSPC : 0;
}

int scratch_file_write(struct scratch_file *file, uint64_t offset, const void *data,
                       size_t size_bytes)
{
    int r = check_room(file, __atomic_fetch_add(&file->written_bytes, size_bytes, __ATOMIC_RELAXED),
                       size_bytes);
    if (r < 0)
        return r;
    use_more(file->use, size_bytes);
    for (const char *from = data; size_bytes > 0;) {
        ssize_t n = pwrite(file->fd, from, size_bytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        from += n;
        offset += (uint64_t)n;
        size_bytes -= (size_t)n;
    }
    return 0;
}

int scratch_file_read(struct scratch_file *file, uint64_t offset, void *data, size_t size_bytes)
{
    __atomic_fetch_add(&file->read_bytes, size_bytes, __ATOMIC_RELAXED);
    for (char *to = data; size_bytes > 0;) {
        ssize_t n = pread(file->fd, to, size_bytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        to += n;
        offset += (uint64_t)n;
        size_bytes -= (size_t)n;
    }
    return 0;
}

void scratch_file_ask_for(const struct scratch_file *file, uint64_t offset, size_t size_bytes)
{
    (void)posix_fadvise(file->fd, (off_t)offset, (off_t)size_bytes, POSIX_FADV_WILLNEED);
}
