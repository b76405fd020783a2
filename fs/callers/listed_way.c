#include "fs/callers/listed_way.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

int listed_way_check_readable(int fd)
{
    int r = syscall(SYS_faccessat2, fd, "", R_OK, AT_EACCESS | AT_EMPTY_PATH);
    return r < 0 ? -errno : 0;
}

static void drop(struct listed_way *way, size_t at)
{
    close(way->kept[at].fd);
    way->n_kept--;
    memmove(&way->kept[at], &way->kept[at + 1], (way->n_kept - at) * sizeof(way->kept[0]));
}

void listed_way_done(struct listed_way *way)
{
    while (way->n_kept)
        drop(way, way->n_kept - 1);
    free(way->path);
    *way = (struct listed_way){0};
}

/* Takes the descriptor. Of too many the middle one goes. */
static void keep(struct listed_way *way, size_t n_bytes, int fd)
{
    if (way->n_kept == LISTED_WAY_KEPT)
        drop(way, LISTED_WAY_KEPT / 2);
    way->kept[way->n_kept].n_bytes = n_bytes;
    way->kept[way->n_kept++].fd = fd;
}

static size_t count_slashes(const char *path)
{
    size_t n = 0;
    for (; *path; path++)
        n += *path == '/';
    return n;
}

/* Leaves of what is kept the directories on the way to a file. */
static int turn_to(struct listed_way *way, const char *path)
{
    if (way->n_kept && clock_now_ms() - way->since_ms > LISTED_WAY_MS)
        listed_way_done(way);
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    for (; way->n_kept; drop(way, way->n_kept - 1)) {
        const size_t n = way->kept[way->n_kept - 1].n_bytes;
        if (n == 0 || (strncmp(way->path, path, n) == 0 && path[n] == '/'))
            break;
    }
    free(way->path);
    way->path = copy;
    return 0;
}

/* Takes one step, to what a name means in the last directory that is kept. */
static int open_listed(struct looking *looking, int dir_fd, const char *name)
{
    _cleanup_close_ int fd = looks_open(looking, dir_fd, name, O_DIRECTORY);
    int r = fd < 0 ? fd : listed_way_check_readable(fd);
    return r < 0 ? r : TAKE_FD(fd);
}

/* One directory of so many that follow it on the way to the last, itself included. */
static bool is_kept_for_long(size_t n_left)
{
    return (n_left & (n_left - 1)) == 0;
}

int listed_way_open(struct listed_way *way, struct looking *looking, int root_fd, const char *path,
                    const char **ret_name)
{
    int r = turn_to(way, path);
    *ret_name = path;
    if (r < 0)
        return r;
    if (!way->n_kept) {
        int fd = open_listed(looking, root_fd, ".");
        if (fd < 0)
            return fd;
        way->since_ms = clock_now_ms();
        keep(way, 0, fd);
    }
    const size_t n_known = way->kept[way->n_kept - 1].n_bytes;
    const char *name = path + n_known + (n_known > 0), *slash;
    size_t n_left = count_slashes(name);
    bool may_go = false; /* the last that is kept, once the next one is */
    for (; (slash = strchr(name, '/')); name = slash + 1) {
        char component[NAME_MAX + 1];
        const size_t n = (size_t)(slash - name);
        *ret_name = name;
        if (n >= sizeof(component))
            return -ENAMETOOLONG;
        memcpy(component, name, n);
        component[n] = '\0';
        int fd = open_listed(looking, way->kept[way->n_kept - 1].fd, component);
        if (fd < 0)
            return fd;
        if (may_go)
            drop(way, way->n_kept - 1);
        keep(way, (size_t)(slash - path), fd);
        n_left--;
        may_go = !is_kept_for_long(n_left);
    }
    *ret_name = name;
    return way->kept[way->n_kept - 1].fd;
}
