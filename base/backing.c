/* File keys are file handles with the file system's id in front:
 *
 *   handles      fsid | the kernel's handle type | handle bytes
 *   no handles   fsid | 0xffffffff               | inode number (8)
 *
 * The id is statfs(2)'s f_fsid of the mount the handle was made on, which most file systems derive
 * from their UUID; so a key outlives a reboot. Where it is 0, or two file systems below the root
 * share it (cloned images), the device number is mixed in.
 *
 * A second form of key never holds the birth time: a copy-up of overlayfs changes it under an open
 * file. The generation is in no interface that works for every file type.
 *
 * open_by_handle_at(2) needs a descriptor on the handle's mount. For the tree's own mount that is
 * the root; for a mount inside the tree it is opened when a key is first made there, and kept: a
 * mount that was seen cannot be unmounted from below a mounted kinfs.
 */
#include "base/backing.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"

#define KEY_TYPE_INODE UINT32_C(0xffffffff)

enum { HANDLE_MAX_BYTES = FILE_KEY_MAX_BYTES - FILE_KEY_MIN_BYTES };
static_assert(HANDLE_MAX_BYTES == MAX_HANDLE_SZ, "a key holds any handle");

union handle {
    struct file_handle handle;
    char space[sizeof(struct file_handle) + HANDLE_MAX_BYTES];
};

struct mount {
    int id; /* the kernel's mount id; not reused while fd is open */
    uint64_t fsid;
    int fd;
    bool has_handles; /* can be opened */
};

struct backing {
    int root_fd; /* mounts[0]'s, to be had without the lock */
    bool has_handles;
    struct file_key root_key;
    pthread_rwlock_t lock; /* of the mounts */
    struct mount *mounts;  /* the root's first */
    size_t n_mounts, n_room;
};

static void unlock_rw(pthread_rwlock_t **lock)
{
    pthread_rwlock_unlock(*lock);
}

#define SHARED(rwlock)                                                                             \
    _cleanup_(unlock_rw) pthread_rwlock_t *shared_ = (rwlock);                                     \
    pthread_rwlock_rdlock(shared_)
#define EXCLUSIVE(rwlock)                                                                          \
    _cleanup_(unlock_rw) pthread_rwlock_t *exclusive_ = (rwlock);                                  \
    pthread_rwlock_wrlock(exclusive_)

static uint64_t fsid_of(int fd)
{
    struct statfs fs;
    uint64_t fsid = 0;
    if (fstatfs(fd, &fs) == 0) {
        static_assert(sizeof(fs.f_fsid) == sizeof(fsid), "fsid is 8 bytes");
        memcpy(&fsid, &fs.f_fsid, sizeof(fsid));
    }
    struct stat st;
    if (!fsid && fstat(fd, &st) == 0)
        fsid = st.st_dev;
    return fsid;
}

/* The handle of a name, and where that is. -EOPNOTSUPP: the file system makes none. */
static int make_handle(int dirfd, const char *name, union handle *handle, int *ret_mount_id)
{
    handle->handle.handle_bytes = HANDLE_MAX_BYTES;
    if (name_to_handle_at(dirfd, name, &handle->handle, ret_mount_id, AT_EMPTY_PATH) < 0)
        return errno == EOVERFLOW ? -EOPNOTSUPP : -errno;
    return 0;
}

static bool opens_handles(int fd)
{
    union handle handle;
    int mount_id;
    if (make_handle(fd, "", &handle, &mount_id) < 0)
        return false;
    _cleanup_close_ int again = open_by_handle_at(fd, &handle.handle, O_PATH | O_CLOEXEC);
    return again >= 0;
}

