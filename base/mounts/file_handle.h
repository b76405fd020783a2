/* File handles, as name_to_handle_at(2) makes them. */
#ifndef KINFS_BASE_MOUNTS_FILE_HANDLE_H
#define KINFS_BASE_MOUNTS_FILE_HANDLE_H

#include <errno.h>
#include <fcntl.h>

union file_handle_room {
    struct file_handle handle;
    char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
};

/* The handle of a name in a directory ("": of what is open itself), and the id of its mount. The
 * kernel alone is asked. Returns 0, -EOPNOTSUPP where the file system makes no handles, or another
 * errno of name_to_handle_at(2). */
static inline int file_handle_make(int dirfd, const char *name, union file_handle_room *handle,
                                   int *ret_mount_id)
{
    handle->handle.handle_bytes = MAX_HANDLE_SZ;
    if (name_to_handle_at(dirfd, name, &handle->handle, ret_mount_id, AT_EMPTY_PATH) < 0)
        return errno == EOVERFLOW ? -EOPNOTSUPP : -errno;
    return 0;
}

#endif
