#include "fs/inodes/path_fd_cache.h"

#include <assert.h>
#include <string.h>

#include "fs/inodes/user_room.h"

/* A quarter is for these; the rest is for the files people have open, for the store (256, see
 * store/kv_rocksdb_options.c), for threads and connections. Where people need more, it is shed.
 * Above the most, more only saves openings of some microseconds, and keeps as many inodes of the
 * backing tree in memory. */
enum { SHARE = 4, LEAST = 16, MOST = 16384 };

/* A quarter as many more may wait to be closed late. */
enum { LATE_SHARE = 4 };

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

static void give_up(struct path_fd_cache *cache, int fd, unsigned how)
{
    assert(cache->n_closing < PATH_FDS_CLOSING);
    cache->n_late += how != CLOSE_NOW;
    cache->closing[cache->n_closing++] =
        (struct path_fd_closing){.fd = fd, .payer = USER_NOBODY, .how = how};
}

static void give_up_unused(struct path_fd_cache *cache, struct path_fd *path_fd, unsigned how)
{
    give_up(cache, path_fd->fd, how);
    path_fd->fd = -1;
    cache->n_open--;
}

static void evict(struct path_fd_cache *cache, unsigned how)
{
    struct path_fd *oldest = cache->oldest;
    unlink_path_fd(cache, oldest);
    give_up_unused(cache, oldest, how);
}

/* Some are for what is given up at once. */
static bool may_give_up(const struct path_fd_cache *cache)
{
    return cache->n_closing < PATH_FDS_CLOSING / 2;
}

static size_t n_late_max(const struct path_fd_cache *cache)
{
    return cache->n_max / LATE_SHARE + 1;
}

static void make_room(struct path_fd_cache *cache)
{
    while (cache->n_open > cache->n_max && cache->oldest && cache->n_late < n_late_max(cache) &&
           may_give_up(cache))
        evict(cache, CLOSE_LATE);
}

bool path_fd_cache_is_full(const struct path_fd_cache *cache)
{
    return cache->n_open + cache->n_late > cache->n_max + n_late_max(cache);
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
        give_up(cache, fd, CLOSE_NOW);
        return path_fd_use(cache, path_fd);
    }
    assert(!path_fd->n_users && !path_fd->pinned);
    path_fd->fd = fd;
    path_fd->brief = brief;
    path_fd->n_users = 1;
    cache->n_open++;
    make_room(cache);
    return fd;
}

void path_fd_release(struct path_fd_cache *cache, struct path_fd *path_fd)
{
    assert(path_fd->n_users);
    if (--path_fd->n_users || path_fd->pinned)
        return;
    if (path_fd->brief || path_fd_cache_is_full(cache)) {
        give_up_unused(cache, path_fd, CLOSE_NOW);
        return;
    }
    path_fd->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = path_fd;
    cache->newest = path_fd;
    make_room(cache);
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

int path_fd_take(struct path_fd_cache *cache, struct path_fd *path_fd, atomic_size_t **ret_count)
{
    int fd = path_fd->fd;
    assert(!path_fd->n_users);
    if (fd >= 0 && !path_fd->pinned) {
        unlink_path_fd(cache, path_fd);
        cache->n_open--;
        cache->n_late++;
    }
    *ret_count = path_fd->pinned ? &cache->n_pinned : &cache->n_late;
    *path_fd = PATH_FD_NONE;
    return fd;
}

bool path_fd_cache_shed(struct path_fd_cache *cache)
{
    const size_t n_before = cache->n_closing;
    while (cache->oldest && may_give_up(cache))
        evict(cache, CLOSE_LATE_IF_REMOVED);
    return cache->n_closing > n_before;
}

bool path_fd_cache_close_late(struct path_fd_cache *cache, uid_t payer)
{
    bool any = false;
    for (size_t i = 0; i < cache->n_closing; i++) {
        struct path_fd_closing *closing = &cache->closing[i];
        if (closing->how != CLOSE_NOW)
            continue;
        cache->n_late++;
        closing->how = path_fd_cache_is_full(cache) ? CLOSE_LATE_IF_REMOVED : CLOSE_LATE;
        closing->payer = payer;
        any = true;
    }
    return any;
}

size_t path_fd_cache_take_closing(struct path_fd_cache *cache,
                                  struct path_fd_closing ret_closing[PATH_FDS_CLOSING])
{
    const size_t n = cache->n_closing;
    memcpy(ret_closing, cache->closing, n * sizeof(ret_closing[0]));
    cache->n_closing = 0;
    return n;
}
