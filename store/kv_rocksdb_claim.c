/* The directory of a database is checked before RocksDB gets it: everything in it must be one's
 * own. RocksDB opens, empties and removes files by their names, follows links, and makes names that
 * can be guessed. The directory may therefore have nothing but files of the effective user, and the
 * directories below.
 *
 * A file may have several names where they are all here: LIVE.MANIFEST-* is a link, and a run that
 * is being ingested is one for a moment. Other names of a file elsewhere may be older than the
 * owner and mode of the directory, so they are refused even where others cannot search it. A write
 * under one name is a write under all: two stores that share files by cp -al would spoil each
 * other.
 *
 * Example: 000012.sst with two links, of which only one is met here, is refused with a line that
 * asks for a copy. Cost: one stat(2) for each file, at each opening.
 */
#include "store/kv_rocksdb.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/files/trust.h"

struct linked {
    dev_t device;
    ino_t number;
    nlink_t n_missing; /* names that have not been met yet */
    char *name;
};

struct claim {
    struct linked *linked;
    size_t n_linked;
    char **ret_why;
};

static void claim_done(struct claim *claim)
{
    for (size_t i = 0; i < claim->n_linked; i++)
        free(claim->linked[i].name);
    free(claim->linked);
}

static int meet_name(struct claim *claim, const char *name, const struct stat *st)
{
    for (size_t i = 0; i < claim->n_linked; i++) {
        struct linked *linked = &claim->linked[i];
        if (linked->device == st->st_dev && linked->number == st->st_ino) {
            linked->n_missing--;
            return 0;
        }
    }
    struct linked *grown = reallocarray(claim->linked, claim->n_linked + 1, sizeof(*grown));
    char *copy = strdup(name);
    if (grown)
        claim->linked = grown;
    if (!grown || !copy) {
        free(copy);
        return -ENOMEM;
    }
    grown[claim->n_linked++] = (struct linked){st->st_dev, st->st_ino, st->st_nlink - 1, copy};
    return 0;
}

static int check_files(struct claim *claim, int directory_fd, bool is_top);

static int check_entry(struct claim *claim, int directory_fd, const char *name, bool is_top)
{
    struct stat st;
    if (fstatat(directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno; /* a writer may remove files beside this reader */
    if (is_top && strcmp(name, KV_ROCKSDB_RUNS_DIR) == 0) {
        _cleanup_close_ int runs = trust_open_directory_at(directory_fd, name, claim->ret_why);
        return runs < 0 ? runs : check_files(claim, runs, false);
    }
    int r = trust_check_file(directory_fd, name, &st, claim->ret_why);
    return r < 0 || st.st_nlink <= 1 ? r : meet_name(claim, name, &st);
}

static int check_files(struct claim *claim, int directory_fd, bool is_top)
{
    _cleanup_closedir_ DIR *directory = NULL;
    int r = kv_rocksdb_list(directory_fd, &directory);
    const struct dirent *entry;
    while (r == 0 && (errno = 0, entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = check_entry(claim, directory_fd, entry->d_name, is_top);
    return r < 0 ? r : -errno;
}

/* Refuses files that have names elsewhere. Not called for a reader: beside a writer names come and
 * go while they are counted, and a reader does no harm. */
static int check_names(const struct claim *claim, const char *path)
{
    for (size_t i = 0; i < claim->n_linked; i++)
        if (claim->linked[i].n_missing != 0) {
            if (asprintf(
                    claim->ret_why,
                    "%s/%s is a file that has another name elsewhere (a hard link); put a copy "
                    "in its place",
                    path, claim->linked[i].name) < 0)
                *claim->ret_why = NULL;
            return -EPERM;
        }
    return 0;
}

int kv_rocksdb_claim(const char *path, bool create, bool read_only, char **ret_why)
{
    _cleanup_close_ int fd =
        create ? trust_make_directory(path, NULL, ret_why) : trust_open_directory(path, ret_why);
    if (fd < 0)
        return fd;
    /* RocksDB's own lock goes by the path it was given, and is the only one on a file system that
     * has no locks for directories. */
    const bool is_busy = !read_only && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    _cleanup_(claim_done) struct claim claim = {.ret_why = ret_why};
    int r = check_files(&claim, fd, true);
    /* Not before: a file that they could write is refused, and would seem to be one's own then. */
    if (r == 0 && !read_only)
        trust_keep_from_others(fd);
    if (r == 0 && is_busy)
        return -EBUSY;
    if (r == 0 && !read_only)
        r = check_names(&claim, path);
    return r < 0 ? r : TAKE_FD(fd);
}

void kv_rocksdb_path_of(int directory_fd, char ret_path[KV_ROCKSDB_PATH_BYTES])
{
    snprintf(ret_path, KV_ROCKSDB_PATH_BYTES, "/proc/self/fd/%d", directory_fd);
}
