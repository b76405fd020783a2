/* A seal has the files of a database and their sizes when it was closed, in a file SEAL beside
 * them.
 *
 *   name, blank, size, newline; for each
 *
 * and beside it, in SEAL.manifest, the manifest once more, with its XXH3-64 behind it, 8 bytes, big
 * endian: without it nobody could tell which files belong to which tables. (The copy of an earlier
 * version has another sum and counts as none until the next clean end.)
 *
 * RocksDB takes a manifest or a log that ends early for one that a crash cut off, and goes back in
 * time to where it ends, each table by itself. After a clean end that is damage, and only the
 * former sizes of the files tell it. A seal is broken by the first opening for writing: after a
 * crash there is none, and going back is right.
 *
 * Example: SEAL has the line "000009.log 120" and the file has 100 bytes: the store is damaged, and
 * the message names the file and both sizes. Without a seal RocksDB would read the log up to its
 * last whole record. Cost: one stat(2) a file and the sum of the manifest, at each opening.
 *
 * Left out: sums of all files, which would read the whole database; RocksDB has a sum in each
 * block.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "base/files/trust.h"
#include "store/kv_rocksdb.h"

static const char seal_name[] = "SEAL", new_name[] = "SEAL.new";
static const char copy_name[] = "SEAL.manifest", new_copy_name[] = "SEAL.manifest.new";
enum { SUM_BYTES = 8, COPY_BYTES = 16 << 10 };

static int write_lines(int directory_fd, FILE *file)
{
    _cleanup_closedir_ DIR *directory = NULL;
    int r = kv_rocksdb_list(directory_fd, &directory);
    if (r < 0)
        return r;
    const struct dirent *entry;
    while ((errno = 0, entry = readdir(directory))) {
        struct stat st;
        if (!kv_rocksdb_is_data_file(entry->d_name))
            continue;
        if (fstatat(directory_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return -errno;
        fprintf(file, "%s %" PRId64 "\n", entry->d_name, (int64_t)st.st_size);
    }
    return -errno;
}

/* Reads a line. Returns 1, 0 behind the last, or -EUCLEAN for a line that write_lines() does not
 * write: a name of another kind, or one with a slash, might be that of a file elsewhere. */
static int read_line(FILE *file, char ret_name[KV_ROCKSDB_NAME_BYTES], int64_t *ret_size)
{
    enum { SIZE_DIGITS = 18 }; /* such a number is below INT64_MAX */
    char line[KV_ROCKSDB_NAME_BYTES + SIZE_DIGITS + 3];
    if (!fgets(line, sizeof(line), file))
        return ferror(file) ? -EUCLEAN : 0;
    char *blank = strchr(line, ' '),
         *end = blank ? blank + 1 + strspn(blank + 1, "0123456789") : NULL;
    if (!blank || end == blank + 1 || end - blank > SIZE_DIGITS + 1 || strcmp(end, "\n") != 0 ||
        blank - line >= KV_ROCKSDB_NAME_BYTES)
        return -EUCLEAN;
    *blank = '\0';
    if (!kv_rocksdb_is_data_file(line))
        return -EUCLEAN;
    strcpy(ret_name, line);
    *ret_size = strtoll(blank + 1, NULL, 10);
    return 1;
}

/* -- the copy of the manifest -- */

DEFINE_CLEANUP(XXH3_state_t *, XXH3_freeState);

/* Copies and sums so many bytes; to < 0: only sums them. Returns 0, -ENODATA when there are fewer,
 * or an error. */
static int copy_bytes(int from, int to, int64_t n, uint64_t *ret_sum)
{
    uint8_t buffer[COPY_BYTES];
    _cleanup_(XXH3_freeState_p) XXH3_state_t *state = XXH3_createState();
    if (!state)
        return -ENOMEM;
    XXH3_64bits_reset(state);
    while (n > 0) {
        ssize_t r = read(from, buffer, n < COPY_BYTES ? (size_t)n : COPY_BYTES);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return r < 0 ? -errno : -ENODATA;
        XXH3_64bits_update(state, buffer, (size_t)r);
        int error = to < 0 ? 0 : kv_rocksdb_write_all(to, buffer, (size_t)r);
        if (error < 0)
            return error;
        n -= r;
    }
    *ret_sum = XXH3_64bits_digest(state);
    return 0;
}

/* The manifest of a seal, and its size. Returns 1, or 0 when there is none. Among several, where
 * RocksDB had not removed an old one yet, it is the one that was copied. */
static int sealed_manifest(int directory_fd, char ret_name[KV_ROCKSDB_NAME_BYTES],
                           int64_t *ret_size)
{
    char name[KV_ROCKSDB_NAME_BYTES], found[KV_ROCKSDB_NAME_BYTES] = "";
    _cleanup_fclose_ FILE *file = NULL;
    struct stat st;
    int64_t size;
    int r;
    const int64_t copied = fstatat(directory_fd, copy_name, &st, AT_SYMLINK_NOFOLLOW) < 0
                               ? -1
                               : (int64_t)st.st_size - SUM_BYTES;
    if (trust_open_stream(directory_fd, seal_name, O_RDONLY, &file) < 0)
        return 0;
    while ((r = read_line(file, name, &size)) > 0)
        if (!*found && kv_rocksdb_is_manifest(name) && (copied < 0 || size == copied)) {
            strcpy(found, name);
            *ret_size = size;
        }
    if (r < 0 || !*found) /* a damaged seal counts as none */
        return 0;
    strcpy(ret_name, found);
    return 1;
}

