#include "tools/mount/mount_plan.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/proc_path.h"
#include "base/files/trust.h"
#include "tools/questions/locate.h"
#include "tools/show/message.h"
#include "tools/questions/patience.h"

/* Dead mounts can lie on top of each other; more than this is something else. */
enum { MAX_DEAD = 16, MAX_REFUSED = 4, REFUSED_PAUSE_US = 10000 };

extern char **environ;

void mount_plan_done(struct mount_plan *plan)
{
    free(plan->source);
    free(plan->mountpoint);
    free(plan->store);
    free(plan->log);
    close_p(&plan->source_fd);
    close_p(&plan->mountpoint_fd);
    *plan = MOUNT_PLAN_NONE;
}

static int fusermount(const char *point, bool lazy)
{
    const char *argv[] = {"fusermount3", "-q", "-u", "--", point, NULL};
    const char *lazy_argv[] = {"fusermount3", "-q", "-u", "-z", "--", point, NULL};
    pid_t pid;
    int status;
    int r = posix_spawnp(&pid, argv[0], NULL, NULL, (char **)(lazy ? lazy_argv : argv), environ);
    if (r != 0)
        return -r;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPERM;
}

/* By the directory it is mounted in, where nobody can change the name of a mount point; that
 * directory may be moved. */
int unmount(const struct mount *mount, int flags)
{
    const char *name = strrchr(mount->point, '/');
    if (!name || !*++name)
        return -EINVAL;
    _cleanup_free_ char *above = message("%.*s", (int)(name - mount->point), mount->point);
    _cleanup_close_ int fd = trust_open_anywhere(above, NULL);
    if (fd < 0)
        return fd;
    if (!mount_has(mount, fd, name))
        return -ENOENT;
    _cleanup_free_ char *point = message("/proc/self/fd/%d/%s", fd, name);
    if (umount2(point, UMOUNT_NOFOLLOW | flags) == 0)
        return 0;
    return errno == EPERM ? fusermount(mount->point, flags & MNT_DETACH) : -errno;
}

/* The kernel's memory of a directory outlives the daemon: it has to be asked for anew. */
static bool is_dead(int fd)
{
    struct statx st;
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_MODE, &st) < 0 &&
           (errno == ENOTCONN || errno == ECONNABORTED);
}

/* The mount an open directory is in, whatever has become of the path: by the time of the call
 * another kinfs mount may have unmounted a dead one there and be serving. Only fusermount3 has to
 * be told a path. */
static int detach(const char *opened, const char *point)
{
    if (umount2(opened, MNT_DETACH) == 0)
        return 0;
    return errno == EPERM ? fusermount(point, true) : -errno;
}

/* The path is what the kernel says of the opened directory: the name given is followed once. */
static int open_real(const char *path, int *ret_fd, char **ret_real, char **ret_why)
{
    _cleanup_close_ int fd = trust_open_anybodys(path, ret_why);
    int r = fd < 0 ? fd : proc_path_real(fd, ret_real);
    if (r == 0)
        *ret_fd = TAKE_FD(fd);
    return r;
}

/* Opens a directory when it has unmounted what dead daemons left exactly there; anything else is
 * left alone. Others may be about the same: what matters is that nothing dead is there in the end.
 */
static int open_living(const char *path, int *ret_fd, char **ret_real, char **ret_why,
                       char **ret_error)
{
    uint64_t refused_id = 0;
    int refused = 0;
    for (int i = 0; i < MAX_DEAD; i++) {
        _cleanup_(mounts_done) struct mounts mounts = {0};
        _cleanup_free_ char *point = NULL;
        _cleanup_close_ int fd = -1;
        const struct mount *mount = NULL;
        int r = open_real(path, &fd, &point, ret_why);
        if (r == -EPERM && ret_why && i < MAX_REFUSED) {
            /* It may have been led into a dead mount that somebody took away at that moment. */
            free(TAKE_PTR(*ret_why));
            usleep(REFUSED_PAUSE_US);
            continue;
        }
        if (r < 0)
            return r;
        if (!is_dead(fd)) {
            *ret_fd = TAKE_FD(fd);
            *ret_real = TAKE_PTR(point);
            return 0;
        }
        r = mounts_read(NULL, &mounts);
        if (r == 0)
            r = mounts_of_open(&mounts, fd, &mount);
        if (r == -ENOENT) /* somebody else was faster */
            continue;
        if (r < 0)
            return r;
        if (!mount_is_kinfs(mount) || strcmp(mount->point, point) != 0)
            break;
        if (refused < 0 && mount->id == refused_id)
            return refuse(ret_error, refused,
                          "%s: the daemon of this mount has died, and it cannot be unmounted (%s); "
                          "do so as the user who mounted it",
                          point, strerror(-refused));
        refused = detach(proc_path_of(fd).text, point);
        refused_id = mount->id;
    }
    return refuse(ret_error, -ENOTCONN, "%s: a mount whose daemon has died; unmount it first",
                  path);
}

static int find_directory(const char *path, const char *what, int *ret_fd, char **ret_real,
                          char **ret_error)
{
    _cleanup_free_ char *why = NULL, *error = NULL;
    patience_look(path);
    int r = open_living(path, ret_fd, ret_real, &why, &error);
    if (error)
        return refuse(ret_error, r, "%s", error);
    if (why)
        return refuse(ret_error, r, "%s %s is not opened: %s", what, path, why);
    if (r == -ENOENT)
        return refuse(ret_error, r, "%s: no such %s; make it first, or correct the name", path,
                      what);
    if (r == -ENOTDIR)
        return refuse(ret_error, r, "%s: not a directory; the %s has to be one", path, what);
    return r < 0 ? refuse(ret_error, r, "%s: %s", path, strerror(-r)) : 0;
}

