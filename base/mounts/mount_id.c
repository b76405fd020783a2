#include "base/mounts/mount_id.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

int mount_id_find(int fd, const char *name, struct mount_id *ret_mount)
{
    struct statx st;
    if (statx(fd, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, 0, &st) < 0)
        return -errno;
    *ret_mount = (struct mount_id){st.stx_mnt_id, makedev(st.stx_dev_major, st.stx_dev_minor),
                                   st.stx_attributes & STATX_ATTR_MOUNT_ROOT};
    return st.stx_mask & STATX_MNT_ID ? 0 : -EOPNOTSUPP;
}
