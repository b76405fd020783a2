#include "tools/questions/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mount_table.h"
#include "base/mount_user.h"
#include "base/trust.h"

#define KINFS_MOUNT_TYPE "fuse.kinfs"

static void mount_done(struct mount *mount)
{
    free(mount->root);
    free(mount->point);
    free(mount->flags);
    free(mount->type);
    free(mount->source);
}

static int copy_row(const struct mount_row *row, struct mount *ret_mount)
{
    struct mount mount = {
        .id = row->id,
        .device = row->device,
        .root = strdup(row->root),
        .point = strdup(row->point),
        .flags = strdup(row->flags),
        .type = strdup(row->type),
        .source = strdup(row->source),
    };
    /* Of one that says nothing of it nothing is believed. */
    if (mount_user_of_options(row->type, row->options, &mount.user) < 0)
        mount.user = (uid_t)-1;
    if (!mount.root || !mount.point || !mount.flags || !mount.type || !mount.source) {
        mount_done(&mount);
        return -ENOMEM;
    }
    *ret_mount = mount;
    return 0;
}

int mounts_read(const char *path, struct mounts *ret_mounts)
{
    _cleanup_(mounts_done) struct mounts mounts = {0};
    _cleanup_(mount_table_done) struct mount_table table;
    struct mount_row row;
    int r = mount_table_open(&table, path);
    while (r == 0 && (r = mount_table_next(&table, &row)) > 0) {
        struct mount *grown =
            reallocarray(mounts.mounts, mounts.n_mounts + 1, sizeof(*mounts.mounts));
        if (!grown)
            return -ENOMEM;
        mounts.mounts = grown;
        r = copy_row(&row, &mounts.mounts[mounts.n_mounts]);
        mounts.n_mounts += r == 0;
    }
    if (r < 0)
        return r;
    *ret_mounts = mounts;
    mounts = (struct mounts){0};
    return 0;
}

void mounts_done(struct mounts *mounts)
{
    for (size_t i = 0; i < mounts->n_mounts; i++)
        mount_done(&mounts->mounts[i]);
    free(mounts->mounts);
    *mounts = (struct mounts){0};
}

bool mount_is_kinfs(const struct mount *mount)
{
    return mount && strcmp(mount->type, KINFS_MOUNT_TYPE) == 0;
}

bool mount_is_trusted(const struct mount *mount)
{
    return mount_is_kinfs(mount) && mount_user_is_trusted(mount->user);
}

/* Which mount it is the kernel says of its own; asked for nothing else, it does so of mounts that
 * are closed to this process, too. */
static int find_id(int fd, const char *path, int flags, uint64_t *ret_id)
{
    struct statx st;
    if (statx(fd, path, flags | AT_STATX_DONT_SYNC, 0, &st) < 0)
        return -errno;
    *ret_id = st.stx_mnt_id;
    return st.stx_mask & STATX_MNT_ID ? 0 : -ENOENT;
}

bool mount_has(const struct mount *mount, int fd, const char *name)
{
    uint64_t id;
    return find_id(fd, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, &id) == 0 && id == mount->id;
}

int mount_open_top(const struct mount *mount)
{
    struct statx st;
    _cleanup_close_ int fd = trust_open_mount_point(mount->point);
    if (fd < 0)
        return fd;
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &st) == 0 &&
                   st.stx_attributes & STATX_ATTR_MOUNT_ROOT && mount_has(mount, fd, "")
               ? TAKE_FD(fd)
               : -EBUSY;
}

int mounts_of_open(const struct mounts *mounts, int fd, const struct mount **ret_mount)
{
    uint64_t id;
    int r = find_id(fd, "", AT_EMPTY_PATH, &id);
    if (r == 0)
        for (size_t i = 0; i < mounts->n_mounts; i++)
            if (mounts->mounts[i].id == id) {
                *ret_mount = &mounts->mounts[i];
                return 0;
            }
    return r < 0 ? r : -ENOENT;
}

const struct mount *mounts_at(const struct mounts *mounts, const char *point)
{
    for (size_t i = mounts->n_mounts; i-- > 0;)
        if (strcmp(mounts->mounts[i].point, point) == 0)
            return &mounts->mounts[i];
    return NULL;
}

bool path_within(const char *path, const char *directory, const char **ret_rest)
{
    size_t n = strlen(directory);
    while (n > 0 && directory[n - 1] == '/')
        n--;
    if (strncmp(path, directory, n) != 0 || (path[n] && path[n] != '/'))
        return false;
    if (ret_rest)
        *ret_rest = path[n] ? path + n + 1 : path + n;
    return true;
}
