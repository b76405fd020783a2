/* The backing tree. Its file keys are file handles with the file system's id in front:
 *
 *   handles      fsid | the kernel's handle type | handle (file_key_of_handle())
 *   no handles   fsid | 0xffffffff               | inode number (8) | handle that opens nothing
 *
 * The id is statfs(2)'s f_fsid, which most file systems derive from their UUID: a key outlives a
 * reboot. Where it is 0, or two file systems below the root share it (cloned images), the device
 * number is mixed in. A second mount of the same file system has an id of its own for as long as it
 * is there, and is reached by itself, since it may be read-only.
 *
 * The second form never holds the birth time: a copy-up of overlayfs changes it under an open file.
 * Of overlayfs Linux 6.6 gives handles that only identify; elsewhere the number stands alone, and a
 * new file may get it that a removed one had.
 *
 * open_by_handle_at(2) needs a descriptor on the handle's mount, not an O_PATH one. For the tree's
 * own mount that is the root. For a mount inside the tree a descriptor is opened each time by the
 * path of the mount point (base/mounts/mount_point.h), as any descriptor that is kept there, O_PATH
 * too, would keep people from unmounting it. Mounts are not remembered, as their ids are used
 * again; file systems are, until it is seen that their mounts are gone.
 *
 * Example: the key of /tree/usb/a is the fsid of the stick and a's handle. To open it, the file
 * system is found by its fsid, "usb" is opened as its mount point, and the handle is opened on that
 * descriptor. When the stick is gone, "usb" is another file system, and the answer is -ESTALE.
 *
 * Left out: a cache of descriptors of mount points, for the reason above. Cost: about 3 us for a
 * key of the tree's own mount, and twice that for one inside.
 */
#include "base/files/backing.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/mounts/mount_point.h"
#include "base/mounts/mount_table.h"
#include "base/mounts/mount_user.h"
#include "base/room.h"

#define KEY_TYPE_INODE UINT32_C(0xffffffff)
#ifndef AT_HANDLE_FID
#define AT_HANDLE_FID 0x200
#endif

enum { HANDLE_MAX_BYTES = FILE_KEY_MAX_BYTES - FILE_KEY_MIN_BYTES };
enum { NUMBER_KEY_BYTES = FILE_KEY_MIN_BYTES + sizeof(uint64_t) };
enum { OVERLAY_HANDLE = 0xf8 }; /* others hold, of a file system without handles, numbers alone */
static_assert(HANDLE_MAX_BYTES == MAX_HANDLE_SZ, "a key holds any handle");

union handle {
    struct file_handle handle;
    char space[sizeof(struct file_handle) + HANDLE_MAX_BYTES];
};

/* A file system that has, or had, a mount inside the tree; or a subvolume of one. */
struct filesystem {
    uint64_t own_fsid; /* statfs(2)'s; identifies it together with the device and the mount */
    dev_t device;
    uint64_t mount; /* see mount_of() */
    int mount_id;
    uint64_t fsid;        /* in keys */
    bool has_handles;     /* its keys can be opened */
    unsigned long denies; /* see backing_key_denies() */
    uint64_t type;        /* statfs(2)'s */
    enum judges judges;   /* see backing_key_judges() */
    unsigned judged_at;   /* at which of the changes of the table of mounts */
    dev_t top_device;     /* of its mount point */
    char *mount_point;    /* its last place, relative to the root; NULL: not known */
};

