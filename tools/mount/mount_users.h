/* The users of a mount keep it from being unmounted, or from ending when it has been: for the
 * message that says so. What is read is text in /proc; nothing in the mount is touched. Who may not
 * look at a process does not find it. */
#ifndef KINFS_TOOLS_MOUNT_MOUNT_USERS_H
#define KINFS_TOOLS_MOUNT_MOUNT_USERS_H

#include "tools/questions/mounts.h"

/* point  where it is mounted
 * " by bash (process 7), vi (process 8)" for those that work in it or have a file of it open, ""
 * when nobody is found; gives. */
char *mount_users_here(const char *point);

/* mount  any mount of it, as it was before unmounting
 * " on /other, and in the mount namespace of sh (process 7)": where it is mounted all the same, by
 * a bind mount or by a copy that unshare(2) has made, "" when nowhere; gives. */
char *mount_users_elsewhere(const struct mount *mount);

#endif
