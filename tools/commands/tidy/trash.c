#include "tools/commands/tidy/trash.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_point.h"
#include "base/proc_path.h"
#include "tools/questions/mounts.h"
#include "tools/questions/patience.h"
#include "tools/show/message.h"

void trash_done(struct trash *trash)
{
    close_p(&trash->fd);
    close_p(&trash->files_fd);
    close_p(&trash->info_fd);
    free(trash->path);
    free(trash->top);
}

/* -- finding it -- */

/* A directory of one's own that others cannot write. */
static int open_own(int above_fd, const char *name, bool make, char **ret_why)
{
    if (make && mkdirat(above_fd, name, 0700) < 0 && errno != EEXIST)
        return -errno;
    _cleanup_close_ int fd =
        mount_point_avoid(above_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? fd : trust_open_directory_at(fd, ".", ret_why);
}

/* The files in it may have been in a directory that others cannot search. */
static int check_private(int fd, char **ret_why)
{
    char path[PATH_MAX];
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!(st.st_mode & (S_IRWXG | S_IRWXO)))
        return 0;
    return refuse(ret_why, -EPERM, "others can look into %s; chmod 700 it",
                  proc_path_read(fd, path) > 0 ? path : "the trash");
}

static int open_both(int fd, bool make, struct trash *ret_trash, char **ret_why)
{
    int r = ret_trash->files_fd = open_own(fd, "files", make, ret_why);
    if (r >= 0)
        r = ret_trash->info_fd = open_own(fd, "info", make, ret_why);
    return r < 0 ? r : 0;
}

/* Takes top. */
static int take(int above_fd, const char *name, char *top, struct trash *ret_trash, char **ret_why)
{
    _cleanup_(trash_done) struct trash trash = TRASH_NONE;
    trash.top = top;
    int r = trash.fd = open_own(above_fd, name, true, ret_why);
    if (r >= 0)
        r = check_private(trash.fd, ret_why);
    if (r == 0)
        r = open_both(trash.fd, true, &trash, ret_why);
    if (r == 0)
        r = proc_path_real(trash.fd, &trash.path);
    if (r < 0)
        return r;
    *ret_trash = trash;
    trash = (struct trash)TRASH_NONE;
    return 0;
}

static bool is_in_mount(int fd, uint64_t mount)
{
    struct mount_id id;
    return mount_id_find(fd, "", &id) == 0 && id.id == mount;
}

static int open_home(void)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    const bool is_said = data && *data == '/';
    if (!is_said && (!home || *home != '/'))
        return -ENOENT;
    _cleanup_free_ char *path = is_said ? message("%s", data) : message("%s/.local/share", home);
    int fd = trust_open_anybodys(path, NULL);
    if (fd != -ENOENT)
        return fd;
    _cleanup_free_ char *below = message("%s/Trash", path);
    const int r = trust_make_parents(below, NULL);
    return r < 0 ? r : trust_open_anybodys(path, NULL);
}

/* The uppermost directory of the mount that a directory is in. */
static int open_top(int tree_fd)
{
    _cleanup_close_ int fd = openat(tree_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int steps = 0; fd >= 0 && steps < PATH_MAX; steps++) {
        struct mount_id mount;
        struct stat st, st_above;
        int r = mount_id_find(fd, "", &mount);
        if (r < 0)
            return r;
        if (mount.is_top)
            return TAKE_FD(fd);
        int above = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (above < 0 || fstat(fd, &st) < 0 || fstat(above, &st_above) < 0)
            return -errno;
        close(fd);
        fd = above;
        if (st.st_ino == st_above.st_ino && st.st_dev == st_above.st_dev)
            return TAKE_FD(fd); /* of a changed root */
    }
    return fd < 0 ? -errno : -ELOOP;
}

/* One that all users have, if whoever set it up kept them apart. */
static int open_shared(int top_fd)
{
    struct stat st;
    _cleanup_close_ int fd =
        mount_point_avoid(top_fd, ".Trash", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    return st.st_mode & S_ISVTX && st.st_uid == 0 ? TAKE_FD(fd) : -EPERM;
}

static int find_at_top(int tree_fd, struct trash *ret_trash, char **ret_why)
{
    _cleanup_free_ char *top = NULL, *shared = message("%u", geteuid()),
                        *own = message(".Trash-%u", geteuid());
    _cleanup_close_ int top_fd = open_top(tree_fd);
    int r = top_fd < 0 ? top_fd : proc_path_real(top_fd, &top);
    if (r < 0)
        return r;
    _cleanup_close_ int shared_fd = open_shared(top_fd);
    if (shared_fd >= 0 && take(shared_fd, shared, message("%s", top), ret_trash, NULL) == 0)
        return 0;
    return take(top_fd, own, TAKE_PTR(top), ret_trash, ret_why);
}

static int find_chosen(const char *directory, const char *chosen, uint64_t mount,
                       struct trash *ret_trash, char **ret_error)
{
    _cleanup_free_ char *path = NULL;
    patience_look(chosen);
    _cleanup_close_ int fd = trust_open_anybodys(chosen, ret_error);
    int r = fd < 0 ? fd : proc_path_real(fd, &path);
    if (r == 0 && path_within(path, directory, NULL))
        return refuse(ret_error, -EINVAL,
                      "--trash=%s: is in what is tidied, where its files would be documents, too",
                      chosen);
    if (r == 0)
        r = is_in_mount(fd, mount) ? take(fd, ".", NULL, ret_trash, ret_error) : -EXDEV;
    if (r >= 0 || *ret_error)
        return r;
    return refuse(ret_error, r, "--trash=%s: %s", chosen,
                  r == -EXDEV ? "is in another mount than the tree; files are moved, not copied"
                              : strerror(-r));
}

int trash_find(int tree_fd, const char *directory, const char *chosen, struct trash *ret_trash,
               char **ret_error)
{
    _cleanup_free_ char *why = NULL;
    struct mount_id mount;
    int r = mount_id_find(tree_fd, "", &mount);
    if (r < 0)
        return r;
    if (chosen)
        return find_chosen(directory, chosen, mount.id, ret_trash, ret_error);
    _cleanup_close_ int home_fd = open_home();
    if (home_fd >= 0 && is_in_mount(home_fd, mount.id) &&
        take(home_fd, "Trash", NULL, ret_trash, &why) == 0)
        return 0;
    free(TAKE_PTR(why));
    r = find_at_top(tree_fd, ret_trash, &why);
    return r < 0 ? refuse(ret_error, r,
                          "no trash in the mount of the tree: %s; --trash=DIRECTORY "
                          "names a directory of your own there",
                          why ? why : strerror(-r))
                 : 0;
}

int trash_open(const char *path, struct trash *ret_trash, char **ret_why)
{
    _cleanup_close_ int fd = trust_open_anybodys(path, ret_why);
    return fd < 0 ? fd : open_both(fd, false, ret_trash, ret_why);
}
