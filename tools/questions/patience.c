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
#include "tools/show/command_exit.h"
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

/* The function that a child runs, whose exit code is what it saw. */
typedef int look_fn(const char *path);

static int see_what_is_there(const char *path)
{
    struct statx st;
    int fd = trust_open_anywhere(path, NULL);
    /* The kernel's memory of a file says nothing of the daemon: it has to be asked. */
    if (fd >= 0)
        (void)statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_MODE, &st);
    return 0;
}

static int see_mount_point(const char *path)
{
    (void)trust_open_mount_point(path);
    return 0;
}

static int see_no_directory(const char *path)
{
    struct stat st;
    int fd = trust_open_anywhere(path, NULL);
    return !(fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode));
}

/* The child ends with this program where it can. Where it cannot, nobody waits for it who waits for
 * the end of a pipe, or for a lock. Returns what it saw, -ETIMEDOUT or -EAGAIN: there is none to be
 * had. */
static int ask_child(look_fn *see, const char *path, int wait_ms)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close_range(0, ~0U, 0);
        _exit(see(path));
    }
    if (child < 0)
        return -EAGAIN;
    _cleanup_close_ int fd = pidfd_open(child, 0);
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    if (fd >= 0 && poll(&ended, 1, wait_ms) == 0)
        return -ETIMEDOUT;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -EAGAIN;
}

static void look(look_fn *see, const char *path)
{
    if (ask_child(see, path, WAIT_MS) != -ETIMEDOUT)
        return;
    complain_of(path);
    fflush(stderr);
    _exit(COMMAND_FAILED);
}

int patience_is_directory(const char *path, int wait_ms)
{
    const int seen = ask_child(see_no_directory, path, wait_ms);
    return seen < 0 ? seen : seen == 0;
}

void patience_look(const char *path)
{
    look(see_what_is_there, path);
}

void patience_look_at_way(const char *path)
{
    look(see_mount_point, path);
}

void patience_look_below(const char *directory)
{
    _cleanup_(mounts_done) struct mounts mounts = {0};
    if (mounts_read(NULL, &mounts) < 0)
        return;
    for (size_t i = 0; i < mounts.n_mounts; i++)
        if (path_within(mounts.mounts[i].point, directory, NULL) &&
            strcmp(mounts.mounts[i].type, "autofs") != 0)
            look(see_what_is_there, mounts.mounts[i].point);
}
