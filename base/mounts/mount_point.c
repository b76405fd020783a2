/* Mount points are read from /proc/self/mountinfo, which asks no file server, and directories are
 * opened component by component by the kernel with RESOLVE_NO_XDEV, so that nothing is reached
 * through another mount.
 *
 * Example: below /tree, mounts at /tree/a, /tree/a (again, on top) and /tree/a/b give "a" twice,
 * and not "a/b", which is inside of a mount.
 */
#include "base/mounts/mount_point.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/open_at.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_table.h"
#include "base/proc_path.h"

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x00004000U /* since Linux 6.8 */
#endif

/* The directory that mounts are looked for below, as their mount points name it. */
struct top {
    char path[PATH_MAX];
    size_t path_size;
};

static int find_top(int root_fd, struct top *ret_top)
{
    ssize_t n = proc_path_read(root_fd, ret_top->path);
    if (n < 0)
        return (int)n;
    ret_top->path_size = n == 1 ? 0 : (size_t)n; /* "/" */
    return 0;
}

/* A mount point relative to the directory; NULL when it is elsewhere. */
static const char *point_below(const struct top *top, const char *point)
{
    bool below = strncmp(point, top->path, top->path_size) == 0 && point[top->path_size] == '/' &&
                 point[top->path_size + 1];
    return below ? point + top->path_size + 1 : NULL;
}

struct points {
    char **points;
    size_t n_points;
    uint64_t *ids; /* of the root, then of the points */
};

static void points_done(struct points *points)
{
    for (size_t i = 0; i < points->n_points; i++)
        free(points->points[i]);
    free(points->points);
    free(points->ids);
}

/* True for a mount on the directory's own mount, or on top of one that is. */
static bool is_direct(const struct points *points, uint64_t parent_id, const char *point)
{
    if (parent_id == points->ids[0])
        return true;
    for (size_t i = 0; i < points->n_points; i++)
        if (points->ids[i + 1] == parent_id)
            return strcmp(strchr(points->points[i], ' ') + 1, point) == 0;
    return false;
}

static int open_no_link(int dirfd, const char *name, int flags, uint64_t resolve)
{
    return open_at(dirfd, name, (unsigned)flags, RESOLVE_NO_SYMLINKS | resolve);
}

/* Opens the mount at a path. The way there stays in the directory's own mount, as another one,
 * whose server need not answer, may have been mounted over a part of it; and in what the kernel
 * knows, as somebody may keep a directory on it locked, or have put a locked one in the place of
 * the last. */
static int open_top(int root_fd, const char *path)
{
    const char *slash = strrchr(path, '/');
    _cleanup_free_ char *above = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    if (!above)
        return -ENOMEM;
    _cleanup_close_ int fd =
        mount_point_avoid_cached(root_fd, above, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fd;
    return open_no_link(fd, slash ? slash + 1 : path, O_PATH | O_NOFOLLOW | O_CLOEXEC,
                        RESOLVE_CACHED);
}

/* A number that no other mount has had, where the kernel gives one (from 6.8 on); else the id,
 * which the next mount may get. Asks no file server. */
static uint64_t lasting_id(int root_fd, const char *path, uint64_t id)
{
    struct statx stx;
    _cleanup_close_ int fd = open_top(root_fd, path);
    if (fd < 0 ||
        statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID_UNIQUE, &stx) < 0 ||
        !(stx.stx_mask & STATX_MNT_ID_UNIQUE))
        return id;
    return stx.stx_mnt_id;
}

static int add_point(struct points *points, int root_fd, uint64_t id, const char *path)
{
    size_t n = points->n_points;
    char **more = reallocarray(points->points, n + 1, sizeof(*more));
    if (more)
        points->points = more;
    uint64_t *ids = reallocarray(points->ids, n + 2, sizeof(*ids));
    if (ids)
        points->ids = ids;
    if (!more || !ids ||
        asprintf(&more[n], "%" PRIu64 " %s", lasting_id(root_fd, path, id), path) < 0)
        return -ENOMEM;
    ids[n + 1] = id;
    points->n_points++;
    return 0;
}

int mount_points_below(int root_fd, char ***ret_points, size_t *ret_n_points)
{
    _cleanup_(points_done) struct points points = {.ids = malloc(sizeof(uint64_t))};
    _cleanup_(mount_table_done) struct mount_table table = {0};
    struct mount_row row;
    struct top top;
    struct mount_id mount;
    if (!points.ids)
        return -ENOMEM;
    int r = mount_id_find(root_fd, "", &mount);
    if (r < 0)
        return r;
    points.ids[0] = mount.id;
    r = find_top(root_fd, &top);
    if (r == 0)
        r = mount_table_open(&table, NULL);
    while (r == 0 && (r = mount_table_next(&table, &row)) > 0) {
        const char *point = point_below(&top, row.point);
        /* A parent stands before its children. */
        r = point && is_direct(&points, row.parent_id, point)
                ? add_point(&points, root_fd, row.id, point)
                : 0;
    }
    if (r < 0)
        return r;
    *ret_points = TAKE_PTR(points.points);
    *ret_n_points = points.n_points;
    points.n_points = 0;
    return 0;
}

int mount_point_of_id(int root_fd, int mount_id, char **ret_path)
{
    _cleanup_(mount_table_done) struct mount_table table = {0};
    struct mount_row row;
    struct top top;
    int r = find_top(root_fd, &top);
    if (r == 0)
        r = mount_table_find(&table, NULL, (uint64_t)mount_id, &row);
    const char *point = r == 0 ? point_below(&top, row.point) : NULL;
    if (!point)
        return r < 0 ? r : -ENOENT;
    char *copy = strdup(point);
    if (!copy)
        return -ENOMEM;
    *ret_path = copy;
    return 0;
}

int mount_point_stat(int dirfd, const char *name, struct statx *ret_stat)
{
    const int flags = AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC;
    return statx(dirfd, name, flags, STATX_TYPE | STATX_UID, ret_stat) < 0 ? -errno : 0;
}

int mount_point_avoid(int dirfd, const char *name, int flags)
{
    return open_no_link(dirfd, name, flags, RESOLVE_NO_XDEV);
}

int mount_point_avoid_cached(int dirfd, const char *name, int flags)
{
    int fd = open_no_link(dirfd, name, flags, RESOLVE_NO_XDEV | RESOLVE_CACHED);
    return fd == -EINVAL ? -EAGAIN : fd; /* Linux before 5.12 */
}

/* The next name of a path is looked up in a directory, the mount of which may be asked. */
static int step(int *dirfd, const char *name, mount_point_may_fn *may, void *user,
                struct mount_id *mount)
{
    const uint64_t above = mount->id;
    int fd = openat(*dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    close(*dirfd);
    *dirfd = fd;
    int r = mount_id_find(fd, "", mount);
    return r < 0 || mount->id == above ? r : may(user, mount->id);
}

int mount_point_open(int root_fd, const char *path, mount_point_may_fn *may, void *user,
                     struct mount_id *ret_mount)
{
    _cleanup_free_ char *names = strdup(path);
    _cleanup_close_ int fd = openat(root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!names || fd < 0)
        return names ? -errno : -ENOMEM;
    int r = mount_id_find(fd, "", ret_mount);
    for (char *rest = names, *name; r == 0 && (name = strsep(&rest, "/"));)
        r = step(&fd, name, may, user, ret_mount);
    return r < 0 ? r : TAKE_FD(fd);
}
