#include "fs/identity.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/caller.h"
#include "fs/rights.h"

enum { MOST_GROUPS = 128 };

/* Facts of the process; written before there is a second thread that serves. */
static struct rights all_rights, serving_rights, change_rights;
static gid_t *own_groups;
static size_t n_own_groups;
static bool can_switch;

/* What overrules the owner, mode and flags of a file. */
static const int overruling[] = {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER,
                                 CAP_LINUX_IMMUTABLE};

/* Of each thread. */
static _Thread_local bool is_switched, has_others_groups, has_own_umask;
static _Thread_local mode_t own_umask;

static bool can_switch_with(const struct rights *rights)
{
    return rights_have(rights, CAP_SETUID) && rights_have(rights, CAP_SETGID) &&
           rights_have(rights, CAP_DAC_OVERRIDE);
}

static int learn_groups(void)
{
    int n = getgroups(0, NULL);
    own_groups = calloc((size_t)n + 1, sizeof(*own_groups));
    if (!own_groups)
        return -ENOMEM;
    n = getgroups(n, own_groups);
    n_own_groups = n < 0 ? 0 : (size_t)n;
    return n < 0 ? -errno : 0;
}

void identity_begin_serving(void)
{
    if (rights_get(&all_rights) < 0)
        return;
    can_switch = can_switch_with(&all_rights) && learn_groups() == 0;
    serving_rights = all_rights;
    rights_drop(&serving_rights, CAP_FSETID);
    rights_drop(&serving_rights, CAP_SYS_RESOURCE);
    change_rights = serving_rights;
    for (size_t i = 0; i < sizeof(overruling) / sizeof(overruling[0]); i++)
        rights_drop(&change_rights, overruling[i]);
    rights_set(&serving_rights);
}

void identity_end_serving(void)
{
    rights_set(&all_rights);
    free(own_groups);
    own_groups = NULL;
}

bool identity_can_pass_through(void)
{
    return rights_have(&all_rights, CAP_SYS_ADMIN);
}

struct identity_limits identity_get_limits(void)
{
    struct rights rights = {0};
    (void)rights_get(&rights);
    return (struct identity_limits){
        .no_passthrough = !rights_have(&rights, CAP_SYS_ADMIN),
        .no_others = !can_switch_with(&rights),
        .no_owners = !rights_have(&rights, CAP_CHOWN),
    };
}

static int take_umask(mode_t mask)
{
    if (!has_own_umask) {
        /* The umask is shared by all threads until this. */
        if (unshare(CLONE_FS) < 0)
            return -errno;
        own_umask = umask(mask);
        has_own_umask = true;
    }
    if (own_umask != mask)
        own_umask = (umask(mask), mask);
    return 0;
}

static bool is_own(const struct fuse_ctx *ctx)
{
    return ctx->uid == geteuid() && ctx->gid == getegid();
}

/* A change of fsuid takes some rights away, and these are given instead. */
static int become(const struct fuse_ctx *ctx, const struct rights *rights)
{
    int r = is_own(ctx) ? 0 : rights_become(ctx->uid, ctx->gid);
    if (r < 0)
        return r;
    is_switched = true;
    r = rights_set(rights);
    if (r < 0)
        identity_leave();
    return r;
}

int identity_enter(fuse_req_t req, mode_t mode)
{
    const struct fuse_ctx *ctx = fuse_req_ctx(req);
    int r = take_umask(ctx->umask);
    if (r < 0 || !can_switch || (is_own(ctx) && !(mode & S_ISGID)))
        return r;
    return become(ctx, &all_rights);
}

/* Whether a directory's sticky bit may keep the user from names in it. */
static bool is_guarded(uid_t uid, int dirfd)
{
    struct stat st;
    return fstat(dirfd, &st) < 0 || (st.st_mode & S_ISVTX && st.st_uid != uid);
}

int identity_enter_removal(fuse_req_t req, int dirfd, int other_dirfd)
{
    const struct fuse_ctx *ctx = fuse_req_ctx(req);
    if (!caller_is_restricted(ctx->uid) ||
        !(is_guarded(ctx->uid, dirfd) ||
          (other_dirfd != dirfd && is_guarded(ctx->uid, other_dirfd))))
        return 0;
    if (!can_switch)
        return -EPERM;
    struct rights rights = serving_rights;
    rights_drop(&rights, CAP_FOWNER);
    return become(ctx, &rights);
}

