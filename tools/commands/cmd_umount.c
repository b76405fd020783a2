/* kinfs umount: unmount, and wait until the daemon has ended, so that the next mount finds the
 * store free. */
#include <errno.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/proc_path.h"
#include "base/files/trust.h"
#include "tools/commands/command.h"
#include "tools/questions/holder.h"
#include "tools/questions/locate.h"
#include "tools/questions/patience.h"
#include "tools/mount/mount_plan.h"
#include "tools/mount/mount_users.h"

/* The daemon drains what was just written (seconds) and closes the store. */
enum { END_WAIT_MS = 60000 };
/* One that takes longer may have been mounted in another place too; looking for it reads /proc. */
enum { TELL_MS = 1000 };

struct umount_options {
    struct command_options common;
    bool lazy, force;
};

enum { OPTION_FORCE = 0x100 };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct umount_options *options = state->input;
    (void)argument;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 'l': options->lazy = true; return 0;
    case OPTION_FORCE: options->force = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option umount_options[] = {
    {"lazy", 'l', NULL, 0,
     "take the mount away now, and end when nobody uses it any more; does not wait", 0},
    {"force", OPTION_FORCE, NULL, 0,
     "when the daemon hangs: fail all that waits for it, then unmount; does not wait", 0},
    {0},
};
static const struct argp_child children[] = {{&command_plain_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    umount_options, parse, "MOUNTPOINT",
    "Unmount MOUNTPOINT and wait until its daemon has written everything and ended.", children};

/* The mount of a mount point, borrowed from ret_mounts; ret_store  NULL: it is not to be touched.
 */
static int find_mount(const char *path, struct mounts *ret_mounts, const struct mount **ret_mount,
                      char **ret_store, char **ret_error)
{
    _cleanup_free_ char *absolute = NULL;
    _cleanup_(location_done) struct location location = {0};
    patience_look_at_way(path);
    _cleanup_close_ int fd = trust_open_mount_point(path);
    int r = fd < 0 ? fd : proc_path_real(fd, &absolute);
    if (r >= 0)
        r = mounts_read(NULL, ret_mounts);
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", path, error_text(r));
    const struct mount *mount = mounts_at(ret_mounts, absolute);
    if (!mount_is_kinfs(mount))
        return refuse(ret_error, -EINVAL,
                      "%s: not a mount point of kinfs; findmnt -t fuse.kinfs lists "
                      "them",
                      path);
    /* A dead or another user's mount can be unmounted, only not be waited for. */
    if (ret_store && locate(absolute, NULL, &location, NULL) >= 0)
        *ret_store = TAKE_PTR(location.store);
    *ret_mount = mount;
    return 0;
}

static int wait_for_end(const struct mount *mount, const char *store)
{
    int r = holder_wait(store, TELL_MS);
    if (r == 0)
        return COMMAND_OK;
    _cleanup_free_ char *elsewhere = mount_users_elsewhere(mount);
    if (*elsewhere)
        complain("%s: unmounted here, but mounted still%s; waiting for that to end too",
                 mount->point, elsewhere);
    r = holder_wait(store, END_WAIT_MS - TELL_MS);
    if (r == 0)
        return COMMAND_OK;
    free(elsewhere);
    elsewhere = mount_users_elsewhere(mount);
    if (*elsewhere)
        complain("%s: unmounted here, but mounted still%s; the daemon ends when it is unmounted "
                 "there too",
                 mount->point, elsewhere);
    else
        complain("%s: unmounted, but the daemon is still writing %s; kinfs status tells when it is "
                 "done",
                 mount->point, store);
    return COMMAND_FAILED;
}

/* A request that waited for the daemon has failed as soon as this was tried once, but is in the
 * mount until it has run again. */
static int unmount_forced(const struct mount *mount)
{
    enum { LEAVE_MS = 2000, LOOK_MS = 10 };
    int r = unmount(mount, MNT_FORCE);
    for (int waited_ms = 0; r == -EBUSY && waited_ms < LEAVE_MS; waited_ms += LOOK_MS) {
        usleep(LOOK_MS * 1000);
        r = unmount(mount, MNT_FORCE);
    }
    return r;
}

int cmd_umount(int argc, char **argv)
{
    struct umount_options options = {.common.needs_path = true};
    _cleanup_(mounts_done) struct mounts mounts = {0};
    _cleanup_free_ char *store = NULL, *error = NULL;
    const struct mount *mount = NULL;
    command_parse(&parser, argc, argv, &options);
    const bool is_waiting = !options.lazy && !options.force;
    int r = find_mount(options.common.path, &mounts, &mount, is_waiting ? &store : NULL, &error);
    if (r < 0)
        return command_end(r, error);
    const char *point = mount->point;
    /* This process may have been started inside the mount. */
    if (chdir("/") < 0)
        return command_end(-errno, NULL);
    r = options.force && !options.lazy
            ? unmount_forced(mount)
            : unmount(mount, (options.lazy ? MNT_DETACH : 0) | (options.force ? MNT_FORCE : 0));
    if (r == -EBUSY || r == -EPERM) {
        _cleanup_free_ char *users = mount_users_here(point);
        if (r == -EBUSY || *users)
            complain("%s: in use%s; end that first, or use kinfs umount --lazy", point, users);
        else
            complain("%s: cannot be unmounted; do so as the user who mounted it", point);
        return COMMAND_FAILED;
    }
    if (r < 0) {
        complain("%s: %s", point,
                 r == -ENOENT ? "somebody has unmounted or moved it meanwhile" : error_text(r));
        return COMMAND_FAILED;
    }
    return store ? wait_for_end(mount, store) : COMMAND_OK;
}