struct backing {
    int root_fd, root_mount_id;
    dev_t root_device;
    uint64_t root_fsid;
    bool has_handles;
    unsigned long root_denies;   /* see backing_key_denies() */
    enum judges root_judges;     /* see backing_key_judges() */
    int mounts_fd;               /* the table of mounts, which tells that it has changed; or -1 */
    unsigned n_mounts_changes;   /* as far as it was asked */
    pthread_mutex_t mounts_lock; /* of asking */
    struct file_key root_key;
    pthread_rwlock_t lock; /* of all below */
    struct filesystem *filesystems;
    size_t n_filesystems, n_room;
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

enum { DENIABLE = ST_NOSUID | ST_NODEV };

/* The type is 0 where the file system does not say it. */
static uint64_t fsid_of(int fd, unsigned long *ret_denies, uint64_t *ret_type)
{
    struct statfs fs;
    uint64_t fsid = 0;
    *ret_denies = DENIABLE;
    *ret_type = 0;
    if (fstatfs(fd, &fs) == 0) {
        static_assert(sizeof(fs.f_fsid) == sizeof(fsid), "fsid is 8 bytes");
        memcpy(&fsid, &fs.f_fsid, sizeof(fsid));
        *ret_denies = (unsigned long)fs.f_flags & DENIABLE;
        *ret_type = (uint64_t)fs.f_type;
    }
    struct stat st;
    if (!fsid && fstat(fd, &st) == 0)
        fsid = st.st_dev;
    return fsid;
}

/* The handle of a name, and the id of its mount. -EOPNOTSUPP: the file system makes no handles. */
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

/* The mount that a descriptor is on: a number that is not used again where the kernel has one
 * (Linux 6.8), else the mount's id. */
static uint64_t mount_of(int fd, int mount_id)
{
#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000U
#endif
    struct statx sx;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID_UNIQUE, &sx) == 0 &&
        (sx.stx_mask & STATX_MNT_ID_UNIQUE))
        return sx.stx_mnt_id;
    return (uint64_t)mount_id;
}

/* Looks a file system up, with the lock held. */
static struct filesystem *find_filesystem(struct backing *backing, const struct filesystem *seen)
{
    for (size_t i = 0; i < backing->n_filesystems; i++)
        if (backing->filesystems[i].own_fsid == seen->own_fsid &&
            backing->filesystems[i].device == seen->device &&
            backing->filesystems[i].mount == seen->mount)
            return &backing->filesystems[i];
    return NULL;
}

static bool is_taken(const struct backing *backing, uint64_t fsid)
{
    bool taken = fsid == backing->root_fsid;
    for (size_t i = 0; i < backing->n_filesystems; i++)
        taken |= fsid == backing->filesystems[i].fsid;
    return taken;
}

/* Forgets file systems whose mount had the id that another mount has now: ids are used again, and
 * only subvolumes, which come by the same mount, are still there. */
static bool had_id_of(const struct filesystem *filesystem, const struct filesystem *seen)
{
    return filesystem->mount_id == seen->mount_id &&
           (filesystem->mount != seen->mount || (filesystem->top_device && seen->top_device &&
                                                 filesystem->top_device != seen->top_device));
}

static void drop_filesystem(struct backing *backing, size_t i)
{
    free(backing->filesystems[i].mount_point);
    backing->filesystems[i] = backing->filesystems[--backing->n_filesystems];
}

/* Drops file systems whose mount is gone, as anybody who may mount could add one each time. Where
 * the table of mounts cannot be read they stay. Asks no file server. */
static void drop_gone(struct backing *backing)
{
    _cleanup_(mount_table_done) struct mount_table table = {0};
    struct mount_row row;
    size_t n_seen = 0;
    int r = mount_table_open(&table, NULL);
    /* File systems that are still there come to the front. */
    while (r == 0 && (r = mount_table_next(&table, &row)) > 0) {
        r = 0;
        for (size_t i = n_seen; i < backing->n_filesystems; i++) {
            if ((uint64_t)backing->filesystems[i].mount_id != row.id)
                continue;
            struct filesystem there = backing->filesystems[i];
            backing->filesystems[i] = backing->filesystems[n_seen];
            backing->filesystems[n_seen++] = there;
        }
    }
    while (r == 0 && backing->n_filesystems > n_seen)
        drop_filesystem(backing, backing->n_filesystems - 1);
}

static int add_filesystem(struct backing *backing, const struct filesystem *filesystem)
{
    for (size_t i = backing->n_filesystems; i-- > 0;)
        if (had_id_of(&backing->filesystems[i], filesystem))
            drop_filesystem(backing, i);
    const bool is_full = backing->n_filesystems == backing->n_room;
    if (is_full)
        drop_gone(backing);
    /* There is room for as many again, so that the table is not soon full. */
    if (is_full && backing->n_filesystems >= backing->n_room / 2 &&
        !MAKE_ROOM(backing->filesystems, backing->n_room, backing->n_room + 1))
        return -ENOMEM;
    struct filesystem added = *filesystem;
    if (is_taken(backing, added.fsid))
        added.fsid ^= (uint64_t)added.device * UINT64_C(0x9e3779b97f4a7c15);
    /* A second mount of a file system is reached by itself, as it may be read-only. */
    while (is_taken(backing, added.fsid))
        added.fsid += UINT64_C(0x9e3779b97f4a7c15);
    backing->filesystems[backing->n_filesystems++] = added;
    return 0;
}