int identity_get_groups(fuse_req_t req, gid_t **ret_groups, size_t *ret_n_groups)
{
    _cleanup_free_ gid_t *groups = NULL;
    int n_groups = 0, n_room = 0;
    do {
        n_room = n_groups > MOST_GROUPS ? n_groups : MOST_GROUPS;
        gid_t *more = reallocarray(groups, (size_t)n_room, sizeof(*groups));
        if (!more)
            return -ENOMEM;
        groups = more;
        n_groups = fuse_req_getgroups(req, n_room, groups);
    } while (n_groups > n_room);
    if (n_groups < 0)
        return -EACCES;
    *ret_n_groups = (size_t)n_groups;
    *ret_groups = TAKE_PTR(groups);
    return 0;
}

static int become_with_groups(fuse_req_t req, size_t n_groups, const gid_t *groups,
                              const struct rights *rights)
{
    int r = rights_set_groups(n_groups, groups);
    if (r < 0)
        return r;
    has_others_groups = true;
    r = become(fuse_req_ctx(req), rights);
    if (r < 0)
        identity_leave();
    return r;
}

int identity_enter_change(fuse_req_t req, int fd, bool with_groups)
{
    _cleanup_free_ gid_t *groups = NULL;
    size_t n_groups = 0;
    struct stat st;
    if (!can_switch || !caller_is_restricted(fuse_req_ctx(req)->uid))
        return 0;
    if (fstat(fd, &st) < 0)
        return -errno;
    int r = 0;
    if (with_groups || st.st_uid != fuse_req_ctx(req)->uid)
        r = identity_get_groups(req, &groups, &n_groups);
    return r < 0 ? r : become_with_groups(req, n_groups, groups, &change_rights);
}

int identity_enter_alone(fuse_req_t req)
{
    _cleanup_free_ gid_t *groups = NULL;
    size_t n_groups;
    if (!caller_is_restricted(fuse_req_ctx(req)->uid))
        return 0;
    if (!can_switch)
        return -EPERM;
    struct rights none = serving_rights;
    rights_drop_all(&none);
    int r = identity_get_groups(req, &groups, &n_groups);
    return r < 0 ? r : become_with_groups(req, n_groups, groups, &none);
}

void identity_enter_allocation(fuse_req_t req)
{
    uid_t uid = fuse_req_ctx(req)->uid;
    if (can_switch && uid != geteuid())
        is_switched = rights_set_fsuid(uid);
}

void identity_leave(void)
{
    int saved = errno;
    if (is_switched)
        rights_restore(&serving_rights);
    while (has_others_groups && rights_set_groups(n_own_groups, own_groups) == -ENOMEM)
        usleep(1000);
    is_switched = has_others_groups = false;
    errno = saved;
}

static bool is_in_group(fuse_req_t req, gid_t gid)
{
    const struct fuse_ctx *ctx = fuse_req_ctx(req);
    gid_t groups[MOST_GROUPS];
    if (ctx->uid == 0 || ctx->gid == gid)
        return true;
    int n = fuse_req_getgroups(req, MOST_GROUPS, groups);
    for (int i = 0; i < n && i < MOST_GROUPS; i++) {
        if (groups[i] == gid)
            return true;
    }
    return false;
}

bool identity_keeps_sgid(fuse_req_t req, const struct stat *st)
{
    return st->st_mode & S_ISGID && is_in_group(req, st->st_gid);
}

/* The other rights stay what they are: the thread may be acting as the caller. */
static void change_fsetid(void (*change)(struct rights *rights, int capability))
{
    int saved = errno;
    struct rights rights;
    if (rights_get(&rights) == 0) {
        change(&rights, CAP_FSETID);
        rights_set(&rights);
    }
    errno = saved;
}

void identity_raise_fsetid(void)
{
    change_fsetid(rights_add);
}

void identity_lower_fsetid(void)
{
    change_fsetid(rights_drop);
}
