#include "fs/views/view_node.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/cleanup.h"

enum { N_BUCKETS_MIN = 256 };

static uint64_t hash_bytes(uint64_t h, const char *s)
{
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    return h;
}

/* A bijection that lets every bit of h reach every bit of the result; FNV alone leaves the upper
 * ones of short strings alike. */
static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

ino_t view_ino(const char *path, const char *name)
{
    uint64_t h = hash_bytes(UINT64_C(0xcbf29ce484222325), path);
    if (name)
        h = hash_bytes(hash_bytes(h, "/"), name);
    return (mix(h) & (UINT64_MAX >> 2)) | UINT64_C(1) << 62;
}

uint64_t view_node_hash(const struct view_node *like)
{
    uint64_t h = XXH3_64bits_withSeed(like->path, strlen(like->path), node_secret.seed);
    return mix((h ^ file_key_hash(&like->key)) + like->question);
}

int view_table_init(struct view_table *table)
{
    *table = (struct view_table){.n_buckets = N_BUCKETS_MIN, .last_generation = 1};
    table->buckets = calloc(table->n_buckets, sizeof(table->buckets[0]));
    if (!table->buckets)
        return -ENOMEM;
    pthread_mutex_init(&table->lock, NULL);
    return 0;
}

static void node_free(struct view_node *node)
{
    free((char *)node->path);
    free((char *)node->target);
    free(node);
}
DEFINE_CLEANUP(struct view_node *, node_free);

void view_table_done(struct view_table *table)
{
    if (!table->buckets)
        return;
    for (size_t i = 0; i < table->n_buckets; i++) {
        struct view_node *next;
        for (struct view_node *node = table->buckets[i]; node; node = next) {
            next = node->next;
            node_free(node);
        }
    }
    free(table->buckets);
    pthread_mutex_destroy(&table->lock);
    table->buckets = NULL;
}

static bool equal(const struct view_node *a, const struct view_node *b)
{
    return a->hash == b->hash && a->kind == b->kind && strcmp(a->path, b->path) == 0 &&
           a->cluster_id == b->cluster_id && a->question == b->question &&
           !a->target == !b->target && (!a->target || strcmp(a->target, b->target) == 0) &&
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

static int node_copy(const struct view_node *like, struct view_node **ret_node)
{
    _cleanup_(node_free_p) struct view_node *node = malloc(sizeof(*node));
    if (!node)
        return -ENOMEM;
    *node = *like;
    node->node.kind = NODE_VIEW;
    node->target = NULL;
    node->path = strdup(like->path);
    if (!node->path)
        return -ENOMEM;
    node->tree = node->path + (like->tree - like->path);
    if (like->target && !(node->target = strdup(like->target)))
        return -ENOMEM;
    *ret_node = TAKE_PTR(node);
    return 0;
}

int view_table_lookup(struct view_table *table, const struct view_node *like,
                      struct view_node **ret_node)
{
    struct view_node wanted = *like;
    wanted.ino = view_ino(like->path, NULL);
    wanted.hash = view_node_hash(like);
    if (!wanted.tree)
        wanted.tree = wanted.path + strlen(wanted.path);

    LOCKED(&table->lock);
    for (struct view_node *node = *bucket(table, wanted.hash); node; node = node->next) {
        if (equal(node, &wanted)) {
            node->n_lookups++;
            *ret_node = node;
            return 0;
        }
    }
    struct view_node *node;
    int r = node_copy(&wanted, &node);
    if (r < 0)
        return r;
    node->n_lookups = 1;
    node->generation = node_conceal(++table->last_generation);
    if (++table->n_nodes > table->n_buckets)
        resize(table, 2 * table->n_buckets);
    struct view_node **head = bucket(table, node->hash);
    node->next = *head;
    *head = node;
    *ret_node = node;
    return 0;
}

void view_table_forget(struct view_table *table, struct view_node *node, uint64_t n_lookups)
{
    LOCKED(&table->lock);
    assert(n_lookups <= node->n_lookups);
    node->n_lookups -= n_lookups;
    if (node->n_lookups)
        return;
    struct view_node **link = bucket(table, node->hash);
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    node_free(node);
    if (--table->n_nodes < table->n_buckets / 8 && table->n_buckets > N_BUCKETS_MIN)
        resize(table, table->n_buckets / 2);
}
