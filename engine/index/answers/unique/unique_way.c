/* The safety of a stand-in is that nobody else can take it away: a copy of unique/ takes a while,
 * and has neither of the two if the one that was left out is gone by then with its stand-in.
 *
 * So the stand-in, and each directory that its path goes through and the document's does not, can
 * be written by nobody but root and the one who owns both documents: it is root's or that owner's,
 * and its mode lets neither the group nor others write. Behind an access control list the bits of
 * the group are the mask, beyond which no entry of the list gives anything; so the mode says all.
 * A group that the owner alone is in (own_group.h) may write where there is no list, as everywhere
 * where umask is 002. Nothing makes up for a bit: no closed directory above, no sticky bit, no
 * equal right to the document.
 *
 * A directory that both paths go through is left. Who can write that can rename the two, or what
 * has them, alike. But a stand-in that is in such a one itself can be removed there, where a
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
#include <sys/xattr.h>

#include "base/files/own_group.h"
#include "base/proc_path.h"
#include "engine/index/answers/unique/unique_private.h"
#include "engine/index/intake/open_soon.h"

static bool has_list(int fd)
{
    ssize_t n = getxattr(proc_path_of(fd).text, "system.posix_acl_access", NULL, 0);
    return n > 0 || (n < 0 && errno != ENODATA && errno != EOPNOTSUPP);
}

/* The bits of the group let nobody write but the owner of the documents. */
static bool is_own_group(struct unique_asking *asking, const struct stat *st, int fd)
{
    if (!asking->group_is_known || asking->group != st->st_gid) {
        asking->group = st->st_gid;
        asking->group_is_own = own_group_is(NULL, NULL, asking->owner, st->st_gid);
        asking->group_is_known = true;
    }
    return asking->group_is_own && !has_list(fd);
}

/* Nobody but root and the owner of the documents can write what the descriptor is of: 1, 0 or an
 * error. */
static int is_closed_at(struct unique_asking *asking, int fd, nlink_t *ret_links)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return -EAGAIN;
    *ret_links = st.st_nlink;
    return (st.st_uid == 0 || st.st_uid == asking->owner) && !(st.st_mode & S_IWOTH) &&
           (!(st.st_mode & S_IWGRP) || is_own_group(asking, &st, fd));
}

static int is_closed(struct unique_asking *asking, const struct file_key *key, nlink_t *ret_links)
{
    _cleanup_(opened_close) struct opened opened = {
        asking->index,
        open_document_soon(asking->index, asking->query.looking, key, O_PATH | O_CLOEXEC)};
    return is_closed_at(asking, opened.fd, ret_links);
}

/* One that is kept locked, or one above it, is not waited for. */
static int is_closed_directory(struct unique_asking *asking, const struct file_key *key)
{
    nlink_t links;
    struct looking looking = {.looks = asking->index->openers, .left_us = INT64_C(1000) * LOOK_MS};
    _cleanup_close_ int fd = open_soon(asking->index, &looking, asking->owner, key);
    return is_closed_at(asking, fd, &links);
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
    nlink_t links, stand_in_links;
    if (asking->owner == UNIQUE_ANYONE)
        return 1;
    int r = is_closed(asking, file, &links); /* or not: it is looked at for its links */
    if (r >= 0)
        r = is_closed(asking, stand_in, &stand_in_links);
    return r <= 0
               ? r
               : is_way_closed(asking, stand_in_path,
                               first_place(path, stand_in_path, links > 1 || stand_in_links > 1));
}
