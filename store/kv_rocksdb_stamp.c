/* The file TABLES of a store has the tables that it was made with, one a line, so that a store of
 * another shape is refused before anything of it is touched.
 *
 *   kinfs store 1
 *   meta whole
 *   records fixed 8
 *   names prefixed
 *
 * It is written as TABLES.new before the database is made and renamed after: a store whose making
 * was interrupted differs from one that lost a file, and from a directory that is no store.
 *
 * Example: with TABLES.new alone the making goes on; with TABLES and another line in it the store
 * is of another version, and opening gives -EPROTO; with CURRENT alone TABLES is lost, and opening
 * gives -EUCLEAN, which kv_rocksdb_restore() may mend.
 */
#include "store/kv_rocksdb.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/files/trust.h"

/* The size of the text is bounded far above that of any version. */
enum { STAMP_MAX_BYTES = 64 << 10 };

static const char stamp_name[] = "TABLES", unfinished_name[] = "TABLES.new";

int kv_rocksdb_stamp_text(const struct kv_options *options, char **ret_text)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return -ENOMEM;
    fputs("kinfs store 1\n", out);
    for (size_t i = 0; i < options->n_tables; i++) {
        const struct kv_table *table = &options->tables[i];
        if (table->partition == KV_PARTITION_FIXED)
            fprintf(out, "%s fixed %u\n", table->name, table->partition_bytes);
        else
            fprintf(out, "%s %s\n", table->name,
                    table->partition == KV_PARTITION_WHOLE ? "whole" : "prefixed");
    }
    bool failed = ferror(out);
    if (fclose(out) < 0 || failed) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = text;
    return 0;
}

/* A text is read up to its first zero byte. */
static int read_stamp(int directory_fd, char ret_text[STAMP_MAX_BYTES])
{
    _cleanup_close_ int fd = trust_open_file(directory_fd, stamp_name, O_RDONLY, NULL);
    if (fd < 0)
        return fd;
    size_t n = 0;
    while (n < STAMP_MAX_BYTES - 1) {
        ssize_t r = read(fd, ret_text + n, STAMP_MAX_BYTES - 1 - n);
        if (r < 0 && errno != EINTR)
            return -errno;
        if (r == 0)
            break;
        n += r > 0 ? (size_t)r : 0;
    }
    ret_text[n] = '\0';
    return 0;
}

/* True for a line of version 1, which has a table and its partition. */
static bool is_table_line(const char *line, size_t n)
{
    size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyz_");
    const char *kind = line + name + 1;
    static const char fixed[] = "fixed ";
    if (name == 0 || line[name] != ' ')
        return false;
    n -= name + 1;
    if (strncmp(kind, fixed, sizeof(fixed) - 1) == 0)
        return n > sizeof(fixed) - 1 &&
               strspn(kind + sizeof(fixed) - 1, "0123456789") == n - (sizeof(fixed) - 1);
    return (n == 5 && strncmp(kind, "whole", n) == 0) ||
           (n == 8 && strncmp(kind, "prefixed", n) == 0);
}

/* True when some version of kinfs wrote the text; any other text is damage. */
static bool is_stamp(const char *text)
{
    static const char head[] = "kinfs store ";
    if (strncmp(text, head, sizeof(head) - 1) != 0)
        return false;
    const char *version = text + sizeof(head) - 1;
    size_t digits = strspn(version, "0123456789");
    if (digits == 0 || version[digits] != '\n')
        return false;
    const char *line = version + digits + 1;
    if (digits > 1 || *version != '1')
        return true; /* the lines of a newer version are not known here */
    for (const char *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        if (!end || !is_table_line(line, (size_t)(end - line)))
            return false;
    }
    return true;
}

/* Returns 1 when the directory is empty. */
static int is_empty(int directory_fd)
{
    _cleanup_closedir_ DIR *directory = NULL;
    int r = kv_rocksdb_list(directory_fd, &directory);
    if (r < 0)
        return r;
    const struct dirent *entry;
    while ((entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return 0;
    return 1;
}

int kv_rocksdb_stamp_check(int directory_fd, const char *text, enum kv_rocksdb_stamp *ret_stamp)
{
    char content[STAMP_MAX_BYTES];
    int r = read_stamp(directory_fd, content);
    if (r == 0) {
        *ret_stamp = KV_ROCKSDB_STAMP_FINISHED;
        return strcmp(content, text) == 0 ? 0 : is_stamp(content) ? -EPROTO : -EUCLEAN;
    }
    if (r != -ENOENT)
        return r;
    if (faccessat(directory_fd, unfinished_name, F_OK, 0) == 0) {
        *ret_stamp = KV_ROCKSDB_STAMP_BEGUN;
        return 0;
    }
    if (faccessat(directory_fd, KV_ROCKSDB_CURRENT, F_OK, 0) ==
        0) /* a database without its stamp */
        return -EUCLEAN;
    r = is_empty(directory_fd);
    if (r < 0)
        return r;
    *ret_stamp = r > 0 ? KV_ROCKSDB_STAMP_NONE : KV_ROCKSDB_STAMP_FOREIGN;
    return 0;
}

int kv_rocksdb_stamp_begin(int directory_fd, const char *text)
{
    _cleanup_close_ int fd =
        trust_open_file(directory_fd, unfinished_name, O_WRONLY | O_CREAT | O_TRUNC, NULL);
    if (fd < 0)
        return fd;
    int r = kv_rocksdb_write_all(fd, text, strlen(text));
    return r < 0 ? r : fsync(fd) < 0 ? -errno : 0;
}

int kv_rocksdb_stamp_finish(int directory_fd, const char *text)
{
    /* The making may have been begun with other tables; the text is that of the tables made. */
    int r = kv_rocksdb_stamp_begin(directory_fd, text);
    if (r < 0)
        return r;
    if (renameat(directory_fd, unfinished_name, directory_fd, stamp_name) < 0)
        return -errno;
    _cleanup_close_ int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

bool kv_rocksdb_is_store(const char *path)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && (faccessat(fd, stamp_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
                       faccessat(fd, unfinished_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
}
