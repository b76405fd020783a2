/* A directory is a store when it has what only a store has: a database with the stamp of the store
 * layer, or the file of its policy where the database was lost. It is looked at before anything in
 * it is touched: whoever mistypes a path must not lose what is there.
 *
 * The file `lock` is locked (flock) as long as a process has the store: over the moment at which a
 * rebuild exchanges the databases the database's own lock would not do.
 */
#include "engine/index/store_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "base/proc_path.h"
#include "engine/index/store_identity.h"
#include "engine/index/messages.h"
#include "store/kv.h"

static char *join(const char *path, const char *name)
{
    char *joined;
    return asprintf(&joined, "%s/%s", path, name) < 0 ? NULL : joined;
}

/* -- what is there -- */

static const char lock_text[] = "kinfs\n";

enum kind { KIND_EMPTY, KIND_STORE, KIND_FOREIGN };

static bool is_database(const char *path, const char *name)
{
    _cleanup_free_ char *joined = join(path, name);
    return joined && kv_rocksdb_is_store(joined);
}

/* The file is there from the first moment of a store's making. */
static bool has_lock(int directory_fd)
{
    char text[sizeof(lock_text)];
    _cleanup_close_ int fd = trust_open_file(directory_fd, "lock", O_RDONLY, NULL);
    return fd >= 0 && read(fd, text, sizeof(text)) == sizeof(lock_text) - 1 &&
           memcmp(text, lock_text, sizeof(lock_text) - 1) == 0;
}

/* True: it holds only things that a file system itself puts there, or a lock about to be made. */
static int is_empty(int directory_fd)
{
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _cleanup_closedir_ DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory) {
        int r = -errno;
        if (fd >= 0)
            close(fd);
        return r;
    }
    const struct dirent *entry;
    while ((entry = readdir(directory))) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strcmp(entry->d_name, "lost+found") == 0)
            continue;
        if (strcmp(entry->d_name, "lock") != 0 ||
            fstatat(dirfd(directory), "lock", &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISREG(st.st_mode) || st.st_size > 0)
            return 0;
    }
    return 1;
}

static int find_kind(const char *path, int directory_fd, enum kind *ret_kind)
{
    struct policy policy;
    if (has_lock(directory_fd) || is_database(path, STORE_DB) || is_database(path, STORE_DB_OLD) ||
        store_identity_read_policy_file(path, &policy) >= 0) {
        *ret_kind = KIND_STORE;
        return 0;
    }
    int r = is_empty(directory_fd);
    if (r >= 0)
        *ret_kind = r ? KIND_EMPTY : KIND_FOREIGN;
    return r < 0 ? r : 0;
}

/* Both by what is open: names that lead there may by now lead into a mount of another user's, whose
 * server need not answer. */
static int check_place(const char *path, int directory_fd, const char *source, int tree_fd,
                       enum kind kind, char **ret_error)
{
    _cleanup_free_ char *real = NULL, *tree = NULL;
    if (proc_path_real(directory_fd, &real) < 0 || proc_path_real(tree_fd, &tree) < 0)
        return 0; /* whoever goes on with them will say so */
    size_t n = strlen(tree);
    if (strcmp(real, tree) == 0)
        return index_refuse(
            ret_error, -EINVAL,
            "%s is the tree itself; name a new directory for its store with --store or "
            "-o store=",
            path);
    if (kind != KIND_STORE && strncmp(real, tree, n) == 0 && (real[n] == '/' || tree[n - 1] == '/'))
        return index_refuse(
            ret_error, -EINVAL,
            "%s is a directory of the tree %s and no store; name one that does not exist "
            "yet with --store or -o store=",
            path, source);
    return 0;
}

/* A store may have only what is to be opened in it, or removed. Databases that count are looked at
 * by whoever opens them. */
