#include "fs/views/view_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/trust.h"

#define MIB ((uint64_t)1 << 20)

static const struct view_room_limits memory_limits = {
    .n_max = 256, .n_of_a_user_max = 64, .bytes_max = 256 * MIB, .bytes_of_a_user_max = 128 * MIB};

int view_file_rooms_init(struct view_file_rooms *rooms, const struct view_room_limits *on_disk)
{
    int r = view_room_init(&rooms->on_disk, on_disk);
    return r < 0 ? r : view_room_init(&rooms->in_memory, &memory_limits);
}

void view_file_rooms_done(struct view_file_rooms *rooms)
{
    view_room_done(&rooms->on_disk);
    view_room_done(&rooms->in_memory);
}

/* The file is the user's, so that it counts for the user's quota. */
static int open_unnamed(const char *store_path, uid_t uid, gid_t gid, bool *ret_is_in_memory)
{
    /* A store in whose place somebody has put another directory since is asked nothing. */
    _cleanup_close_ int store = trust_open_directory(store_path, NULL);
    int fd = store < 0 ? -1 : openat(store, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    *ret_is_in_memory =
        store < 0 || (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EROFS));
    if (*ret_is_in_memory)
        fd = memfd_create("kinfs-view", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fchown(fd, uid, gid) < 0 && geteuid() == 0) {
        int r = -errno;
        close(fd);
        return r;
    }
    return fd;
}

int view_file_open(struct fs *fs, struct view_file_rooms *rooms, uid_t uid, gid_t gid,
                   struct view_file *ret_file)
{
    struct user_room *descriptors = &fs->inodes.descriptors;
    *ret_file = (struct view_file){.fd = -1, .uid = uid};
    int r = view_room_enter(&rooms->on_disk, uid, &ret_file->stay);
    if (r < 0)
        return r;
    if (!user_room_enter(descriptors, uid, 1))
        return -ENFILE;
    ret_file->descriptors = descriptors;
    r = open_unnamed(fs->options.store_path, uid, gid, &ret_file->is_in_memory);
    if (r < 0)
        return of_daemon(r);
    ret_file->fd = r;
    if (!ret_file->is_in_memory)
        return 0;
    view_room_leave(&ret_file->stay);
    return view_room_enter(&rooms->in_memory, uid, &ret_file->stay);
}

int view_file_hold(struct view_file *file, uint64_t n_bytes)
{
    const uint64_t n_before = file->stay.n_bytes;
    struct statvfs st;
    int r = view_room_hold(&file->stay, n_bytes);
    if (r < 0 || file->is_in_memory || n_bytes <= n_before)
        return r;
    if (fstatvfs(file->fd, &st) < 0)
        r = -errno;
    else if ((uint64_t)st.f_bavail * st.f_frsize < view_room_wanted(&file->stay))
        r = -ENOSPC;
    if (r < 0)
        view_room_hold(&file->stay, n_before);
    return r;
}

void view_file_close(struct view_file *file)
{
    if (file->fd >= 0)
        close(TAKE_FD(file->fd));
    if (file->descriptors)
        user_room_leave(file->descriptors, file->uid, 1);
    view_room_leave(&file->stay);
}
