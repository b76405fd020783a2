#include "fs/placement.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_user.h"
#include "base/proc_path.h"

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Goes to the directory above, unless another user has mounted something there, which is asked
 * nothing. Returns 1, 0 at the top, or an errno. */
static int go_up(int *at)
{
    struct mount_id from, to;
    struct stat below, above;
    _cleanup_close_ int up = openat(*at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = up < 0 ? -errno : mount_id_find(*at, "", &from);
    if (r == 0)
        r = mount_id_find(up, "", &to);
    if (r < 0)
        return r;
    if (to.id != from.id && mount_is_anothers(to.id))
        return -EXDEV;
    if (fstat(*at, &below) < 0 || fstat(up, &above) < 0)
        return -errno;
    if (to.id == from.id && is_same(&below, &above))
        return 0;
    close(*at);
    *at = TAKE_FD(up);
    return 1;
}

static int refuse_unseen(int at, int r, char **ret_error)
{
    char path[PATH_MAX];
    if (proc_path_read(at, path) < 0)
        path[0] = '\0';
    if (asprintf(ret_error,
                 "the directory above %s cannot be looked at (%s), so that source, mount point and "
                 "store may be inside of one another; unmount what is there, or choose a directory "
                 "elsewhere",
                 path, r == -EXDEV ? "it is in another user's mount" : strerror(-r)) < 0)
        *ret_error = NULL;
    return r;
}

/* A directory is another one, or inside of it: 1 or 0. By inodes, since the paths may differ by
 * links and bind mounts. Where that cannot be told an errno, with a line (gives). */
static int is_within(int fd, const struct stat *above, char **ret_error)
{
    _cleanup_close_ int at = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = at < 0 ? -errno : 1;
    while (r > 0) {
        struct stat st;
        if (fstat(at, &st) < 0)
            r = -errno;
        else if (is_same(&st, above))
            return 1;
        else
            r = go_up(&at);
    }
    return r < 0 ? refuse_unseen(at, r, ret_error) : 0;
}

int placement_check(struct fs *fs, char **ret_error)
{
    const struct fs_options *options = &fs->options;
    struct stat source, mountpoint;
    const int fd = options->mountpoint_fd;
    if (fstat(fd, &mountpoint) < 0 || fstat(backing_root_fd(fs->backing), &source) < 0) {
        int r = -errno;
        if (asprintf(ret_error, "cannot mount on %s: %s", options->mountpoint, strerror(-r)) < 0)
            *ret_error = NULL;
        return r;
    }
    if (strcmp(options->mountpoint, options->source) == 0 && !is_same(&mountpoint, &source)) {
        if (asprintf(ret_error,
                     "cannot mount on %s: somebody put another directory in its place meanwhile; "
                     "mount again when nobody does",
                     options->mountpoint) < 0)
            *ret_error = NULL;
        return -EBUSY;
    }
    fs->over_itself = is_same(&mountpoint, &source);
    int r = fs->over_itself ? 0 : is_within(fd, &source, ret_error);
    if (r < 0)
        return r;
    if (r) {
        if (asprintf(ret_error,
                     "the mount point %s is inside the source %s: choose one outside of it, or "
                     "mount over the source itself",
                     options->mountpoint, options->source) < 0)
            *ret_error = NULL;
        return -EINVAL;
    }
    _cleanup_close_ int store = -1;
    if (options->store_path)
        store = open(options->store_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (store < 0)
        return 0;
    r = is_within(store, &mountpoint, ret_error);
    if (r < 0)
        return r;
    if (r) {
        if (asprintf(ret_error,
                     "the store %s is inside the mount point %s, which will cover it: choose "
                     "another with store=",
                     options->store_path, options->mountpoint) < 0)
            *ret_error = NULL;
        return -EINVAL;
    }
    struct stat st;
    r = is_within(store, &source, ret_error);
    if (r > 0 && fstat(store, &st) == 0 &&
        backing_key_at(fs->backing, store, "", &fs->store_key) == 0)
        fs->store_ino = st.st_ino;
    return r < 0 ? r : 0;
}
