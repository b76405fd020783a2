/* The user's number is that of the process group. The kernel gives a number to no second process as
 * long as anything is in the group that it names, and no program leaves its group (sandbox.h): so
 * there is nothing to be claimed, kept or given back, and two daemons need not know of each other.
 */
#include "tools/extract/own_user.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"

/* A signal is let through by the sender's real or effective user and the receiver's real or saved
 * one: so the killer has the user as its effective one alone. */
static int become(unsigned user, bool as_killer)
{
    if (as_killer)
        return setresuid(0, user, 0) < 0 ? -errno : 0;
    if (setgroups(0, NULL) < 0 || setresgid(user, user, user) < 0 ||
        setresuid(user, user, user) < 0)
        return -errno;
    return 0;
}

int own_user_become(pid_t group, bool as_killer)
{
    if (geteuid() != 0)
        return 0;
    int r = group < OWN_USERS ? become(OWN_USER_FIRST + (unsigned)group, as_killer) : -EINVAL;
    return r == -EINVAL ? become(OWN_USER_NOBODY, as_killer) : r;
}

/* A user namespace has all of these numbers. */
static bool are_mapped(const char *map)
{
    _cleanup_fclose_ FILE *file = fopen(map, "re");
    unsigned long first, outside, n;
    while (file && fscanf(file, "%lu %lu %lu", &first, &outside, &n) == 3)
        if (first <= OWN_USER_FIRST && OWN_USER_FIRST + OWN_USERS <= first + n)
            return true;
    return false;
}

bool own_user_is_to_be_had(void)
{
    return geteuid() == 0 && are_mapped("/proc/self/uid_map") && are_mapped("/proc/self/gid_map");
}
