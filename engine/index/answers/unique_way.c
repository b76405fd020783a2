/* The safety of a stand-in is that nobody else can take it away: a copy of unique/ takes a while,
 * and has neither of the two if the one that was left out is gone by then with its stand-in.
 *
 * So the stand-in, and each directory that its path goes through and the document's does not, can
 * be written by nobody but root and the one who owns both documents: it is root's or that owner's,
 * and its mode lets neither the group nor others write. Behind an access control list the bits of
 * the group are the mask, beyond which no entry of the list gives anything; so the mode says all.
 * Nothing makes up for a bit: no closed directory above, no sticky bit, no equal right to the
 * document.
 *
 * What is left is a directory that both paths go through. Who can write that can rename the two, or
 * what has them, alike. But a stand-in that is in such a one itself can be removed there, where a
 * document further down cannot: then that directory counts, too. And a document with other names
 * may be found by one that nobody comes to: where either has any, all directories of the stand-in's
 * path count, from the root of the tree on.
 *
 * Example: home/u/a is u's, and equal to shared/b, which is older and u's, in a directory that all
 * may write. b does not stand in for a; a does for b.
 *
 * Cost: a look at both, and a row and two calls for each directory that counts. Left out: groups
 * that may write and are trusted (stand_in=anyone is for trees of such), and rights that a file
 * system knows and no mode shows (NFSv4 lists). */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/index/answers/unique_private.h"
#include "engine/index/intake/worker.h"

static int look(struct unique_asking *asking, const struct file_key *key, struct stat *ret_st)
{
    _cleanup_close_ int fd = worker_open(asking->index, key, O_PATH | O_CLOEXEC);
    return fd < 0 || fstat(fd, ret_st) < 0 ? -EAGAIN : 0;
}

/* Nobody but root and the owner of the documents can write it. */
static bool is_closed(const struct unique_asking *asking, const struct stat *st)
{
    return (st->st_uid == 0 || st->st_uid == asking->owner) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static int is_closed_directory(struct unique_asking *asking, const struct file_key *key)
{
    struct stat st;
    int r = look(asking, key, &st);
    return r < 0 ? r : is_closed(asking, &st);
}

/* A directory has its place where its name ends in a path; that of the root is this. */
enum { PLACE_OF_ROOT = -1 };

/* From where on the directories of the stand-in's path count. */
static ptrdiff_t first_place(const char *path, const char *stand_in_path, bool has_other_names)
{
    ptrdiff_t behind = 0; /* the directories of both */
    for (size_t i = 0; path[i] && path[i] == stand_in_path[i]; i++)
        if (path[i] == '/')
            behind = (ptrdiff_t)i + 1;
    if (has_other_names)
        return PLACE_OF_ROOT;
    return strchr(path + behind, '/') && !strchr(stand_in_path + behind, '/') ? behind - 1 : behind;
}

static int is_way_closed(struct unique_asking *asking, const char *path, ptrdiff_t first)
{
    struct index *index = asking->index;
    struct file_key at = *backing_root_key(index->backing), child;
    int r = first <= PLACE_OF_ROOT ? is_closed_directory(asking, &at) : 1;
    for (const char *name = path, *slash; r > 0 && (slash = strchr(name, '/')); name = slash + 1) {
        enum entry_type type;
        _cleanup_free_ char *copy = strndup(name, (size_t)(slash - name));
        r = copy ? catalogue_get(index->kv, &at, copy, &child, &type) : -ENOMEM;
        if (r == 0)
            r = slash - path >= first ? is_closed_directory(asking, &child) : 1;
        at = child;
    }
    return r == -ENOENT ? -EAGAIN : r;
}

int unique_is_as_safe(struct unique_asking *asking, const struct file_key *file, const char *path,
                      const struct file_key *stand_in, const char *stand_in_path)
{
    struct stat left_out, stays;
    if (asking->owner == UNIQUE_ANYONE)
        return 1;
    int r = look(asking, file, &left_out);
    if (r == 0)
        r = look(asking, stand_in, &stays);
    if (r < 0)
        return r;
    const bool has_other_names = left_out.st_nlink > 1 || stays.st_nlink > 1;
    return is_closed(asking, &stays)
               ? is_way_closed(asking, stand_in_path,
                               first_place(path, stand_in_path, has_other_names))
               : 0;
}
