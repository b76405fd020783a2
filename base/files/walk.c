/* A path is walked component by component with O_PATH descriptors: each directory and each symbolic
 * link on the way is checked when it is reached, and the next component is opened in the descriptor
 * that was checked, so nobody can exchange it in between. trust.h has the rules.
 *
 * Example: /home/ann/.cache/kinfs for ann: "/" and "/home" are root's and not writable by others;
 * "/home/ann" and the rest must be ann's. With a link /home/ann/.cache -> /tmp/c the walk begins
 * again at "/": /tmp is sticky, so it may be on the way, and /tmp/c must be ann's.
 *
 * Left out: access control lists themselves; their mask is in the mode of the group.
 */
#include "base/files/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/files/refusal.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_user.h"
#include "base/proc_path.h"
#include "base/view_number.h"

/* Links can be made so long, and lead through each other, that one name takes tens of thousands of
 * steps, each of which is some system calls. Without one a path is as long as it was named. */
enum { LINKS_MAX = 40, STEPS_MAX = PATH_MAX, OTHERS_WRITE = S_IWGRP | S_IWOTH };

void walk_done(struct walk *walk)
{
    if (walk->fd >= 0)
        close(walk->fd);
    free(walk->rest);
}

/* A pipe, a socket and their like have no path: they are in a mount of the kernel's own, which no
 * table has. */
static bool is_the_kernels(int fd)
{
    char path[PATH_MAX];
    return proc_path_read(fd, path) > 0 && path[0] != '/';
}

bool walk_is_automounter(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && fs.f_type == AUTOFS_SUPER_MAGIC;
}

int walk_check_mount(struct walk *walk, int fd)
{
    struct mount_id mount;
    uid_t uid = 0;
    int r = mount_id_find(fd, "", &mount);
    if (r < 0)
        return r;
    if (mount.id == walk->mount_id || mount.id == walk->root_id)
        return 0;
    r = mount_user_of_id(mount.id, &uid);
    if (r == -ENOENT && is_the_kernels(fd))
        r = 0;
    if (r < 0 && r != -ENOENT)
        return r;
    if (r == -ENOENT)
        return refusal(walk->ret_why,
                       "%s is in a mount of which the kernel does not say whose it is; name a "
                       "directory outside of it",
                       refusal_path(fd, NULL).text);
    if (!mount_user_is_trusted(uid))
        return refusal(
            walk->ret_why,
            "%s is in a mount of %s, who can show anything there; name a directory outside "
            "of it",
            refusal_path(fd, NULL).text, refusal_user(uid).text);
    if (walk->own == OWN_NOT_EVEN_WORDS && walk_is_automounter(fd))
        return -EXDEV;
    walk->mount_id = mount.id;
    return 0;
}

/* A directory or a symbolic link on the way has to be root's or the user's own. A chown is not
 * advised: what that user has put there would count as one's own then. */
static int check_owner(const struct walk *walk, int fd, const struct stat *st)
{
    if (st->st_uid == 0 || st->st_uid == geteuid())
        return 0;
    const bool is_link = S_ISLNK(st->st_mode);
    return refusal(walk->ret_why, "%s%s belongs to %s, who can %s",
                   is_link ? "the symbolic link " : "", refusal_path(fd, NULL).text,
                   refusal_user(st->st_uid).text,
                   is_link ? "have it lead anywhere; name the directory without it"
                           : "put anything in the place of what is below; name a directory "
                             "elsewhere, for a new one");
}

static int check_on_way(struct walk *walk, int fd)
{
    struct stat st;
    int r = walk_check_mount(walk, fd);
    if (r < 0)
        return r;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    r = check_owner(walk, fd, &st);
    if (r < 0 || !(st.st_mode & OTHERS_WRITE) || st.st_mode & S_ISVTX)
        return r;
    const struct refusal_path path = refusal_path(fd, NULL);
    return refusal(
        walk->ret_why,
        "others can write %s, and put anything in the place of what is below; chmod go-w "
        "%s, or name a directory elsewhere",
        path.text, path.text);
}

