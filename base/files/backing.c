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
 * Linux 6.6 gives handles of overlayfs that only identify; elsewhere the number stands alone, and a
 * new file may get it that a removed one had.
 *
 * open_by_handle_at(2) needs a descriptor on the handle's mount, not an O_PATH one. For the tree's
 * own mount that is the root. For one inside the tree its mount point is opened each time
 * (base/mounts/nested.h).
 *
 * Example: the key of /tree/usb/a is the fsid of the stick and a's handle. To open it, the file
 * system is found by its fsid, its mount point "usb" is opened, and the handle on that descriptor.
 *
 * Cost: about 3 us for a key of the tree's own mount, and twice that for one inside.
 */
#include "base/files/backing.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/mounts/file_handle.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/nested.h"

#define KEY_TYPE_INODE UINT32_C(0xffffffff)
#ifndef AT_HANDLE_FID
#define AT_HANDLE_FID 0x200
#endif

enum { HANDLE_MAX_BYTES = FILE_KEY_MAX_BYTES - FILE_KEY_MIN_BYTES };
enum { NUMBER_KEY_BYTES = FILE_KEY_MIN_BYTES + sizeof(uint64_t) };
enum { OVERLAY_HANDLE = 0xf8 }; /* others hold, of a file system without handles, numbers alone */
static_assert(HANDLE_MAX_BYTES == MAX_HANDLE_SZ, "a key holds any handle");

struct backing {
    int root_fd, root_mount_id;
    uint64_t root_fsid;
    struct file_system root; /* of the tree's own mount */
    struct file_key root_key;
    struct nested nested;
};

/* The file system id of a name that is on a certain mount. */
static int fsid_at(struct backing *backing, int mount_id, int dirfd, const char *name,
                   uint64_t *ret_fsid)
{
    _cleanup_close_ int path_fd = -1;
    struct mount_id mount;
    if (mount_id == backing->root_mount_id) {
        *ret_fsid = backing->root_fsid;
        return 0;
    }
    if (*name) {
        path_fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        int r = path_fd < 0 ? -errno : mount_id_find(path_fd, "", &mount);
        if (r < 0)
            return r;
        if (mount.id != (uint64_t)mount_id) /* another has been mounted there since */
            return -ESTALE;
    }
    return nested_identify(&backing->nested, *name ? path_fd : dirfd, mount_id, ret_fsid);
}

/* Adds to a key what tells the inode from others of its number, where the kernel gives it. */
static void add_identifying_handle(int dirfd, const char *name, struct file_key *key)
{
    union file_handle_room handle = {.handle.handle_bytes = FILE_KEY_MAX_BYTES - NUMBER_KEY_BYTES};
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
    if (!(sx.stx_mask & STATX_MNT_ID))
        return -EOPNOTSUPP; /* Linux before 5.8 */
    int r = fsid_at(backing, (int)sx.stx_mnt_id, dirfd, name, &fsid);
    if (r < 0)
        return r;
    *ret_nested = (int)sx.stx_mnt_id != backing->root_mount_id;
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
    union file_handle_room handle;
    int mount_id;
    int r = file_handle_make(dirfd, name, &handle, &mount_id);
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

/* The file system of a key, as far as it is known. */
static bool file_system_of_key(struct backing *backing, const struct file_key *key,
                               struct file_system *ret_known)
{
    *ret_known = backing->root;
    return !backing_key_is_nested(backing, key) ||
           nested_find(&backing->nested, get_be64(key->bytes), ret_known);
}

/* Returns 0 when a key can be opened at all, else the error. */
static int check_key(struct backing *backing, const struct file_key *key)
{
    struct file_system known;
    if (key->size_bytes < FILE_KEY_MIN_BYTES || key->size_bytes > FILE_KEY_MAX_BYTES)
        return -EINVAL;
    if (get_be32(key->bytes + 8) == KEY_TYPE_INODE)
        return -EOPNOTSUPP;
    return !file_system_of_key(backing, key, &known) ? -ESTALE
           : known.opens_handles                     ? 0
                                                     : -EOPNOTSUPP;
}

bool backing_key_opens(struct backing *backing, const struct file_key *key)
{
    return check_key(backing, key) == 0;
}

bool backing_key_is_nested(const struct backing *backing, const struct file_key *key)
{
    return !file_key_same_file_system(key, &backing->root_key);
}

unsigned long backing_key_denies(struct backing *backing, const struct file_key *key)
{
    struct file_system known;
    return file_system_of_key(backing, key, &known) ? known.denies : FILE_SYSTEM_DENIABLE;
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

/* The kernel has judged by mode the file that had the number when it was last asked. */
enum judges backing_key_judges(struct backing *backing, const struct file_key *key)
{
    struct file_system known;
    if (!file_system_of_key(backing, key, &known))
        return JUDGES_BY_OWNER;
    return known.judges == JUDGES_BY_MODE && is_number(key) ? JUDGES_BY_CALLER : known.judges;
}

/* Linux also returns ENOMEM for an inode that is gone, while its number is being given to a new
 * one: for microseconds, or for milliseconds where the process that makes the new one has lost its
 * processor. */
static int open_handle(int mount_fd, union file_handle_room *handle, int flags)
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
    int r = check_key(backing, key);
    if (r < 0)
        return r;
    const bool is_nested = backing_key_is_nested(backing, key);
    _cleanup_close_ int own = is_nested ? nested_open(&backing->nested, get_be64(key->bytes)) : -1;
    if (is_nested && own < 0)
        return own;
    union file_handle_room handle;
    handle.handle.handle_type = (int)get_be32(key->bytes + 8);
    handle.handle.handle_bytes = (unsigned)(key->size_bytes - FILE_KEY_MIN_BYTES);
    file_key_handle(key, handle.handle.f_handle);
    return open_handle(is_nested ? own : backing->root_fd, &handle, flags | O_CLOEXEC);
}

void backing_close(struct backing *backing)
{
    if (!backing)
        return;
    nested_done(&backing->nested);
    close_p(&backing->root_fd);
    free(backing);
}

DEFINE_CLEANUP(struct backing *, backing_close);

static int root_mount_id(int fd)
{
    union file_handle_room handle;
    int mount_id;
    if (file_handle_make(fd, "", &handle, &mount_id) == 0)
        return mount_id;
    struct statx sx;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &sx) == 0 && (sx.stx_mask & STATX_MNT_ID))
        return (int)sx.stx_mnt_id;
    return -1; /* Linux before 5.8, without handles: nothing is identified */
}

static int open_tree(int dirfd, const char *path, struct backing **ret_backing)
{
    struct stat st;
    _cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    _cleanup_(backing_close_p) struct backing *backing = calloc(1, sizeof(*backing));
    if (!backing)
        return -ENOMEM;
    backing->root_mount_id = root_mount_id(fd);
    backing->root_fsid = file_system_ask(fd, &backing->root);
    backing->root.judges =
        judges_of_mount((uint64_t)backing->root_mount_id, backing->root.type, NULL);
    backing->root.opens_handles = file_system_opens_handles(fd);
    backing->root_fd = TAKE_FD(fd);
    nested_init(&backing->nested, backing->root_fd, backing->root_fsid);
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
    return backing->root.opens_handles;
}
