/* The removal of a database, in whatever state it is. Everything is removed by the descriptor of a
 * directory of one's own, and no directories but those that a database has: in another user's
 * directory a name can be a link elsewhere at the next moment.
 *
 * Example: a store with a directory "photos" in it is refused before anything is removed.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/files/trust.h"
#include "store/kv_rocksdb.h"

typedef int (*entry_fn)(int directory_fd, const char *name, char **ret_why);

static int check_entry(int directory_fd, const char *name, char **ret_why)
{
    struct stat st;
    if (fstatat(directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    return S_ISDIR(st.st_mode) ? trust_check_file(directory_fd, name, &st, ret_why) : 0;
}

static int remove_entry(int directory_fd, const char *name, char **ret_why)
{
    (void)ret_why;
    return unlinkat(directory_fd, name, 0) < 0 ? -errno : 0;
}

/* A file that is gone meanwhile counts as removed: another process of this user may remove, too. */
static int for_each(int directory_fd, bool is_top, entry_fn act, char **ret_why)
{
    _cleanup_closedir_ DIR *directory = NULL;
    int r = kv_rocksdb_list(directory_fd, &directory);
    const struct dirent *entry;
    while (r == 0 && (errno = 0, entry = readdir(directory))) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            (is_top && strcmp(name, KV_ROCKSDB_RUNS_DIR) == 0))
            continue;
        r = act(directory_fd, name, ret_why);
        r = r == -ENOENT ? 0 : r;
    }
    return r < 0 ? r : -errno;
}

static int walk(int database_fd, entry_fn act, char **ret_why)
{
    _cleanup_close_ int runs = trust_open_directory_at(database_fd, KV_ROCKSDB_RUNS_DIR, ret_why);
    if (runs < 0 && runs != -ENOENT)
        return runs;
    int r = runs < 0 ? 0 : for_each(runs, false, act, ret_why);
    return r < 0 ? r : for_each(database_fd, true, act, ret_why);
}

int kv_rocksdb_check_removable(int directory_fd, const char *name, char **ret_why)
{
    _cleanup_close_ int fd = trust_open_directory_at(directory_fd, name, ret_why);
    return fd == -ENOENT ? 0 : fd < 0 ? fd : walk(fd, check_entry, ret_why);
}

int kv_rocksdb_remove(int directory_fd, const char *name)
{
    _cleanup_close_ int fd = trust_open_directory_at(directory_fd, name, NULL);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    int r = walk(fd, check_entry, NULL);
    if (r == 0)
        r = walk(fd, remove_entry, NULL);
    if (r == 0 && unlinkat(fd, KV_ROCKSDB_RUNS_DIR, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = -errno;
    return r < 0 ? r : unlinkat(directory_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}