int walk_check_end(int fd, char **ret_why)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    const struct refusal_path path = refusal_path(fd, NULL);
    const uid_t euid = geteuid();
    if (st.st_uid != euid)
        return refusal(
            ret_why,
            "%s belongs to %s, not to %s, as whom this runs; run it as its owner, or name "
            "another directory",
            path.text, refusal_user(st.st_uid).text, refusal_user(euid).text);
    if (st.st_mode & OTHERS_WRITE)
        return refusal(ret_why, "others can write %s; chmod go-w %s, or name another directory",
                       path.text, path.text);
    return 0;
}

static int know_root(struct walk *walk, int fd, const char *name)
{
    struct mount_id mount;
    int r = mount_id_find(fd, name, &mount);
    walk->root_id = r == 0 ? mount.id : UINT64_MAX;
    return r;
}

static int begin_at_root(struct walk *walk)
{
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (walk->fd >= 0)
        close(walk->fd);
    walk->fd = fd;
    return walk->own == OWN_ALL ? check_on_way(walk, fd) : know_root(walk, fd, "");
}

/* A link of /proc leads to what the kernel has there, which its text may name in vain. */
static bool is_magic(int link_fd)
{
    struct statfs fs;
    return fstatfs(link_fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static int jump(struct walk *walk, const char *name)
{
    int fd = openat(walk->fd, name, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    close(walk->fd);
    walk->fd = fd;
    return 0;
}

/* The walk goes on with the target of a symbolic link, in front of the rest. */
static int follow(struct walk *walk, int link_fd)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(link_fd, "", target, sizeof(target));
    if (n < 0 || n == sizeof(target))
        return n < 0 ? -errno : -ENAMETOOLONG;
    if (++walk->n_links > LINKS_MAX)
        return -ELOOP;
    char *rest;
    if (asprintf(&rest, "%.*s%s", (int)n, target, walk->rest) < 0)
        return -ENOMEM;
    free(walk->rest);
    walk->rest = rest;
    return target[0] == '/' ? begin_at_root(walk) : 0;
}

static int reach(struct walk *walk, int *fd, bool is_directory)
{
    close(walk->fd);
    walk->fd = TAKE_FD(*fd);
    walk->is_directory = is_directory;
    return walk->rest[0] && !is_directory ? -ENOTDIR : 0;
}

/* A step where directories are not looked at, only whose mounts they are in. O_DIRECTORY has the
 * kernel mount what it mounts unasked. */
static int step_along(struct walk *walk, const char *name)
{
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    struct mount_id mount;
    struct stat st;
    if (strcmp(name, ".") == 0)
        return 0;
    int r = walk_check_mount(walk, walk->fd);
    if (r < 0)
        return r;
    _cleanup_close_ int fd = openat(walk->fd, name, flags | O_DIRECTORY);
    if (fd >= 0)
        return reach(walk, &fd, true);
    if (errno == ENOTDIR)
        fd = openat(walk->fd, name, flags);
    r = fd < 0 ? -errno : mount_id_find(fd, "", &mount);
    if (r < 0)
        return r;
    /* The top of a mount is no link, and may be another user's. */
    if (mount.is_top)
        return reach(walk, &fd, false);
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISLNK(st.st_mode))
        return reach(walk, &fd, false);
    r = walk->own == OWN_LINKS ? check_owner(walk, fd, &st) : 0;
    return r < 0 ? r : is_magic(fd) ? jump(walk, name) : follow(walk, fd);
}

/* Such a step by the word of others. Without O_DIRECTORY the kernel mounts nothing, and whose a
 * mount is has to be known before it is asked whether its top is a directory. What /proc leads to
 * may be a directory of a view of kinfs, whose names take long; a view at the top of a mount is no
 * name of the tree. */
static int step_by_word(struct walk *walk, const char *name)
{
    struct stat st;
    if (strcmp(name, ".kinfs") == 0)
        return -EXDEV;
    int r = walk_check_mount(walk, walk->fd);
    if (r < 0 || strcmp(name, ".") == 0)
        return r;
    _cleanup_close_ int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    r = fd < 0 ? -errno : walk_check_mount(walk, fd);
    if (r == 0 && fstat(fd, &st) < 0)
        r = -errno;
    if (r < 0)
        return r;
    if (view_number_is(st.st_ino, name))
        return -ENOENT;
    if (!S_ISLNK(st.st_mode))
        return reach(walk, &fd, S_ISDIR(st.st_mode));
    return is_magic(fd) ? -EXDEV : follow(walk, fd);
}

/* Checks a directory on the way; is_end: it is the one to be opened, which others may not write. */
static int step(struct walk *walk, const char *name, bool is_end)
{
    struct stat st;
    _cleanup_close_ int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = walk_check_mount(walk, fd);
    if (r < 0)
        return r;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (S_ISLNK(st.st_mode)) {
        r = check_owner(walk, fd, &st);
        return r < 0 ? r : follow(walk, fd);
    }
    r = is_end ? walk_check_end(fd, walk->ret_why) : check_on_way(walk, fd);
    return r < 0 ? r : reach(walk, &fd, true);
}

static int make(struct walk *walk, const char *name, enum making making, bool is_last,
                bool *ret_made)
{
    if (making == MAKE_NONE || making == STOP_ABOVE || is_last != (making == MAKE_LAST))
        return -ENOENT;
    if (mkdirat(walk->fd, name, 0700) < 0)
        return errno == EEXIST ? 0 : -errno;
    if (ret_made)
        *ret_made = true;
    return 0;
}

/* Puts a name that is missing back into the rest. */
static bool put_back(struct walk *walk, const char *name)
{
    char *rest;
    if (asprintf(&rest, "%s%s", name, walk->rest) < 0)
        return false;
    free(walk->rest);
    walk->rest = rest;
    return true;
}

static int go(struct walk *walk, enum making making, bool *ret_made)
{
    for (;;) {
        const char *name = walk->rest + strspn(walk->rest, "/");
        const size_t n = strcspn(name, "/");
        const bool is_last = !name[n + strspn(name + n, "/")];
        if (n == 0 || (is_last && (making == MAKE_PARENTS || making == STOP_ABOVE)))
            return 0;
        if (walk->n_links > 0 && ++walk->n_steps > STEPS_MAX)
            return -ELOOP;
        _cleanup_free_ char *component = strndup(name, n), *rest = strdup(name + n);
        if (!component || !rest)
            return -ENOMEM;
        free(walk->rest);
        walk->rest = TAKE_PTR(rest);
        int r = walk->own == OWN_ALL              ? step(walk, component, is_last)
                : walk->own == OWN_NOT_EVEN_WORDS ? step_by_word(walk, component)
                                                  : step_along(walk, component);
        if (r == -ENOENT) {
            r = make(walk, component, making, is_last, ret_made);
            if (r == 0)
                r = step(walk, component, is_last);
        }
        if (r == -ENOENT && !put_back(walk, component))
            return -ENOMEM;
        if (r < 0)
            return r;
    }
}

static char *absolute(const char *path)
{
    char *text;
    if (path[0] == '/')
        return strdup(path);
    _cleanup_free_ char *here = getcwd(NULL, 0);
    return !here || asprintf(&text, "%s/%s", here, path) < 0 ? NULL : text;
}

int walk_own(struct walk *walk, const char *path, enum making making, bool *ret_made,
             char **ret_why)
{
    *walk = (struct walk){.fd = -1,
                          .mount_id = UINT64_MAX,
                          .root_id = UINT64_MAX,
                          .rest = absolute(path),
                          .ret_why = ret_why};
    if (!*path || !walk->rest)
        return *path ? -errno : -ENOENT;
    int r = begin_at_root(walk);
    return r < 0 ? r : go(walk, making, ret_made);
}

int walk_anybodys(struct walk *walk, int dirfd, const char *path, enum own own, uint64_t mount_id,
                  char **ret_why)
{
    *walk = (struct walk){.fd = -1,
                          .mount_id = mount_id ? mount_id : UINT64_MAX,
                          .root_id = UINT64_MAX,
                          .rest = strdup(path),
                          .own = own,
                          .is_directory = true,
                          .ret_why = ret_why};
    if (!*path || !walk->rest)
        return *path ? -errno : -ENOENT;
    int r;
    if (*path == '/')
        r = begin_at_root(walk);
    else if ((walk->fd = openat(dirfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
        r = -errno;
    else
        r = know_root(walk, AT_FDCWD, "/");
    return r < 0 ? r : go(walk, MAKE_NONE, NULL);
}
