/* Which file systems judge by more than modes and access control lists who may do what.
 *
 * The kernel checks a caller by the copy of mode and list that kinfs has told it. For an ext4 that
 * is all there is to check. A server of FUSE, NFS, or a file system with other lists decides by who
 * asks, and would take the daemon, root, for the one who does.
 */
#ifndef KINFS_BASE_JUDGES_H
#define KINFS_BASE_JUDGES_H

#include <stdbool.h>
#include <stdint.h>

enum judges {
    JUDGES_BY_MODE,   /* and POSIX access control list, which the kernel does for it */
    JUDGES_BY_CALLER, /* by itself: it is to be asked as who asks */
    JUDGES_BY_OWNER   /* FUSE without allow_other, and what is not known: nobody but root and who
                       * mounted it is let in */
};

/* Whether all file systems of a type (f_type of statfs(2), or 0: not known) judge by mode. Of those
 * of any other the mount tells. Any thread; some ns. */
bool judges_by_type(uint64_t f_type);

/* How the file system of a mount judges that its type does not tell of.
 *
 * mount_id  stx_mnt_id of statx(2)
 * table     the path of a table as base/mount_table.h reads it; NULL: /proc/self/mountinfo
 *
 * Returns JUDGES_BY_OWNER of a mount that is not there, or cannot be looked for. Any thread; reads
 * the table. */
enum judges judges_of_mount(uint64_t mount_id, const char *table);

#endif