/* Takes the descriptor. */
static int add_mount(struct backing *backing, int id, int fd, uint64_t *ret_fsid)
{
    _cleanup_close_ int owned = fd;
    EXCLUSIVE(&backing->lock);

    uint64_t fsid = fsid_of(fd);
    bool taken = false;
    struct stat st, other;
    if (fstat(fd, &st) < 0)
        return -errno;
    for (size_t i = 0; i < backing->n_mounts; i++) {
        struct mount *m = &backing->mounts[i];
        if (m->id == id) { /* another thread was faster */
            *ret_fsid = m->fsid;
            return 0;
        }
        if (m->fsid == fsid && fstat(m->fd, &other) == 0 && other.st_dev != st.st_dev)
            taken = true;
    }
    if (taken)
        fsid ^= (uint64_t)st.st_dev * UINT64_C(0x9e3779b97f4a7c15);
    if (backing->n_mounts == backing->n_room) {
        size_t n_room = backing->n_room ? 2 * backing->n_room : 4;
        struct mount *more = reallocarray(backing->mounts, n_room, sizeof(*more));
        if (!more)
            return -ENOMEM;
        backing->mounts = more;
        backing->n_room = n_room;
    }
    struct mount *m = &backing->mounts[backing->n_mounts++];
    *m = (struct mount){.id = id, .fsid = fsid, .fd = TAKE_FD(owned)};
    m->has_handles = opens_handles(m->fd);
    *ret_fsid = fsid;
    return 0;
}

static int find_fsid(struct backing *backing, int mount_id, uint64_t *ret_fsid)
{
    SHARED(&backing->lock);
    for (size_t i = 0; i < backing->n_mounts; i++) {
        if (backing->mounts[i].id == mount_id) {
            *ret_fsid = backing->mounts[i].fsid;
            return 0;
        }
    }
    return -ENOENT;
}

/* An object of that mount that can be opened for reading without side effects: of a directory or a
 * regular file itself, else the directory it is in. */
