#include "fs/inodes/identity.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/callers/caller.h"
#include "fs/inodes/node.h"
#include "fs/callers/thread_rights.h"
#include "fs/callers/thread_groups.h"

/* Facts of the process; written before there is a second thread that serves. */
static struct thread_rights all_rights, change_rights;
static struct thread_rights_own serving; /* what a thread that serves is by itself */
static bool can_switch;

/* A turn is had by one thread of a user at a time that asks for the user's groups: where there are
 * thousands the kernel writes out thousands, which takes a processor for as long. Nobody can choose
 * with whom to share a place. */
enum { TURN_BITS = 6 };
static pthread_mutex_t turns[1 << TURN_BITS];

/* Capabilities that overrule the owner, mode and flags of a file. */
static const int overruling[] = {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER,
                                 CAP_LINUX_IMMUTABLE};

/* The state of each thread that acts as others. */
static _Thread_local bool is_switched, has_others_groups, has_own_umask;
static _Thread_local mode_t own_umask;

static bool can_switch_with(const struct thread_rights *rights)
{
    return thread_rights_have(rights, CAP_SETUID) && thread_rights_have(rights, CAP_SETGID) &&
           thread_rights_have(rights, CAP_DAC_OVERRIDE);
}

static int learn_groups(void)
{
    int n = getgroups(0, NULL);
    gid_t *groups = calloc((size_t)n + 1, sizeof(*groups));
    if (!groups)
        return -ENOMEM;
    n = getgroups(n, groups);
    serving.groups = groups;
    serving.n_groups = n < 0 ? 0 : (size_t)n;
    return n < 0 ? -errno : 0;
}

void identity_begin_serving(void)
{
    capable_begin();
    if (thread_rights_get(&all_rights) < 0)
        return;
    can_switch = can_switch_with(&all_rights) && learn_groups() == 0;
    serving.rights = all_rights;
    thread_rights_drop(&serving.rights, CAP_FSETID);
    thread_rights_drop(&serving.rights, CAP_SYS_RESOURCE);
    change_rights = serving.rights;
    for (size_t i = 0; i < sizeof(overruling) / sizeof(overruling[0]); i++)
        thread_rights_drop(&change_rights, overruling[i]);
    thread_rights_set(&serving.rights);
}

void identity_end_serving(void)
{
    capable_end();
    thread_rights_set(&all_rights);
    free((gid_t *)serving.groups);
    serving.groups = NULL;
}

bool identity_can_switch(void)
{
    return can_switch;
}

bool identity_can_pass_through(void)
{
    return thread_rights_have(&all_rights, CAP_SYS_ADMIN);
}

