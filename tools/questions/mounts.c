#include "tools/questions/mounts.h"

#include <errno.h>
#include <string.h>

#include "base/files/trust.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_table.h"
#include "base/mounts/mount_user.h"

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
    /* A mount that says nothing of its user is nobody's, and nothing is believed of it. */
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

bool mount_has(const struct mount *mount, int fd, const char *name)
{
    struct mount_id found;
    return mount_id_find(fd, name, &found) == 0 && found.id == mount->id;
}

int mount_open_top(const struct mount *mount)
{
    struct mount_id found;
    _cleanup_close_ int fd = trust_open_mount_point(mount->point);
    if (fd < 0)
        return fd;
    int r = mount_id_find(fd, "", &found);
    return r == 0 && found.is_top && found.id == mount->id ? TAKE_FD(fd) : -EBUSY;
}

int mounts_of_open(const struct mounts *mounts, int fd, const struct mount **ret_mount)
{
    struct mount_id found;
    int r = mount_id_find(fd, "", &found);
    if (r < 0)
        return r;
    for (size_t i = 0; i < mounts->n_mounts; i++)
        if (mounts->mounts[i].id == found.id) {
            *ret_mount = &mounts->mounts[i];
            return 0;
        }
    return -ENOENT;
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
