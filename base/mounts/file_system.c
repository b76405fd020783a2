#include "base/mounts/file_system.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/cleanup.h"
#include "base/mounts/file_handle.h"

uint64_t file_system_ask(int fd, struct file_system *ret_file_system)
{
    struct statfs fs;
    struct stat st;
    uint64_t fsid = 0;
    ret_file_system->denies = FILE_SYSTEM_DENIABLE;
    ret_file_system->type = 0;
    if (fstatfs(fd, &fs) == 0) {
        static_assert(sizeof(fs.f_fsid) == sizeof(fsid), "fsid is 8 bytes");
        memcpy(&fsid, &fs.f_fsid, sizeof(fsid));
        ret_file_system->denies = (unsigned long)fs.f_flags & FILE_SYSTEM_DENIABLE;
        ret_file_system->type = (uint64_t)fs.f_type;
    }
    if (!fsid && fstat(fd, &st) == 0)
        fsid = st.st_dev;
    return fsid;
}

bool file_system_opens_handles(int fd)
{
    union file_handle_room room;
    int mount_id;
    if (file_handle_make(fd, "", &room, &mount_id) < 0)
        return false;
    _cleanup_close_ int again = open_by_handle_at(fd, &room.handle, O_PATH | O_CLOEXEC);
    return again >= 0;
}
