#include "fs/inodes/inode.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "fs/inodes/inode_path.h"
#include "fs/inodes/open_file.h"

enum {
    FIRST_BUCKETS = 1024,
    END_MS = 5000, /* at the end of the mount, for what is closed late: of many large files */
    OWN_SHARE = 4, /* of the descriptors: the daemon's, for the store, sockets, what is pinned */
};

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

pthread_mutex_t *inode_lock(struct inode_table *table, const struct inode *inode)
{
    /* An inode is some 250 bytes: the bits below say nothing. */
    return &table->inode_locks[((uintptr_t)inode >> 8) % INODE_LOCKS];
}

/* Without what it holds of others. */
static void free_inode(struct inode *inode)
{
    open_file_close_all(inode);
    free(inode->path);
    free(inode);
}

static size_t descriptor_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

int inode_table_init(struct inode_table *table, struct backing *backing)
{
    const size_t n_descriptors = descriptor_limit();
    struct stat st;
    if (fstat(backing_root_fd(backing), &st) < 0)
        return -errno;
    struct late_close *late;
    int r = late_close_new(&late);
    if (r < 0)
        return r;
    _cleanup_free_ struct inode **buckets = calloc(FIRST_BUCKETS, sizeof(struct inode *));
    struct inode *root = calloc(1, sizeof(*root));
    if (!buckets || !root) {
        free(root);
        late_close_free(late, 0);
        return -ENOMEM;
    }
    *root = (struct inode){.node.kind = NODE_INODE,
                           .type = S_IFDIR,
                           .ino = st.st_ino,
                           .n_lookups = 1,
                           .key = *backing_root_key(backing)};
    *table = (struct inode_table){.buckets = TAKE_PTR(buckets),
                                  .n_buckets = FIRST_BUCKETS,
                                  .path_fds.n_max = path_fd_cache_bound(n_descriptors),
                                  .path_fds.n_pinned_max = path_fd_cache_pins(n_descriptors),
                                  .root = root,
                                  .device = st.st_dev,
                                  .judges = backing_key_judges(backing, &root->key),
                                  .backing = backing};
    user_room_init(&table->descriptors, n_descriptors - n_descriptors / OWN_SHARE);
    table->late = late;
    gone_init(&table->gone, late);
    pthread_mutex_init(&table->lock, NULL);
    for (size_t i = 0; i < INODE_LOCKS; i++)
        pthread_mutex_init(&table->inode_locks[i], NULL);
    return 0;
}

void inode_table_done(struct inode_table *table)
{
    if (!table->root)
        return;
    for (size_t i = 0; i < table->n_buckets; i++) {
        for (struct inode *inode = table->buckets[i], *next; inode; inode = next) {
            next = inode->next;
            for (struct inode_place *place = inode->path ? inode->path->places : NULL, *following;
                 place; place = following) {
                following = place->next;
                free(place);
            }
            if (inode->path && inode->path->fd.fd >= 0)
                late_close(table->late, inode->path->fd.fd, (struct late_count){0});
            free_inode(inode);
        }
    }
    free(table->buckets);
    free_inode(table->root);
    gone_done(&table->gone);
    late_close_free(table->late, END_MS);
    user_room_done(&table->descriptors);
    table->root = NULL;
}

static struct inode **bucket_of_hash(struct inode_table *table, uint64_t hash)
{
    return &table->buckets[hash & (table->n_buckets - 1)];
}

/* The buckets of those that their key does not find have nothing to do with it: of one key a user
 * can make as many as there are. */
static struct inode **bucket_of(struct inode_table *table, const struct inode *inode)
{
    return bucket_of_hash(table, inode->superseded ? mix64(file_key_secret ^ (uintptr_t)inode)
                                                   : file_key_hash(&inode->key));
}

static void link_inode(struct inode_table *table, struct inode *inode)
{
    struct inode **bucket = bucket_of(table, inode);
    inode->next = *bucket;
    *bucket = inode;
}

static void unlink_inode(struct inode_table *table, struct inode *inode)
{
    struct inode **link = bucket_of(table, inode);
    while (*link != inode)
        link = &(*link)->next;
    *link = inode->next;
    inode->next = NULL;
}

/* A table that cannot grow is only slower. */
static void grow(struct inode_table *table)
{
    size_t n_old = table->n_buckets;
    struct inode **old = table->buckets;
    struct inode **buckets = calloc(2 * n_old, sizeof(struct inode *));
    if (!buckets)
        return;
    table->buckets = buckets;
    table->n_buckets = 2 * n_old;
    for (size_t i = 0; i < n_old; i++) {
        for (struct inode *inode = old[i], *next; inode; inode = next) {
            next = inode->next;
            link_inode(table, inode);
        }
    }
    free(old);
}

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

/* With the lock held: the newest of a key, or NULL. */
static struct inode *find_newest(struct inode_table *table, const struct file_key *key)
{
    struct inode *inode = *bucket_of_hash(table, file_key_hash(key));
    while (inode && (inode->superseded || !file_key_equal(&inode->key, key)))
        inode = inode->next;
    return inode;
}

/* An inode of which the key alone is right is gone. */
struct inode *inode_find(struct inode_table *table, const struct inode_identity *identity)
{
    struct inode *inode = find_newest(table, &identity->key);
    return inode && inode_is(inode, identity) ? inode : NULL;
}

/* With the lock held: of a key that is another file's by now. */
static void supersede(struct inode_table *table, struct inode *inode)
{
    unlink_inode(table, inode);
    inode->superseded = true;
    link_inode(table, inode);
}

