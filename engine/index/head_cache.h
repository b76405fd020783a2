/* How many members clusters have: of those that changed or were asked for lately, in memory. Of the
 * committer's thread, which alone changes them. */
#ifndef KINFS_ENGINE_INDEX_HEAD_CACHE_H
#define KINFS_ENGINE_INDEX_HEAD_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 16 bytes each, as many as are come by need; a cluster has one place, where the last one stays. */
enum { HEAD_CACHE_FIRST = 1 << 8, HEAD_CACHE_MAX = 1 << 18 };

struct head_cache {
    struct known_head {
        uint64_t id, size; /* id 0: nothing, no cluster has it */
    } * places;
    size_t n_places, n_set; /* n_set: since it grew */
};

int head_cache_init(struct head_cache *cache); /* 0, -ENOMEM */
void head_cache_done(struct head_cache *cache);

bool head_cache_get(const struct head_cache *cache, uint64_t id, uint64_t *ret_size);
void head_cache_set(struct head_cache *cache, uint64_t id, uint64_t size); /* 0: there is none */
/* Before a change of it, which may fail. */
void head_cache_drop(struct head_cache *cache, uint64_t id);
void head_cache_clear(struct head_cache *cache);

#endif
