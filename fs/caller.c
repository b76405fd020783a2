/* The identity is switched around the one system call that needs it and not around a query, whose
 * store reads need the daemon's own rights. The calls are raw ones: the library's setgroups()
 * would switch every thread of the process.
 *
 * setfsuid() away from root takes CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and their kind out of the
 * thread's effective set, and setfsuid() back to root puts them in again (capabilities(7), "Effect
 * of user ID changes on capabilities"); CAP_SETGID stays all the while.
 */
#include "fs/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

bool caller_is_restricted(uid_t uid)
{
    return uid != 0 && uid != geteuid();
}

static int copy_groups(const gid_t *groups, size_t n_groups, gid_t **ret_copy)
{
    gid_t *copy = calloc(n_groups ? n_groups : 1, sizeof(*copy));
    if (!copy)
        return -ENOMEM;
    if (n_groups)
        memcpy(copy, groups, n_groups * sizeof(*copy));
    *ret_copy = copy;
    return 0;
}

int caller_init(struct caller *caller, int root_fd, uid_t uid, gid_t gid, const gid_t *groups,
                size_t n_groups)
{
    struct caller c = {.root_fd = root_fd, .uid = uid, .gid = gid};
    c.all = !caller_is_restricted(uid);
    if (!c.all) {
        int n_own = getgroups(0, NULL);
        if (n_own < 0)
            return -errno;
        c.own_groups = calloc((size_t)n_own + 1, sizeof(gid_t));
        if (!c.own_groups)
            return -ENOMEM;
        n_own = getgroups(n_own, c.own_groups);
        int r = n_own < 0 ? -errno : copy_groups(groups, n_groups, &c.groups);
        if (r < 0) {
            caller_done(&c);
            return r;
        }
        c.n_own_groups = (size_t)n_own;
        c.n_groups = n_groups;
    }
    *caller = c;
    return 0;
}

void caller_done(struct caller *caller)
{
    free(caller->groups);
    free(caller->own_groups);
    *caller = (struct caller){.root_fd = -1};
}

static int set_groups(size_t n, const gid_t *groups)
{
    return syscall(SYS_setgroups, n, groups) < 0 ? -errno : 0;
}

static bool set_fsgid(gid_t gid)
{
    setfsgid(gid);
    return (gid_t)setfsgid((gid_t)-1) == gid;
}

static bool set_fsuid(uid_t uid)
{
    setfsuid(uid);
    return (uid_t)setfsuid((uid_t)-1) == uid;
}

/* A thread must not go on as somebody else; what was allowed on the way there can only fail for
 * want of memory, which passes. */
static void become_self(const struct caller *caller)
{
    while (!set_fsuid(geteuid()))
        usleep(1000);
    while (!set_fsgid(getegid()))
        usleep(1000);
    while (set_groups(caller->n_own_groups, caller->own_groups) == -ENOMEM)
        usleep(1000);
}

static bool become_caller(const struct caller *caller)
{
    if (set_groups(caller->n_groups, caller->groups) < 0)
        return false;
    if (set_fsgid(caller->gid) && set_fsuid(caller->uid))
        return true;
    become_self(caller);
    return false;
}

int caller_access(const struct caller *caller, int dirfd, const char *path, int mode)
{
    int flags = AT_EACCESS | AT_SYMLINK_NOFOLLOW | (*path ? 0 : AT_EMPTY_PATH);
    if (caller->all)
        return syscall(SYS_faccessat2, dirfd, path, mode, flags) < 0 ? -errno : 0;
    if (!become_caller(caller))
        return -EACCES;
    int r = syscall(SYS_faccessat2, dirfd, path, mode, flags) < 0 ? -errno : 0;
    become_self(caller);
    return r;
}

bool caller_may_read(void *user, const char *path)
{
    const struct caller *caller = user;
    return caller->all || caller_access(caller, caller->root_fd, path, R_OK) == 0;
}

uint64_t caller_hash(const struct caller *caller)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    if (caller->all)
        return h;
#define MIX(x) h = (h ^ (x)) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29
    MIX(caller->uid + UINT64_C(1));
    MIX(caller->gid);
    for (size_t i = 0; i < caller->n_groups; i++)
        MIX(caller->groups[i]);
#undef MIX
    return h;
}
