#include "fs/inodes/inode_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/open_at.h"
#include "base/room.h"

/* Deeper than any path(7) goes: places may form a circle when directories were moved into each
 * other beside the mount. */
enum { DEPTH_MAX = 4096 };
/* Walks to an inode: of what is on its way some may have to be looked for one after the other, and
 * somebody may rename it all the time. */
enum { WALKS_MAX = 64 };

/* -- descriptors -- */

struct inode_place *inode_path_seen(struct inode_table *table, struct inode *inode,
                                    struct inode *parent, const char *name, nlink_t n_links,
                                    int *path_fd, bool nested)
{
    if (*path_fd >= 0) {
        path_fd_use_new(&table->path_fds, &inode->path->fd, TAKE_FD(*path_fd), nested);
        path_fd_release(&table->path_fds, &inode->path->fd);
    }
    size_t n_max = inode->type == S_IFDIR || n_links < 2 ? 1 : INODE_PLACES_MAX;
    return parent ? inode_place_add(inode, parent, name, n_max) : NULL;
}

/* Takes the descriptor. */
static void use_new(struct inode_table *table, struct inode *inode, int fd, bool nested,
                    struct inode_fd *ret_fd)
{
    PATHS_LOCKED(table);
    inode->n_refs++;
    *ret_fd =
        (struct inode_fd){.table = table,
                          .inode = inode,
                          .fd = path_fd_use_new(&table->path_fds, &inode->path->fd, fd, nested)};
}

bool inode_path_use(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    int fd = inode->path ? path_fd_use(&table->path_fds, &inode->path->fd) : -1;
    if (fd < 0)
        return false;
    inode->n_refs++;
    *ret_fd = (struct inode_fd){.table = table, .inode = inode, .fd = fd};
    return true;
}

void inode_path_return(struct inode_table *table, struct inode *inode)
{
    {
        PATHS_LOCKED(table);
        path_fd_release(&table->path_fds, &inode->path->fd);
    }
    inode_unref(table, inode);
}

void inode_path_return_late(struct inode_table *table, struct inode *inode, uid_t payer)
{
    bool is_paid;
    {
        PATHS_LOCKED(table);
        path_fd_release(&table->path_fds, &inode->path->fd);
        is_paid = path_fd_cache_close_late(&table->path_fds, payer);
    }
    if (!is_paid)
        user_room_leave(&table->descriptors, payer, 1);
    inode_unref(table, inode);
}

int inode_path_open_at(struct inode_table *table, int dirfd, const char *path, uint64_t flags,
                       uint64_t resolve)
{
    int fd;
    do
        fd = open_at(dirfd, path, flags, resolve);
    while ((fd == -EMFILE || fd == -ENFILE) && inode_table_shed(table));
    return fd;
}

/* Returns 0, -ESTALE where a descriptor is of another inode, or another errno. */
static int verify(struct inode_table *table, const struct inode *inode, int fd, bool *ret_nested)
{
    struct inode_identity identity;
    int r = inode_identify(table, fd, "", &identity);
    if (r < 0)
        return r;
    *ret_nested = identity.nested;
    LOCKED(&table->lock);
    return inode_is(inode, &identity) ? 0 : -ESTALE;
}

/* A name opened, if it means the inode. */
static int open_verified(struct inode_table *table, const struct inode *inode, int dirfd,
                         const char *name, bool *ret_nested)
{
    _cleanup_close_ int fd = inode_path_open_at(table, dirfd, name, INODE_PATH_FLAGS, 0);
    if (fd < 0)
        return fd == -ENOENT || fd == -ENOTDIR ? -ESTALE : fd;
    int r = verify(table, inode, fd, ret_nested);
    return r < 0 ? r : TAKE_FD(fd);
}

/* The name of an inode in a directory it was seen in; renamed there beside the mount. Gives the
 * name, which in a FUSE mount may be longer than NAME_MAX. */
