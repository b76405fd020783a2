/* Files of a database's directory, for the parts of the back end that handle them beside RocksDB:
 * seals, second names, restoring and removing. Only names that RocksDB itself makes are data files.
 *
 * Example: MANIFEST-000005, CURRENT and 000012.sst are; 12.sst.old, LOG and ../x.sst are not. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/files/trust.h"
#include "store/kv_rocksdb.h"

int kv_rocksdb_list(int directory_fd, DIR **ret_directory)
{
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    *ret_directory = fdopendir(fd);
    if (*ret_directory)
        return 0;
    close(fd);
    return -ENOMEM;
}

static const char digits[] = "0123456789";

bool kv_rocksdb_is_manifest(const char *name)
{
    static const char prefix[] = "MANIFEST-";
    const char *number = name + sizeof(prefix) - 1;
    return strncmp(name, prefix, sizeof(prefix) - 1) == 0 && *number &&
           !number[strspn(number, digits)];
}

bool kv_rocksdb_is_data_file(const char *name)
{
    const size_t n = strspn(name, digits);
    const char *suffix = name + n;
    return kv_rocksdb_is_manifest(name) || strcmp(name, KV_ROCKSDB_CURRENT) == 0 ||
           (n > 0 && (strcmp(suffix, ".sst") == 0 || strcmp(suffix, ".log") == 0 ||
                      strcmp(suffix, ".blob") == 0));
}

bool kv_rocksdb_read_current(int directory_fd, char ret_name[KV_ROCKSDB_NAME_BYTES])
{
    _cleanup_close_ int fd = trust_open_file(directory_fd, KV_ROCKSDB_CURRENT, O_RDONLY, NULL);
    ssize_t n = fd < 0 ? -1 : read(fd, ret_name, KV_ROCKSDB_NAME_BYTES - 1);
    ret_name[n > 0 ? n : 0] = '\0';
    char *end = strchr(ret_name, '\n');
    if (!end || end[1])
        return false;
    *end = '\0';
    return kv_rocksdb_is_manifest(ret_name);
}

int kv_rocksdb_write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n > 0) {
        ssize_t r = write(fd, p, n);
        if (r < 0 && errno != EINTR)
            return -errno;
        p += r > 0 ? r : 0;
        n -= r > 0 ? (size_t)r : 0;
    }
    return 0;
}

int kv_rocksdb_end_file(int directory_fd, int fd, const char *from, const char *to)
{
    if (fsync(fd) < 0 || renameat(directory_fd, from, directory_fd, to) < 0)
        return -errno;
    return 0;
}

int kv_rocksdb_check_room(const struct kv_rocksdb *store)
{
    struct statvfs fs;
    if (statvfs(store->path, &fs) < 0)
        return -errno;
    return (uint64_t)fs.f_bavail * fs.f_frsize < KV_ROCKSDB_RESERVED_BYTES ? -ENOSPC : 0;
}
