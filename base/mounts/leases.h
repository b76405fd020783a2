/* Leases (F_SETLEASE) tell who has a file open for writing, but not on all file systems.
 *
 * The kernel goes by the inode that was opened. An overlayfs, ecryptfs or server of FUSE, kinfs
 * among them, has inodes of its own: who has opened the file below is not seen, and who opens it
 * there does not wait. Of a file system on a network other machines are not seen. */
#ifndef KINFS_BASE_MOUNTS_LEASES_H
#define KINFS_BASE_MOUNTS_LEASES_H

#include <stdbool.h>

/* The leases of the file system that fd is open in tell of all who open its files.
 *
 * table  the path of a table as base/mounts/mount_table.h reads it; NULL: /proc/self/mountinfo
 *
 * The answer for a mount that cannot be looked for is no. Any thread; reads the table. */
bool leases_are_told(int fd, const char *table);

#endif
