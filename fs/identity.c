#include "fs/identity.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CAP_WORDS = _LINUX_CAPABILITY_U32S_3, MOST_GROUPS = 128 };

/* Facts of the process; written before there is a second thread that serves. */
static struct __user_cap_data_struct caps_all[CAP_WORDS], caps_serving[CAP_WORDS];
static bool can_switch;

/* Of each thread. */
static _Thread_local bool is_switched, has_own_umask;
static _Thread_local mode_t own_umask;

/* glibc has no wrappers, libcap would be one more library for two calls. */
static int get_caps(struct __user_cap_data_struct caps[CAP_WORDS])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return (int)syscall(SYS_capget, &header, caps);
}

static void set_caps(const struct __user_cap_data_struct caps[CAP_WORDS])
{
    int saved = errno;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    syscall(SYS_capset, &header, caps);
    errno = saved;
}

static bool has_cap(const struct __user_cap_data_struct caps[CAP_WORDS], int cap)
{
    return caps[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

void identity_begin_serving(void)
{
    if (get_caps(caps_all) < 0)
        return;
    for (int i = 0; i < CAP_WORDS; i++)
        caps_serving[i] = caps_all[i];
    can_switch = has_cap(caps_all, CAP_SETUID) && has_cap(caps_all, CAP_SETGID) &&
                 has_cap(caps_all, CAP_DAC_OVERRIDE);
    caps_serving[CAP_TO_INDEX(CAP_FSETID)].effective &= ~CAP_TO_MASK(CAP_FSETID);
    caps_serving[CAP_TO_INDEX(CAP_SYS_RESOURCE)].effective &= ~CAP_TO_MASK(CAP_SYS_RESOURCE);
    set_caps(caps_serving);
}

void identity_end_serving(void)
{
    set_caps(caps_all);
}

bool identity_can_pass_through(void)
{
    return has_cap(caps_all, CAP_SYS_ADMIN);
}

struct identity_limits identity_get_limits(void)
{
    struct __user_cap_data_struct caps[CAP_WORDS] = {0};
    (void)get_caps(caps);
    return (struct identity_limits){
        .no_passthrough = !has_cap(caps, CAP_SYS_ADMIN),
        .no_others = !has_cap(caps, CAP_SETUID) || !has_cap(caps, CAP_SETGID) ||
                     !has_cap(caps, CAP_DAC_OVERRIDE),
        .no_owners = !has_cap(caps, CAP_CHOWN),
    };
}

static void take_umask(mode_t mask)
{
    if (!has_own_umask) {
        /* The umask is shared by all threads until this. */
        if (unshare(CLONE_FS) < 0)
            return;
        own_umask = umask(mask);
        has_own_umask = true;
    }
    if (own_umask != mask)
        own_umask = (umask(mask), mask);
}

void identity_enter(fuse_req_t req, mode_t mode)
{
    const struct fuse_ctx *ctx = fuse_req_ctx(req);
    take_umask(ctx->umask);
    if (!can_switch)
        return;
    if (ctx->uid != geteuid() || ctx->gid != getegid()) {
        setfsgid(ctx->gid);
        setfsuid(ctx->uid);
    } else if (!(mode & S_ISGID)) {
        return;
    }
    is_switched = true;
    set_caps(caps_all); /* a change of fsuid takes some of them away */
}

void identity_enter_allocation(fuse_req_t req)
{
    uid_t uid = fuse_req_ctx(req)->uid;
    if (!can_switch || uid == geteuid())
        return;
    setfsuid(uid);
    is_switched = true;
}

void identity_leave(void)
{
    if (!is_switched)
        return;
    int saved = errno;
    setfsuid(geteuid());
    setfsgid(getegid());
    errno = saved;
    set_caps(caps_serving); /* a change of fsuid to root gives CAP_FSETID */
    is_switched = false;
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

void identity_raise_fsetid(void)
{
    set_caps(caps_all);
}

void identity_lower_fsetid(void)
{
    set_caps(caps_serving);
}
