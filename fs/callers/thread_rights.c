/* The calls are raw ones: glibc has no wrappers for capabilities, and its setgroups() would switch
 * every thread of the process. */
#include "fs/callers/thread_rights.h"

#include <errno.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

int thread_rights_get(struct thread_rights *ret_rights)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capget, &header, ret_rights->caps) < 0 ? -errno : 0;
}

int thread_rights_set(const struct thread_rights *rights)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capset, &header, rights->caps) < 0 ? -errno : 0;
}

bool thread_rights_have(const struct thread_rights *rights, int capability)
{
    return rights->caps[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

void thread_rights_drop(struct thread_rights *rights, int capability)
{
    rights->caps[CAP_TO_INDEX(capability)].effective &= ~CAP_TO_MASK(capability);
}

void thread_rights_add(struct thread_rights *rights, int capability)
{
    rights->caps[CAP_TO_INDEX(capability)].effective |= CAP_TO_MASK(capability);
}

void thread_rights_drop_all(struct thread_rights *rights)
{
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        rights->caps[i].effective = 0;
}

/* The calls say who it was before, and not whether they failed. */
static bool set_fsgid(gid_t gid)
{
    setfsgid(gid);
    return (gid_t)setfsgid((gid_t)-1) == gid;
}

bool thread_rights_set_fsuid(uid_t uid)
{
    setfsuid(uid);
    return (uid_t)setfsuid((uid_t)-1) == uid;
}

static void become_self(void)
{
    while (!thread_rights_set_fsuid(geteuid()))
        usleep(1000);
    while (!set_fsgid(getegid()))
        usleep(1000);
}

int thread_rights_become(uid_t uid, gid_t gid)
{
    if (set_fsgid(gid) && thread_rights_set_fsuid(uid))
        return 0;
    become_self();
    return -EPERM;
}

void thread_rights_restore(const struct thread_rights *own)
{
    int saved = errno;
    become_self();
    while (thread_rights_set(own) == -ENOMEM)
        usleep(1000);
    errno = saved;
}

static int set_groups(size_t n_groups, const gid_t *groups)
{
    return syscall(SYS_setgroups, n_groups, groups) < 0 ? -errno : 0;
}

int thread_rights_become_all(uid_t uid, gid_t gid, size_t n_groups, const gid_t *groups,
                             const struct thread_rights *rights,
                             const struct thread_rights_own *own)
{
    int r = set_groups(n_groups, groups);
    if (r < 0)
        return r;
    r = thread_rights_become(uid, gid);
    if (r == 0 && rights)
        r = thread_rights_set(rights);
    if (r < 0)
        thread_rights_restore_all(own);
    return r;
}

void thread_rights_restore_all(const struct thread_rights_own *own)
{
    int saved = errno;
    thread_rights_restore(&own->rights);
    while (set_groups(own->n_groups, own->groups) == -ENOMEM)
        usleep(1000);
    errno = saved;
}
