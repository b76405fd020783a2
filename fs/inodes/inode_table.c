/* The table of inodes: made, found, counted, and freed with what only they held. */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "fs/inodes/inode_path.h"
#include "fs/inodes/open_file.h"

enum {
    FIRST_BUCKETS = 1024,
    END_MS = 5000, /* at the end of the mount, for what is closed late: of many large files */
    OWN_SHARE = 4, /* of the descriptors: the daemon's, for the store, sockets, what is pinned */
};

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

struct inode *inode_add(struct inode_table *table, const struct inode_identity *identity,
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
