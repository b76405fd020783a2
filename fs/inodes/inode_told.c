/* The things that were told of an inode, or noted of it, and whether they are so still. */
#include "fs/inodes/inode.h"

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

static uint32_t number_of(const struct inode *directory)
{
    return (uint32_t)((uintptr_t)directory >> 4);
}

bool inode_is_told(const struct inode *inode, const struct stat *st)
{
    return inode->told_size == st->st_size && is_same_time(&inode->told_mtime, &st->st_mtim);
}

/* The kernel by itself takes for new what was written through the mount. */
bool inode_is_surely_told(const struct inode *inode, const struct stat *st)
{
    return inode_is_told(inode, st) &&
           (!inode->told_anew || is_same_time(&inode->closed_ctime, &st->st_ctim));
}

static void note_told(struct inode *inode, const struct stat *st)
{
    inode->told_size = st->st_size;
    inode->told_mtime = st->st_mtim;
    inode->told_ctime = st->st_ctim;
    inode->told_ms = (uint32_t)clock_now_ms();
}

void inode_tell_asking(struct inode *inode, const struct stat *st)
{
    note_told(inode, st);
    inode->told_anew = false;
}

/* With the inode's lock. */
static void tell(struct inode *inode, const struct stat *st)
{
    const bool is_first = !inode->told_ctime.tv_sec;
    if (inode->n_tells_new && --inode->n_tells_new == 0)
        inode->changed_ms = 0;
    if (inode_is_told(inode, st)) {
        inode->told_ctime = st->st_ctim;
        return;
    }
    note_told(inode, st);
    inode->told_anew = !is_first;
}

void inode_tell(struct inode_table *table, struct inode *inode, const struct stat *st)
{
    LOCKED(inode_lock(table, inode));
    tell(inode, st);
}

/* Until the reply to what made it has arrived the kernel holds the lock of the directory it was
 * made in, and looks nothing up there. By a name elsewhere, given to it beside the mount, it may
 * know it before. */
void inode_tell_entry(struct inode_table *table, struct inode *inode, const struct inode *directory,
                      const struct stat *st)
{
    LOCKED(inode_lock(table, inode));
    if (inode->made_in != number_of(directory))
        inode->n_tells_new = 0;
    tell(inode, st);
}

void inode_change_begin(struct inode_table *table, struct inode *inode, const struct inode *made_in)
{
    int64_t now_ms = clock_now_ms();
    LOCKED(inode_lock(table, inode));
    inode->changed_ms = now_ms;
    inode->n_tells_new = made_in ? 2 : 0;
    inode->made_in = number_of(made_in);
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