/* Asks whether mounts have come or gone. The number of a mount and that of its device are used
 * again, and what has both then may judge otherwise. Gives a number that has changed if so. */
static unsigned mounts_changes(struct backing *backing)
{
    struct pollfd mounts = {.fd = backing->mounts_fd, .events = POLLPRI};
    /* Of several threads one is told. */
    LOCKED(&backing->mounts_lock);
    if (backing->mounts_fd < 0 || poll(&mounts, 1, 0) != 0)
        backing->n_mounts_changes++;
    return backing->n_mounts_changes;
}

/* Whether anything in a mount may be asked: 0, -EACCES for another user's FUSE mount, or -ESTALE
 * for one that is not in the table of mounts. */
static int check_mount(struct backing *backing, uint64_t mount_id, unsigned n_changes)
{
    uid_t user;
    {
        SHARED(&backing->lock);
        for (size_t i = 0; i < backing->n_filesystems; i++)
            if ((uint64_t)backing->filesystems[i].mount_id == mount_id &&
                backing->filesystems[i].judged_at == n_changes)
                return 0;
    }
    int r = mount_user_of_id(mount_id, &user);
    return r == -ENOENT ? -ESTALE : r < 0 ? r : mount_user_is_trusted(user) ? 0 : -EACCES;
}

static int may_ask(void *user, uint64_t mount_id)
{
    return check_mount(user, mount_id, mounts_changes(user));
}

/* Opens a directory on which something is mounted, which may be asked, for reading. */
static int open_top(struct backing *backing, const char *path, struct mount_id *ret_mount)
{
    _cleanup_close_ int fd = mount_point_open(backing->root_fd, path, may_ask, backing, ret_mount);
    if (fd < 0)
        return fd;
    int top = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return top < 0 ? -errno : top;
}

/* Finds the place of a mount, and whether it opens handles; leaves both as they are when it cannot
 * be found. */
static void look_at_mount(struct backing *backing, int mount_id, struct filesystem *filesystem)
{
    struct mount_id mount;
    if (mount_point_of_id(backing->root_fd, mount_id, &filesystem->mount_point) < 0)
        return;
    _cleanup_close_ int top = open_top(backing, filesystem->mount_point, &mount);
    if (top < 0 || mount.id != (uint64_t)mount_id)
        return; /* it may be mounted on a file */
    filesystem->top_device = mount.device;
    filesystem->has_handles = opens_handles(top);
}

/* The id, for keys, of the file system of a descriptor that is on a mount inside the tree. */
static int fsid_of_nested(struct backing *backing, int fd, int mount_id, uint64_t *ret_fsid)
{
    struct stat st;
    struct filesystem seen = {.mount_id = mount_id, .judged_at = mounts_changes(backing)};
    int r = check_mount(backing, (uint64_t)mount_id, seen.judged_at);
    if (r < 0)
        return r;
    if (fstat(fd, &st) < 0)
        return -errno;
    seen.device = st.st_dev;
    seen.mount = mount_of(fd, mount_id);
    seen.own_fsid = fsid_of(fd, &seen.denies, &seen.type);
    {
        SHARED(&backing->lock);
        const struct filesystem *known = find_filesystem(backing, &seen);
        if (known && known->mount_point && known->denies == seen.denies &&
            known->type == seen.type && known->judged_at == seen.judged_at) {
            *ret_fsid = known->fsid;
            return 0;
        }
    }
    seen.fsid = seen.own_fsid;
    seen.judges = judges_of_mount((uint64_t)mount_id, seen.type, NULL);
    look_at_mount(backing, mount_id, &seen);
    _cleanup_free_ char *mount_point = seen.mount_point;
    EXCLUSIVE(&backing->lock);
    struct filesystem *known = find_filesystem(backing, &seen);
    r = known ? 0 : add_filesystem(backing, &seen);
    if (r < 0)
        return r;
    if (!known) {
        known = &backing->filesystems[backing->n_filesystems - 1];
    } else if (mount_point) {
        free(known->mount_point);
        known->mount_point = mount_point;
        known->top_device = seen.top_device;
        known->has_handles = seen.has_handles;
    }
    known->denies = seen.denies;
    known->type = seen.type;
    known->judges = seen.judges;
    known->judged_at = seen.judged_at;
    if (known->mount_point == mount_point)
        (void)TAKE_PTR(mount_point);
    *ret_fsid = known->fsid;
    return 0;
}