/* With the lock held: of an identity that is not found. */
static struct inode *add_inode(struct inode_table *table, const struct inode_identity *identity,
                               const struct stat *st, bool by_name)
{
    const struct file_key *key = &identity->key;
    struct inode *inode = malloc(sizeof(*inode));
    struct inode_path *path = by_name ? malloc(sizeof(*path)) : NULL;
    if (!inode || (by_name && !path)) {
        free(path);
        free(inode);
        return NULL;
    }
    if (path)
        *path = (struct inode_path){.fd = PATH_FD_NONE};
    struct inode *older = find_newest(table, key);
    if (older)
        supersede(table, older);
    *inode = (struct inode){.node.kind = NODE_INODE,
                            .type = identity->type,
                            .by_name = by_name,
                            .is_foreign =
                                st->st_dev != table->device &&
                                !file_key_same_file_system(key, backing_root_key(table->backing)),
                            .ino = st->st_ino,
                            .path = path,
                            .key = *key};
    link_inode(table, inode);
    if (++table->n_inodes > table->n_buckets)
        grow(table);
    return inode;
}

/* With the lock held: takes an inode out of its bucket that nobody knows any more. Gives it as a
 * list of one, or NULL. */
static struct inode *remove_if_unused(struct inode_table *table, struct inode *inode)
{
    if (inode->n_lookups || inode->n_refs || inode == table->root)
        return NULL;
    unlink_inode(table, inode);
    table->n_inodes--;
    return inode;
}

/* Frees inodes, and in turn those that only they held. A list and no recursion: a tree may be as
 * deep as somebody likes. */
static void free_removed(struct inode_table *table, struct inode *removed)
{
    while (removed) {
        struct inode *inode = removed;
        removed = inode->next;
        atomic_size_t *count = NULL;
        int fd = -1;
        if (inode->path) {
            LOCKED(&table->lock);
            fd = path_fd_take(&table->path_fds, &inode->path->fd, &count);
            for (struct inode_place *place = inode->path->places, *next; place; place = next) {
                next = place->next;
                place->parent->n_refs--;
                struct inode *parent = remove_if_unused(table, place->parent);
                if (parent) {
                    parent->next = removed;
                    removed = parent;
                }
                free(place);
            }
        }
        gone_forget(&table->gone, inode);
        free_inode(inode);
        if (fd >= 0)
            late_close(table->late, fd, (struct late_count){.n = count});
    }
}

void inode_ref(struct inode_table *table, struct inode *inode)
{
    LOCKED(&table->lock);
    inode->n_refs++;
}

void inode_unref(struct inode_table *table, struct inode *inode)
{
    struct inode *removed;
    {
        LOCKED(&table->lock);
        assert(inode->n_refs);
        inode->n_refs--;
        removed = remove_if_unused(table, inode);
    }
    free_removed(table, removed);
}

void inode_forget(struct inode_table *table, struct inode *inode, uint64_t n_lookups)
{
    struct inode *removed;
    if (inode == table->root)
        return;
    {
        LOCKED(&table->lock);
        assert(inode->n_lookups >= n_lookups);
        inode->n_lookups -= n_lookups;
        removed = remove_if_unused(table, inode);
    }
    free_removed(table, removed);
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
            inode = add_inode(table, &identity, &st, by_name);
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

bool inode_table_shed(struct inode_table *table)
{
    bool any = false;
    for (bool more = true; more; any |= more) {
        PATHS_LOCKED(table);
        more = path_fd_cache_shed(&table->path_fds);
    }
    return any;
}

struct inode *inode_get(struct inode_table *table, const struct file_key *key)
{
    LOCKED(&table->lock);
    struct inode *inode = table->root;
    if (!file_key_equal(key, &inode->key))
        inode = find_newest(table, key);
    if (inode)
        inode->n_refs++;
    return inode;
}

int inode_get_all(struct inode_table *table, struct inode ***ret_inodes, size_t *ret_n_inodes)
{
    LOCKED(&table->lock);
    struct inode **inodes = malloc((table->n_inodes + 1) * sizeof(inodes[0]));
    size_t n = 0;
    if (!inodes)
        return -ENOMEM;
    for (size_t i = 0; i < table->n_buckets; i++)
        for (struct inode *inode = table->buckets[i]; inode; inode = inode->next) {
            inode->n_refs++;
            inodes[n++] = inode;
        }
    *ret_inodes = inodes;
    *ret_n_inodes = n;
    return 0;
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

static int try_to_borrow(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    if (inode == table->root) {
        *ret_fd = (struct inode_fd){.fd = backing_root_fd(table->backing)};
        return ret_fd->fd;
    }
    if (inode->type == S_IFDIR && !inode->by_name)
        return inode_path_borrow_directory(table, inode, ret_fd);
    {
        LOCKED(inode_lock(table, inode));
        struct open_file *file = LIST_FIRST(&inode->files);
        if (file) {
            *ret_fd =
                (struct inode_fd){.table = table, .file = open_file_ref(file), .fd = file->fd};
            return ret_fd->fd;
        }
    }
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

static void close_own_late(struct inode_table *table, int fd)
{
    bool is_full;
    {
        LOCKED(&table->lock);
        is_full = path_fd_cache_is_full(&table->path_fds);
        table->path_fds.n_late++;
    }
    (is_full ? inode_close_if_named : inode_close_late)(table, fd);
}

void inode_return_fd_late(struct inode_fd *fd)
{
    if (fd->file)
        open_file_unref_late(fd->file);
    if (fd->is_own)
        close_own_late(fd->table, fd->fd);
    if (fd->inode)
        inode_path_return_late(fd->table, fd->inode);
    *fd = INODE_FD_NONE;
}

void inode_close_paid(struct inode_table *table, int fd, uid_t payer)
{
    late_close_removed(table->late, fd,
                       (struct late_count){.room = &table->descriptors, .payer = payer});
}
