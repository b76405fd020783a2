#include "base/mount_point.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"

static void fclose_p(FILE **file)
{
    if (*file)
        fclose(*file);
}

/* The kernel writes space, tab, newline and backslash as \ooo. In place. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] && from[2] && from[3]) {
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
    dev_t device;
    char root[PATH_MAX];
    size_t root_size;
};

/* The mount point of a line, relative to the root; NULL when it is elsewhere. */
static char *point_below(const struct search *search, char *line, int *ret_id)
{
    char *fields[5], *rest = line;
    for (size_t i = 0; i < 5; i++)
        if (!(fields[i] = strsep(&rest, " ")) || !rest)
            return NULL;
    char *point = fields[4];
    unescape(point);
    *ret_id = atoi(fields[0]);
    bool below = strncmp(point, search->root, search->root_size) == 0 &&
                 point[search->root_size] == '/' && point[search->root_size + 1];
    return below ? point + search->root_size + 1 : NULL;
}

static bool is_wanted(const struct search *search, const char *point, int id)
{
    if (search->id)
        return id == search->id;
    _cleanup_close_ int fd = mount_point_open(search->root_fd, point, search->device);
    return fd >= 0;
}

static int find(struct search *search, char **ret_path)
{
    char link[32];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", search->root_fd);
    ssize_t n = readlink(link, search->root, sizeof(search->root));
    if (n < 0 || (size_t)n == sizeof(search->root))
        return n < 0 ? -errno : -ENAMETOOLONG;
    search->root[n] = '\0';
    search->root_size = n == 1 ? 0 : (size_t)n; /* "/" */

    _cleanup_(fclose_p) FILE *file = fopen("/proc/self/mountinfo", "re");
    if (!file)
        return -errno;
    _cleanup_free_ char *line = NULL;
    size_t line_bytes = 0;
    while (getline(&line, &line_bytes, file) > 0) {
        int id;
        const char *point = point_below(search, line, &id);
        if (!point || !is_wanted(search, point, id))
            continue;
        char *copy = strdup(point);
        if (copy)
            *ret_path = copy;
        return copy ? 0 : -ENOMEM;
    }
    return -ENOENT;
}

int mount_point_of_id(int root_fd, int mount_id, char **ret_path)
{
    return find(&(struct search){.root_fd = root_fd, .id = mount_id}, ret_path);
}

int mount_point_of_device(int root_fd, dev_t device, char **ret_path)
{
    return find(&(struct search){.root_fd = root_fd, .device = device}, ret_path);
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
