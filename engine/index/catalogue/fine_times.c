#include "engine/index/catalogue/fine_times.h"

#include <linux/magic.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

bool fine_times_at(int fd)
{
    struct utsname kernel;
    struct statfs fs;
    int major, minor;
    if (uname(&kernel) < 0 || sscanf(kernel.release, "%d.%d", &major, &minor) != 2 ||
        fstatfs(fd, &fs) < 0)
        return false;
    if (major < 6 || (major == 6 && minor < 13))
        return false;
    return fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC ||
           fs.f_type == BTRFS_SUPER_MAGIC || fs.f_type == TMPFS_MAGIC;
}
