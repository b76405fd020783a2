/* Names that change through the mount are changed here, too, and an inode that loses its last name
 * is pinned.
 *
 * Example: b is renamed over a. Before renameat2(2) the inode of a is held by a descriptor and
 * pinned, that of b, if it is by name, held. After it a look at the links of a says whether it
 * stays pinned, and b's place becomes a.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/inodes/inode_path.h"

/* With the lock held: keeps an inode, and in use, by an O_PATH descriptor that is taken, until
 * inode_path_return(). */
static int hold(struct inode_table *table, struct inode *inode, int fd, bool nested, bool pinned)
{
    _cleanup_close_ int owned = fd;
    int r = inode_path_make(inode);
    if (r < 0)
        return r;
    inode->n_refs++;
    path_fd_use_new(&table->path_fds, &inode->path->fd, TAKE_FD(owned), nested || !inode->by_name);
    if (pinned)
        path_fd_pin(&table->path_fds, &inode->path->fd);
    return 0;
}

/* After a change of names, of an inode that is in use: a look at its links, without the lock, since
 * fstat(2) of a file system mounted inside the tree may not return. Of those that look at the same
 * time the one that began last has seen the changes of all, and it alone decides. */
static void pin_if_gone(struct inode_table *table, struct inode *inode, bool was_removed)
{
    struct stat st;
    bool gone = was_removed;
    unsigned look;
    {
        LOCKED(&table->lock);
        look = ++inode->path->n_looks;
    }
    if (inode->type != S_IFDIR)
        gone = fstat(inode->path->fd.fd, &st) == 0 && st.st_nlink == 0;
    LOCKED(&table->lock);
    if (look == inode->path->n_looks)
        (gone ? path_fd_pin : path_fd_unpin)(&table->path_fds, &inode->path->fd);
}

void inode_pin(struct inode_table *table, struct inode *inode, int fd)
{
    int path_fd = open(proc_path_of(fd).text, O_PATH | O_CLOEXEC);
    if (path_fd < 0)
        return;
    {
        PATHS_LOCKED(table);
        if (hold(table, inode, path_fd, false, true) < 0)
            return;
    }
    inode_path_return(table, inode);
}

void inode_path_linked(struct inode_table *table, struct inode *inode)
{
    struct inode_fd fd;
    {
        LOCKED(&table->lock);
        if (!inode->path || !inode->path->fd.pinned || !inode_path_use(table, inode, &fd))
            return;
    }
    pin_if_gone(table, inode, false);
    inode_return_fd(&fd);
}

/* A name that is removed has its inode pinned; one that is moved has it held only if it is by
 * name. */
static struct inode *hold_name(struct inode_table *table, int dirfd, const char *name, bool removed)
{
    struct inode_identity identity;
    int fd = inode_path_open_at(table, dirfd, name, INODE_PATH_FLAGS, 0);
    _cleanup_close_ int owned = fd;
    if (fd < 0 || inode_identify(table, fd, "", &identity) < 0)
        return NULL;
    PATHS_LOCKED(table);
    struct inode *inode = inode_find(table, &identity);
    if (!inode || (!removed && !inode->by_name))
        return NULL;
    return hold(table, inode, TAKE_FD(owned), identity.nested, removed) == 0 ? inode : NULL;
}

static void let_go(struct inode_table *table, struct inode *inode, struct inode *parent,
                   const char *name, bool done)
{
    struct inode_place *dropped = NULL;
    pin_if_gone(table, inode, done);
    if (done && inode->by_name) {
        LOCKED(&table->lock);
        dropped = inode_place_take(inode, parent, name);
    }
    inode_places_free(table, dropped);
    inode_path_return(table, inode);
}

void inode_removal_begin(struct inode_table *table, int dirfd, const char *name,
                         struct inode_change *ret_change)
{
    *ret_change = (struct inode_change){.removed = hold_name(table, dirfd, name, true)};
}

void inode_removal_end(struct inode_table *table, struct inode_change *change, struct inode *parent,
                       const char *name, bool done)
{
    if (change->removed)
        let_go(table, change->removed, parent, name, done);
}

void inode_rename_begin(struct inode_table *table, int old_dirfd, const char *old_name,
                        int new_dirfd, const char *new_name, struct inode_change *ret_change)
{
    inode_removal_begin(table, new_dirfd, new_name, ret_change);
    /* Nothing but a mount inside the tree is by name, if the tree's own keys open. */
    if (table->any_by_name)
        ret_change->moved = hold_name(table, old_dirfd, old_name, false);
}

void inode_rename_end(struct inode_table *table, struct inode_change *change,
                      struct inode *old_parent, const char *old_name, struct inode *new_parent,
                      const char *new_name, unsigned flags, bool done)
{
    struct inode *moved = change->moved, *other = change->removed;
    const bool exchanged = flags & RENAME_EXCHANGE;
    if (done && moved != other) { /* two names of one file both stay */
        if (moved)
            inode_place_move(table, moved, old_parent, old_name, new_parent, new_name);
        if (exchanged && other && other->by_name)
            inode_place_move(table, other, new_parent, new_name, old_parent, old_name);
    }
    inode_removal_end(table, change, new_parent, new_name, done && !exchanged && moved != other);
    if (moved)
        inode_path_return(table, moved);
}
