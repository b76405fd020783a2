/* Some file systems judge by more than modes and access control lists who may do what.
 *
 * The kernel checks a caller by the copy of mode and list that kinfs has told it. For an ext4 that
 * is all there is to check. A server of FUSE, NFS, or a file system with other lists decides by who
 * asks, and would take the daemon, root, for the one who does.
 */
#ifndef KINFS_BASE_MOUNTS_JUDGES_H
#define KINFS_BASE_MOUNTS_JUDGES_H

#include <stdint.h>

enum judges {
    JUDGES_BY_MODE,   /* and POSIX access control list, which the kernel does for it */
    JUDGES_BY_CALLER, /* by itself: it is to be asked as who asks */
    JUDGES_BY_OWNER   /* FUSE without allow_other, and what is not known: nobody but root and who
                       * mounted it is let in */
};

/* The way in which the file system of a mount judges.
 *
 * mount_id  stx_mnt_id of statx(2)
 * f_type    of statfs(2), or 0: not known
 * table     the path of a table as base/mounts/mount_table.h reads it; NULL: /proc/self/mountinfo
 *
 * f_type alone tells of a mount that is not there, or cannot be looked for. Any thread; reads the
 * table. */
enum judges judges_of_mount(uint64_t mount_id, uint64_t f_type, const char *table);

#endif
