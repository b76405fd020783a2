/* The marks that an inode is known by again. */
#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "fs/inodes/inode.h"

/* The type, owner and birth time of an identity, whose key is there. */
static void take_origin(const struct statx *sx, struct inode_identity *identity)
{
    identity->type = sx->stx_mode & S_IFMT;
    identity->owner = sx->stx_uid;
    identity->born_ns = backing_key_recurs(&identity->key) == KEY_RECURS_NEVER ? 0
                        : sx->stx_mask & STATX_BTIME
                            ? sx->stx_btime.tv_sec * INT64_C(1000000000) + sx->stx_btime.tv_nsec
                            : BORN_UNKNOWN;
}

int inode_identify(struct inode_table *table, int dirfd, const char *name,
                   struct inode_identity *ret_identity)
{
    struct statx sx;
    int r =
        backing_identify(table->backing, dirfd, name, &ret_identity->key, &ret_identity->nested);
    if (r < 0)
        return r;
    /* As it is known here: a server that does not answer is not asked. */
    const int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC;
    if (statx(dirfd, name, flags, STATX_TYPE | STATX_UID | STATX_BTIME, &sx) < 0)
        return -errno;
    take_origin(&sx, ret_identity);
    return 0;
}

bool inode_is(const struct inode *inode, const struct inode_identity *identity)
{
    if (!file_key_equal(&inode->key, &identity->key) || inode->type != identity->type)
        return false;
    const bool owner_counts =
        inode->type == S_IFDIR || backing_key_recurs(&inode->key) != KEY_RECURS;
    if (owner_counts && inode->owner == identity->owner)
        return true;
    return inode->born_ns == identity->born_ns &&
           (inode->type != S_IFDIR || inode->born_ns != BORN_UNKNOWN);
}

bool inode_is_opened(struct inode_table *table, const struct inode *inode, const struct statx *sx)
{
    struct inode_identity identity = {.key = inode->key};
    take_origin(sx, &identity);
    LOCKED(&table->lock);
    return inode_is(inode, &identity);
}
