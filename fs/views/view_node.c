#include "fs/views/view_node.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/view_number.h"

enum { N_BUCKETS_MIN = 256, UP_BYTES = sizeof("../") - 1 };

/* The hash of the whole path. */
static uint64_t hash_path(const struct view_node *parent, const char *name)
{
    uint64_t h = parent ? view_number_hash(parent->path_hash, "/") : VIEW_NUMBER_TOP;
    return view_number_hash(h, name);
}

ino_t view_ino(const struct view_node *parent, const char *name)
{
    return view_number(hash_path(parent, name));
}

uint64_t view_node_hash(const struct view_node *like)
{
    uint64_t seed = like->parent ? like->parent->hash : node_secret.seed;
    uint64_t h = XXH3_64bits_withSeed(like->name, strlen(like->name), seed);
    h = view_number_mix((h ^ file_key_hash(&like->key)) + like->question);
    return view_number_mix((h ^ like->cluster_id) + (like->target ? like->target->hash : 0));
}

/* -- what is made of names -- */

static char *put_before(char *at, const char *name)
{
    const size_t n = strlen(name);
    at = memcpy(at - n - 1, name, n);
    at[n] = '/';
    return at;
}

/* Joined, of the nodes from below top, which is on the way or NULL, to the node, and behind that
 * another name, or NULL; all behind some bytes for who asks. */
static char *join(size_t n_before, const struct view_node *top, const struct view_node *node,
                  const char *last)
{
    size_t n = n_before + (last ? strlen(last) + 1 : 0);
    for (const struct view_node *on_way = node; on_way != top; on_way = on_way->parent)
        n += strlen(on_way->name) + 1;
    char *joined = malloc(n + 1), *at = joined ? joined + n : NULL;
    if (!joined)
        return NULL;
    if (last)
        at = put_before(at, last);
    for (; node != top; node = node->parent)
        at = put_before(at, node->name);
    joined[n > n_before ? n - 1 : n] = '\0'; /* in the place of the last slash */
    return joined;
}

bool view_node_is_top(const struct view_node *directory)
{
    return !directory->parent || directory->parent->kind == VIEW_KINFS;
}

char *view_node_tree(const struct view_node *node, const char *name)
{
    const struct view_node *top = node;
    while (!view_node_is_top(top))
        top = top->parent;
    return join(0, top, node, name);
}

size_t view_node_depth(const struct view_node *node)
{
    size_t n = 0;
    for (; node; node = node->parent)
        n++;
    return n;
}

char *view_node_target(const struct view_node *link)
{
    char *target;
    if (!link->target)
        return asprintf(&target, "%" PRIu64, link->cluster_id) < 0 ? NULL : target;
    const size_t n_up = view_node_depth(link->parent);
    target = join(UP_BYTES * n_up, NULL, link->target, NULL);
    for (size_t i = 0; target && i < n_up; i++)
        memcpy(target + UP_BYTES * i, "../", UP_BYTES);
    return target;
}

/* -- the table -- */

int view_table_init(struct view_table *table)
{
    *table = (struct view_table){.n_buckets = N_BUCKETS_MIN, .last_generation = 1};
    table->buckets = calloc(table->n_buckets, sizeof(table->buckets[0]));
    if (!table->buckets)
        return -ENOMEM;
    pthread_mutex_init(&table->lock, NULL);
    return 0;
}

void view_table_done(struct view_table *table)
{
    if (!table->buckets)
        return;
    for (size_t i = 0; i < table->n_buckets; i++) {
        struct view_node *next;
        for (struct view_node *node = table->buckets[i]; node; node = next) {
            next = node->next;
            if (table->let_go)
                table->let_go(table->user, node);
            free(node);
        }
    }
    free(table->buckets);
    pthread_mutex_destroy(&table->lock);
    table->buckets = NULL;
}

static bool equal(const struct view_node *a, const struct view_node *b)
{
    return a->hash == b->hash && a->kind == b->kind && a->parent == b->parent &&
           strcmp(a->name, b->name) == 0 && a->cluster_id == b->cluster_id &&
           a->question == b->question && a->target == b->target && a->inode == b->inode &&
           file_key_equal(&a->key, &b->key);
}

static struct view_node **bucket(const struct view_table *table, uint64_t hash)
{
    return &table->buckets[hash & (table->n_buckets - 1)];
}