struct identity_limits identity_get_limits(void)
{
    struct thread_rights rights = {0};
    (void)thread_rights_get(&rights);
    return (struct identity_limits){
        .no_passthrough = !thread_rights_have(&rights, CAP_SYS_ADMIN),
        .no_others = !can_switch_with(&rights),
        .no_owners = !thread_rights_have(&rights, CAP_CHOWN),
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
static int become(const struct fuse_ctx *ctx, const struct thread_rights *rights)
{
    int r = is_own(ctx) ? 0 : thread_rights_become(ctx->uid, ctx->gid);
    if (r < 0)
        return r;
    is_switched = true;
    r = thread_rights_set(rights);
    if (r < 0)
        identity_leave();
    return r;
}

static enum judges judges_of(fuse_req_t req, const struct inode *inode)
{
    const struct fs *fs = fuse_req_userdata(req);
    return inode_judges(&fs->inodes, inode);
}

bool identity_is_judged(fuse_req_t req, const struct inode *inode)
{
    return judges_of(req, inode) != JUDGES_BY_MODE && caller_is_restricted(fuse_req_ctx(req)->uid);
}

int identity_enter_judged(fuse_req_t req, const struct inode *inode)
{
    if (!identity_is_judged(req, inode))
        return 0;
    return can_switch && judges_of(req, inode) == JUDGES_BY_CALLER ? identity_enter_alone(req)
                                                                   : -EACCES;
}

/* The sticky bit of a directory may keep the user from names in it. */
static bool is_guarded(uid_t uid, int dirfd)
{
    struct stat st;
    return fstat(dirfd, &st) < 0 || (st.st_mode & S_ISVTX && st.st_uid != uid);
}

int identity_enter_removal(fuse_req_t req, const struct inode *in, int dirfd, int other_dirfd)
{
    const struct fuse_ctx *ctx = fuse_req_ctx(req);
    if (identity_is_judged(req, in))
        return identity_enter_judged(req, in);
    const bool guarded = caller_is_restricted(ctx->uid) &&
                         (is_guarded(ctx->uid, dirfd) ||
                          (other_dirfd != dirfd && is_guarded(ctx->uid, other_dirfd)));
    if (!can_switch)
        return guarded ? -EPERM : 0;
    struct thread_rights rights = serving.rights;
    if (guarded)
        thread_rights_drop(&rights, CAP_FOWNER);
    return is_own(ctx) ? 0 : become(ctx, &rights);
}

static pthread_mutex_t *turn_of(uid_t uid)
{
    return &turns[(uid * node_secret.rounds[0].factor) >> (64 - TURN_BITS)];
}

int identity_check_sender(fuse_req_t req)
{
    const struct fuse_ctx *ctx = fuse_req_ctx(req);
    LOCKED(turn_of(ctx->uid));
    return thread_check_ids(ctx->pid, ctx->uid, ctx->gid);
}

int identity_groups_of(const struct fuse_ctx *ctx, gid_t **ret_groups, size_t *ret_n_groups)
{
    LOCKED(turn_of(ctx->uid));
    return thread_groups(ctx->pid, ctx->uid, ctx->gid, ret_groups, ret_n_groups);
}

int identity_get_groups(fuse_req_t req, gid_t **ret_groups, size_t *ret_n_groups)
{
    return identity_groups_of(fuse_req_ctx(req), ret_groups, ret_n_groups);
}

static int become_with_groups(fuse_req_t req, size_t n_groups, const gid_t *groups,
                              const struct thread_rights *rights)
{
    const struct fuse_ctx *ctx = fuse_req_ctx(req);
    int r = thread_rights_become_all(ctx->uid, ctx->gid, n_groups, groups, rights, &serving);
    has_others_groups = r == 0;
    return r;
}

static int become_creator(fuse_req_t req)
{
    _cleanup_free_ gid_t *groups = NULL;
    size_t n_groups;
    struct thread_rights rights = all_rights;
    thread_rights_drop(&rights, CAP_FSETID);
    thread_rights_drop(&rights, CAP_SYS_RESOURCE);
    int r = identity_get_groups(req, &groups, &n_groups);
    return r < 0 ? r : become_with_groups(req, n_groups, groups, &rights);
}

int identity_enter(fuse_req_t req, const struct inode *in, mode_t mode)
{
    const struct fuse_ctx *ctx = fuse_req_ctx(req);
    int r = take_umask(ctx->umask);
    if (r == 0 && identity_is_judged(req, in))
        return identity_enter_judged(req, in);
    if (r < 0 || !can_switch || (is_own(ctx) && !(mode & S_ISGID)))
        return r;
    if (mode & S_ISGID && caller_is_restricted(ctx->uid))
        return become_creator(req);
    /* Quotas and the blocks reserved for root hold for what is created as well. */
    struct thread_rights rights = all_rights;
    thread_rights_drop(&rights, CAP_SYS_RESOURCE);
    return become(ctx, &rights);
}

static int enter_change(fuse_req_t req, int fd, bool with_groups)
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

/* The other rights stay what they are: the thread may be acting as the caller. */
static void change_fsetid(void (*change)(struct thread_rights *rights, int capability))
{
    int saved = errno;
    struct thread_rights rights;
    if (thread_rights_get(&rights) == 0) {
        change(&rights, CAP_FSETID);
        thread_rights_set(&rights);
    }
    errno = saved;
}

int identity_again(fuse_req_t req, const struct inode *inode, int r, const struct change_fds *fds,
                   change_fn *make, const void *what)
{
    bool is_refused = (r == -EPERM || r == -EACCES) && can_switch &&
                      caller_is_restricted(fuse_req_ctx(req)->uid) &&
                      judges_of(req, inode) != JUDGES_BY_OWNER;
    return is_refused ? capable_change(fuse_req_ctx(req), r, &serving, fds, make, what) : r;
}

int identity_change(fuse_req_t req, const struct inode *inode, const struct change_fds *fds,
                    bool with_groups, bool with_sgid, change_fn *make, const void *what)
{
    const bool raise = with_sgid && !caller_is_restricted(fuse_req_ctx(req)->uid);
    int r = identity_is_judged(req, inode) ? identity_enter_judged(req, inode)
                                           : enter_change(req, fds->fd, with_groups || with_sgid);
    if (r == 0) {
        if (raise)
            change_fsetid(thread_rights_add);
        r = make(fds, what, NULL);
        if (raise)
            change_fsetid(thread_rights_drop);
        identity_leave();
    }
    return identity_again(req, inode, r, fds, make, what);
}

static int make_with_groups(fuse_req_t req, bool with_groups, const struct change_fds *fds,
                            change_fn *make, const void *what)
{
    _cleanup_free_ gid_t *groups = NULL;
    size_t n_groups = 0;
    int r = with_groups ? identity_get_groups(req, &groups, &n_groups) : 0;
    if (r == 0)
        r = become_with_groups(req, n_groups, groups, &change_rights);
    if (r == 0)
        r = make(fds, what, NULL);
    identity_leave();
    return r;
}

int identity_move(fuse_req_t req, bool with_groups, const struct change_fds *fds, change_fn *make,
                  const void *what)
{
    if (!can_switch)
        return -EPERM;
    int r = make_with_groups(req, with_groups, fds, make, what);
    return r == -EACCES && !with_groups ? make_with_groups(req, true, fds, make, what) : r;
}

int identity_enter_alone(fuse_req_t req)
{
    _cleanup_free_ gid_t *groups = NULL;
    size_t n_groups;
    if (!caller_is_restricted(fuse_req_ctx(req)->uid))
        return 0;
    if (!can_switch)
        return -EPERM;
    struct thread_rights none = serving.rights;
    thread_rights_drop_all(&none);
    int r = identity_get_groups(req, &groups, &n_groups);
    return r < 0 ? r : become_with_groups(req, n_groups, groups, &none);
}

void identity_enter_allocation(uid_t uid)
{
    if (can_switch && uid != geteuid())
        is_switched = thread_rights_set_fsuid(uid);
}

int identity_enter_transfer(fuse_req_t req, const struct inode *inode)
{
    if (identity_is_judged(req, inode))
        return identity_enter_judged(req, inode);
    identity_enter_allocation(fuse_req_ctx(req)->uid);
    return 0;
}

void identity_leave(void)
{
    if (has_others_groups)
        thread_rights_restore_all(&serving);
    else if (is_switched)
        thread_rights_restore(&serving.rights);
    is_switched = has_others_groups = false;
}