static int open_on_mount(int dirfd, const char *name)
{
    struct stat st;
    _cleanup_close_ int path_fd = -1;
    if (*name) {
        path_fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (path_fd < 0)
            return -errno;
        dirfd = path_fd;
    }
    if (fstat(dirfd, &st) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return -EOPNOTSUPP;
    char proc[32];
    snprintf(proc, sizeof(proc), "/proc/self/fd/%d", dirfd);
    int fd = open(proc, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* The file system id of a mount that may be seen for the first time. */
static int learn_fsid(struct backing *backing, int mount_id, int dirfd, const char *name,
                      uint64_t *ret_fsid)
{
    if (find_fsid(backing, mount_id, ret_fsid) == 0)
        return 0;
    int fd = open_on_mount(dirfd, name);
    if (fd < 0) {
        /* A file that cannot be read: its key identifies, but does not open. */
        _cleanup_close_ int path_fd =
            openat(dirfd, *name ? name : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC);
        *ret_fsid = fsid_of(path_fd >= 0 ? path_fd : dirfd);
        return 0;
    }
    return add_mount(backing, mount_id, fd, ret_fsid);
}

static void encode_key(uint64_t fsid, uint32_t type, const void *bytes, size_t n_bytes,
                       struct file_key *ret_key)
{
    put_be64(ret_key->bytes, fsid);
    put_be32(ret_key->bytes + 8, type);
    memcpy(ret_key->bytes + FILE_KEY_MIN_BYTES, bytes, n_bytes);
    ret_key->size_bytes = (uint8_t)(FILE_KEY_MIN_BYTES + n_bytes);
}

static int inode_key_at(struct backing *backing, int dirfd, const char *name,
                        struct file_key *ret_key)
{
    struct statx sx;
    if (statx(dirfd, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_MNT_ID, &sx) < 0)
        return -errno;
    uint64_t fsid;
    if (!(sx.stx_mask & STATX_MNT_ID)) {
        fsid = makedev(sx.stx_dev_major, sx.stx_dev_minor);
    } else {
        int r = learn_fsid(backing, (int)sx.stx_mnt_id, dirfd, name, &fsid);
        if (r < 0)
            return r;
    }
    uint8_t ino[8];
    put_be64(ino, sx.stx_ino);
    encode_key(fsid, KEY_TYPE_INODE, ino, sizeof(ino), ret_key);
    return 0;
}

int backing_key_at(struct backing *backing, int dirfd, const char *name, struct file_key *ret_key)
{
    union handle handle;
    int mount_id;
    int r = make_handle(dirfd, name, &handle, &mount_id);
    if (r == -EOPNOTSUPP || r == -ENOSYS || r == -EPERM)
        return inode_key_at(backing, dirfd, name, ret_key);
    if (r < 0)
        return r;
    uint64_t fsid;
    r = learn_fsid(backing, mount_id, dirfd, name, &fsid);
    if (r < 0)
        return r;
    encode_key(fsid, (uint32_t)handle.handle.handle_type, handle.handle.f_handle,
               handle.handle.handle_bytes, ret_key);
    return 0;
}

/* The descriptor of the mount a key can be opened on, or why it cannot. */
static int find_mount_fd(struct backing *backing, const struct file_key *key)
{
    if (key->size_bytes < FILE_KEY_MIN_BYTES || key->size_bytes > FILE_KEY_MAX_BYTES)
        return -EINVAL;
    if (get_be32(key->bytes + 8) == KEY_TYPE_INODE)
        return -EOPNOTSUPP;
    uint64_t fsid = get_be64(key->bytes);
    SHARED(&backing->lock);
    for (size_t i = 0; i < backing->n_mounts; i++) {
        if (backing->mounts[i].fsid == fsid)
            return backing->mounts[i].has_handles ? backing->mounts[i].fd : -EOPNOTSUPP;
    }
    return -ENODEV;
}

bool backing_key_opens(struct backing *backing, const struct file_key *key)
{
    return find_mount_fd(backing, key) >= 0;
}

int backing_open_key(struct backing *backing, const struct file_key *key, int flags)
{
    if (file_key_equal(key, &backing->root_key)) {
        int fd = openat(backing_root_fd(backing), ".", flags | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
    }
    int mount_fd = find_mount_fd(backing, key);
    if (mount_fd < 0)
        return mount_fd;
    union handle handle;
    handle.handle.handle_type = (int)get_be32(key->bytes + 8);
    handle.handle.handle_bytes = (unsigned)(key->size_bytes - FILE_KEY_MIN_BYTES);
    memcpy(handle.handle.f_handle, key->bytes + FILE_KEY_MIN_BYTES, handle.handle.handle_bytes);
    int fd = open_by_handle_at(mount_fd, &handle.handle, flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

void backing_close(struct backing *backing)
{
    if (!backing)
        return;
    for (size_t i = 0; i < backing->n_mounts; i++)
        close(backing->mounts[i].fd);
    free(backing->mounts);
    pthread_rwlock_destroy(&backing->lock);
    free(backing);
}

DEFINE_CLEANUP(struct backing *, backing_close);

static int root_mount_id(int fd)
{
    union handle handle;
    int mount_id;
    if (make_handle(fd, "", &handle, &mount_id) == 0)
        return mount_id;
    struct statx sx;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &sx) == 0 && (sx.stx_mask & STATX_MNT_ID))
        return (int)sx.stx_mnt_id;
    return -1; /* an old kernel without handles: the device number stands in for all */
}

int backing_open(const char *path, struct backing **ret_backing)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    _cleanup_(backing_close_p) struct backing *backing = calloc(1, sizeof(*backing));
    if (!backing)
        return -ENOMEM;
    pthread_rwlock_init(&backing->lock, NULL);
    backing->root_fd = fd;
    uint64_t fsid;
    int mount_id = root_mount_id(fd);
    int r = add_mount(backing, mount_id, TAKE_FD(fd), &fsid);
    if (r < 0)
        return r;
    backing->has_handles = backing->mounts[0].has_handles;
    r = backing_key_at(backing, backing->root_fd, "", &backing->root_key);
    if (r < 0)
        return r;
    *ret_backing = TAKE_PTR(backing);
    return 0;
}

int backing_root_fd(const struct backing *backing)
{
    return backing->root_fd;
}

const struct file_key *backing_root_key(const struct backing *backing)
{
    return &backing->root_key;
}

bool backing_has_handles(const struct backing *backing)
{
    return backing->has_handles;
}
