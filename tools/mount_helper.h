/* The mount helper is what mount(8) and umount(8) run for the types kinfs and fuse.kinfs: this same
 * program, under the names mount.kinfs, mount.fuse.kinfs, umount.kinfs and umount.fuse.kinfs. */
#ifndef KINFS_TOOLS_MOUNT_HELPER_H
#define KINFS_TOOLS_MOUNT_HELPER_H

#include <stdbool.h>

/* The program was called as a helper: by its name, or as the mount.fuse3 of libfuse does where no
 * other helper is installed, `kinfs SOURCE MOUNTPOINT -o OPTIONS`. */
bool mount_helper_is_called(int argc, char **argv);

/* Returns an exit code as of mount(8): 0, 1 (wrong usage) or 32 (failed). */
int mount_helper_run(int argc, char **argv);

#endif