static int check_entries(int directory_fd, char **ret_why)
{
    static const char *const removed[] = {STORE_DB_NEW, STORE_DB_OLD};
    static const char *const files[] = {"lock",       "policy", "holder",
                                        "holder.new", "rules",  "rules.new"};
    _cleanup_close_ int db = trust_open_directory_at(directory_fd, STORE_DB, ret_why);
    if (db < 0 && db != -ENOENT)
        return db;
    for (size_t i = 0; i < sizeof(removed) / sizeof(removed[0]); i++) {
        int r = kv_rocksdb_check_removable(directory_fd, removed[i], ret_why);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        _cleanup_close_ int fd = trust_open_file(directory_fd, files[i], O_RDONLY, ret_why);
        if (fd < 0 && fd != -ENOENT)
            return fd;
    }
    return 0;
}

/* -- the lock -- */

static int take_lock(int directory_fd, int *ret_fd, bool *ret_made)
{
    _cleanup_close_ int fd = trust_open_file(directory_fd, "lock", O_RDWR | O_CREAT, NULL);
    struct stat st;
    if (fd < 0)
        return fd;
    trust_keep_from_others(fd);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? -EBUSY : -errno;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (st.st_nlink == 0) /* whoever had it has removed the directory that it had made */
        return -EBUSY;
    *ret_made = st.st_size == 0;
    if (st.st_size == 0) {
        ssize_t n = write(fd, lock_text, sizeof(lock_text) - 1);
        if (n != sizeof(lock_text) - 1)
            return n < 0 ? -errno : -ENOSPC;
    }
    *ret_fd = TAKE_FD(fd);
    return 0;
}

/* -- the databases -- */

void store_directory_drop_new(const char *path)
{
    _cleanup_close_ int fd = trust_open_directory(path, NULL);
    if (fd >= 0)
        (void)kv_rocksdb_remove(fd, STORE_DB_NEW);
}

/* For a file system that cannot exchange two directories at once. */
static int exchange_in_steps(int fd)
{
    int r = kv_rocksdb_remove(fd, STORE_DB_OLD);
    if (r < 0)
        return r;
    if (renameat(fd, STORE_DB, fd, STORE_DB_OLD) < 0)
        return -errno;
    if (renameat(fd, STORE_DB_NEW, fd, STORE_DB) == 0)
        return 0;
    r = -errno;
    (void)renameat(fd, STORE_DB_OLD, fd,
                   STORE_DB); /* if that fails too, the next opening does it */
    return r;
}

int store_directory_exchange(const char *path)
{
    _cleanup_close_ int fd = trust_open_directory(path, NULL);
    if (fd < 0)
        return fd;
    int r = renameat2(fd, STORE_DB_NEW, fd, STORE_DB, RENAME_EXCHANGE) < 0 ? -errno : 0;
    if (r == -ENOENT) /* there is no old one */
        r = renameat(fd, STORE_DB_NEW, fd, STORE_DB) < 0 ? -errno : 0;
    else if (r == -EINVAL || r == -ENOSYS || r == -EOPNOTSUPP)
        r = exchange_in_steps(fd);
    if (r < 0)
        return r;
    if (fsync(fd) == 0) { /* else a crash could bring the old one's name back */
        (void)kv_rocksdb_remove(fd, STORE_DB_NEW);
        (void)kv_rocksdb_remove(fd, STORE_DB_OLD);
    }
    return 0;
}