/* The file system id of a name that is on a certain mount. */
static int fsid_at(struct backing *backing, int mount_id, int dirfd, const char *name,
                   uint64_t *ret_fsid)
{
    _cleanup_close_ int path_fd = -1;
    if (mount_id == backing->root_mount_id) {
        *ret_fsid = backing->root_fsid;
        return 0;
    }
    if (*name) {
        path_fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (path_fd < 0)
            return -errno;
    }
    /* Another may have been mounted there since. */
    struct mount_id mount;
    int r = mount_id_find(*name ? path_fd : dirfd, "", &mount);
    if (r == 0 && mount.id != (uint64_t)mount_id)
        r = -ESTALE;
    return r < 0 ? r : fsid_of_nested(backing, *name ? path_fd : dirfd, mount_id, ret_fsid);
}

/* Adds to a key what tells the inode from others of its number, where the kernel gives it. */
static void add_identifying_handle(int dirfd, const char *name, struct file_key *key)
{
    union handle handle = {.handle.handle_bytes = FILE_KEY_MAX_BYTES - NUMBER_KEY_BYTES};
    int mount_id;
    if (name_to_handle_at(dirfd, name, &handle.handle, &mount_id, AT_EMPTY_PATH | AT_HANDLE_FID) ||
        handle.handle.handle_type != OVERLAY_HANDLE)
        return;
    memcpy(key->bytes + NUMBER_KEY_BYTES, handle.handle.f_handle, handle.handle.handle_bytes);
    key->size_bytes = (uint8_t)(NUMBER_KEY_BYTES + handle.handle.handle_bytes);
}

static int inode_key_at(struct backing *backing, int dirfd, const char *name,
                        struct file_key *ret_key, bool *ret_nested)
{
    struct statx sx;
    const int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC;
    if (statx(dirfd, name, flags, STATX_INO | STATX_MNT_ID, &sx) < 0)
        return -errno;
    uint64_t fsid;
    if (!(sx.stx_mask & STATX_MNT_ID)) {
        fsid = makedev(sx.stx_dev_major, sx.stx_dev_minor);
        *ret_nested = fsid != backing->root_device;
    } else {
        int r = fsid_at(backing, (int)sx.stx_mnt_id, dirfd, name, &fsid);
        if (r < 0)
            return r;
        *ret_nested = (int)sx.stx_mnt_id != backing->root_mount_id;
    }
    put_be64(ret_key->bytes, fsid);
    put_be32(ret_key->bytes + 8, KEY_TYPE_INODE);
    put_be64(ret_key->bytes + FILE_KEY_MIN_BYTES, sx.stx_ino);
    ret_key->size_bytes = NUMBER_KEY_BYTES;
    add_identifying_handle(dirfd, name, ret_key);
    return 0;
}

int backing_identify(struct backing *backing, int dirfd, const char *name, struct file_key *ret_key,
                     bool *ret_nested)
{
    union handle handle;
    int mount_id;
    int r = make_handle(dirfd, name, &handle, &mount_id);
    if (r == -EOPNOTSUPP || r == -ENOSYS || r == -EPERM)
        return inode_key_at(backing, dirfd, name, ret_key, ret_nested);
    if (r < 0)
        return r;
    uint64_t fsid;
    r = fsid_at(backing, mount_id, dirfd, name, &fsid);
    if (r < 0)
        return r;
    *ret_nested = mount_id != backing->root_mount_id;
    file_key_of_handle(fsid, (uint32_t)handle.handle.handle_type, handle.handle.f_handle,
                       handle.handle.handle_bytes, ret_key);
    return 0;
}

int backing_key_at(struct backing *backing, int dirfd, const char *name, struct file_key *ret_key)
{
    bool nested;
    return backing_identify(backing, dirfd, name, ret_key, &nested);
}

