/* Mounts come and go inside the tree: the one change of names that raises no event. */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/mounts/mount_point.h"
#include "fs/watch/watch_private.h"

/* A name of the tree means something else now: what is mounted there, or what lies below. */
static int see(struct watch *watch, struct watch_batch *batch, const char *mount)
{
    struct backing *backing = watch->fs->backing;
    struct file_key key;
    _cleanup_free_ char *path = strdup(strchr(mount, ' ') + 1);
    if (!path)
        return -ENOMEM;
    char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (slash)
        *slash = '\0';
    /* Somebody may keep a directory on the way locked: what the kernel has to look for is left to
     * the scan, if there is an index, and nothing read meanwhile waits for it. */
    _cleanup_close_ int fd = mount_point_avoid_cached(backing_root_fd(backing), slash ? path : ".",
                                                      O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd == -EAGAIN && watch->fs->index)
        index_rescan(watch->fs->index);
    if (fd < 0) /* gone with its directory */
        return 0;
    int r = backing_key_at(backing, fd, "", &key);
    return r < 0 ? 0 : watch_batch_add(batch, &key, name, SEEN_ENTRY);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_mounts(char **mounts, size_t n_mounts)
{
    for (size_t i = 0; i < n_mounts; i++)
        free(mounts[i]);
    free(mounts);
}

int watch_mounts_look(struct watch *watch, struct watch_batch *batch)
{
    char **now;
    size_t n_now, a = 0, b = 0;
    int r = mount_points_below(backing_root_fd(watch->fs->backing), &now, &n_now);
    if (r < 0)
        return r;
    if (n_now)
        qsort(now, n_now, sizeof(now[0]), compare);
    while (r == 0 && (a < watch->n_mounts || b < n_now)) {
        int order = a == watch->n_mounts ? 1 : b == n_now ? -1 : strcmp(watch->mounts[a], now[b]);
        if (order)
            r = see(watch, batch, order < 0 ? watch->mounts[a] : now[b]);
        a += order <= 0;
        b += order >= 0;
    }
    watch_mounts_done(watch);
    watch->mounts = now;
    watch->n_mounts = n_now;
    return r;
}

bool watch_mounts_changed(const struct watch *watch)
{
    struct pollfd mounts = {.fd = watch->mounts_fd, .events = POLLPRI};
    return poll(&mounts, 1, 0) > 0 && (mounts.revents & (POLLPRI | POLLERR));
}

void watch_mounts_catch_up(struct watch *watch)
{
    /* A thread that asks meanwhile is to have the same taken in. */
    LOCKED(&watch->mounts_lock);
    if (!watch_mounts_changed(watch))
        return;
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    if (!batch || watch_mounts_look(watch, batch) < 0) {
        index_rescan(watch->fs->index);
        return;
    }
    watch_index_work(watch, batch); /* when to come again is no matter: nothing is held back */
}

void watch_mounts_done(struct watch *watch)
{
    free_mounts(watch->mounts, watch->n_mounts);
    watch->mounts = NULL;
    watch->n_mounts = 0;
}
