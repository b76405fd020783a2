/* The parts are copies of mounts that are attached nowhere (open_tree(2)), taken while all can be
 * seen; then a root without anything takes the place of the old one (pivot_root(2)), and they are
 * attached to it. So no path of others is looked up where others can mount, and nothing has to be
 * found and taken out but what is mounted below a part. */
#include "tools/extract/own_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "base/mounts/mount_table.h"
#include "base/mounts/mount_user.h"
#include "base/proc_path.h"

int own_tree_open(const char *path)
{
    return open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
}

int own_tree_begin(void)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -errno;
    int proc = own_tree_open("/proc");
    return proc < 0 ? -errno : proc;
}

/* -- the root: its names are made before anything is attached, so that none is made elsewhere -- */

/* Relative to the working directory. */
static const char *relative(const char *path)
{
    return path + strspn(path, "/");
}

/* A directory that others may not search remains one. */
static void make_directory(const char *path)
{
    struct stat st;
    (void)mkdir(relative(path), stat(path, &st) == 0 ? st.st_mode & 0755 : 0);
}

static void make_name(const struct own_tree_part *part)
{
    char path[PATH_MAX];
    struct stat st;
    if (snprintf(path, sizeof(path), "%s", part->path) >= (int)sizeof(path) ||
        fstat(part->fd, &st) < 0)
        return;
    for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        make_directory(path);
        *slash = '/';
    }
    if (S_ISDIR(st.st_mode))
        (void)mkdir(relative(path), 0755);
    else
        close(open(relative(path), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
}

static void make_names(const struct own_tree_part *parts, size_t n)
{
    static const char *const links[][2] = {{"/proc/self/fd", "dev/fd"},
                                           {"/proc/self/fd/0", "dev/stdin"},
                                           {"/proc/self/fd/1", "dev/stdout"},
                                           {"/proc/self/fd/2", "dev/stderr"}};
    const mode_t mask = umask(0);
    (void)mkdir("proc", 0755);
    for (size_t i = 0; i < n; i++)
        make_name(&parts[i]);
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        (void)symlink(links[i][0], links[i][1]);
    umask(mask);
}

/* False: everything is as it was. Over /proc, which is there on every system, the new root is
 * mounted for a moment; then the old one lies over it, and is taken away: or, where it could not be
 * replaced, the new one. */
static int change_root(const struct own_tree_part *parts, size_t n)
{
    if (mount("none", "/proc", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755") < 0 ||
        chdir("/proc") < 0)
        return -errno;
    make_names(parts, n);
    const bool changed = syscall(SYS_pivot_root, ".", ".") == 0;
    return umount2(".", MNT_DETACH) < 0 || chdir("/") < 0 ? -errno : changed;
}

/* -- what is mounted below the parts -- */

static bool is_left_out(const struct mount_row *row)
{
    uid_t user;
    return mount_user_of_options(row->type, row->options, &user) < 0 ||
           !mount_user_is_trusted(user) ||
           (strcmp(row->type, "fuse.kinfs") == 0 && strcmp(row->root, "/") == 0);
}

/* The one with the shortest path: so the way there leads through none of the others, whatever lies
 * over what. Returns 1, 0: there is none; or an error. */
static int find_left_out(char **ret_point)
{
    _cleanup_(mount_table_done) struct mount_table table;
    _cleanup_free_ char *shortest = NULL;
    struct mount_row row;
    int r = mount_table_open(&table, "/proc/thread-self/mountinfo");
    if (r < 0)
        return r;
    while ((r = mount_table_next(&table, &row)) == 1) {
        if (!is_left_out(&row) || (shortest && strlen(row.point) >= strlen(shortest)))
            continue;
        free(shortest);
        shortest = strdup(row.point);
        if (!shortest)
            return -ENOMEM;
    }
    if (r < 0)
        return r;
    *ret_point = TAKE_PTR(shortest);
    return *ret_point != NULL;
}

/* Its user may have moved it since the table was read, so that the way leads through what that user
 * mounted: it is walked by descriptors, and in no mount of others is a name looked up. */
static int take_away(char *point)
{
    char *name = strrchr(point, '/'), path[PATH_MAX];
    *name++ = '\0';
    _cleanup_close_ int fd = trust_open_anywhere(*point ? point : "/", NULL);
    if (fd < 0 ||
        snprintf(path, sizeof(path), "%s/%s", proc_path_of(fd).text, name) >= (int)sizeof(path))
        return -1;
    return umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
}

/* Takes away what is not to be there, each with all that is mounted in it. Where one cannot be (its
 * path is too long, or its user moves it about) the part as a whole goes. */
static int leave_out(const char *part)
{
    enum { FAILURES_MOST = 8 };
    for (int n_failed = 0; n_failed < FAILURES_MOST;) {
        _cleanup_free_ char *point = NULL;
        int r = find_left_out(&point);
        if (r <= 0)
            return r;
        n_failed += take_away(point) < 0;
    }
    return umount2(part, MNT_DETACH) < 0 ? -errno : 0;
}

/* One after the other: what the next one covers can no longer be taken away. */
static int attach(int fd, const char *path)
{
    return move_mount(fd, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS) < 0
               ? 0
               : leave_out(path);
}

int own_tree_enter(int proc, const struct own_tree_part *parts, size_t n)
{
    _cleanup_close_ int proc_fd = proc;
    const int changed = change_root(parts, n);
    int r = changed > 0 ? attach(proc_fd, "/proc") : changed;
    for (size_t i = 0; changed > 0 && r == 0 && i < n; i++)
        r = attach(parts[i].fd, parts[i].path);
    return r < 0 ? r : changed;
}

/* -- */

/* The namespace is that of the thread alone, and ends with it. */
static void *try(void *ret_has)
{
    const int proc = own_tree_begin();
    *(bool *)ret_has = proc >= 0 && own_tree_enter(proc, NULL, 0) == 1;
    return NULL;
}

bool own_tree_is_to_be_had(void)
{
    pthread_t thread;
    bool has = false;
    if (pthread_create(&thread, NULL, try, &has) == 0)
        pthread_join(thread, NULL);
    return has;
}