/* The remains of an interrupted rebuild. */
static int clean_up(int fd)
{
    if (faccessat(fd, STORE_DB, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT &&
        renameat(fd, STORE_DB_OLD, fd, STORE_DB) < 0 && errno != ENOENT)
        return -errno;
    int r = kv_rocksdb_remove(fd, STORE_DB_OLD);
    return r < 0 ? r : kv_rocksdb_remove(fd, STORE_DB_NEW);
}

/* -- taking -- */

static int explain(int error, const char *path, bool create, char **ret_error)
{
    switch (error) {
    case -ENOENT:
        if (!create)
            return index_refuse(ret_error, error,
                                "there is no store in %s; name the right one with --store", path);
        break;
    case -EBUSY:
        return index_refuse(ret_error, error,
                            "store %s is in use by another kinfs process (its mount, a scan or a "
                            "rebuild); unmount it or wait",
                            path);
    case -ENOTEMPTY:
        return index_refuse(
            ret_error, error,
            "%s holds other files and no store; name an empty or a new directory with "
            "--store or -o store=",
            path);
    case -ENOTDIR:
        return index_refuse(
            ret_error, error,
            "%s is not a directory; name another one with --store or -o store=", path);
    case -EACCES:
        return index_refuse(
            ret_error, error,
            "store %s cannot be opened: permission denied; run kinfs as its owner, or "
            "name another one with --store or -o store=",
            path);
    default: break;
    }
    return index_refuse(ret_error, error,
                        "store %s cannot be %s: %s; name another place with --store or -o store=",
                        path, create ? "made or opened" : "opened", strerror(-error));
}

int store_directory_take(const char *path, const char *source, int tree_fd, bool create,
                         int *ret_fd, bool *ret_made, char **ret_error)
{
    enum kind kind = KIND_EMPTY;
    bool made = false, lock_made = false;
    _cleanup_free_ char *why = NULL;
    _cleanup_close_ int directory_fd =
        create ? trust_make_directory(path, &made, &why) : trust_open_directory(path, &why);
    int r = directory_fd < 0 ? directory_fd : find_kind(path, directory_fd, &kind);
    if (r == 0 && !made)
        r = check_place(path, directory_fd, source, tree_fd, kind, ret_error);
    if (r == -EINVAL)
        return r;
    if (r == 0 && kind == KIND_FOREIGN)
        r = -ENOTEMPTY;
    if (r == 0 && kind == KIND_EMPTY && !create)
        r = -ENOENT;
    _cleanup_close_ int fd = -1;
    if (r == 0)
        r = check_entries(directory_fd, &why);
    if (r == 0)
        r = take_lock(directory_fd, &fd, &lock_made);
    if (r == 0)
        r = clean_up(directory_fd);
    if (r == -EPERM && why)
        return index_refuse(ret_error, r, "store %s is not opened: %s", path, why);
    if (r < 0)
        return explain(r, path, create, ret_error);
    *ret_fd = TAKE_FD(fd);
    if (ret_made)
        *ret_made = made && lock_made; /* else another was faster, who may have been and gone */
    return 0;
}

int store_directory_remove(const char *path, const char *const *others)
{
    _cleanup_close_ int fd = trust_open_directory(path, NULL);
    if (fd < 0)
        return fd;
    int r = kv_rocksdb_remove(fd, STORE_DB);
    if (r < 0)
        return r;
    unlinkat(fd, "policy", 0);
    for (; others && *others; others++)
        unlinkat(fd, *others, 0);
    unlinkat(fd, "lock", 0);
    return rmdir(path) < 0 ? -errno : 0;
}

static void close_walk(FTS **walk)
{
    if (*walk)
        fts_close(*walk);
}

uint64_t store_directory_usage(const char *path)
{
    _cleanup_close_ int fd = trust_open_directory(path, NULL);
    char inside[64];
    if (fd < 0)
        return 0;
    snprintf(inside, sizeof(inside), "%s/.", proc_path_of(fd).text);
    char *const roots[] = {inside, NULL};
    _cleanup_(close_walk) FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    uint64_t n_bytes = 0;
    const FTSENT *entry;
    while (walk && (entry = fts_read(walk))) {
        const struct stat *st = entry->fts_statp;
        if (entry->fts_info == FTS_DP || entry->fts_info == FTS_NS)
            continue;
        if (st->st_nlink == 0) /* it was removed meanwhile */
            continue;
        /* The database has files of two names. */
        n_bytes += (uint64_t)st->st_blocks * 512 / (entry->fts_info == FTS_F ? st->st_nlink : 1);
    }
    return n_bytes;
}
