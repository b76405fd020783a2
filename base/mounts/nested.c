/* File systems are remembered, not mounts, whose ids are used again, until it is seen that
 * their mounts are gone; and of each the place of its mount point when it was seen last. Whose a
 * mount is, is known before anything in it is asked: a FUSE mount of a user's could keep whoever
 * asks, with the locks that the kernel holds for it. Ways to mount points lead through none either.
 *
 * Example: /tree/usb is a stick. Its file system is identified by what statfs(2), the device and
 * the mount say; when a file of it is to be opened, "usb" is opened, and is it. When the stick is
 * gone, "usb" is another file system, and the answer is -ESTALE.
 *
 * Left out: a cache of descriptors of mount points, any of which, O_PATH too, would keep people
 * from unmounting.
 */
#include "base/mounts/nested.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mounts/mount_point.h"
#include "base/mounts/mount_table.h"
#include "base/mounts/mount_user.h"
#include "base/room.h"

/* Or a subvolume of one. */
struct nested_file_system {
    uint64_t own_fsid; /* statfs(2)'s; identifies it together with the device and the mount */
    dev_t device;
    uint64_t mount; /* see mount_of() */
    int mount_id;
    uint64_t fsid; /* in keys */
    struct file_system facts;
    unsigned judged_at; /* at which of the changes of the table of mounts */
    dev_t top_device;   /* of its mount point */
    char *mount_point;  /* its last place, relative to the root; NULL: not known */
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
static struct nested_file_system *find(struct nested *nested, const struct nested_file_system *seen)
{
    for (size_t i = 0; i < nested->n; i++)
        if (nested->file_systems[i].own_fsid == seen->own_fsid &&
            nested->file_systems[i].device == seen->device &&
            nested->file_systems[i].mount == seen->mount)
            return &nested->file_systems[i];
    return NULL;
}

static bool is_taken(const struct nested *nested, uint64_t fsid)
{
    bool taken = fsid == nested->root_fsid;
    for (size_t i = 0; i < nested->n; i++)
        taken |= fsid == nested->file_systems[i].fsid;
    return taken;
}

/* Forgets file systems whose mount had the id that another mount has now: ids are used again, and
 * only subvolumes, which come by the same mount, are still there. */
static bool had_id_of(const struct nested_file_system *file_system,
                      const struct nested_file_system *seen)
{
    return file_system->mount_id == seen->mount_id &&
           (file_system->mount != seen->mount || (file_system->top_device && seen->top_device &&
                                                  file_system->top_device != seen->top_device));
}

static void drop(struct nested *nested, size_t i)
{
    free(nested->file_systems[i].mount_point);
    nested->file_systems[i] = nested->file_systems[--nested->n];
}

/* Drops file systems whose mount is gone, as anybody who may mount could add one each time. Where
 * the table of mounts cannot be read they stay. Asks no file server. */
static void drop_gone(struct nested *nested)
{
    _cleanup_(mount_table_done) struct mount_table table = {0};
    struct mount_row row;
    size_t n_seen = 0;
    int r = mount_table_open(&table, NULL);
    /* File systems that are still there come to the front. */
    while (r == 0 && (r = mount_table_next(&table, &row)) > 0) {
        r = 0;
        for (size_t i = n_seen; i < nested->n; i++) {
            if ((uint64_t)nested->file_systems[i].mount_id != row.id)
                continue;
            struct nested_file_system there = nested->file_systems[i];
            nested->file_systems[i] = nested->file_systems[n_seen];
            nested->file_systems[n_seen++] = there;
        }
    }
    while (r == 0 && nested->n > n_seen)
        drop(nested, nested->n - 1);
}

static int add(struct nested *nested, const struct nested_file_system *file_system)
{
    for (size_t i = nested->n; i-- > 0;)
        if (had_id_of(&nested->file_systems[i], file_system))
            drop(nested, i);
    const bool is_full = nested->n == nested->n_room;
    if (is_full)
        drop_gone(nested);
    /* There is room for as many again, so that the table is not soon full. */
    if (is_full && nested->n >= nested->n_room / 2 &&
        !MAKE_ROOM(nested->file_systems, nested->n_room, nested->n_room + 1))
        return -ENOMEM;
    struct nested_file_system added = *file_system;
    if (is_taken(nested, added.fsid))
        added.fsid ^= (uint64_t)added.device * UINT64_C(0x9e3779b97f4a7c15);
    /* A second mount of a file system is reached by itself, as it may be read-only. */
    while (is_taken(nested, added.fsid))
        added.fsid += UINT64_C(0x9e3779b97f4a7c15);
    nested->file_systems[nested->n++] = added;
    return 0;
}

/* Asks whether mounts have come or gone. The number of a mount and that of its device are used
 * again, and what has both then may judge otherwise. Gives a number that has changed if so. */
static unsigned mounts_changes(struct nested *nested)
{
    struct pollfd mounts = {.fd = nested->mounts_fd, .events = POLLPRI};
    /* The kernel tells one of several threads. */
    LOCKED(&nested->changes_lock);
    if (nested->mounts_fd < 0 || poll(&mounts, 1, 0) != 0)
        nested->n_changes++;
    return nested->n_changes;
}

/* A mount may be asked for what is in it: 0, -EACCES for another user's FUSE mount, or -ESTALE for
 * one that is not in the table of mounts. */
static int check_mount(struct nested *nested, uint64_t mount_id, unsigned n_changes)
{
    uid_t user;
    {
        SHARED(&nested->lock);
        for (size_t i = 0; i < nested->n; i++)
            if ((uint64_t)nested->file_systems[i].mount_id == mount_id &&
                nested->file_systems[i].judged_at == n_changes)
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
static int open_top(struct nested *nested, const char *path, struct mount_id *ret_mount)
{
    _cleanup_close_ int fd = mount_point_open(nested->root_fd, path, may_ask, nested, ret_mount);
    if (fd < 0)
        return fd;
    int top = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return top < 0 ? -errno : top;
}

/* Finds the place of a mount, and whether it opens handles; leaves both as they are when it cannot
 * be found. */
static void look_at_mount(struct nested *nested, int mount_id,
                          struct nested_file_system *file_system)
{
    struct mount_id mount;
    if (mount_point_of_id(nested->root_fd, mount_id, &file_system->mount_point) < 0)
        return;
    _cleanup_close_ int top = open_top(nested, file_system->mount_point, &mount);
    if (top < 0 || mount.id != (uint64_t)mount_id)
        return; /* it may be mounted on a file */
    file_system->top_device = mount.device;
    file_system->facts.opens_handles = file_system_opens_handles(top);
}

int nested_identify(struct nested *nested, int fd, int mount_id, uint64_t *ret_fsid)
{
    struct stat st;
    struct nested_file_system seen = {.mount_id = mount_id, .judged_at = mounts_changes(nested)};
    int r = check_mount(nested, (uint64_t)mount_id, seen.judged_at);
    if (r < 0)
        return r;
    if (fstat(fd, &st) < 0)
        return -errno;
    seen.device = st.st_dev;
    seen.mount = mount_of(fd, mount_id);
    seen.own_fsid = file_system_ask(fd, &seen.facts);
    {
        SHARED(&nested->lock);
        const struct nested_file_system *known = find(nested, &seen);
        if (known && known->mount_point && known->facts.denies == seen.facts.denies &&
            known->facts.type == seen.facts.type && known->judged_at == seen.judged_at) {
            *ret_fsid = known->fsid;
            return 0;
        }
    }
    seen.fsid = seen.own_fsid;
    seen.facts.judges = judges_of_mount((uint64_t)mount_id, seen.facts.type, NULL);
    look_at_mount(nested, mount_id, &seen);
    _cleanup_free_ char *mount_point = seen.mount_point;
    EXCLUSIVE(&nested->lock);
    struct nested_file_system *known = find(nested, &seen);
    r = known ? 0 : add(nested, &seen);
    if (r < 0)
        return r;
    if (!known) {
        known = &nested->file_systems[nested->n - 1];
    } else if (mount_point) {
        free(known->mount_point);
        known->mount_point = mount_point;
        known->top_device = seen.top_device;
        known->facts.opens_handles = seen.facts.opens_handles;
    }
    known->facts.denies = seen.facts.denies;
    known->facts.type = seen.facts.type;
    known->facts.judges = seen.facts.judges;
    known->judged_at = seen.judged_at;
    if (known->mount_point == mount_point)
        (void)TAKE_PTR(mount_point);
    *ret_fsid = known->fsid;
    return 0;
}

bool nested_find(struct nested *nested, uint64_t fsid, struct file_system *ret_facts)
{
    SHARED(&nested->lock);
    for (size_t i = 0; i < nested->n; i++) {
        if (nested->file_systems[i].fsid == fsid) {
            *ret_facts = nested->file_systems[i].facts;
            return true;
        }
    }
    return false;
}

/* Opens a mount at its known place. -ESTALE where another one is mounted there, or none. */
static int open_mount_at(struct nested *nested, const struct nested_file_system *wanted,
                         const char *path)
{
    struct mount_id mount;
    _cleanup_close_ int fd = open_top(nested, path, &mount);
    if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
        return -ESTALE;
    if (fd >= 0 && ((wanted->top_device && mount.device != wanted->top_device) ||
                    mount_of(fd, wanted->mount_id) != wanted->mount))
        return -ESTALE;
    return TAKE_FD(fd);
}

/* Opens a mount that may have moved, with a directory above it, since it was seen last. */
static int open_mount(struct nested *nested, const struct nested_file_system *wanted)
{
    int fd = wanted->mount_point ? open_mount_at(nested, wanted, wanted->mount_point) : -ESTALE;
    if (fd != -ESTALE)
        return fd;
    char *found = NULL;
    int r = mount_point_of_id(nested->root_fd, wanted->mount_id, &found);
    if (r < 0)
        return r == -ENOENT ? -ESTALE : r; /* unmounted */
    fd = open_mount_at(nested, wanted, found);
    EXCLUSIVE(&nested->lock);
    for (size_t i = 0; fd >= 0 && i < nested->n; i++) {
        if (nested->file_systems[i].fsid == wanted->fsid) {
            free(nested->file_systems[i].mount_point);
            nested->file_systems[i].mount_point = TAKE_PTR(found);
        }
    }
    free(found);
    return fd;
}

int nested_open(struct nested *nested, uint64_t fsid)
{
    struct nested_file_system wanted = {0};
    _cleanup_free_ char *mount_point = NULL;
    {
        SHARED(&nested->lock);
        for (size_t i = 0; i < nested->n; i++)
            if (nested->file_systems[i].fsid == fsid)
                wanted = nested->file_systems[i];
        mount_point = wanted.mount_point ? strdup(wanted.mount_point) : NULL;
    }
    wanted.mount_point = mount_point;
    return wanted.fsid == fsid ? open_mount(nested, &wanted) : -ESTALE;
}

void nested_init(struct nested *nested, int root_fd, uint64_t root_fsid)
{
    *nested = (struct nested){
        .root_fd = root_fd,
        .root_fsid = root_fsid,
        .mounts_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC),
    };
    pthread_mutex_init(&nested->changes_lock, NULL);
    pthread_rwlock_init(&nested->lock, NULL);
}

void nested_done(struct nested *nested)
{
    for (size_t i = 0; i < nested->n; i++)
        free(nested->file_systems[i].mount_point);
    free(nested->file_systems);
    close_p(&nested->mounts_fd);
    pthread_mutex_destroy(&nested->changes_lock);
    pthread_rwlock_destroy(&nested->lock);
}