/* Twice or half as many buckets; when there is no memory, chains are longer for a while. */
static void resize(struct view_table *table, size_t n_buckets)
{
    struct view_node **old = table->buckets;
    size_t n_old = table->n_buckets;
    struct view_node **buckets = calloc(n_buckets, sizeof(buckets[0]));
    if (!buckets)
        return;
    table->buckets = buckets;
    table->n_buckets = n_buckets;
    for (size_t i = 0; i < n_old; i++) {
        struct view_node *next;
        for (struct view_node *node = old[i]; node; node = next) {
            next = node->next;
            struct view_node **head = bucket(table, node->hash);
            node->next = *head;
            *head = node;
        }
    }
    free(old);
}

/* Under the lock, as what follows. */
static struct view_node *add(struct view_table *table, const struct view_node *like, uint64_t hash)
{
    const size_t n_name = strlen(like->name) + 1;
    struct view_node *node = malloc(sizeof(*node) + n_name);
    if (!node)
        return NULL;
    *node = *like;
    node->node.kind = NODE_VIEW;
    node->name = memcpy(node + 1, like->name, n_name);
    node->path_hash = hash_path(like->parent, like->name);
    node->ino = view_number(node->path_hash);
    node->hash = hash;
    node->generation = node_conceal(++table->last_generation);
    node->n_refs = 1;
    if (node->parent)
        node->parent->n_refs++;
    if (node->target)
        node->target->n_refs++;
    if (table->hold)
        table->hold(table->user, node);
    if (++table->n_nodes > table->n_buckets)
        resize(table, 2 * table->n_buckets);
    struct view_node **head = bucket(table, hash);
    node->next = *head;
    *head = node;
    return node;
}

static struct view_node *find_or_add(struct view_table *table, const struct view_node *like)
{
    struct view_node wanted = *like;
    wanted.hash = view_node_hash(like);
    for (struct view_node *node = *bucket(table, wanted.hash); node; node = node->next) {
        if (equal(node, &wanted)) {
            node->n_refs++;
            return node;
        }
    }
    return add(table, like, wanted.hash);
}

static void take_out(struct view_table *table, struct view_node *node)
{
    struct view_node **link = bucket(table, node->hash);
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    if (--table->n_nodes < table->n_buckets / 8 && table->n_buckets > N_BUCKETS_MIN)
        resize(table, table->n_buckets / 2);
}

/* A target has none. Adds to the dead what nobody has any more. */
static void unref(struct view_table *table, struct view_node *node, uint64_t n,
                  struct view_node **dead)
{
    for (; node; n = 1) {
        assert(n <= node->n_refs);
        node->n_refs -= n;
        if (node->n_refs)
            return;
        struct view_node *parent = node->parent, *target = node->target;
        take_out(table, node);
        node->next = *dead;
        *dead = node;
        unref(table, target, 1, dead);
        node = parent;
    }
}

static void free_dead(struct view_table *table, struct view_node *dead)
{
    for (struct view_node *next; dead; dead = next) {
        next = dead->next;
        if (table->let_go)
            table->let_go(table->user, dead);
        free(dead);
    }
}

int view_table_lookup(struct view_table *table, const struct view_node *like,
                      struct view_node **ret_node)
{
    LOCKED(&table->lock);
    *ret_node = find_or_add(table, like);
    return *ret_node ? 0 : -ENOMEM;
}

int view_table_part(struct view_table *table, const char *path, struct view_node **ret_part)
{
    _cleanup_free_ char *copy = strdup(path);
    char *rest = copy;
    struct view_node like = {.kind = VIEW_PART}, *part = NULL, *dead = NULL;
    LOCKED(&table->lock);
    while (rest) {
        like.name = strsep(&rest, "/");
        part = find_or_add(table, &like);
        unref(table, like.parent, 1, &dead); /* the part has it */
        like.parent = part;
        if (!part)
            break;
    }
    free_dead(table, dead); /* parts hold nothing */
    *ret_part = part;
    return part ? 0 : -ENOMEM;
}

void view_table_forget(struct view_table *table, struct view_node *node, uint64_t n_lookups)
{
    struct view_node *dead = NULL;
    {
        LOCKED(&table->lock);
        unref(table, node, n_lookups, &dead);
    }
    free_dead(table, dead);
}
