/* A number that goes with an id (id_cache.h), 16 bytes a place. */
#ifndef KINFS_ENGINE_INDEX_TABLES_NUMBER_CACHE_H
#define KINFS_ENGINE_INDEX_TABLES_NUMBER_CACHE_H

#include <stdbool.h>

#include "engine/index/tables/id_cache.h"

struct number_cache {
    struct id_cache ids;
};

static inline int number_cache_init(struct number_cache *cache, size_t n_places, size_t max_places)
{
    return id_cache_init(&cache->ids, 1, n_places, max_places);
}

static inline void number_cache_done(struct number_cache *cache)
{
    id_cache_done(&cache->ids);
}

static inline bool number_cache_get(const struct number_cache *cache, uint64_t id,
                                    uint64_t *ret_number)
{
    const uint64_t *number = id_cache_find(&cache->ids, id);
    if (number)
        *ret_number = *number;
    return number;
}

static inline void number_cache_set(struct number_cache *cache, uint64_t id, uint64_t number)
{
    *(uint64_t *)id_cache_put(&cache->ids, id) = number;
}

/* Before a change of it, which may fail. */
static inline void number_cache_drop(struct number_cache *cache, uint64_t id)
{
    id_cache_drop(&cache->ids, id);
}

static inline void number_cache_clear(struct number_cache *cache)
{
    id_cache_clear(&cache->ids);
}

#endif
