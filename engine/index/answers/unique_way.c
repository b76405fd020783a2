/* Who could take a document away while it stands in for another: a copy of unique/ takes a while,
 * and has neither of the two if the one that was left out is gone by then with its stand-in.
 *
 * So a stand-in is at least as safe as what it stands in for: whoever can write it, or remove a
 * name on its way, could do that to the other as well. Of two paths the directories that are on
 * both count for neither. Example: home/u/a is u's, in a directory of u's, and shared/b, which is
 * older and equal, is u's in a directory that all may write. b does not stand in for a; a does for
 * b.
 *
 * Cost: nothing for two in one directory but a look at each; else a row and three calls for each
 * directory that is on one of the ways. Left out: what other rights a file system knows than modes
 * and POSIX access control lists. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/proc_path.h"
#include "engine/index/answers/unique_private.h"

/* Who, but for root and the owner of the documents. */
enum { WRITERS_MAX = 64 };
struct writers {
    uint64_t some[WRITERS_MAX];
    size_t n;
    bool anyone;
};

enum writer { WRITER_USER = 1, WRITER_GROUP, WRITER_LIST };

static bool has(const struct writers *writers, uint64_t who)
{
    for (size_t i = 0; i < writers->n; i++)
        if (writers->some[i] == who)
            return true;
    return writers->anyone;
}

static void add(struct writers *writers, enum writer kind, uint32_t number)
{
    const uint64_t who = (uint64_t)kind << 32 | number;
    if (has(writers, who))
        return;
    writers->anyone |= writers->n == WRITERS_MAX;
    if (!writers->anyone)
        writers->some[writers->n++] = who;
}

/* Those who are in the group's bits of a mode: its own, or all that a list has. */
static void add_group(struct writers *writers, int fd, const struct stat *st)
{
    enum { LIST_MAX = 4096 };
    char list[LIST_MAX];
    ssize_t n = getxattr(proc_path_of(fd).text, "system.posix_acl_access", list, sizeof(list));
    if (n > 0)
        add(writers, WRITER_LIST, (uint32_t)XXH3_64bits(list, (size_t)n));
    else if (n == 0 || errno == ENODATA || errno == EOPNOTSUPP)
        add(writers, WRITER_GROUP, st->st_gid);
    else
        writers->anyone = true;
}

/* Of a file, or of the names in a directory; where that is sticky these are their owners', who are
 * looked at with what has them. */
static int add_inode(struct unique_asking *asking, const struct file_key *key,
                     struct writers *writers)
{
    struct stat st;
    _cleanup_close_ int fd = worker_open(asking->index, key, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -EAGAIN;
    if (st.st_uid != 0 && st.st_uid != asking->owner)
        add(writers, WRITER_USER, st.st_uid);
    if (S_ISDIR(st.st_mode) && st.st_mode & S_ISVTX)
        return 0;
    writers->anyone |= (st.st_mode & S_IWOTH) != 0;
    if (st.st_mode & S_IWGRP && !writers->anyone)
        add_group(writers, fd, &st);
    return 0;
}

/* The bytes of the directories that both paths begin with. */
static size_t common_bytes(const char *a, const char *b)
{
    size_t n = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            n = i + 1;
    return n;
}

/* Of a document, and of the directories on its way behind the first n_passed bytes. */
static int add_way(struct unique_asking *asking, const struct file_key *file, const char *path,
                   size_t n_passed, struct writers *writers)
{
    struct index *index = asking->index;
    struct file_key at = *backing_root_key(index->backing), child;
    int r = add_inode(asking, file, writers);
    for (const char *name = path, *slash; r == 0 && (slash = strchr(name, '/')); name = slash + 1) {
        enum entry_type type;
        _cleanup_free_ char *copy = strndup(name, (size_t)(slash - name));
        r = copy ? catalogue_get(index->kv, &at, copy, &child, &type) : -ENOMEM;
        if (r == 0 && (size_t)(slash - path) >= n_passed)
            r = add_inode(asking, &child, writers);
        at = child;
    }
    return r == -ENOENT ? -EAGAIN : r;
}

int unique_is_as_safe(struct unique_asking *asking, const struct file_key *file, const char *path,
                      const struct file_key *stand_in, const char *stand_in_path)
{
    const size_t n_common = common_bytes(path, stand_in_path);
    struct writers of_file = {0}, of_stand_in = {0};
    if (asking->owner == UNIQUE_ANYONE)
        return 1;
    int r = add_way(asking, stand_in, stand_in_path, n_common, &of_stand_in);
    if (r < 0 || (of_stand_in.n == 0 && !of_stand_in.anyone))
        return r < 0 ? r : 1;
    r = add_way(asking, file, path, n_common, &of_file);
    bool safe = of_file.anyone || !of_stand_in.anyone;
    for (size_t i = 0; i < of_stand_in.n; i++)
        safe &= has(&of_file, of_stand_in.some[i]);
    return r < 0 ? r : safe;
}
