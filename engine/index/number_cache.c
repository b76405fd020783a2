#include "engine/index/number_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int number_cache_init(struct number_cache *cache, size_t n_places, size_t max_places)
{
    *cache = (struct number_cache){.places = calloc(n_places, sizeof(*cache->places)),
                                   .n_places = n_places,
                                   .max_places = max_places};
    return cache->places ? 0 : -ENOMEM;
}

void number_cache_done(struct number_cache *cache)
{
    free(cache->places);
    cache->places = NULL;
}

/* Ids are given one after the other. */
static struct known_number *place_of(const struct number_cache *cache, uint64_t id)
{
    return &cache->places[id % cache->n_places];
}

/* To twice the size, empty. Without memory it stays. */
static void grow(struct number_cache *cache)
{
    const size_t n = 2 * cache->n_places;
    struct known_number *places = n <= cache->max_places ? calloc(n, sizeof(*places)) : NULL;

    cache->n_set = 0;
    if (!places)
        return;
    free(cache->places);
    cache->places = places;
    cache->n_places = n;
}

bool number_cache_get(const struct number_cache *cache, uint64_t id, uint64_t *ret_number)
{
    const struct known_number *known = place_of(cache, id);
    if (known->id == id)
        *ret_number = known->number;
    return known->id == id;
}

void number_cache_set(struct number_cache *cache, uint64_t id, uint64_t number)
{
    if (++cache->n_set > cache->n_places)
        grow(cache);
    *place_of(cache, id) = (struct known_number){id, number};
}

void number_cache_drop(struct number_cache *cache, uint64_t id)
{
    if (place_of(cache, id)->id == id)
        place_of(cache, id)->id = 0;
}

void number_cache_clear(struct number_cache *cache)
{
    memset(cache->places, 0, cache->n_places * sizeof(*cache->places));
}