/* Finds the file system of a key that is not of the tree's own, with the lock held. */
static const struct filesystem *filesystem_of(const struct backing *backing,
                                              const struct file_key *key)
{
    const uint64_t fsid = get_be64(key->bytes);
    for (size_t i = 0; i < backing->n_filesystems; i++)
        if (backing->filesystems[i].fsid == fsid)
            return &backing->filesystems[i];
    return NULL;
}

/* Returns 0 when a key can be opened at all, else the error. With the lock held, or for the root's
 * key alone. */
static int check_key(struct backing *backing, const struct file_key *key,
                     const struct filesystem **ret_filesystem)
{
    *ret_filesystem = NULL;
    if (key->size_bytes < FILE_KEY_MIN_BYTES || key->size_bytes > FILE_KEY_MAX_BYTES)
        return -EINVAL;
    if (get_be32(key->bytes + 8) == KEY_TYPE_INODE)
        return -EOPNOTSUPP;
    if (get_be64(key->bytes) == backing->root_fsid)
        return backing->has_handles ? 0 : -EOPNOTSUPP;
    const struct filesystem *filesystem = *ret_filesystem = filesystem_of(backing, key);
    return !filesystem ? -ESTALE : filesystem->has_handles ? 0 : -EOPNOTSUPP;
}

bool backing_key_opens(struct backing *backing, const struct file_key *key)
{
    const struct filesystem *filesystem;
    SHARED(&backing->lock);
    return check_key(backing, key, &filesystem) == 0;
}

bool backing_key_is_nested(const struct backing *backing, const struct file_key *key)
{
    return !file_key_same_file_system(key, &backing->root_key);
}

unsigned long backing_key_denies(struct backing *backing, const struct file_key *key)
{
    if (!backing_key_is_nested(backing, key))
        return backing->root_denies;
    SHARED(&backing->lock);
    const struct filesystem *filesystem = filesystem_of(backing, key);
    return filesystem ? filesystem->denies : DENIABLE;
}

static bool is_number(const struct file_key *key)
{
    return get_be32(key->bytes + 8) == KEY_TYPE_INODE && key->size_bytes == NUMBER_KEY_BYTES;
}

enum key_recurrence backing_key_recurs(const struct file_key *key)
{
    return is_number(key)                               ? KEY_RECURS
           : get_be32(key->bytes + 8) != KEY_TYPE_INODE ? KEY_RECURS_BY_OWNER
                                                        : KEY_RECURS_NEVER;
}

static enum judges file_system_judges(struct backing *backing, const struct file_key *key)
{
    if (!backing_key_is_nested(backing, key))
        return backing->root_judges;
    SHARED(&backing->lock);
    const struct filesystem *filesystem = filesystem_of(backing, key);
    return filesystem ? filesystem->judges : JUDGES_BY_OWNER;
}

/* The kernel has judged by mode the file that had the number when it was last asked. */
enum judges backing_key_judges(struct backing *backing, const struct file_key *key)
{
    const enum judges judges = file_system_judges(backing, key);
    return judges == JUDGES_BY_MODE && is_number(key) ? JUDGES_BY_CALLER : judges;
}

/* Opens a mount at its known place. -ESTALE where another one is mounted there, or none. */
static int open_mount_at(struct backing *backing, const struct filesystem *wanted, const char *path)
{
    struct mount_id mount;
    _cleanup_close_ int fd = open_top(backing, path, &mount);
    if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
        return -ESTALE;
    if (fd >= 0 && ((wanted->top_device && mount.device != wanted->top_device) ||
                    mount_of(fd, wanted->mount_id) != wanted->mount))
        return -ESTALE;
    return TAKE_FD(fd);
}

/* Opens a mount that may have moved, with a directory above it, since it was seen last. */
static int open_mount(struct backing *backing, const struct filesystem *wanted)
{
    int fd = wanted->mount_point ? open_mount_at(backing, wanted, wanted->mount_point) : -ESTALE;
    if (fd != -ESTALE)
        return fd;
    char *found = NULL;
    int r = mount_point_of_id(backing->root_fd, wanted->mount_id, &found);
    if (r < 0)
        return r == -ENOENT ? -ESTALE : r; /* unmounted */
    fd = open_mount_at(backing, wanted, found);
    EXCLUSIVE(&backing->lock);
    for (size_t i = 0; fd >= 0 && i < backing->n_filesystems; i++) {
        if (backing->filesystems[i].fsid == wanted->fsid) {
            free(backing->filesystems[i].mount_point);
            backing->filesystems[i].mount_point = TAKE_PTR(found);
        }
    }
    free(found);
    return fd;
}