static int search_directory(struct inode_table *table, struct inode *inode, int dirfd,
                            char **ret_name, bool *ret_nested)
{
    _cleanup_close_ int list_fd =
        inode_path_open_at(table, dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (list_fd == -EMFILE || list_fd == -ENFILE)
        return list_fd;
    _cleanup_closedir_ DIR *list = list_fd < 0 ? NULL : fdopendir(list_fd);
    if (!list)
        return -ESTALE;
    TAKE_FD(list_fd);
    for (struct dirent *entry; (entry = readdir(list));) {
        if (entry->d_ino != inode->ino || strcmp(entry->d_name, ".") == 0 ||
            strcmp(entry->d_name, "..") == 0)
            continue;
        _cleanup_close_ int fd = open_verified(table, inode, dirfd, entry->d_name, ret_nested);
        if (fd < 0)
            continue;
        *ret_name = strdup(entry->d_name);
        return *ret_name ? TAKE_FD(fd) : -ENOMEM;
    }
    return -ESTALE;
}

/* -- the way to an inode: from one above that is open, down by names -- */

struct way {
    struct inode_fd top;
    size_t n_steps, n_room;
    struct inode **steps; /* the lowest first; each kept in the table */
    struct inode *base;   /* above them all, or NULL; kept too */
    struct inode *lost;   /* one of them: where the way ended */
};

static void way_done(struct inode_table *table, struct way *way)
{
    for (size_t i = 0; i < way->n_steps; i++)
        inode_unref(table, way->steps[i]);
    free(way->steps);
    if (way->base)
        inode_unref(table, way->base);
    inode_return_fd(&way->top);
}

static int add_step(struct way *way, struct inode *inode)
{
    if (way->n_steps == DEPTH_MAX)
        return -ELOOP;
    if (!MAKE_ROOM(way->steps, way->n_room, way->n_steps + 1))
        return -ENOMEM;
    inode->n_refs++;
    way->steps[way->n_steps++] = inode;
    return 0;
}

static int climb(struct inode_table *table, struct inode *inode, struct way *way)
{
    int r = 0;
    {
        LOCKED(&table->lock);
        while (inode->by_name && !inode_path_use(table, inode, &way->top)) {
            const struct inode_place *place = inode->path->places;
            r = add_step(way, inode);
            if (r < 0)
                return r;
            if (!place) {
                way->lost = inode;
                return -ESTALE;
            }
            inode = place->parent;
        }
        inode->n_refs++;
        way->base = inode;
        if (inode->by_name)
            return 0;
    }
    r = inode_borrow_fd(table, inode, &way->top);
    return r < 0 ? r : 0;
}

/* One step down from a parent, which the caller keeps and dirfd is of: a lookup may have seen the
 * inode elsewhere meanwhile, and others change names. */
static int descend(struct inode_table *table, struct inode *parent, int dirfd, struct inode *inode,
                   struct inode_fd *ret_fd, bool *ret_again)
{
    _cleanup_free_ char *name = NULL, *found = NULL;
    bool nested = false;
    {
        LOCKED(&table->lock);
        const struct inode_place *place = inode->path->places;
        while (place && place->parent != parent)
            place = place->next;
        *ret_again = !place;
        if (!place)
            return -ESTALE;
        name = strdup(place->name);
        if (!name)
            return -ENOMEM;
    }
    int fd = open_verified(table, inode, dirfd, name, &nested);
    if (fd == -ESTALE) {
        fd = search_directory(table, inode, dirfd, &found, &nested);
        if (fd >= 0)
            inode_place_move(table, inode, parent, name, parent, found);
    }
    if (fd < 0) {
        *ret_again = fd == -ESTALE && inode_place_drop(table, inode, parent, name);
        return fd;
    }
    use_new(table, inode, fd, nested, ret_fd);
    return fd;
}

/* A walk that ends before the inode says in ret_again whether the next one may come further, and in
 * ret_lost, a reference or NULL, which inode is where none of its places says. */
static int walk(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd,
                struct inode **ret_lost, bool *ret_again)
{
    struct way way = {.top = INODE_FD_NONE};
    *ret_again = false;
    *ret_lost = NULL;
    int r = climb(table, inode, &way);
    size_t n = way.n_steps;
    while (r >= 0 && n) {
        struct inode_fd next = INODE_FD_NONE;
        struct inode *parent = n < way.n_steps ? way.steps[n] : way.base;
        way.lost = way.steps[--n];
        r = descend(table, parent, way.top.fd, way.lost, &next, ret_again);
        inode_return_fd(&way.top);
        way.top = next;
    }
    if (r >= 0) {
        *ret_fd = way.top;
        way.top = INODE_FD_NONE;
        r = ret_fd->fd;
    } else if (r == -ESTALE && way.lost && !*ret_again) {
        LOCKED(&table->lock);
        way.lost->n_refs++;
        *ret_lost = way.lost;
    }
    way_done(table, &way);
    return r;
}

/* Opens what cannot be reached by its places where the index says it is. */
static int open_where_told(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    _cleanup_free_ char *path = NULL;
    bool nested;
    if (!table->find_path || table->find_path(table->find_user, &inode->key, &path) < 0)
        return -ESTALE;
    _cleanup_close_ int fd = inode_path_open_at(table, backing_root_fd(table->backing), path,
                                                INODE_PATH_FLAGS, RESOLVE_IN_TREE);
    if (fd < 0 || verify(table, inode, fd, &nested) < 0)
        return -ESTALE;
    use_new(table, inode, TAKE_FD(fd), nested, ret_fd);
    return 0;
}

/* Each directory that was looked for is held until the end, so that it is there for the next walk.
 */
static int find(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    struct inode_fd found[WALKS_MAX];
    size_t n_found = 0;
    int r = -ESTALE;
    bool again = true;
    for (size_t n = 0; again && n < WALKS_MAX; n++) {
        struct inode *lost;
        r = walk(table, inode, ret_fd, &lost, &again);
        if (!lost)
            continue;
        again = open_where_told(table, lost, &found[n_found]) == 0;
        n_found += again;
        inode_unref(table, lost);
    }
    while (n_found)
        inode_return_fd(&found[--n_found]);
    return r;
}

bool inode_is_pinned(struct inode_table *table, const struct inode *inode)
{
    LOCKED(&table->lock);
    return inode->path && inode->path->fd.pinned;
}

/* True: a directory was removed so long ago that no name leads there any more: the kernel has been
 * told, or keeps names for a second only. Whoever asks for it stands in it. */
static bool is_left_behind(struct inode_path *path)
{
    enum { TOLD_AFTER_MS = 2000 };
    int64_t now_ms = clock_now_ms();
    if (!path->gone_ms)
        path->gone_ms = now_ms;
    return now_ms - path->gone_ms > TOLD_AFTER_MS;
}

/* The descriptor there is; -ESTALE when it has outlived a removal beside the mount, since what is
 * done with it would be lost, and the asker may mean what has come in its place; -ENOENT: none is
 * open. */
static int borrow_open(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    struct stat st;
    bool pinned;
    {
        LOCKED(&table->lock);
        if (!inode_path_use(table, inode, ret_fd))
            return -ENOENT;
        pinned = inode->path->fd.pinned;
    }
    /* A file system mounted inside the tree may not answer: then who asks waits without the lock.
     */
    if (pinned || fstat(ret_fd->fd, &st) < 0 || st.st_nlink)
        return ret_fd->fd;
    {
        LOCKED(&table->lock);
        /* A file removed through the mount is pinned before. */
        if (inode->path->fd.pinned || (inode->type == S_IFDIR && is_left_behind(inode->path)) ||
            gone_is_back(&table->gone, inode))
            return ret_fd->fd;
        /* A directory's takes no room on the disk, and somebody may stand in it. */
        if (inode->type != S_IFDIR)
            path_fd_drop(&inode->path->fd);
    }
    inode_return_fd(ret_fd);
    return -ESTALE;
}

int inode_path_make(struct inode *inode)
{
    if (inode->path)
        return 0;
    inode->path = malloc(sizeof(*inode->path));
    if (!inode->path)
        return -ENOMEM;
    *inode->path = (struct inode_path){.fd = PATH_FD_NONE};
    return 0;
}

int inode_path_borrow_directory(struct inode_table *table, struct inode *inode,
                                struct inode_fd *ret_fd)
{
    int fd = borrow_open(table, inode, ret_fd);
    if (fd != -ENOENT)
        return fd;
    bool nested = !file_key_same_file_system(&inode->key, &table->root->key);
    do
        fd = backing_open_key(table->backing, &inode->key, O_PATH | O_DIRECTORY);
    while ((fd == -EMFILE || fd == -ENFILE) && inode_table_shed(table));
    int r = fd < 0 ? fd : verify(table, inode, fd, &nested);
    if (r < 0) {
        close_p(&fd);
        fd = r;
    }
    {
        LOCKED(&table->lock);
        if (inode_path_make(inode) < 0) {
            close_p(&fd);
            return -ENOMEM;
        }
        if (fd == -ESTALE && is_left_behind(inode->path))
            return -ENOENT;
    }
    if (fd < 0)
        return fd;
    use_new(table, inode, fd, nested, ret_fd);
    return ret_fd->fd;
}

void inode_path_keep_directory(struct inode_table *table, struct inode *inode, int *path_fd)
{
    if (inode->by_name || inode->type != S_IFDIR || *path_fd < 0)
        return;
    PATHS_LOCKED(table);
    if ((inode->path && inode->path->fd.fd >= 0) || inode_path_make(inode) < 0)
        return;
    path_fd_use_new(&table->path_fds, &inode->path->fd, TAKE_FD(*path_fd), false);
    path_fd_release(&table->path_fds, &inode->path->fd);
}

int inode_path_borrow_kept(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    LOCKED(&table->lock);
    return inode_path_use(table, inode, ret_fd) ? ret_fd->fd : -ESTALE;
}

int inode_path_borrow_held(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    LOCKED(&table->lock);
    bool is_held = inode->path && inode->path->fd.n_users;
    return is_held && inode_path_use(table, inode, ret_fd) ? ret_fd->fd : -ESTALE;
}

int inode_path_borrow(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    int fd = borrow_open(table, inode, ret_fd);
    if (fd != -ENOENT)
        return fd;
    if (!inode->by_name)
        return -ESTALE;
    return find(table, inode, ret_fd);
}
