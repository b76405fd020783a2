/* A plan says what would be mounted where, checked before anything is done: everything here that is
 * refused would otherwise end in a mount that hides, feeds on or waits for itself.
 */
#ifndef KINFS_TOOLS_MOUNT_MOUNT_PLAN_H
#define KINFS_TOOLS_MOUNT_MOUNT_PLAN_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "tools/questions/mounts.h"

struct mount_plan {
    char *source, *mountpoint; /* absolute; to be shown, compared and called by, not followed */
    /* Themselves, O_PATH, whatever becomes of the paths, which others may change; -1: none. */
    int source_fd, mountpoint_fd;
    char *store; /* absolute, need not exist; without sketching, where the daemon is asked */
    char *log;   /* NULL, or as it was named */
};

/* The plan of nothing. */
#define MOUNT_PLAN_NONE ((struct mount_plan){.source_fd = -1, .mountpoint_fd = -1})

/* mountpoint  NULL: over the source
 * store       NULL: the default
 * sketch      false: there is no store, and store is not looked at
 * log         NULL: none
 *
 * A mount point (or source) that a dead daemon of kinfs left behind is unmounted first.
 * Returns 0, -ENOENT, -ENOTDIR, -EBUSY (already mounted), -EINVAL (one inside the other) or another
 * errno, with a line in *ret_error that says what to do; ret_plan gives, end with
 * mount_plan_done().
 */
int mount_plan_make(const char *source, const char *mountpoint, const char *store, bool sketch,
                    const char *log, struct mount_plan *ret_plan, char **ret_error);
void mount_plan_done(struct mount_plan *plan);

/* Unmount this very mount, where the table of mounts has it; flags are those of umount2(2). Returns
 * 0, -EBUSY, -ENOENT when it is there no longer, or another errno of umount2(2); without the right
 * to, as fusermount3 does (which knows MNT_DETACH alone), -EPERM when that fails. -EXDEV where it
 * is in another user's FUSE mount. */
int unmount(const struct mount *mount, int flags);

#endif
