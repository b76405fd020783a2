#include "base/files/way.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void drop(struct way *way, size_t at)
{
    close(way->kept[at].fd);
    way->n_kept--;
    memmove(&way->kept[at], &way->kept[at + 1], (way->n_kept - at) * sizeof(way->kept[0]));
}

void way_done(struct way *way)
{
    while (way->n_kept)
        drop(way, way->n_kept - 1);
    free(way->path);
    *way = (struct way){0};
}

static const char *skip_slashes(const char *at)
{
    return at + strspn(at, "/");
}

static bool goes_on(const char *path, size_t n_bytes)
{
    return path[n_bytes] == '/' && *skip_slashes(path + n_bytes);
}

static size_t count_slashes(const char *path)
{
    size_t n = 0;
    for (; *path; path++)
        n += *path == '/';
    return n;
}

static bool is_on(const struct way *way, size_t at, const char *path)
{
    const size_t n = way->kept[at].n_bytes;
    return strncmp(way->path, path, n) == 0 && (at == 0 || goes_on(path, n));
}

int way_turn(struct way *way, const char *path, size_t n_first)
{
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    while (way->n_kept && (way->kept[0].n_bytes != n_first || !is_on(way, way->n_kept - 1, path)))
        drop(way, way->n_kept - 1);
    free(way->path);
    way->path = copy;
    way->n_end = way->n_kept ? way_last(way)->n_bytes : n_first;
    way->n_left = count_slashes(skip_slashes(path + way->n_end));
    way->may_go = false;
    return 0;
}

int way_next(struct way *way)
{
    const char *name = skip_slashes(way->path + way_last(way)->n_bytes);
    const size_t n = strcspn(name, "/");
    if (n >= sizeof(way->name))
        return -ENAMETOOLONG;
    memcpy(way->name, name, n);
    way->name[n] = '\0';
    way->n_end = (size_t)(name - way->path) + n;
    return goes_on(way->path, way->n_end);
}

/* One directory of so many that follow it on the way to the last, itself included. */
static bool is_kept_for_long(size_t n_left)
{
    return (n_left & (n_left - 1)) == 0;
}

/* The middle directory goes when too many are kept. */
int way_keep(struct way *way, int fd, uint64_t mark)
{
    if (fd < 0)
        return fd;
    if (way->may_go)
        drop(way, way->n_kept - 1);
    else if (way->n_kept == WAY_KEPT)
        drop(way, WAY_KEPT / 2);
    way->kept[way->n_kept++] = (struct way_directory){way->n_end, fd, mark};
    if (way->n_kept > 1)
        way->may_go = !is_kept_for_long(--way->n_left);
    return 0;
}
