/* The mount that something is in has a number. The kernel alone is asked: the mount may be closed
 * to this process, and the server of its files need not answer. */
#ifndef KINFS_BASE_MOUNTS_MOUNT_ID_H
#define KINFS_BASE_MOUNTS_MOUNT_ID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mount_id {
    uint64_t id;  /* as the table of mounts has it; while something of it is open, no other's */
    dev_t device; /* of the file system, the same for all mounts of it */
    bool is_top;  /* it is the directory, or file, that is mounted */
};

/* name  in the directory; "": what is open itself, which may be O_PATH. A link is not followed
 * Returns 0, -EOPNOTSUPP (before Linux 5.8) or an errno of statx(2). Any thread; one system call.
 */
int mount_id_find(int fd, const char *name, struct mount_id *ret_mount);

#endif
