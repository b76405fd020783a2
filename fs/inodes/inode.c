#include "fs/inodes/inode.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "fs/inodes/inode_path.h"
#include "fs/inodes/open_file.h"

ino_t inode_number(const struct inode *inode, ino_t ino)
{
    if (!inode->is_foreign)
        return ino;
    /* Each step can be undone, so within a file system no two become one but by the lost bits. */
    uint64_t h = (get_be64(inode->key.bytes) * UINT64_C(0x9e3779b97f4a7c15)) ^ ino;
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h ^= h >> 32;
    return (h & (UINT64_MAX >> 3)) | UINT64_C(1) << 61;
}

/* Takes *path_fd, where the inode is by name; -1: it was just created. */
static int look_up(struct inode_table *table, struct inode *parent, const char *name, int fd,
                   int *path_fd, struct inode **ret_inode, struct stat *ret_stat)
{
    struct inode_identity identity;
    struct stat st;
    int r = inode_identify(table, fd, "", &identity);
    if (r < 0)
        return r;
    if (fstat(fd, &st) < 0)
        return -errno;
    const bool is_new = *path_fd < 0, nested = identity.nested;
    bool by_name = !backing_key_opens(table->backing, &identity.key), was_known;
    struct inode_place *dropped = NULL;
    {
        /* Found or made, and counted, under one lock: between the two a forget could free it. */
        PATHS_LOCKED(table);
        struct inode *inode = inode_find(table, &identity);
        was_known = inode;
        if (!inode)
            inode = inode_add(table, &identity, &st, by_name);
        if (!inode)
            return -ENOMEM;
        /* A known one stays as it was, whatever its file system is found to do since. */
        by_name = inode->by_name;
        inode->owner = identity.owner;
        inode->born_ns = identity.born_ns;
        inode->n_lookups++;
        if (by_name) {
            table->any_by_name = true;
            dropped = inode_path_seen(table, inode, parent, name, st.st_nlink, path_fd, nested);
        }
        *ret_inode = inode;
    }
    inode_places_free(table, dropped);
    if (is_new)
        inode_change_begin(table, *ret_inode, was_known ? NULL : parent);
    /* Once more, now that whoever sees a change finds it in the table (fs/watch/watch_kernel.c).
     * One that is by name is not watched, and its descriptor not ours any more. */
    if (!by_name && fstat(fd, &st) < 0) {
        int error = errno;
        inode_forget(table, *ret_inode, 1);
        return -error;
    }
    if (!nested)
        inode_path_keep_directory(table, *ret_inode, path_fd);
    int none = -1; /* of a mount inside the tree nothing is kept open */
    gone_found(&table->gone, *ret_inode, nested ? &none : path_fd);
    *ret_stat = st;
    return 0;
}

int inode_open_name(struct inode_table *table, int dirfd, const char *name)
{
    int fd;
    do
        fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    while (fd < 0 && (errno == EMFILE || errno == ENFILE) && inode_table_shed(table));
    return fd < 0 ? -errno : fd;
}

/* By a descriptor, not by name: key and attributes must be of one inode. */
int inode_lookup(struct inode_table *table, struct inode *parent, const char *name, int fd,
                 struct inode **ret_inode, struct stat *ret_stat)
{
    _cleanup_close_ int path_fd = fd;
    return look_up(table, parent, name, fd, &path_fd, ret_inode, ret_stat);
}

int inode_lookup_fd(struct inode_table *table, struct inode *parent, const char *name, int fd,
                    struct inode **ret_inode, struct stat *ret_stat)
{
    int none = -1;
    return look_up(table, parent, name, fd, &none, ret_inode, ret_stat);
}

static int open_key(struct inode_table *table, const struct inode *inode, int flags)
{
    int fd;
    do
        fd = backing_open_key(table->backing, &inode->key, flags);
    while ((fd == -EMFILE || fd == -ENFILE) && inode_table_shed(table));
    return fd;
}

