/* What a database consisted of when it was closed: its files and their sizes, in a file SEAL beside
 * them.
 *
 *   name, blank, size, newline; for each
 *
 * RocksDB takes a manifest or a log that ends early for one that a crash cut off, and goes back in
 * time to where it ends, each table by itself. After a clean end that is damage, and only somebody
 * who knows how long the files were can tell. A seal is broken by the first opening for writing:
 * after a crash there is none, and going back is right.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/kv_rocksdb.h"

static const char seal_name[] = "SEAL", new_name[] = "SEAL.new";

/* The files that hold data: neither RocksDB's own reports nor ours. */
static bool is_sealed(const char *name)
{
    const char *suffix = strrchr(name, '.');
    return strncmp(name, "MANIFEST-", 9) == 0 || strcmp(name, "CURRENT") == 0 ||
           (suffix && (strcmp(suffix, ".sst") == 0 || strcmp(suffix, ".log") == 0));
}

static int write_lines(int directory_fd, FILE *file)
{
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    _cleanup_closedir_ DIR *directory = fdopendir(fd);
    if (!directory) {
        close(fd);
        return -ENOMEM;
    }
    struct dirent *entry;
    while ((errno = 0, entry = readdir(directory))) {
        struct stat st;
        if (!is_sealed(entry->d_name))
            continue;
        if (fstatat(directory_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return -errno;
        fprintf(file, "%s %" PRId64 "\n", entry->d_name, (int64_t)st.st_size);
    }
    return -errno;
}

int kv_rocksdb_seal(const char *path)
{
    _cleanup_close_ int directory_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory_fd < 0)
        return -errno;
    int fd = openat(directory_fd, new_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return fd < 0 ? -errno : -ENOMEM;
    int r = write_lines(directory_fd, file);
    if (r == 0 && (fflush(file) != 0 || fsync(fd) < 0))
        r = -errno;
    if (fclose(file) != 0 && r == 0)
        r = -errno;
    if (r == 0 && renameat(directory_fd, new_name, directory_fd, seal_name) < 0)
        r = -errno;
    return r;
}

static int explain(const char *name, int64_t size, const struct stat *st, char **ret_message)
{
    int n = st ? asprintf(ret_message, "its file %s has %" PRId64 " bytes instead of %" PRId64,
                          name, (int64_t)st->st_size, size)
               : asprintf(ret_message, "its file %s is lost", name);
    if (n < 0)
        *ret_message = NULL;
    return -EUCLEAN;
}

int kv_rocksdb_check_seal(int directory_fd, char **ret_message)
{
    char line[512], name[256];
    int64_t size;
    int fd = openat(directory_fd, seal_name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    FILE *file = fdopen(fd, "r");
    if (!file) {
        close(fd);
        return -ENOMEM;
    }
    int r = 0;
    while (r == 0 && fgets(line, sizeof(line), file)) {
        struct stat st;
        if (sscanf(line, "%255s %" SCNd64, name, &size) != 2)
            r = explain(seal_name, 0, NULL, ret_message);
        else if (fstatat(directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            r = explain(name, size, NULL, ret_message);
        else if (st.st_size != size)
            r = explain(name, size, &st, ret_message);
    }
    fclose(file);
    return r < 0 ? r : 1;
}

int kv_rocksdb_break_seal(int directory_fd)
{
    return unlinkat(directory_fd, seal_name, 0) < 0 && errno != ENOENT ? -errno : 0;
}
