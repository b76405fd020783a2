#include "engine/cluster/large/kept_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "base/files/trust.h"

static bool is_empty(int directory)
{
    _cleanup_close_ int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _cleanup_closedir_ DIR *open = fd < 0 ? NULL : fdopendir(fd);
    if (!open)
        return false;
    fd = -1;
    for (struct dirent *entry; (entry = readdir(open));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return false;
    return true;
}

static int check_mark(int directory, const char *mark, bool fresh)
{
    _cleanup_close_ int fd = trust_open_file(directory, mark, O_RDONLY, NULL);
    if (fd == -ENOENT && fresh && !is_empty(directory))
        return -ENOTEMPTY;
    if (fd == -ENOENT && fresh)
        fd = trust_open_file(directory, mark, O_WRONLY | O_CREAT, NULL);
    return fd < 0 ? fd : 0;
}

int kept_directory_open(const char *path, const char *mark, bool fresh)
{
    _cleanup_close_ int fd =
        fresh ? trust_make_directory(path, NULL, NULL) : trust_open_directory(path, NULL);
    if (fd < 0)
        return fd;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? -EBUSY : -errno;
    const int r = check_mark(fd, mark, fresh);
    return r < 0 ? r : TAKE_FD(fd);
}

int kept_directory_file(int directory, const char *name, bool fresh, struct scratch_file *ret_file)
{
    struct stat st;
    int fd = trust_open_file(directory, name, O_RDWR | (fresh ? O_CREAT | O_TRUNC : 0), NULL);
    if (fd < 0)
        return fd;
    *ret_file = (struct scratch_file){.fd = fd};
    if (fstat(fd, &st) < 0)
        return -errno;
    ret_file->size_bytes = (uint64_t)st.st_size;
    return 0;
}

int kept_head_read(int directory, const char *name, uint64_t magic, void *ret_head,
                   size_t size_bytes)
{
    uint64_t found, sum;
    _cleanup_close_ int fd = trust_open_file(directory, name, O_RDONLY, NULL);
    if (fd < 0)
        return fd;
    ssize_t n = read(fd, ret_head, size_bytes);
    if (n < 0)
        return -errno;
    memcpy(&found, ret_head, sizeof(found));
    memcpy(&sum, (uint8_t *)ret_head + size_bytes - sizeof(sum), sizeof(sum));
    bool good = (size_t)n == size_bytes && found == magic &&
                sum == XXH3_64bits(ret_head, size_bytes - sizeof(sum));
    return good ? 0 : -EUCLEAN;
}

/* It is written to a file of another name, which is then renamed. */
int kept_head_write(int directory, const char *name, void *head, size_t size_bytes)
{
    uint64_t sum = XXH3_64bits(head, size_bytes - sizeof(sum));
    memcpy((uint8_t *)head + size_bytes - sizeof(sum), &sum, sizeof(sum));
    _cleanup_close_ int fd =
        trust_open_file(directory, "head.new", O_WRONLY | O_CREAT | O_TRUNC, NULL);
    if (fd < 0)
        return fd;
    ssize_t n = write(fd, head, size_bytes);
    if (n != (ssize_t)size_bytes)
        return n < 0 ? -errno : -ENOSPC;
    return renameat(directory, "head.new", directory, name) < 0 ? -errno : 0;
}

int kept_head_remove(int directory, const char *name)
{
    return unlinkat(directory, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}