/* Copies the manifest of a closed database, which is the one that CURRENT names. */
static int copy_manifest(int directory_fd)
{
    char name[KV_ROCKSDB_NAME_BYTES];
    uint8_t sum_bytes[SUM_BYTES];
    uint64_t sum;
    struct stat st;
    if (!kv_rocksdb_read_current(directory_fd, name))
        return -EUCLEAN;
    _cleanup_close_ int from = openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0 || fstat(from, &st) < 0)
        return -errno;
    _cleanup_close_ int to =
        trust_open_file(directory_fd, new_copy_name, O_WRONLY | O_CREAT | O_TRUNC, NULL);
    if (to < 0)
        return to;
    int r = copy_bytes(from, to, st.st_size, &sum);
    if (r < 0)
        return r;
    put_be64(sum_bytes, sum);
    r = kv_rocksdb_write_all(to, sum_bytes, SUM_BYTES);
    return r < 0 ? r : kv_rocksdb_end_file(directory_fd, to, new_copy_name, copy_name);
}

/* True when a file has this size and this sum, which are those of the copy. */
static bool is_as_sealed(int fd, int64_t size, uint64_t sum)
{
    struct stat st;
    uint64_t found;
    return fd >= 0 && fstat(fd, &st) == 0 && st.st_size == size &&
           copy_bytes(fd, -1, size, &found) == 0 && found == sum;
}

/* Opens the copy, at its beginning, where it is sound and of a manifest of this size; else -1. */
static int open_copy(int directory_fd, int64_t size, uint64_t *ret_sum)
{
    uint8_t stored[SUM_BYTES];
    struct stat st;
    _cleanup_close_ int copy = trust_open_file(directory_fd, copy_name, O_RDONLY, NULL);
    if (copy < 0 || fstat(copy, &st) < 0 || st.st_size != size + SUM_BYTES ||
        copy_bytes(copy, -1, size, ret_sum) < 0 || read(copy, stored, SUM_BYTES) != SUM_BYTES ||
        get_be64(stored) != *ret_sum || lseek(copy, 0, SEEK_SET) < 0)
        return -1;
    return TAKE_FD(copy);
}

/* True when there is a sound copy, and the manifest differs from it. */
static bool is_another(int directory_fd, const char *name, int64_t size)
{
    uint64_t sum;
    _cleanup_close_ int copy = open_copy(directory_fd, size, &sum);
    _cleanup_close_ int present = openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    return copy >= 0 && !is_as_sealed(present, size, sum);
}

int kv_rocksdb_restore_manifest(int directory_fd, char ret_name[KV_ROCKSDB_NAME_BYTES])
{
    static const char restored_name[] = "SEAL.restored";
    int64_t size;
    uint64_t sum;
    *ret_name = '\0';
    if (!sealed_manifest(directory_fd, ret_name, &size))
        return 0;
    _cleanup_close_ int copy = open_copy(directory_fd, size, &sum);
    if (copy < 0)
        return 0;
    _cleanup_close_ int present = openat(directory_fd, ret_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (is_as_sealed(present, size, sum))
        return 0;
    _cleanup_close_ int to =
        trust_open_file(directory_fd, restored_name, O_WRONLY | O_CREAT | O_TRUNC, NULL);
    if (to < 0)
        return to;
    int r = copy_bytes(copy, to, size, &sum);
    if (r == 0)
        r = kv_rocksdb_end_file(directory_fd, to, restored_name, ret_name);
    return r < 0 ? r : 1;
}

/* -- the seal -- */

int kv_rocksdb_seal(int directory_fd)
{
    (void)copy_manifest(directory_fd); /* without it a lost one is not put back */
    FILE *file;
    int r = trust_open_stream(directory_fd, new_name, O_WRONLY | O_CREAT | O_TRUNC, &file);
    if (r < 0)
        return r;
    r = write_lines(directory_fd, file);
    if (r == 0 && (fflush(file) != 0 || fsync(fileno(file)) < 0))
        r = -errno;
    if (fclose(file) != 0 && r == 0)
        r = -errno;
    if (r == 0 && renameat(directory_fd, new_name, directory_fd, seal_name) < 0)
        r = -errno;
    if (r == 0)
        kv_rocksdb_drop_live(directory_fd); /* the copy has taken the place of the second name */
    return r;
}

static int explain(const char *name, int64_t size, const struct stat *st, char **ret_message)
{
    int n = !st ? asprintf(ret_message, "its file %s is lost", name)
            : st->st_size != size
                ? asprintf(ret_message, "its file %s has %" PRId64 " bytes instead of %" PRId64,
                           name, (int64_t)st->st_size, size)
                : asprintf(ret_message, "its file %s is damaged", name);
    if (n < 0)
        *ret_message = NULL;
    return -EUCLEAN;
}

int kv_rocksdb_check_seal(int directory_fd, char **ret_message)
{
    char name[KV_ROCKSDB_NAME_BYTES];
    _cleanup_fclose_ FILE *file = NULL;
    int64_t size;
    int r = trust_open_stream(directory_fd, seal_name, O_RDONLY, &file);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    while ((r = read_line(file, name, &size)) > 0) {
        struct stat st;
        if (fstatat(directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return explain(name, size, NULL, ret_message);
        if (st.st_size != size ||
            (kv_rocksdb_is_manifest(name) && is_another(directory_fd, name, size)))
            return explain(name, size, &st, ret_message);
    }
    if (r == 0)
        return 1;
    *ret_message = strdup("its file SEAL is damaged");
    return r;
}

int kv_rocksdb_break_seal(int directory_fd)
{
    return unlinkat(directory_fd, seal_name, 0) < 0 && errno != ENOENT ? -errno : 0;
}