static int check_not_mounted(const struct mount_plan *plan, char **ret_error)
{
    _cleanup_(mounts_done) struct mounts mounts = {0};
    const struct mount *mount = NULL;
    int r = mounts_read(NULL, &mounts);
    if (r < 0)
        return refuse(ret_error, r, "/proc/self/mountinfo: %s", strerror(-r));
    if (mounts_of_open(&mounts, plan->source_fd, &mount) == 0 && mount_is_kinfs(mount))
        return refuse(
            ret_error, -EBUSY,
            "%s: is in the kinfs mount of %s on %s already; unmount that first with kinfs "
            "umount %s",
            plan->source, mount->source, mount->point, mount->point);
    mount = mounts_at(&mounts, plan->mountpoint);
    if (mount_is_kinfs(mount))
        return refuse(ret_error, -EBUSY,
                      "%s: %s is mounted here already; unmount it first with kinfs umount %s",
                      plan->mountpoint, mount->source, plan->mountpoint);
    return 0;
}

/* A file of the daemon's that is reached through its own mount would make it wait for itself. */
static int check_outside(const struct mount_plan *plan, const char *path, const char *what,
                         const char *remedy, char **ret_error)
{
    if (path_within(path, plan->mountpoint, NULL))
        return refuse(ret_error, -EINVAL,
                      "%s: the %s would be inside the mount on %s; put it elsewhere with %s", path,
                      what, plan->mountpoint, remedy);
    return 0;
}

static int find_log(const struct mount_plan *plan, const char *path, char **ret_error)
{
    _cleanup_free_ char *why = NULL, *above = NULL;
    const char *slash = strrchr(path, '/');
    patience_look(path);
    _cleanup_close_ int fd = trust_open_parent(path, &why);
    int r = fd < 0 ? fd : proc_path_real(fd, &above);
    if (why)
        return refuse(ret_error, r, "log %s is not opened: %s", path, why);
    if (r < 0)
        return refuse(ret_error, r, "%s: %s; name another log with -o log=", path, strerror(-r));
    _cleanup_free_ char *real = message("%s/%s", above, slash ? slash + 1 : path);
    return check_outside(plan, real, "log", "-o log=", ret_error);
}

/* The rest of the path that is missing is there for nobody else to make: it is looked at again, by
 * the path found here, when it is made. */
static int find_store(struct mount_plan *plan, const char *path, const char *what,
                      const char *remedy, char **ret_error)
{
    _cleanup_free_ char *why = NULL;
    patience_look(path);
    int r = trust_resolve(path, &plan->store, &why);
    if (r == -EPERM)
        return refuse(ret_error, r, "store %s is not opened: %s", path, why ? why : strerror(-r));
    if (r < 0)
        return refuse(ret_error, r, "%s: %s; name another %s with %s", path, strerror(-r), what,
                      remedy);
    return check_outside(plan, plan->store, what, remedy, ret_error);
}

int mount_plan_make(const char *source, const char *mountpoint, const char *store, bool sketch,
                    const char *log, struct mount_plan *ret_plan, char **ret_error)
{
    _cleanup_(mount_plan_done) struct mount_plan plan = MOUNT_PLAN_NONE;
    _cleanup_free_ char *default_store = NULL;

    int r = find_directory(source, "source", &plan.source_fd, &plan.source, ret_error);
    if (r < 0)
        return r;
    if (mountpoint)
        r = find_directory(mountpoint, "mount point", &plan.mountpoint_fd, &plan.mountpoint,
                           ret_error);
    else
        plan.mountpoint = message("%s", plan.source);
    if (r < 0)
        return r;
    if (!mountpoint && (plan.mountpoint_fd = fcntl(plan.source_fd, F_DUPFD_CLOEXEC, 0)) < 0)
        return refuse(ret_error, -errno, "%s: %s", plan.source, strerror(errno));
    r = check_not_mounted(&plan, ret_error);
    if (r < 0)
        return r;
    if (strcmp(plan.source, plan.mountpoint) != 0) {
        if (path_within(plan.mountpoint, plan.source, NULL))
            return refuse(
                ret_error, -EINVAL,
                "%s: the mount point is inside the source %s; mount outside of it, or over "
                "it with kinfs mount %s",
                plan.mountpoint, plan.source, plan.source);
        if (path_within(plan.source, plan.mountpoint, NULL))
            return refuse(ret_error, -EINVAL,
                          "%s: the mount would hide its own source %s; mount elsewhere",
                          plan.mountpoint, plan.source);
    }
    if (!sketch || !store) {
        r = sketch ? location_default_store(plan.source, &default_store, ret_error)
                   : location_of_mount(plan.mountpoint, &default_store, ret_error);
        if (r < 0)
            return r;
        store = default_store;
    }
    r = find_store(&plan, store, sketch ? "store" : "control socket",
                   sketch ? "-o store=" : "KINFS_STATE_DIR", ret_error);
    if (r >= 0 && log)
        r = find_log(&plan, log, ret_error);
    if (r < 0)
        return r;
    plan.log = log ? message("%s", log) : NULL;
    *ret_plan = plan;
    plan = MOUNT_PLAN_NONE;
    return 0;
}
