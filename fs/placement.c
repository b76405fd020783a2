#include "fs/placement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_user.h"

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Goes to the directory above, unless another user has mounted something there, which is asked
 * nothing. */
static bool go_up(int *at)
{
    struct mount_id from, to;
    _cleanup_close_ int up = openat(*at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (up < 0 || mount_id_find(*at, "", &from) < 0 || mount_id_find(up, "", &to) < 0 ||
        (to.id != from.id && mount_is_anothers(to.id)))
        return false;
    close(*at);
    *at = TAKE_FD(up);
    return true;
}

/* How many steps up from a directory another one is: 0 itself, -1 nowhere. By inodes, since the
 * paths may differ by links and bind mounts. */
static int steps_up_to(int fd, const struct stat *above)
{
    _cleanup_close_ int at = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat st, parent;
    if (at < 0 || fstat(at, &st) < 0)
        return -1;
    for (int steps = 0;; steps++) {
        if (is_same(&st, above))
            return steps;
        if (!go_up(&at) || fstat(at, &parent) < 0 || is_same(&parent, &st))
            return -1;
        st = parent;
    }
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
    if (steps_up_to(fd, &source) > 0) {
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
    if (steps_up_to(store, &mountpoint) >= 0) {
        if (asprintf(ret_error,
                     "the store %s is inside the mount point %s, which will cover it: choose "
                     "another with store=",
                     options->store_path, options->mountpoint) < 0)
            *ret_error = NULL;
        return -EINVAL;
    }
    struct stat st;
    if (steps_up_to(store, &source) >= 0 && fstat(store, &st) == 0 &&
        backing_key_at(fs->backing, store, "", &fs->store_key) == 0)
        fs->store_ino = st.st_ino;
    return 0;
}
