#include "tools/documents/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_user.h"

void place_way_done(struct place_way *way)
{
    way_done(&way->way);
    trusted_mount_done(&way->trusted);
}

static int open_named(struct place_way *place, const char *path, uint32_t n_named,
                      uint64_t *ret_mount)
{
    struct mount_id mount;
    _cleanup_free_ char *named = n_named ? strndup(path, n_named) : strdup(*path ? "/" : "");
    if (!named)
        return -ENOMEM;
    _cleanup_close_ int fd = trust_open_anywhere(named, &place->trusted);
    int r = fd < 0 ? fd : mount_id_find(fd, "", &mount);
    if (r < 0)
        return r;
    *ret_mount = mount.id;
    return TAKE_FD(fd);
}

/* Takes one step from the last directory that is kept. */
static int step(struct place_way *place, int flags, uint64_t *ret_mount)
{
    const struct way_directory *from = way_last(&place->way);
    struct mount_id mount;
    _cleanup_close_ int fd =
        openat(from->fd, place->way.name, O_PATH | O_NOFOLLOW | O_CLOEXEC | flags);
    int r = fd < 0 ? -errno : mount_id_find(fd, "", &mount);
    if (r < 0)
        return r;
    /* These are in use, so that no other mount has their numbers by now. */
    if (mount.id != from->mark && mount.id != place->trusted.id && mount_is_anothers(mount.id))
        return -EXDEV;
    *ret_mount = mount.id;
    return TAKE_FD(fd);
}

int place_open(struct place_way *place, const char *path, uint32_t n_named)
{
    struct way *way = &place->way;
    uint64_t mount = 0;
    if (!path[n_named + strspn(path + n_named, "/")])
        return open_named(place, path, n_named, &mount);
    int r = way_turn(way, path, n_named), fd;
    if (r == 0 && !way->n_kept) {
        fd = open_named(place, path, n_named, &mount);
        r = way_keep(way, fd, mount);
    }
    while (r == 0 && (r = way_next(way)) > 0) {
        /* O_DIRECTORY has the kernel mount what it mounts unasked, as a whole path would. */
        fd = step(place, O_DIRECTORY, &mount);
        r = way_keep(way, fd, mount);
    }
    return r < 0 ? r : step(place, 0, &mount);
}
