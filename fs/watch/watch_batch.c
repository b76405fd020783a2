#include "fs/watch/watch_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "fs/inodes/node.h"

enum { FIRST_BUCKETS = 64 };

struct watch_batch *watch_batch_new(void)
{
    struct watch_batch *batch = calloc(1, sizeof(*batch));
    if (!batch)
        return NULL;
    batch->n_refs = 1;
    TAILQ_INIT(&batch->seen);
    batch->buckets = calloc(FIRST_BUCKETS, sizeof(batch->buckets[0]));
    batch->n_buckets = FIRST_BUCKETS;
    if (!batch->buckets)
        watch_batch_unref(TAKE_PTR(batch));
    return batch;
}

struct watch_batch *watch_batch_ref(struct watch_batch *batch)
{
    atomic_fetch_add_explicit(&batch->n_refs, 1, memory_order_relaxed);
    return batch;
}

void watch_batch_unref(struct watch_batch *batch)
{
    if (!batch || atomic_fetch_sub_explicit(&batch->n_refs, 1, memory_order_acq_rel) != 1)
        return;
    for (struct seen *seen = TAILQ_FIRST(&batch->seen), *next; seen; seen = next) {
        next = TAILQ_NEXT(seen, order);
        free(seen);
    }
    free(batch->buckets);
    free(batch);
}

/* Names that somebody chooses to be alike have one hash only by chance: who waits behind a search
 * through thousands would be told late whose rights were taken away. */
static uint64_t hash(const struct file_key *key, const char *name)
{
    return file_key_hash(key) ^ XXH3_64bits_withSeed(name, strlen(name), node_secret.seed);
}

static struct seen **bucket_of(struct watch_batch *batch, const struct file_key *key,
                               const char *name)
{
    return &batch->buckets[hash(key, name) & (batch->n_buckets - 1)];
}

/* A table that cannot grow is only slower. */
static void grow(struct watch_batch *batch)
{
    struct seen **buckets = calloc(2 * batch->n_buckets, sizeof(buckets[0]));
    if (!buckets)
        return;
    free(batch->buckets);
    batch->buckets = buckets;
    batch->n_buckets *= 2;
    struct seen *seen;
    TAILQ_FOREACH(seen, &batch->seen, order)
    {
        struct seen **bucket = bucket_of(batch, &seen->key, seen->name);
        seen->next = *bucket;
        *bucket = seen;
    }
}

struct seen *watch_batch_find(struct watch_batch *batch, const struct file_key *key,
                              const char *name)
{
    struct seen *seen = *bucket_of(batch, key, name);
    while (seen && (strcmp(seen->name, name) != 0 || !file_key_equal(&seen->key, key)))
        seen = seen->next;
    return seen;
}

bool watch_batch_has_name(struct watch_batch *batch, const struct file_key *directory,
                          const char *name)
{
    return batch->has_names && watch_batch_find(batch, directory, name);
}

void watch_batch_remove(struct watch_batch *batch, struct seen *seen)
{
    if (!seen)
        return;
    struct seen **link = bucket_of(batch, &seen->key, seen->name);
    while (*link != seen)
        link = &(*link)->next;
    *link = seen->next;
    TAILQ_REMOVE(&batch->seen, seen, order);
    batch->n_seen--;
    free(seen);
}

int watch_batch_add(struct watch_batch *batch, const struct file_key *key, const char *name,
                    unsigned what)
{
    name = name ? name : "";
    struct seen *seen = watch_batch_find(batch, key, name);
    if (seen) {
        seen->what |= what;
        TAILQ_REMOVE(&batch->seen, seen, order);
        TAILQ_INSERT_TAIL(&batch->seen, seen, order);
        return 0;
    }
    if (batch->n_seen == WATCH_BATCH_MAX)
        return -EOVERFLOW;
    if (batch->n_seen == batch->n_buckets)
        grow(batch);
    seen = malloc(sizeof(*seen) + strlen(name) + 1);
    if (!seen)
        return -ENOMEM;
    *seen = (struct seen){.key = *key, .what = what};
    strcpy(seen->name, name);
    struct seen **bucket = bucket_of(batch, key, name);
    seen->next = *bucket;
    *bucket = seen;
    TAILQ_INSERT_TAIL(&batch->seen, seen, order);
    batch->n_seen++;
    batch->has_names |= *name != '\0';
    return 0;
}