/* The descriptor of the mount that a key can be opened on, or the error. *ret_own is the same when
 * the caller must close it, and -1 when it is the root's. */
static int open_mount_of(struct backing *backing, const struct file_key *key, int *ret_own)
{
    const struct filesystem *filesystem;
    _cleanup_free_ char *mount_point = NULL;
    struct filesystem wanted;
    {
        SHARED(&backing->lock);
        int r = check_key(backing, key, &filesystem);
        if (r < 0)
            return r;
        if (!filesystem)
            return backing->root_fd;
        wanted = *filesystem;
        mount_point = wanted.mount_point ? strdup(wanted.mount_point) : NULL;
    }
    wanted.mount_point = mount_point;
    return *ret_own = open_mount(backing, &wanted);
}

/* Linux also returns ENOMEM for an inode that is gone, while its number is being given to a new
 * one: for microseconds, or for milliseconds where the process that makes the new one has lost its
 * processor. */
static int open_handle(int mount_fd, union handle *handle, int flags)
{
    enum { YIELDS = 100, TRIES = 600, SLEEP_US = 100 };
    int fd = -1;
    for (int i = 0; i < TRIES; i++) {
        fd = open_by_handle_at(mount_fd, &handle->handle, flags);
        if (fd >= 0 || errno != ENOMEM)
            break;
        if (i < YIELDS)
            sched_yield();
        else
            usleep(SLEEP_US);
    }
    return fd < 0 ? -errno : fd;
}

int backing_open_key(struct backing *backing, const struct file_key *key, int flags)
{
    if (file_key_equal(key, &backing->root_key)) {
        int fd = openat(backing_root_fd(backing), ".", flags | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
    }
    _cleanup_close_ int own = -1;
    int mount_fd = open_mount_of(backing, key, &own);
    if (mount_fd < 0)
        return mount_fd;
    union handle handle;
    handle.handle.handle_type = (int)get_be32(key->bytes + 8);
    handle.handle.handle_bytes = (unsigned)(key->size_bytes - FILE_KEY_MIN_BYTES);
    file_key_handle(key, handle.handle.f_handle);
    return open_handle(mount_fd, &handle, flags | O_CLOEXEC);
}

void backing_close(struct backing *backing)
{
    if (!backing)
        return;
    for (size_t i = 0; i < backing->n_filesystems; i++)
        free(backing->filesystems[i].mount_point);
    free(backing->filesystems);
    close_p(&backing->root_fd);
    close_p(&backing->mounts_fd);
    pthread_mutex_destroy(&backing->mounts_lock);
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

static int open_tree(int dirfd, const char *path, struct backing **ret_backing)
{
    struct stat st;
    uint64_t type;
    _cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    _cleanup_(backing_close_p) struct backing *backing = calloc(1, sizeof(*backing));
    if (!backing)
        return -ENOMEM;
    pthread_mutex_init(&backing->mounts_lock, NULL);
    pthread_rwlock_init(&backing->lock, NULL);
    backing->root_mount_id = root_mount_id(fd);
    backing->root_device = st.st_dev;
    backing->root_fsid = fsid_of(fd, &backing->root_denies, &type);
    backing->root_judges = judges_of_mount((uint64_t)backing->root_mount_id, type, NULL);
    backing->mounts_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    backing->has_handles = opens_handles(fd);
    backing->root_fd = TAKE_FD(fd);
    int r = backing_key_at(backing, backing->root_fd, "", &backing->root_key);
    if (r < 0)
        return r;
    *ret_backing = TAKE_PTR(backing);
    return 0;
}

int backing_open(const char *path, struct backing **ret_backing)
{
    return open_tree(AT_FDCWD, path, ret_backing);
}

int backing_open_at(int directory_fd, struct backing **ret_backing)
{
    return open_tree(directory_fd, ".", ret_backing);
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
