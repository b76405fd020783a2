/* Files in which a database describes itself are put back where they are lost: CURRENT, which names
 * the manifest; the manifest, from the copy that a seal has (kv_rocksdb_seal.c) or, after a crash,
 * by its second name (kv_rocksdb_live.c); and TABLES. Data are never touched, and nothing is put
 * back that is not known for certain.
 *
 * Example: CURRENT is lost after a crash, and there is one MANIFEST-000005: it is the one. With two
 * manifests nothing is put back, as none is certain.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/trust.h"
#include "store/kv_rocksdb.h"

/* Finds the only manifest there is; after a crash nothing else tells which one counts. Returns 1, 0
 * or an error. */
static int find_manifest(int directory_fd, char ret_name[KV_ROCKSDB_NAME_BYTES])
{
    _cleanup_closedir_ DIR *directory = NULL;
    int r = kv_rocksdb_list(directory_fd, &directory);
    if (r < 0)
        return r;
    unsigned n = 0;
    const struct dirent *entry;
    while ((entry = readdir(directory))) {
        if (!kv_rocksdb_is_manifest(entry->d_name) ||
            strlen(entry->d_name) >= KV_ROCKSDB_NAME_BYTES)
            continue;
        strcpy(ret_name, entry->d_name);
        n++;
    }
    return n == 1;
}

/* True when CURRENT names a manifest that is there. */
static bool has_current(int directory_fd)
{
    char name[KV_ROCKSDB_NAME_BYTES];
    return kv_rocksdb_read_current(directory_fd, name) &&
           faccessat(directory_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Writes CURRENT. Returns 1 or an error. */
static int write_current(int directory_fd, const char *manifest)
{
    static const char new_name[] = "CURRENT.restored";
    char line[KV_ROCKSDB_NAME_BYTES + 1];
    size_t n = (size_t)snprintf(line, sizeof(line), "%s\n", manifest);
    _cleanup_close_ int fd =
        trust_open_file(directory_fd, new_name, O_WRONLY | O_CREAT | O_TRUNC, NULL);
    if (fd < 0)
        return fd;
    int r = kv_rocksdb_write_all(fd, line, n);
    if (r == 0)
        r = kv_rocksdb_end_file(directory_fd, fd, new_name, KV_ROCKSDB_CURRENT);
    return r < 0 ? r : 1;
}

static int restore_current(int directory_fd, const char *sealed_manifest)
{
    char manifest[KV_ROCKSDB_NAME_BYTES];
    if (has_current(directory_fd))
        return 0;
    int r = find_manifest(directory_fd, manifest);
    if (*sealed_manifest)
        r = faccessat(directory_fd, sealed_manifest, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    return r <= 0 ? r : write_current(directory_fd, *sealed_manifest ? sealed_manifest : manifest);
}

/* Returns 1 when the tables in the database are those of the options, else 0. */
static int has_these_tables(int directory_fd, const struct kv_options *options)
{
    char path[KV_ROCKSDB_PATH_BYTES];
    kv_rocksdb_path_of(directory_fd, path);
    char *message = NULL;
    size_t n = 0, n_found = 0;
    rocksdb_options_t *list_options = rocksdb_options_create();
    char **names = rocksdb_list_column_families(list_options, path, &n, &message);
    rocksdb_options_destroy(list_options);
    if (message) {
        rocksdb_free(message);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        bool found = strcmp(names[i], "default") == 0;
        for (size_t k = 0; k < options->n_tables; k++)
            found = found || strcmp(names[i], options->tables[k].name) == 0;
        n_found += found;
    }
    rocksdb_list_column_families_destroy(names, n);
    return n == n_found && n == options->n_tables + 1;
}

static int restore_stamp(int directory_fd, const struct kv_options *options)
{
    _cleanup_free_ char *text = NULL;
    enum kv_rocksdb_stamp stamp;
    int r = kv_rocksdb_stamp_text(options, &text);
    if (r < 0)
        return r;
    r = kv_rocksdb_stamp_check(directory_fd, text, &stamp);
    if (r != -EUCLEAN || !has_these_tables(directory_fd, options))
        return 0;
    r = kv_rocksdb_stamp_finish(directory_fd, text);
    return r < 0 ? r : 1;
}

int kv_rocksdb_restore(const char *path, const struct kv_options *options)
{
    char manifest[KV_ROCKSDB_NAME_BYTES] = "";
    _cleanup_free_ char *why = NULL;
    _cleanup_close_ int directory_fd = kv_rocksdb_claim(path, false, false, &why);
    if (directory_fd < 0)
        return directory_fd == -ENOENT ? 0 : directory_fd;
    int put_back = kv_rocksdb_restore_manifest(directory_fd, manifest);
    if (put_back == 0)
        put_back = kv_rocksdb_restore_live(directory_fd);
    int r = put_back < 0 ? put_back : restore_current(directory_fd, manifest);
    if (r < 0)
        return r;
    put_back += r;
    r = restore_stamp(directory_fd, options);
    return r < 0 ? r : put_back + r > 0;
}
