#include "base/files/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/files/refusal.h"
#include "base/files/walk.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_point.h"
#include "base/proc_path.h"

enum { OTHERS_WRITE = S_IWGRP | S_IWOTH, OTHERS_SEARCH = S_IXGRP | S_IXOTH };

/* -- directories -- */

static int walk_to(const char *path, enum making making, bool *ret_made, char **ret_why)
{
    _cleanup_(walk_done) struct walk reached;
    int r = walk_own(&reached, path, making, ret_made, ret_why);
    if (r < 0 || making == MAKE_PARENTS)
        return r;
    r = making == STOP_ABOVE ? 0 : walk_check_end(reached.fd, ret_why);
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
    int r = walk_own(&reached, path, MAKE_NONE, NULL, ret_why);
    if (r < 0 && r != -ENOENT)
        return r;
    struct refusal_path real = refusal_path(reached.fd, NULL);
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

static int walk_by_own_links(struct walk *walk, const char *path, char **ret_why)
{
    int r = walk_anybodys(walk, AT_FDCWD, path, OWN_LINKS, 0, ret_why);
    return r < 0 ? r : walk_check_mount(walk, walk->fd);
}

int trust_open_anybodys(const char *path, char **ret_why)
{
    struct stat st;
    _cleanup_(walk_done) struct walk walk;
    int r = walk_by_own_links(&walk, path, ret_why);
    if (r == 0 && !walk.is_directory)
        r = fstat(walk.fd, &st) < 0 ? -errno : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
    return r < 0 ? r : TAKE_FD(walk.fd);
}

int trust_open_order(const char *path, char **ret_why)
{
    struct stat st;
    _cleanup_(walk_done) struct walk walk;
    int r = walk_by_own_links(&walk, path, ret_why);
    if (r < 0)
        return r;
    if (fstat(walk.fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    const struct refusal_path shown = refusal_path(walk.fd, NULL);
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return refusal(
            ret_why,
            "%s belongs to %s, who can have written it; name a copy of it, when you have "
            "read that",
            shown.text, refusal_user(st.st_uid).text);
    if (st.st_mode & OTHERS_WRITE)
        return refusal(ret_why,
                       "others can write %s; name a copy of it that they cannot write, when you "
                       "have read that",
                       shown.text);
    int fd = open(proc_path_of(walk.fd).text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? -errno : fd;
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
        mount.id == trusted->id || walk_is_automounter(walk->fd))
        return;
    int fd = fcntl(walk->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return;
    trusted_mount_done(trusted);
    *trusted = (struct trusted_mount){mount.id, fd};
}

static int open_anywhere(int dirfd, const char *path, enum own own, struct trusted_mount *trusted)
{
    _cleanup_free_ char *why = NULL;
    _cleanup_(walk_done) struct walk walk;
    int r = walk_anybodys(&walk, dirfd, path, own, trusted ? trusted->id : 0, &why);
    if (r == 0)
        r = walk_check_mount(&walk, walk.fd);
    if (r < 0)
        return why ? -EXDEV : r;
    if (trusted)
        take_trusted(&walk, trusted);
    return TAKE_FD(walk.fd);
}

int trust_open_anywhere(const char *path, struct trusted_mount *trusted)
{
    return open_anywhere(AT_FDCWD, path, OWN_NOTHING, trusted);
}

int trust_open_by_word(int directory_fd, const char *path, struct trusted_mount *trusted)
{
    return open_anywhere(directory_fd, path, OWN_NOT_EVEN_WORDS, trusted);
}

int trust_open_mount_point(const char *path)
{
    _cleanup_free_ char *why = NULL;
    _cleanup_(walk_done) struct walk walk;
    int r = walk_anybodys(&walk, AT_FDCWD, path, OWN_NOTHING, 0, &why);
    return r == 0 ? TAKE_FD(walk.fd) : why ? -EXDEV : r;
}

int trust_open_directory_at(int directory_fd, const char *name, char **ret_why)
{
    _cleanup_close_ int fd =
        openat(directory_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        return refusal(ret_why,
                       "%s is no directory, and should be one; remove it, or name another "
                       "directory",
                       refusal_path(directory_fd, name).text);
    if (fd < 0)
        return -errno;
    int r = walk_check_end(fd, ret_why);
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
        return refusal(ret_why,
                       "%s is %s, and should be a file; remove it, or name another directory",
                       refusal_path(directory_fd, name).text, kind);
    }
    const struct refusal_path path = refusal_path(directory_fd, name);
    if (st->st_uid != euid)
        return refusal(ret_why, "%s belongs to %s, not to %s; remove it, or name another directory",
                       path.text, refusal_user(st->st_uid).text, refusal_user(euid).text);
    struct stat directory;
    if (fstat(directory_fd, &directory) < 0)
        return -errno;
    if (st->st_mode & OTHERS_WRITE && directory.st_mode & OTHERS_SEARCH)
        return refusal(ret_why, "others can write %s; chmod go-w %s", path.text, path.text);
    return 0;
}

static int check_with_names(int directory_fd, const char *name, const struct stat *st,
                            char **ret_why)
{
    int r = trust_check_file(directory_fd, name, st, ret_why);
    if (r < 0 || st->st_nlink <= 1)
        return r;
    return refusal(
        ret_why,
        "%s is a file that has another name too (a hard link); put a copy in its place, or "
        "name another directory",
        refusal_path(directory_fd, name).text);
}

int trust_open_file(int directory_fd, const char *name, int flags, char **ret_why)
{
    const int always = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    for (;;) {
        struct stat st;
        /* A mount on the name may be anybody's, whose server then says what it likes, or nothing.
         */
        _cleanup_close_ int there =
            mount_point_avoid(directory_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        const bool exists = there >= 0;
        if (there == -EXDEV)
            return refusal(ret_why, "something is mounted on %s; unmount it, or name another one",
                           refusal_path(directory_fd, name).text);
        if (!exists && (there != -ENOENT || !(flags & O_CREAT)))
            return there;
        if (exists && fstat(there, &st) < 0)
            return -errno;
        int r = exists ? check_with_names(directory_fd, name, &st, ret_why) : 0;
        if (r < 0)
            return r;
        const int how = (flags & ~(O_CREAT | O_TRUNC)) | always;
        _cleanup_close_ int fd = exists ? mount_point_avoid(directory_fd, name, how)
                                        : openat(directory_fd, name, how | O_CREAT | O_EXCL, 0600);
        if (fd < 0 && !exists)
            fd = -errno;
        /* Another process of this user has made or removed it meanwhile. */
        if (exists ? fd == -ENOENT && flags & O_CREAT : fd == -EEXIST)
            continue;
        if (fd < 0)
            return fd;
        if (fstat(fd, &st) < 0)
            return -errno;
        r = check_with_names(directory_fd, name, &st, ret_why);
        if (r == 0 && flags & O_TRUNC && ftruncate(fd, 0) < 0)
            r = -errno;
        return r < 0 ? r : TAKE_FD(fd);
    }
}

void trust_keep_from_others(int fd)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && st.st_mode & (S_IRWXG | S_IRWXO))
        (void)fchmod(fd, st.st_mode & S_IRWXU);
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
