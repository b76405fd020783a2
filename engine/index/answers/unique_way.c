/* The safety of a stand-in is how few could take it away: a copy of unique/ takes a while, and has
 * neither of the two if the one that was left out is gone by then with its stand-in.
 *
 * So a stand-in is at least as safe as what it stands in for: whoever may be able to write it, or
 * to remove a name on its way, surely could do that to the other as well. Of two paths the
 * directories that are on both count for neither. Example: home/u/a is u's, in a directory of u's,
 * and shared/b, which is older and equal, is u's in a directory that all may write. b does not
 * stand in for a; a does for b. Nor does it if a is in home/u/open, which all may write, while
 * home/u lets nobody in.
 *
 * Cost: for two in one directory a look at each; else a row and three calls for each directory that
 * is on one of the ways. Left out: what other rights a file system knows than modes and POSIX
 * access control lists; other names of the two, which are not looked for. Where the document has
 * any, which could keep it, nobody at all may be able to take the stand-in away; and where either
 * has any, the directories on both ways count too, as others may come to it past them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/proc_path.h"
#include "base/room.h"
#include "engine/index/answers/unique_private.h"
#include "engine/index/intake/worker.h"

/* Users and groups, but for root and the owner of the documents; or all who are in a list. */
enum who { WHO_ANYONE, WHO_USER, WHO_GROUP, WHO_LIST };

struct writer {
    enum who who;
    uint64_t number; /* of a user or group; the hash of a list */
};

/* A directory of a way, or the document at its end. */
struct place {
    struct stat st;
    uint64_t list; /* its hash, 0: none */
};

struct way {
    struct place *places;
    size_t n, room;
};

static void way_done(struct way *way)
{
    free(way->places);
}

/* -- what there is -- */

/* -1: there may be a list, which cannot be read. */
static uint64_t hash_list(int fd, gid_t group)
{
    enum { LIST_MAX = 4096 };
    char list[LIST_MAX];
    ssize_t n = getxattr(proc_path_of(fd).text, "system.posix_acl_access", list, sizeof(list));
    if (n > 0)
        return XXH3_64bits_withSeed(list, (size_t)n, group) | 1; /* which the list does not name */
    return n == 0 || errno == ENODATA || errno == EOPNOTSUPP ? 0 : UINT64_MAX;
}

static int add_place(struct unique_asking *asking, const struct file_key *key, struct way *way)
{
    struct place place;
    _cleanup_close_ int fd = worker_open(asking->index, key, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &place.st) < 0)
        return -EAGAIN;
    place.list = hash_list(fd, place.st.st_gid);
    if (!MAKE_ROOM(way->places, way->room, way->n + 1))
        return -ENOMEM;
    way->places[way->n++] = place;
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

/* The directories behind the first n_passed bytes, and the document. */
static int find_way(struct unique_asking *asking, const struct file_key *file, const char *path,
                    size_t n_passed, struct way *way)
{
    struct index *index = asking->index;
    struct file_key at = *backing_root_key(index->backing), child;
    int r = 0;
    for (const char *name = path, *slash; r == 0 && (slash = strchr(name, '/')); name = slash + 1) {
        enum entry_type type;
        _cleanup_free_ char *copy = strndup(name, (size_t)(slash - name));
        r = copy ? catalogue_get(index->kv, &at, copy, &child, &type) : -ENOMEM;
        if (r == 0 && (size_t)(slash - path) >= n_passed)
            r = add_place(asking, &child, way);
        at = child;
    }
    if (r == 0)
        r = add_place(asking, file, way);
    return r == -ENOENT ? -EAGAIN : r;
}

/* -- what may be done -- */

/* Who may be able to write a place: up to three. Names in a sticky directory are their owners', who
 * are looked at with what has them. */
static size_t list_writers(const struct unique_asking *asking, const struct place *place,
                           struct writer writers[3])
{
    const struct stat *st = &place->st;
    size_t n = 0;
    if (st->st_uid != 0 && st->st_uid != asking->owner)
        writers[n++] = (struct writer){WHO_USER, st->st_uid};
    if (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX)
        return n;
    if (st->st_mode & S_IWOTH)
        writers[n++] = (struct writer){.who = WHO_ANYONE};
    if (st->st_mode & S_IWGRP)
        writers[n++] = place->list ? (struct writer){WHO_LIST, place->list}
                                   : (struct writer){WHO_GROUP, st->st_gid};
    return n;
}

/* All who a writer may be surely have some rights: bits as those of others in a mode. */
static bool has(const struct place *place, const struct writer *writer, mode_t bits)
{
    const mode_t mode = place->st.st_mode;
    const bool all = !place->list && (mode & bits) == bits && (mode & bits << 3) == bits << 3;
    switch (writer->who) {
    case WHO_USER: return all || place->st.st_uid == writer->number; /* who can give it to all */
    case WHO_GROUP:
        return all || (!place->list && place->st.st_gid == writer->number &&
                       (mode & bits << 3) == bits << 3);
    case WHO_LIST:
        return all || (place->list == writer->number && place->list != UINT64_MAX &&
                       (mode & bits << 3) == bits << 3);
    case WHO_ANYONE: return all;
    }
    return false;
}

/* A writer could surely take the document away, or write it. */
static bool could_take(const struct way *way, const struct writer *writer)
{
    for (size_t i = 0; i < way->n; i++) {
        const struct place *place = &way->places[i];
        const bool is_directory = S_ISDIR(place->st.st_mode);
        const bool is_sticky = is_directory && place->st.st_mode & S_ISVTX &&
                               !(writer->who == WHO_USER && place->st.st_uid == writer->number);
        if (!is_sticky && has(place, writer, is_directory ? S_IWOTH | S_IXOTH : S_IWOTH))
            return true;
        if (is_directory && !has(place, writer, S_IXOTH))
            return false;
    }
    return false;
}

static bool has_other_names(const struct way *way)
{
    return way->places[way->n - 1].st.st_nlink > 1;
}

/* Common directories are passed over where nothing but these two names leads to the two. */
static int find_ways(struct unique_asking *asking, const struct file_key *file, const char *path,
                     const struct file_key *stand_in, const char *stand_in_path, struct way *way,
                     struct way *others)
{
    const size_t n_common = common_bytes(path, stand_in_path);
    int r = find_way(asking, file, path, n_common, way);
    if (r == 0)
        r = find_way(asking, stand_in, stand_in_path, n_common, others);
    if (r < 0 || n_common == 0 || (!has_other_names(way) && !has_other_names(others)))
        return r;
    way->n = others->n = 0;
    r = find_way(asking, file, path, 0, way);
    return r < 0 ? r : find_way(asking, stand_in, stand_in_path, 0, others);
}

int unique_is_as_safe(struct unique_asking *asking, const struct file_key *file, const char *path,
                      const struct file_key *stand_in, const char *stand_in_path)
{
    _cleanup_(way_done) struct way way = {0}, others = {0};
    if (asking->owner == UNIQUE_ANYONE)
        return 1;
    int r = find_ways(asking, file, path, stand_in, stand_in_path, &way, &others);
    const bool has_names = r == 0 && has_other_names(&way);
    for (size_t i = 0; r == 0 && i < others.n; i++) {
        struct writer writers[3];
        const size_t n = list_writers(asking, &others.places[i], writers);
        for (size_t k = 0; k < n; k++)
            if (has_names || !could_take(&way, &writers[k]))
                return 0;
    }
    return r < 0 ? r : 1;
}
