/* What was told of an inode, or noted of it, and whether it is so still. */
#include "fs/inode.h"

#include "base/cleanup.h"
#include "base/clock.h"

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

void inode_note_closed(struct inode_table *table, struct inode *inode, const struct stat *st)
{
    LOCKED(inode_lock(table, inode));
    inode->closed_ctime = st->st_ctim;
}

bool inode_is_closed_as(struct inode_table *table, const struct inode *inode, const struct stat *st)
{
    LOCKED(inode_lock(table, inode));
    return is_same_time(&inode->closed_ctime, &st->st_ctim);
}

void inode_tell(struct inode_table *table, struct inode *inode, const struct stat *st)
{
    LOCKED(inode_lock(table, inode));
    if (inode->n_tells_new && --inode->n_tells_new == 0)
        inode->changed_ms = 0;
    inode->told_size = st->st_size;
    inode->told_mtime = st->st_mtim;
    inode->told_ctime = st->st_ctim;
}

void inode_change_begin(struct inode_table *table, struct inode *inode, bool is_new)
{
    int64_t now_ms = clock_now_ms();
    LOCKED(inode_lock(table, inode));
    inode->changed_ms = now_ms;
    inode->n_tells_new = is_new ? 2 : 0;
}

void inode_changed(struct inode_table *table, struct inode *inode, const struct stat *st)
{
    LOCKED(inode_lock(table, inode));
    inode->changed_ctime = st->st_ctim;
    inode->changed_mode = st->st_mode;
    inode->changed_uid = st->st_uid;
    inode->changed_gid = st->st_gid;
}

bool inode_is_changed_as(struct inode_table *table, const struct inode *inode,
                         const struct stat *st)
{
    LOCKED(inode_lock(table, inode));
    return is_same_time(&inode->changed_ctime, &st->st_ctim) &&
           inode->changed_mode == st->st_mode && inode->changed_uid == st->st_uid &&
           inode->changed_gid == st->st_gid;
}

bool inode_is_told(struct inode_table *table, const struct inode *inode, const struct stat *st)
{
    LOCKED(inode_lock(table, inode));
    return inode->told_size == st->st_size && is_same_time(&inode->told_mtime, &st->st_mtim);
}
