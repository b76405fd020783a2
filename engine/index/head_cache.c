#include "engine/index/head_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int head_cache_init(struct head_cache *cache)
{
    cache->places = calloc(HEAD_CACHE_FIRST, sizeof(*cache->places));
    cache->n_places = HEAD_CACHE_FIRST;
    cache->n_set = 0;
    return cache->places ? 0 : -ENOMEM;
}

void head_cache_done(struct head_cache *cache)
{
    free(cache->places);
    cache->places = NULL;
}

/* Ids are given one after the other. */
static struct known_head *place_of(const struct head_cache *cache, uint64_t id)
{
    return &cache->places[id % cache->n_places];
}

/* To twice the size, empty. Without memory it stays. */
static void grow(struct head_cache *cache)
{
    const size_t n = 2 * cache->n_places;
    struct known_head *places = n <= HEAD_CACHE_MAX ? calloc(n, sizeof(*places)) : NULL;

    cache->n_set = 0;
    if (!places)
        return;
    free(cache->places);
    cache->places = places;
    cache->n_places = n;
}

bool head_cache_get(const struct head_cache *cache, uint64_t id, uint64_t *ret_size)
{
    const struct known_head *head = place_of(cache, id);
    if (head->id == id)
        *ret_size = head->size;
    return head->id == id;
}

void head_cache_set(struct head_cache *cache, uint64_t id, uint64_t size)
{
    if (++cache->n_set > cache->n_places)
        grow(cache);
    *place_of(cache, id) = (struct known_head){id, size};
}

void head_cache_drop(struct head_cache *cache, uint64_t id)
{
    if (place_of(cache, id)->id == id)
        place_of(cache, id)->id = 0;
}

void head_cache_clear(struct head_cache *cache)
{
    memset(cache->places, 0, cache->n_places * sizeof(*cache->places));
}
