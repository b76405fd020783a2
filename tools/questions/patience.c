#include "tools/questions/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "tools/commands/command.h"
#include "tools/show/message.h"
#include "tools/questions/mounts.h"

/* As long as a daemon that lives may take on a busy machine. */
enum { WAIT_MS = 20000 };

/* The path as it was named, from the root; nothing of it is looked at. */
static char *whole_text(const char *path)
{
    char directory[PATH_MAX];
    if (strcmp(path, ".") == 0)
        path = "";
    if (*path == '/' || !getcwd(directory, sizeof(directory)))
        return message("%s", path);
    return message("%s%s%s", directory, *path ? "/" : "", path);
}

/* The kinfs mount that the path leads into, or the one of the tree that it leads into. */
static const struct mount *mount_of_text(const struct mounts *mounts, const char *path)
{
    _cleanup_free_ char *whole = whole_text(path);
    const struct mount *found = NULL, *of_source = NULL;
    for (size_t i = 0; i < mounts->n_mounts; i++) {
        const struct mount *mount = &mounts->mounts[i];
        if (path_within(whole, mount->point, NULL))
            found = mount;
        if (mount_is_trusted(mount) && path_within(whole, mount->source, NULL))
            of_source = mount;
    }
    return mount_is_kinfs(found) ? found : of_source;
}

static void complain_of(const char *path)
{
    _cleanup_(mounts_done) struct mounts mounts = {0};
    const struct mount *mount =
        mounts_read(NULL, &mounts) < 0 ? NULL : mount_of_text(&mounts, path);
    if (mount)
        complain("%s: the mount %s has not answered for %d s; its daemon is stopped (kill -CONT "
                 "lets it go on) or hangs (kinfs umount --force %s)",
                 path, mount->point, WAIT_MS / 1000, mount->point);
    else
        complain("%s: the file system there has not answered for %d s", path, WAIT_MS / 1000);
}

/* The child ends with this program where it can. Where it cannot, nobody waits for it who waits for
 * the end of a pipe, or for a lock. */
static void look_as_child(const char *path, bool asks)
{
    struct statx st;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_range(0, ~0U, 0);
    int fd = asks ? trust_open_anywhere(path, NULL) : trust_open_mount_point(path);
    /* What the kernel remembers of a file says nothing of the daemon: it has to be asked. */
    if (fd >= 0 && asks)
        (void)statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_MODE, &st);
    _exit(0);
}

static void look(const char *path, bool asks)
{
    pid_t child = fork();
    if (child == 0)
        look_as_child(path, asks);
    if (child < 0)
        return;
    _cleanup_close_ int fd = pidfd_open(child, 0);
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    if (fd >= 0 && poll(&ended, 1, WAIT_MS) == 0) {
        complain_of(path);
        fflush(stderr);
        _exit(COMMAND_FAILED);
    }
    waitpid(child, NULL, 0);
}

static void is_directory_as_child(const char *path)
{
    struct stat st;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_range(0, ~0U, 0);
    int fd = trust_open_anywhere(path, NULL);
    _exit(fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) ? 0 : 1);
}

int patience_is_directory(const char *path, int wait_ms)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        is_directory_as_child(path);
    _cleanup_close_ int fd = child < 0 ? -1 : pidfd_open(child, 0);
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    if (fd < 0)
        return -EAGAIN;
    if (poll(&ended, 1, wait_ms) == 0)
        return -ETIMEDOUT;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void patience_look(const char *path)
{
    look(path, true);
}

void patience_look_at_way(const char *path)
{
    look(path, false);
}

void patience_look_below(const char *directory)
{
    _cleanup_(mounts_done) struct mounts mounts = {0};
    if (mounts_read(NULL, &mounts) < 0)
        return;
    for (size_t i = 0; i < mounts.n_mounts; i++)
        if (path_within(mounts.mounts[i].point, directory, NULL) &&
            strcmp(mounts.mounts[i].type, "autofs") != 0)
            look(mounts.mounts[i].point, true);
}
