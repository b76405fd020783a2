#include "engine/index/filter_cache.h"

#include <errno.h>
#include <stdlib.h>

enum { FILTERS_FIRST = 1 << 8 };

/* A sid has one place, where the last one stays. */
struct filter_cache {
    struct place {
        uint64_t sid; /* 0: nothing, none is 0 */
        struct overlap_filter filter;
    } * places;
    size_t n_places, max_places, n_put;
};

int filter_cache_new(size_t max_filters, struct filter_cache **ret_cache)
{
    struct filter_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return -ENOMEM;
    cache->max_places = max_filters;
    cache->n_places = max_filters < FILTERS_FIRST ? max_filters : FILTERS_FIRST;
    cache->places = calloc(cache->n_places, sizeof(*cache->places));
    if (!cache->places) {
        free(cache);
        return -ENOMEM;
    }
    *ret_cache = cache;
    return 0;
}

void filter_cache_free(struct filter_cache *cache)
{
    if (cache)
        free(cache->places);
    free(cache);
}

/* Sids are given one after the other. */
static struct place *place_of(const struct filter_cache *cache, uint64_t sid)
{
    return &cache->places[sid % cache->n_places];
}

/* To twice the size. Without memory it stays. */
static void grow(struct filter_cache *cache)
{
    struct filter_cache larger = *cache;

    larger.n_places *= 2;
    cache->n_put = 0; /* asks again after as many */
    if (larger.n_places > larger.max_places)
        return;
    larger.places = calloc(larger.n_places, sizeof(*larger.places));
    if (!larger.places)
        return;
    for (size_t i = 0; i < cache->n_places; i++)
        if (cache->places[i].sid)
            *place_of(&larger, cache->places[i].sid) = cache->places[i];
    free(cache->places);
    *cache = larger;
}

const struct overlap_filter *filter_cache_find(const struct filter_cache *cache, uint64_t sid)
{
    const struct place *place = place_of(cache, sid);
    return place->sid == sid ? &place->filter : NULL;
}

void filter_cache_put(struct filter_cache *cache, uint64_t sid, const struct min_sketch *sketch)
{
    if (filter_cache_find(cache, sid))
        return;
    if (++cache->n_put > cache->n_places)
        grow(cache);
    struct place *place = place_of(cache, sid);
    place->sid = sid;
    overlap_filter_make(sketch, &place->filter);
}

void filter_cache_drop(struct filter_cache *cache, uint64_t sid)
{
    struct place *place = place_of(cache, sid);
    if (place->sid == sid)
        place->sid = 0;
}
