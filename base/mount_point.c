#include "base/mount_point.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x00004000U /* since Linux 6.8 */
#endif

void mount_point_unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
            from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
            *to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* What is wanted: 36 35 98:0 /root /point ... by its id or, id 0, any of a device. */
struct search {
    int root_fd, id;
    char root[PATH_MAX];
    size_t root_size;
};

/* The mount point of a line, relative to the root; NULL when it is elsewhere. */
static char *point_below(const struct search *search, char *line, int *ret_id, int *ret_parent)
{
    char *fields[5], *rest = line;
    for (size_t i = 0; i < 5; i++)
        if (!(fields[i] = strsep(&rest, " ")) || !rest)
            return NULL;
    char *point = fields[4];
    mount_point_unescape(point);
    *ret_id = atoi(fields[0]);
    *ret_parent = atoi(fields[1]);
    bool below = strncmp(point, search->root, search->root_size) == 0 &&
                 point[search->root_size] == '/' && point[search->root_size + 1];
    return below ? point + search->root_size + 1 : NULL;
}

/* The mounts, and where the root is among them. */
static int open_search(struct search *search, FILE **ret_file)
{
    char link[32];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", search->root_fd);
    ssize_t n = readlink(link, search->root, sizeof(search->root));
    if (n < 0 || (size_t)n == sizeof(search->root))
        return n < 0 ? -errno : -ENAMETOOLONG;
    search->root[n] = '\0';
    search->root_size = n == 1 ? 0 : (size_t)n; /* "/" */
    *ret_file = fopen("/proc/self/mountinfo", "re");
    return *ret_file ? 0 : -errno;
}

static int find(struct search *search, char **ret_path)
{
    _cleanup_fclose_ FILE *file = NULL;
    int r = open_search(search, &file);
    if (r < 0)
        return r;
    _cleanup_free_ char *line = NULL;
    size_t line_bytes = 0;
    while (getline(&line, &line_bytes, file) > 0) {
        int id, parent;
        const char *point = point_below(search, line, &id, &parent);
        if (!point || id != search->id)
            continue;
        char *copy = strdup(point);
        if (copy)
            *ret_path = copy;
        return copy ? 0 : -ENOMEM;
    }
    return -ENOENT;
}

struct points {
    char **points;
    size_t n_points;
    int *ids; /* of the root, then of the points */
};

static void points_done(struct points *points)
{
    for (size_t i = 0; i < points->n_points; i++)
        free(points->points[i]);
    free(points->points);
    free(points->ids);
}

static bool has_id(const struct points *points, int id)
{
    for (size_t i = 0; i <= points->n_points; i++)
        if (points->ids[i] == id)
            return true;
    return false;
}

/* A number that no other mount has had, where the kernel gives one (from 6.8 on); else the id,
 * which the next mount may get. Asks no file server. */
static uint64_t lasting_id(int root_fd, const char *path, int id)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    struct statx stx;
    _cleanup_close_ int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    if (fd < 0 ||
        statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID_UNIQUE, &stx) < 0 ||
        !(stx.stx_mask & STATX_MNT_ID_UNIQUE))
        return (uint64_t)id;
    return stx.stx_mnt_id;
}

static int add_point(struct points *points, int root_fd, int id, const char *path)
{
    size_t n = points->n_points;
    char **more = reallocarray(points->points, n + 1, sizeof(*more));
    if (more)
        points->points = more;
    int *ids = reallocarray(points->ids, n + 2, sizeof(*ids));
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
    _cleanup_(points_done) struct points points = {.ids = malloc(sizeof(int))};
    _cleanup_fclose_ FILE *file = NULL;
    _cleanup_free_ char *line = NULL;
    struct search search = {.root_fd = root_fd};
    size_t line_bytes = 0;
    struct statx stx;
    if (!points.ids)
        return -ENOMEM;
    if (statx(root_fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0)
        return -errno;
    points.ids[0] = (int)stx.stx_mnt_id;
    int r = open_search(&search, &file);
    while (r == 0 && getline(&line, &line_bytes, file) > 0) {
        int id, parent;
        const char *point = point_below(&search, line, &id, &parent);
        if (point && has_id(&points, parent)) /* a parent stands before its children */
            r = add_point(&points, root_fd, id, point);
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
    return find(&(struct search){.root_fd = root_fd, .id = mount_id}, ret_path);
}

int mount_point_open(int root_fd, const char *path, dev_t device)
{
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    struct stat st;
    _cleanup_close_ int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    return device && st.st_dev != device ? -ENOENT : TAKE_FD(fd);
}
