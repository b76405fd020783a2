#include "fs/inodes/path_fd_cache.h"

#include <assert.h>
#include <string.h>

/* A quarter is for these; the rest is for the files people have open, for the store (256, see
 * store/kv_rocksdb_options.c), for threads and connections. Where people need more, it is shed.
 * Above the most, more only saves openings of some microseconds, and keeps as many inodes of the
 * backing tree in memory. */
enum { SHARE = 4, LEAST = 16, MOST = 16384 };

size_t path_fd_cache_bound(size_t n_descriptors)
{
    size_t n = n_descriptors / SHARE;
    return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

size_t path_fd_cache_pins(size_t n_descriptors)
{
    return n_descriptors / SHARE / 2;
}

static void unlink_path_fd(struct path_fd_cache *cache, struct path_fd *path_fd)
{
    *(path_fd->newer ? &path_fd->newer->older : &cache->newest) = path_fd->older;
    *(path_fd->older ? &path_fd->older->newer : &cache->oldest) = path_fd->newer;
    path_fd->newer = path_fd->older = NULL;
}

static void give_up(struct path_fd_cache *cache, int fd)
{
    assert(cache->n_closing < PATH_FDS_CLOSING);
    cache->closing[cache->n_closing++] = fd;
}

static void give_up_unused(struct path_fd_cache *cache, struct path_fd *path_fd)
{
    give_up(cache, path_fd->fd);
    path_fd->fd = -1;
    cache->n_open--;
}

/* With some left for what is given up at once. */
static void make_room(struct path_fd_cache *cache, size_t n_max)
{
    while (cache->n_open > n_max && cache->oldest && cache->n_closing < PATH_FDS_CLOSING / 2) {
        struct path_fd *oldest = cache->oldest;
        unlink_path_fd(cache, oldest);
        give_up_unused(cache, oldest);
    }
}

int path_fd_use(struct path_fd_cache *cache, struct path_fd *path_fd)
{
    if (path_fd->fd < 0)
        return -1;
    if (!path_fd->n_users++ && !path_fd->pinned)
        unlink_path_fd(cache, path_fd);
    return path_fd->fd;
}

int path_fd_use_new(struct path_fd_cache *cache, struct path_fd *path_fd, int fd, bool brief)
{
    if (path_fd->fd >= 0) {
        give_up(cache, fd);
        return path_fd_use(cache, path_fd);
    }
    assert(!path_fd->n_users && !path_fd->pinned);
    path_fd->fd = fd;
    path_fd->brief = brief;
    path_fd->n_users = 1;
    cache->n_open++;
    make_room(cache, cache->n_max);
    return fd;
}

void path_fd_release(struct path_fd_cache *cache, struct path_fd *path_fd)
{
    assert(path_fd->n_users);
    if (--path_fd->n_users || path_fd->pinned)
        return;
    if (path_fd->brief) {
        give_up_unused(cache, path_fd);
        return;
    }
    path_fd->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = path_fd;
    cache->newest = path_fd;
    make_room(cache, cache->n_max);
}

void path_fd_drop(struct path_fd *path_fd)
{
    assert(path_fd->n_users);
    path_fd->brief = true;
}

void path_fd_pin(struct path_fd_cache *cache, struct path_fd *path_fd)
{
    assert(path_fd->n_users);
    if (path_fd->pinned || cache->n_pinned >= cache->n_pinned_max)
        return;
    cache->n_open--;
    cache->n_pinned++;
    path_fd->pinned = true;
}

void path_fd_unpin(struct path_fd_cache *cache, struct path_fd *path_fd)
{
    assert(path_fd->n_users);
    if (!path_fd->pinned)
        return;
    cache->n_open++;
    cache->n_pinned--;
    path_fd->pinned = false;
}

int path_fd_take(struct path_fd_cache *cache, struct path_fd *path_fd)
{
    int fd = path_fd->fd;
    assert(!path_fd->n_users);
    if (fd >= 0 && !path_fd->pinned) {
        unlink_path_fd(cache, path_fd);
        cache->n_open--;
    }
    cache->n_pinned -= path_fd->pinned;
    *path_fd = PATH_FD_NONE;
    return fd;
}

bool path_fd_cache_shed(struct path_fd_cache *cache)
{
    bool any = cache->oldest != NULL;
    make_room(cache, 0);
    return any;
}

size_t path_fd_cache_take_closing(struct path_fd_cache *cache, int ret_fds[PATH_FDS_CLOSING])
{
    const size_t n = cache->n_closing;
    memcpy(ret_fds, cache->closing, n * sizeof(ret_fds[0]));
    cache->n_closing = 0;
    return n;
}
