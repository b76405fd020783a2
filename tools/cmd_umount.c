/* kinfs umount: unmount, and wait until the daemon has ended, so that the next mount finds the
 * store free. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#include "tools/command.h"
#include "tools/holder.h"
#include "tools/locate.h"
#include "tools/mount_plan.h"
#include "tools/mounts.h"

/* The daemon drains what was just written (seconds) and closes the store. */
enum { END_WAIT_MS = 60000 };

struct umount_options {
    const char *path;
    bool lazy, force;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct umount_options *options = state->input;
    switch (key) {
    case 'l': options->lazy = true; return 0;
    case 'f': options->force = true; return 0;
    case ARGP_KEY_ARG:
        if (options->path)
            argp_usage(state);
        options->path = argument;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_usage(state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option umount_options[] = {
    {"lazy", 'l', NULL, 0,
     "take the mount away now, and end when nobody uses it any more; does not wait", 0},
    {"force", 'f', NULL, 0,
     "when the daemon hangs: fail all that waits for it, then unmount; does not wait", 0},
    {0},
};
static const struct argp parser = {
    umount_options,
    parse,
    "MOUNTPOINT",
    "Unmount MOUNTPOINT and wait until its daemon has written everything and ended.",
};

/* Whether a link in /proc points into the mount; its text is read, nothing is opened. */
static bool points_into(int directory, const char *name, const char *point)
{
    char target[4096];
    ssize_t n = readlinkat(directory, name, target, sizeof(target) - 1);
    if (n <= 0)
        return false;
    target[n] = '\0';
    return path_within(target, point, NULL);
}

static bool has_open_file(int process, const char *point)
{
    int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _cleanup_closedir_ DIR *files = fd >= 0 ? fdopendir(fd) : NULL;
    if (!files) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    for (struct dirent *entry; (entry = readdir(files));)
        if (points_into(dirfd(files), entry->d_name, point))
            return true;
    return false;
}

/* " (used by: bash (process 7), ...)", or "" when nobody can be named; gives. */
static char *describe_users(const char *point)
{
    enum { MOST = 3 };
    _cleanup_closedir_ DIR *processes = opendir("/proc");
    char *users = message("%s", "");
    int n = 0;
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || atoi(entry->d_name) == getpid())
            continue;
        _cleanup_close_ int process =
            openat(dirfd(processes), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (process < 0 ||
            (!points_into(process, "cwd", point) && !points_into(process, "root", point) &&
             !points_into(process, "exe", point) && !has_open_file(process, point)))
            continue;
        char name[64] = "?";
        _cleanup_close_ int comm = openat(process, "comm", O_RDONLY | O_CLOEXEC);
        ssize_t got = comm >= 0 ? read(comm, name, sizeof(name) - 1) : 0;
        if (got > 1)
            name[got - 1] = '\0';
        if (++n > MOST)
            break;
        char *longer =
            message("%s%s%s (process %s)", users, n == 1 ? "" : ", ", name, entry->d_name);
        free(users);
        users = longer;
    }
    if (n) {
        char *all = message(" by %s%s", users, n > MOST ? " and others" : "");
        free(users);
        users = all;
    }
    return users;
}

/* store  NULL: the mount is not to be touched */
static int find_mount(const char *path, char **ret_point, char **ret_store, char **ret_error)
{
    _cleanup_(mounts_done) struct mounts mounts = {0};
    _cleanup_free_ char *absolute = NULL;
    _cleanup_(location_done) struct location location = {0};
    int r = path_absolute(path, &absolute);
    if (r >= 0)
        r = mounts_read(NULL, &mounts);
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", path, strerror(-r));
    if (!mount_is_kinfs(mounts_at(&mounts, absolute)))
        return refuse(ret_error, -EINVAL,
                      "%s: not a mount point of kinfs; findmnt -t fuse.kinfs lists "
                      "them",
                      path);
    /* A dead or another user's mount can be unmounted, only not be waited for. */
    if (ret_store && locate(absolute, NULL, &location, NULL) >= 0)
        *ret_store = TAKE_PTR(location.store);
    *ret_point = TAKE_PTR(absolute);
    return 0;
}

int cmd_umount(int argc, char **argv)
{
    struct umount_options options = {0};
    _cleanup_free_ char *point = NULL, *store = NULL, *error = NULL;
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    const bool is_waiting = !options.lazy && !options.force;
    int r = find_mount(options.path, &point, is_waiting ? &store : NULL, &error);
    if (r < 0)
        return command_end(r, error);
    /* This process may have been started inside the mount. */
    if (chdir("/") < 0)
        return command_end(-errno, NULL);
    r = unmount(point, (options.lazy ? MNT_DETACH : 0) | (options.force ? MNT_FORCE : 0));
    if (r == -EBUSY || r == -EPERM) {
        _cleanup_free_ char *users = describe_users(point);
        if (r == -EBUSY || *users)
            complain("%s: in use%s; end that first, or use kinfs umount --lazy", point, users);
        else
            complain("%s: cannot be unmounted; do so as the user who mounted it", point);
        return COMMAND_FAILED;
    }
    if (r < 0) {
        complain("%s: %s", point, strerror(-r));
        return COMMAND_FAILED;
    }
    if (!store)
        return COMMAND_OK;
    r = holder_wait(store, END_WAIT_MS);
    if (r < 0) {
        complain("%s: unmounted, but the daemon is still writing %s; kinfs status tells when it is "
                 "done",
                 point, store);
        return COMMAND_FAILED;
    }
    return COMMAND_OK;
}
