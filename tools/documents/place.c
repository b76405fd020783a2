#include "tools/documents/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mount_user.h"
#include "base/trust.h"

/* The mount of what is open, which need not answer for that, nor let one in: nothing else is asked
 * for. */
static int find_mount(int fd, uint64_t *ret_id)
{
    struct statx st;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &st) < 0)
        return -errno;
    *ret_id = st.stx_mnt_id;
    return 0;
}

static bool is_anothers(uint64_t mount_id)
{
    uid_t uid;
    return mount_user_of_id(mount_id, &uid) < 0 || !mount_user_is_trusted(uid);
}

static int open_named(const char *path, uint32_t n_named, uint64_t *trusted)
{
    _cleanup_free_ char *named = n_named ? strndup(path, n_named) : strdup(*path ? "/" : "");
    return named ? trust_open_anywhere(named, trusted) : -ENOMEM;
}

static void drop(struct place_way *way, size_t at)
{
    close(way->kept[at].fd);
    way->n_kept--;
    memmove(&way->kept[at], &way->kept[at + 1], (way->n_kept - at) * sizeof(way->kept[0]));
}

void place_way_done(struct place_way *way)
{
    while (way->n_kept)
        drop(way, way->n_kept - 1);
    free(way->path);
    *way = (struct place_way){0};
}

/* Takes the descriptor. Of too many the middle one goes. */
static void keep(struct place_way *way, size_t n_bytes, int fd, uint64_t mount)
{
    if (way->n_kept == PLACE_WAY_KEPT)
        drop(way, PLACE_WAY_KEPT / 2);
    way->kept[way->n_kept].n_bytes = n_bytes;
    way->kept[way->n_kept].fd = fd;
    way->kept[way->n_kept++].mount = mount;
}

static const char *skip_slashes(const char *at)
{
    return at + strspn(at, "/");
}

static bool is_below(const char *path, size_t n_bytes)
{
    return path[n_bytes] == '/' && *skip_slashes(path + n_bytes);
}

/* Leaves of what is kept the directories on the way; that what was named is one the caller knows.
 */
static int turn_to(struct place_way *way, const char *path, uint32_t n_named)
{
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    for (; way->n_kept; drop(way, way->n_kept - 1)) {
        const size_t n = way->kept[way->n_kept - 1].n_bytes;
        if (way->n_named == n_named && strncmp(way->path, path, n) == 0 &&
            (way->n_kept == 1 || is_below(path, n)))
            break;
    }
    free(way->path);
    way->path = copy;
    way->n_named = n_named;
    return 0;
}

static size_t count_slashes(const char *path)
{
    size_t n = 0;
    for (; *path; path++)
        n += *path == '/';
    return n;
}

/* One directory of so many that follow it on the way to the last, itself included. */
static bool is_kept_for_long(size_t n_left)
{
    return (n_left & (n_left - 1)) == 0;
}

static int begin(struct place_way *way, const char *path, uint32_t n_named)
{
    uint64_t mount = 0;
    int fd = open_named(path, n_named, &way->trusted), r = fd < 0 ? fd : find_mount(fd, &mount);
    if (r == 0)
        keep(way, n_named, fd, mount);
    else if (fd >= 0)
        close(fd);
    return r;
}

/* Takes one step from the last directory that is kept. */
static int step(struct place_way *way, const char *name, size_t n_bytes, int flags,
                uint64_t *ret_mount)
{
    char component[NAME_MAX + 1];
    if (n_bytes >= sizeof(component))
        return -ENAMETOOLONG;
    memcpy(component, name, n_bytes);
    component[n_bytes] = '\0';
    _cleanup_close_ int fd =
        openat(way->kept[way->n_kept - 1].fd, component, O_PATH | O_NOFOLLOW | O_CLOEXEC | flags);
    int r = fd < 0 ? -errno : find_mount(fd, ret_mount);
    if (r == 0 && *ret_mount != way->kept[way->n_kept - 1].mount) {
        if (*ret_mount != way->trusted && is_anothers(*ret_mount))
            return -EXDEV;
        way->trusted = *ret_mount;
    }
    return r < 0 ? r : TAKE_FD(fd);
}

int place_open(struct place_way *way, const char *path, uint32_t n_named)
{
    if (!*skip_slashes(path + n_named))
        return open_named(path, n_named, &way->trusted);
    int r = turn_to(way, path, n_named);
    if (r == 0 && !way->n_kept)
        r = begin(way, path, n_named);
    if (r < 0)
        return r;
    const char *at = skip_slashes(path + way->kept[way->n_kept - 1].n_bytes);
    size_t n_left = count_slashes(at);
    for (bool may_go = false;;) { /* the last that is kept, once the next one is */
        uint64_t mount = 0;
        const char *end = at + strcspn(at, "/"), *next = skip_slashes(end);
        /* O_DIRECTORY has the kernel mount what it mounts unasked, as a whole path would. */
        int fd = step(way, at, (size_t)(end - at), *next ? O_DIRECTORY : 0, &mount);
        if (fd < 0 || !*next)
            return fd;
        if (may_go)
            drop(way, way->n_kept - 1);
        keep(way, (size_t)(end - path), fd, mount);
        n_left -= n_left > 0;
        may_go = !is_kept_for_long(n_left);
        at = next;
    }
}
