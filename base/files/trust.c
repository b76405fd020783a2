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
#include "base/files/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_user.h"
#include "base/proc_path.h"

enum {
    LINKS_MAX = 40,
    OTHERS_WRITE = S_IWGRP | S_IWOTH,
    OTHERS_SEARCH = S_IXGRP | S_IXOTH,
    UID_TEXT = 32
};

/* -- refusals -- */

__attribute__((format(printf, 2, 3))) static int refuse(char **ret_why, const char *format, ...)
{
    va_list arguments;
    char *why = NULL;
    if (!ret_why)
        return -EPERM;
    va_start(arguments, format);
    if (vasprintf(&why, format, arguments) < 0)
        why = NULL;
    va_end(arguments);
    free(*ret_why);
    *ret_why = why ? escape_make_plain(why) : NULL;
    return -EPERM;
}

struct shown {
    char text[PATH_MAX + NAME_MAX + 2];
};

/* The path of a descriptor, or of an entry of it. */
static struct shown shown(int fd, const char *name)
{
    struct shown shown = {""};
    ssize_t n = proc_path_read(fd, shown.text);
    size_t at = n > 0 ? (size_t)n : 0;
    snprintf(shown.text + at, sizeof(shown.text) - at, "%s%s", name && at != 1 ? "/" : "",
             name ? name : "");
    return shown;
}

struct user_text {
    char text[UID_TEXT];
};

static struct user_text user_text(uid_t uid)
{
    struct user_text user = {"root"};
    if (uid != 0)
        snprintf(user.text, sizeof(user.text), "user %u", (unsigned)uid);
    return user;
}

/* -- directories -- */

/* The parts of a way that have to be root's or the effective user's; its mounts always have to. */
enum own { OWN_ALL, OWN_LINKS, OWN_NOTHING };

struct walk {
    int fd;            /* what was reached, O_PATH */
    uint64_t mount_id; /* the mount that was checked last */
    uint64_t root_id;  /* the one of "/", where it needs no check */
    char *rest;        /* the rest of the path, from there */
    unsigned n_links;
    enum own own;
    bool is_directory; /* what was reached, as far as that is known */
    char **ret_why;
};

static void walk_done(struct walk *walk)
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

/* Checks whose a mount is, before anything in it is asked. */
static int check_mount(struct walk *walk, int fd)
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
        return refuse(walk->ret_why,
                      "%s is in a mount of which the kernel does not say whose it is; name a "
                      "directory outside of it",
                      shown(fd, NULL).text);
    if (!mount_user_is_trusted(uid))
        return refuse(
            walk->ret_why,
            "%s is in a mount of %s, who can show anything there; name a directory outside "
            "of it",
            shown(fd, NULL).text, user_text(uid).text);
    walk->mount_id = mount.id;
    return 0;
}

/* Of a directory or a symbolic link. A chown is not advised: what that user has put there would
 * count as one's own then. */
static int check_owner(const struct walk *walk, int fd, const struct stat *st)
{
    if (st->st_uid == 0 || st->st_uid == geteuid())
        return 0;
    const bool is_link = S_ISLNK(st->st_mode);
    return refuse(walk->ret_why, "%s%s belongs to %s, who can %s",
                  is_link ? "the symbolic link " : "", shown(fd, NULL).text,
                  user_text(st->st_uid).text,
                  is_link ? "have it lead anywhere; name the directory without it"
                          : "put anything in the place of what is below; name a directory "
                            "elsewhere, for a new one");
}

static int check_on_way(struct walk *walk, int fd)
{
    struct stat st;
    int r = check_mount(walk, fd);
    if (r < 0)
        return r;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    r = check_owner(walk, fd, &st);
    if (r < 0 || !(st.st_mode & OTHERS_WRITE) || st.st_mode & S_ISVTX)
        return r;
    const struct shown path = shown(fd, NULL);
    return refuse(walk->ret_why,
                  "others can write %s, and put anything in the place of what is below; chmod go-w "
                  "%s, or name a directory elsewhere",
                  path.text, path.text);
}

static int check_own(int fd, char **ret_why)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    const struct shown path = shown(fd, NULL);
    const uid_t euid = geteuid();
    if (st.st_uid != euid)
        return refuse(
            ret_why,
            "%s belongs to %s, not to %s, as whom this runs; run it as its owner, or name "
            "another directory",
            path.text, user_text(st.st_uid).text, user_text(euid).text);
    if (st.st_mode & OTHERS_WRITE)
        return refuse(ret_why, "others can write %s; chmod go-w %s, or name another directory",
                      path.text, path.text);
    return 0;
}

