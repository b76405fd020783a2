#include "fs/inode.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/open_file.h"

enum { FIRST_BUCKETS = 1024 };

struct proc_path proc_path_of(int fd)
{
    struct proc_path path;
    snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
    return path;
}

pthread_mutex_t *inode_lock(struct inode_table *table, const struct inode *inode)
{
    /* An inode is some 250 bytes: the bits below say nothing. */
    return &table->inode_locks[((uintptr_t)inode >> 8) % INODE_LOCKS];
}

static void free_inode(struct inode_table *table, struct inode *inode)
{
    open_file_close_all(inode);
    if (inode->path_fd >= 0 && inode != table->root)
        close(inode->path_fd);
    free(inode);
}

int inode_table_init(struct inode_table *table, struct backing *backing)
{
    struct stat st;
    if (fstat(backing_root_fd(backing), &st) < 0)
        return -errno;
    _cleanup_free_ struct inode **buckets = calloc(FIRST_BUCKETS, sizeof(struct inode *));
    struct inode *root = calloc(1, sizeof(*root));
    if (!buckets || !root) {
        free(root);
        return -ENOMEM;
    }
    *root = (struct inode){.node.kind = NODE_INODE,
                           .type = S_IFDIR,
                           .ino = st.st_ino,
                           .n_lookups = 1,
                           .path_fd = backing_root_fd(backing),
                           .key = *backing_root_key(backing)};
    *table = (struct inode_table){
        .buckets = TAKE_PTR(buckets), .n_buckets = FIRST_BUCKETS, .root = root, .backing = backing};
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
            free_inode(table, inode);
        }
    }
    free(table->buckets);
    free_inode(table, table->root);
    table->root = NULL;
}

static struct inode **bucket_of(struct inode_table *table, const struct file_key *key)
{
    return &table->buckets[file_key_hash(key) & (table->n_buckets - 1)];
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
            struct inode **bucket = bucket_of(table, &inode->key);
            inode->next = *bucket;
            *bucket = inode;
        }
    }
    free(old);
}

/* Finds or makes the inode, and counts, under one lock: between the two a forget could free it.
 * Takes *path_fd when a new inode keeps it. */
static struct inode *count_lookup(struct inode_table *table, const struct file_key *key,
                                  const struct stat *st, int *path_fd)
{
    LOCKED(&table->lock);
    struct inode **bucket = bucket_of(table, key);
    for (struct inode *inode = *bucket; inode; inode = inode->next) {
        if (file_key_equal(&inode->key, key)) {
            inode->n_lookups++;
            return inode;
        }
    }
    struct inode *inode = malloc(sizeof(*inode));
    if (!inode)
        return NULL;
    *inode = (struct inode){.node.kind = NODE_INODE,
                            .type = st->st_mode & S_IFMT,
                            .ino = st->st_ino,
                            .n_lookups = 1,
                            .path_fd = TAKE_FD(*path_fd),
                            .key = *key,
                            .next = *bucket};
    *bucket = inode;
    if (++table->n_inodes > table->n_buckets)
        grow(table);
    return inode;
}

int inode_lookup(struct inode_table *table, int dirfd, const char *name, struct inode **ret_inode,
                 struct stat *ret_stat)
{
    struct file_key key;
    struct stat st;
    _cleanup_close_ int own_fd = -1;
    int fd = dirfd;
    /* By a descriptor, not by name: key and attributes must be of one inode. */
    if (*name) {
        fd = own_fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            return -errno;
    }
    if (fstat(fd, &st) < 0)
        return -errno;
    int r = backing_key_at(table->backing, fd, "", &key);
    if (r < 0)
        return r;
    _cleanup_close_ int path_fd = -1;
    if (!backing_key_opens(table->backing, &key)) {
        path_fd = open(proc_path_of(fd).text, O_PATH | O_CLOEXEC);
        if (path_fd < 0)
            return -errno;
    }
    struct inode *inode = count_lookup(table, &key, &st, &path_fd);
    if (!inode)
        return -ENOMEM;
    *ret_inode = inode;
    *ret_stat = st;
    return 0;
}

void inode_forget(struct inode_table *table, struct inode *inode, uint64_t n_lookups)
{
    if (inode == table->root)
        return;
    {
        LOCKED(&table->lock);
        assert(inode->n_lookups >= n_lookups);
        inode->n_lookups -= n_lookups;
        if (inode->n_lookups)
            return;
        struct inode **link = bucket_of(table, &inode->key);
        while (*link != inode)
            link = &(*link)->next;
        *link = inode->next;
        table->n_inodes--;
    }
    free_inode(table, inode);
}

void inode_tell(struct inode_table *table, struct inode *inode, const struct stat *st)
{
    LOCKED(inode_lock(table, inode));
    inode->told_size = st->st_size;
    inode->told_mtime = st->st_mtim;
}

bool inode_is_told(struct inode_table *table, const struct inode *inode, const struct stat *st)
{
    LOCKED(inode_lock(table, inode));
    return inode->told_size == st->st_size && inode->told_mtime.tv_sec == st->st_mtim.tv_sec &&
           inode->told_mtime.tv_nsec == st->st_mtim.tv_nsec;
}

static int reopen(const struct inode *inode, int fd, int flags)
{
    int again = inode->type == S_IFDIR
                    ? openat(fd, ".", flags | O_CLOEXEC)
                    : open(proc_path_of(fd).text, (flags & ~O_NOFOLLOW) | O_CLOEXEC);
    return again < 0 ? -errno : again;
}

int inode_open(struct inode_table *table, struct inode *inode, int flags)
{
    if (inode->path_fd >= 0)
        return reopen(inode, inode->path_fd, flags);
    int fd = backing_open_key(table->backing, &inode->key, flags);
    if (fd != -ESTALE)
        return fd;
    LOCKED(inode_lock(table, inode));
    return inode->files ? reopen(inode, inode->files->fd, flags) : -ESTALE;
}

int inode_borrow_fd(struct inode_table *table, struct inode *inode, struct inode_fd *ret_fd)
{
    if (inode->path_fd >= 0) {
        *ret_fd = (struct inode_fd){.fd = inode->path_fd};
        return ret_fd->fd;
    }
    {
        LOCKED(inode_lock(table, inode));
        if (inode->files) {
            *ret_fd =
                (struct inode_fd){.file = open_file_ref(inode->files), .fd = inode->files->fd};
            return ret_fd->fd;
        }
    }
    int fd = backing_open_key(table->backing, &inode->key, O_PATH | O_NOFOLLOW);
    if (fd >= 0)
        *ret_fd = (struct inode_fd){.is_own = true, .fd = fd};
    return fd;
}

void inode_return_fd(struct inode_fd *fd)
{
    if (fd->file)
        open_file_unref(fd->file);
    if (fd->is_own)
        close_p(&fd->fd);
    *fd = INODE_FD_NONE;
}
