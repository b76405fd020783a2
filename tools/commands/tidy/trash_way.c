/* By its name a trash is known as soon as a plan is made. One of another name is one that was given
 * with --trash: that of this run is known by what it is, wherever it has been moved to; that of
 * another run, as any, by what it has of each thing in it. */
#include "tools/commands/tidy/trash_way.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/mounts/mount_point.h"
#include "tools/show/message.h"

static bool is_name(const char *name, size_t n)
{
    static const char own[] = ".Trash-";
    return (n == strlen("Trash") && memcmp(name, "Trash", n) == 0) ||
           (n == strlen(".Trash") && memcmp(name, ".Trash", n) == 0) ||
           (n > strlen(own) && memcmp(name, own, strlen(own)) == 0);
}

bool trash_way_is_named(const char *path)
{
    for (const char *slash; (slash = strchr(path, '/')); path = slash + 1)
        if (is_name(path, (size_t)(slash - path)))
            return true;
    return false;
}

bool trash_way_is_named_so(const char *directory)
{
    const char *slash = strrchr(directory, '/'), *last = slash ? slash + 1 : directory;
    return trash_way_is_named(directory) || is_name(last, strlen(last));
}

/* A thing in files/, a directory or the document itself, of which info/ has a line. */
static int is_noted(int tree_fd, const char *path)
{
    static const char files[] = "files/";
    for (const char *at = path; at; at = strchr(at, '/'), at += at != NULL) {
        if (strncmp(at, files, strlen(files)) != 0)
            continue;
        const char *thing = at + strlen(files);
        _cleanup_free_ char *info = message("%.*sinfo/%.*s.trashinfo", (int)(at - path), path,
                                            (int)(strchrnul(thing, '/') - thing), thing);
        _cleanup_close_ int fd = mount_point_avoid(tree_fd, info, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0)
            return 1;
        if (fd != -ENOENT && fd != -ENOTDIR && fd != -ENAMETOOLONG)
            return fd;
    }
    return 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Up from the directory of the document to that of the tree, which it may have left: then it goes
 * no further than the mount. */
static int is_below(const struct trash *trash, int tree_fd, int directory_fd)
{
    struct stat of_trash, top, st;
    if (trash->fd < 0)
        return 0;
    if (fstat(trash->fd, &of_trash) < 0 || fstat(tree_fd, &top) < 0)
        return -errno;
    _cleanup_close_ int fd = openat(directory_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    for (int steps = 0; steps < PATH_MAX; steps++) {
        if (fstat(fd, &st) < 0)
            return -errno;
        if (is_same(&st, &of_trash) || is_same(&st, &top))
            return is_same(&st, &of_trash);
        const int above = mount_point_avoid(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (above < 0)
            return above;
        close(fd);
        fd = above;
    }
    return -ELOOP;
}

int trash_way_leads_in(const struct trash *trash, int tree_fd, const char *path,
                       const struct tidy_look *look)
{
    const int r = is_below(trash, tree_fd, look->directory_fd);
    return r ? r : is_noted(tree_fd, path);
}