static int begin_at_root(struct walk *walk)
{
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (walk->fd >= 0)
        close(walk->fd);
    walk->fd = fd;
    if (walk->own == OWN_ALL)
        return check_on_way(walk, fd);
    struct mount_id mount;
    int r = mount_id_find(fd, "", &mount);
    walk->root_id = r == 0 ? mount.id : UINT64_MAX;
    return r;
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
    int r = check_mount(walk, walk->fd);
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

/* Checks a directory on the way; is_end: it is the one to be opened, which others may not write. */
static int step(struct walk *walk, const char *name, bool is_end)
{
    struct stat st;
    _cleanup_close_ int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = check_mount(walk, fd);
    if (r < 0)
        return r;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (S_ISLNK(st.st_mode)) {
        r = check_owner(walk, fd, &st);
        return r < 0 ? r : follow(walk, fd);
    }
    r = is_end ? check_own(fd, walk->ret_why) : check_on_way(walk, fd);
    return r < 0 ? r : reach(walk, &fd, true);
}

enum making { MAKE_NONE, MAKE_LAST, MAKE_PARENTS, STOP_ABOVE };

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
        _cleanup_free_ char *component = strndup(name, n), *rest = strdup(name + n);
        if (!component || !rest)
            return -ENOMEM;
        free(walk->rest);
        walk->rest = TAKE_PTR(rest);
        int r = walk->own == OWN_ALL ? step(walk, component, is_last) : step_along(walk, component);
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

/* Walks a path. The caller ends with walk_done(), whatever it returns. */
static int walk_along(struct walk *walk, const char *path, enum making making, bool *ret_made,
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

static int walk_to(const char *path, enum making making, bool *ret_made, char **ret_why)
{
    _cleanup_(walk_done) struct walk reached;
    int r = walk_along(&reached, path, making, ret_made, ret_why);
    if (r < 0 || making == MAKE_PARENTS)
        return r;
    r = making == STOP_ABOVE ? 0 : check_own(reached.fd, ret_why);
    if (r < 0)
        return r;
    int fd = openat(reached.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int trust_open_directory(const char *path, char **ret_why)
{
    return walk_to(path, MAKE_NONE, NULL, ret_why);
}

int trust_make_directory(const char *path, bool *ret_made, char **ret_why)
{
    return walk_to(path, MAKE_LAST, ret_made, ret_why);
}

int trust_make_parents(const char *path, char **ret_why)
{
    return walk_to(path, MAKE_PARENTS, NULL, ret_why);
}

int trust_resolve(const char *path, char **ret_path, char **ret_why)
{
    _cleanup_(walk_done) struct walk reached;
    int r = walk_along(&reached, path, MAKE_NONE, NULL, ret_why);
    if (r < 0 && r != -ENOENT)
        return r;
    struct shown real = shown(reached.fd, NULL);
    size_t used = strlen(real.text);
    if (used == 0)
        return -ENOENT;
    for (char *rest = reached.rest, *name; (name = strsep(&rest, "/"));) {
        if (strcmp(name, "..") == 0)
            return -ENOENT;
        if (!*name || strcmp(name, ".") == 0)
            continue;
        if (used + 1 + strlen(name) >= PATH_MAX)
            return -ENAMETOOLONG;
        used += (size_t)sprintf(real.text + used, "%s%s", used > 1 ? "/" : "", name);
    }
    *ret_path = strdup(real.text);
    return *ret_path ? 0 : -ENOMEM;
}

int trust_open_parent(const char *path, char **ret_why)
{
    return walk_to(path, STOP_ABOVE, NULL, ret_why);
}

/* Walks a path by directories that may be anybody's. The caller ends with walk_done(), whatever it
 * returns. */
static int go_along(struct walk *walk, const char *path, enum own own, uint64_t mount_id,
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
    int r = 0;
    if (*path == '/')
        r = begin_at_root(walk);
    else if ((walk->fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
        r = -errno;
    return r < 0 ? r : go(walk, MAKE_NONE, NULL);
}

int trust_open_anybodys(const char *path, char **ret_why)
{
    struct stat st;
    _cleanup_(walk_done) struct walk walk;
    int r = go_along(&walk, path, OWN_LINKS, 0, ret_why);
    if (r == 0)
        r = check_mount(&walk, walk.fd);
    if (r == 0 && !walk.is_directory)
        r = fstat(walk.fd, &st) < 0 ? -errno : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
    return r < 0 ? r : TAKE_FD(walk.fd);
}

void trusted_mount_done(struct trusted_mount *trusted)
{
    if (trusted->id)
        close(trusted->fd);
    trusted->id = 0;
}

/* The mount of what was opened, if it was looked for in the table of mounts. */
static void take_trusted(const struct walk *walk, struct trusted_mount *trusted)
{
    struct mount_id mount;
    if (mount_id_find(walk->fd, "", &mount) < 0 || mount.id != walk->mount_id ||
        mount.id == trusted->id)
        return;
    int fd = fcntl(walk->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return;
    trusted_mount_done(trusted);
    *trusted = (struct trusted_mount){mount.id, fd};
}

int trust_open_anywhere(const char *path, struct trusted_mount *trusted)
{
    _cleanup_free_ char *why = NULL;
    _cleanup_(walk_done) struct walk walk;
    int r = go_along(&walk, path, OWN_NOTHING, trusted ? trusted->id : 0, &why);
    if (r == 0)
        r = check_mount(&walk, walk.fd);
    if (r < 0)
        return why ? -EXDEV : r;
    if (trusted)
        take_trusted(&walk, trusted);
    return TAKE_FD(walk.fd);
}

int trust_open_mount_point(const char *path)
{
    _cleanup_free_ char *why = NULL;
    _cleanup_(walk_done) struct walk walk;
    int r = go_along(&walk, path, OWN_NOTHING, 0, &why);
    return r == 0 ? TAKE_FD(walk.fd) : why ? -EXDEV : r;
}

int trust_open_directory_at(int directory_fd, const char *name, char **ret_why)
{
    _cleanup_close_ int fd =
        openat(directory_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        return refuse(ret_why,
                      "%s is no directory, and should be one; remove it, or name another "
                      "directory",
                      shown(directory_fd, name).text);
    if (fd < 0)
        return -errno;
    int r = check_own(fd, ret_why);
    return r < 0 ? r : TAKE_FD(fd);
}

/* -- files -- */

int trust_check_file(int directory_fd, const char *name, const struct stat *st, char **ret_why)
{
    const uid_t euid = geteuid();
    if (!S_ISREG(st->st_mode)) {
        const char *kind = S_ISLNK(st->st_mode)    ? "a symbolic link"
                           : S_ISFIFO(st->st_mode) ? "a FIFO"
                           : S_ISDIR(st->st_mode)  ? "a directory"
                           : S_ISSOCK(st->st_mode) ? "a socket"
                                                   : "a device";
        return refuse(ret_why,
                      "%s is %s, and should be a file; remove it, or name another directory",
                      shown(directory_fd, name).text, kind);
    }
    const struct shown path = shown(directory_fd, name);
    if (st->st_uid != euid)
        return refuse(ret_why, "%s belongs to %s, not to %s; remove it, or name another directory",
                      path.text, user_text(st->st_uid).text, user_text(euid).text);
    struct stat directory;
    if (fstat(directory_fd, &directory) < 0)
        return -errno;
    if (st->st_mode & OTHERS_WRITE && directory.st_mode & OTHERS_SEARCH)
        return refuse(ret_why, "others can write %s; chmod go-w %s", path.text, path.text);
    return 0;
}

static int check_with_names(int directory_fd, const char *name, const struct stat *st,
                            char **ret_why)
{
    int r = trust_check_file(directory_fd, name, st, ret_why);
    if (r < 0 || st->st_nlink <= 1)
        return r;
    return refuse(
        ret_why,
        "%s is a file that has another name too (a hard link); put a copy in its place, or "
        "name another directory",
        shown(directory_fd, name).text);
}

int trust_open_file(int directory_fd, const char *name, int flags, char **ret_why)
{
    const int always = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    for (;;) {
        struct stat st;
        const bool exists = fstatat(directory_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        if (!exists && (errno != ENOENT || !(flags & O_CREAT)))
            return -errno;
        int r = exists ? check_with_names(directory_fd, name, &st, ret_why) : 0;
        if (r < 0)
            return r;
        _cleanup_close_ int fd =
            openat(directory_fd, name,
                   (flags & ~(O_CREAT | O_TRUNC)) | always | (exists ? 0 : O_CREAT | O_EXCL), 0600);
        /* Another process of this user has made or removed it meanwhile. */
        if (fd < 0 && (exists ? errno == ENOENT && flags & O_CREAT : errno == EEXIST))
            continue;
        if (fd < 0 || fstat(fd, &st) < 0)
            return -errno;
        r = check_with_names(directory_fd, name, &st, ret_why);
        if (r == 0 && flags & O_TRUNC && ftruncate(fd, 0) < 0)
            r = -errno;
        return r < 0 ? r : TAKE_FD(fd);
    }
}

int trust_open_stream(int directory_fd, const char *name, int flags, FILE **ret_stream)
{
    _cleanup_close_ int fd = trust_open_file(directory_fd, name, flags, NULL);
    if (fd < 0)
        return fd;
    FILE *stream = fdopen(fd, flags & O_WRONLY ? "w" : "r");
    if (!stream)
        return -errno;
    (void)TAKE_FD(fd);
    *ret_stream = stream;
    return 0;
}