int inode_reopen(struct inode_table *table, const struct inode *inode, int fd, int flags)
{
    int again;
    do
        again = inode->type == S_IFDIR && inode_judges(table, inode) == JUDGES_BY_MODE
                    ? openat(fd, ".", flags | O_CLOEXEC) /* which takes the right to search it */
                    : open(proc_path_of(fd).text, (flags & ~O_NOFOLLOW) | O_CLOEXEC);
    while (again < 0 && (errno == EMFILE || errno == ENFILE) && inode_table_shed(table));
    return again < 0 ? -errno : again;
}

int inode_open(struct inode_table *table, struct inode *inode, int flags)
{
    /* A directory has a descriptor, or will have one for the names in it. */
    if (!inode->by_name && inode->type != S_IFDIR) {
        int fd = open_key(table, inode, flags);
        if (fd != -ESTALE)
            return fd;
    }
    struct inode_fd borrowed = INODE_FD_NONE;
    int fd = inode_borrow_fd(table, inode, &borrowed);
    if (fd >= 0)
        fd = inode_reopen(table, inode, fd, flags);
    inode_return_fd(&borrowed);
    return fd;
}

/* True: it is open as a file, of which that is the descriptor. */
static bool borrow_file(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    LOCKED(inode_lock(table, inode));
    struct open_file *file = LIST_FIRST(&inode->files);
    if (file)
        *ret_fd = (struct inode_fd){.table = table, .file = open_file_ref(file), .fd = file->fd};
    return file;
}

static int try_to_borrow(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    if (inode == table->root) {
        *ret_fd = (struct inode_fd){.fd = backing_root_fd(table->backing)};
        return ret_fd->fd;
    }
    if (inode->type == S_IFDIR && !inode->by_name)
        return inode_path_borrow_directory(table, inode, ret_fd);
    if (borrow_file(table, inode, ret_fd))
        return ret_fd->fd;
    int fd = -ESTALE;
    if (!inode->by_name)
        fd = open_key(table, inode, O_PATH | O_NOFOLLOW);
    if (fd >= 0)
        *ret_fd = (struct inode_fd){.table = table, .is_own = true, .fd = fd};
    return fd == -ESTALE ? inode_path_borrow(table, inode, ret_fd) : fd;
}

/* The asker may have a descriptor of it all the same. */
static int borrow_gone(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    int fd = gone_take(&table->gone, inode);
    if (fd >= 0) {
        *ret_fd = (struct inode_fd){.table = table, .is_own = true, .fd = fd};
        return fd;
    }
    if (gone_is_back(&table->gone, inode))
        return inode->type == S_IFDIR ? -ENOENT : -ESTALE;
    gone_tell(&table->gone, inode);
    return -ESTALE;
}

int inode_borrow_fd(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    int fd = try_to_borrow(table, inode, ret_fd);
    return fd == -ESTALE ? borrow_gone(table, inode, ret_fd) : fd;
}

int inode_borrow_open(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    if (inode == table->root)
        return try_to_borrow(table, inode, ret_fd);
    return borrow_file(table, inode, ret_fd) ? ret_fd->fd
                                             : inode_path_borrow_kept(table, inode, ret_fd);
}

void inode_return_fd(struct inode_fd *fd)
{
    if (fd->file)
        open_file_unref(fd->file);
    if (fd->is_own)
        close_p(&fd->fd);
    if (fd->inode)
        inode_path_return(fd->table, fd->inode);
    *fd = INODE_FD_NONE;
}

static void close_own_late(struct inode_table *table, int fd, uid_t payer)
{
    bool is_full;
    {
        LOCKED(&table->lock);
        is_full = path_fd_cache_is_full(&table->path_fds);
        table->path_fds.n_late++;
    }
    (is_full ? inode_close_if_named : inode_close_late)(table, fd, payer);
}

void inode_return_fd_paid(struct inode_table *table, struct inode_fd *fd, uid_t payer)
{
    if (fd->file)
        open_file_unref_late(fd->file);
    if (fd->is_own)
        close_own_late(table, fd->fd, payer);
    else if (fd->inode)
        inode_path_return_late(table, fd->inode, payer);
    else
        user_room_leave(&table->descriptors, payer, 1);
    *fd = INODE_FD_NONE;
}

void inode_return_fd_late(struct inode_fd *fd)
{
    if (fd->table)
        inode_return_fd_paid(fd->table, fd, USER_NOBODY);
}
