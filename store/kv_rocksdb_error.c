/* RocksDB's errors. Its C interface gives them as text only, "Kind: what was done: strerror", so
 * the errno is found by looking for the text of strerror(3) for each error that kv.h has.
 *
 * Example: "IO error: While appending to file: /proc/self/fd/7/000004.log: No space left on device"
 * is -ENOSPC, and in messages the path of descriptor 7 is put in its place. */
#include "store/kv_rocksdb.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

int kv_rocksdb_errno(const char *message)
{
    /* RocksDB has the text of strerror(3), hence in the same language. */
    static const struct {
        int said, meant;
    } system_errors[] = {
        {ENOSPC, -ENOSPC}, {EDQUOT, -ENOSPC}, {EROFS, -EROFS},   {EACCES, -EACCES},
        {EPERM, -EACCES},  {ENOMEM, -ENOMEM}, {EMFILE, -EMFILE}, {ENFILE, -ENFILE},
    };
    if (!message)
        return 0;
    if (begins(message, "Corruption"))
        return -EUCLEAN;
    if (begins(message, "IO error: While lock file") || begins(message, "IO error: lock "))
        return strstr(message, strerror(EACCES)) ? -EACCES : -EBUSY;
    for (size_t i = 0; i < sizeof(system_errors) / sizeof(system_errors[0]); i++)
        if (strstr(message, strerror(system_errors[i].said)))
            return system_errors[i].meant;
    if (begins(message, "Invalid argument"))
        return -EINVAL;
    return -EIO;
}

char *kv_rocksdb_with_paths(char *message)
{
    static const char prefix[] = "/proc/self/fd/";
    char *at, real[PATH_MAX];
    size_t done = 0; /* a path that was put in may look as a descriptor's */
    while (message && (at = strstr(message + done, prefix))) {
        const size_t n = sizeof(prefix) - 1 + strspn(at + sizeof(prefix) - 1, "0123456789");
        _cleanup_free_ char *link = strndup(at, n);
        ssize_t n_real = link ? readlink(link, real, sizeof(real) - 1) : -1;
        char *longer;
        if (n_real <= 0)
            break;
        real[n_real] = '\0';
        if (asprintf(&longer, "%.*s%s%s", (int)(at - message), message, real, at + n) < 0)
            break;
        done = (size_t)(at - message + n_real);
        free(message);
        message = longer;
    }
    return message;
}

int kv_rocksdb_take_error(char *message)
{
    int r = kv_rocksdb_errno(message);
    message = kv_rocksdb_with_paths(message);
    if (message)
        kv_set_last_error(message);
    rocksdb_free(message);
    return r;
}

char *kv_rocksdb_describe(int error, bool create, const char *path, const char *detail)
{
    char *line = NULL;
    int n;
    switch (error) {
    case -ENOENT:
        n = asprintf(&line,
                     create
                         ? "store %s cannot be made: the directory above it does not exist; make "
                           "that first"
                         : "there is no store in %s; name the right one with --store",
                     path);
        break;
    case -EBUSY:
        n = asprintf(
            &line,
            "store %s is in use by another kinfs process (its mount, or a scan); unmount it or "
            "wait",
            path);
        break;
    case -EUCLEAN:
        n = asprintf(
            &line,
            "store %s is damaged (%s); run `kinfs check --repair --store %s SOURCE`, the documents "
            "themselves are not touched",
            path, detail, path);
        break;
    case -EPROTO:
        n = asprintf(&line,
                     "store %s has other tables than this version of kinfs; use the version it was "
                     "made with, or make another store with kinfs scan --store=DIRECTORY SOURCE",
                     path);
        break;
    case -ENOTEMPTY:
        n = asprintf(
            &line,
            "%s holds other files and no store; name an empty or a new directory with --store",
            path);
        break;
    case -ENOTDIR:
        n = asprintf(&line, "%s is not a directory; name another one with --store", path);
        break;
    case -EACCES:
        n = asprintf(
            &line,
            "store %s cannot be opened: permission denied; run kinfs as its owner, or name "
            "another one with --store",
            path);
        break;
    case -EPERM: n = asprintf(&line, "store %s is not opened: %s", path, detail); break;
    case -EROFS:
        n = asprintf(&line,
                     "store %s is on a read-only file system; remount it writable, or name another "
                     "one with --store",
                     path);
        break;
    case -ENOSPC:
        n = asprintf(
            &line,
            "no room for store %s: it is written only where %d MiB are free, most of which "
            "it leaves free; make room on its file system, or name another one with "
            "--store",
            path, KV_ROCKSDB_RESERVED_BYTES >> 20);
        break;
    default: n = asprintf(&line, "store %s cannot be opened: %s", path, detail);
    }
    if (n < 0)
        return NULL;
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return line;
}
