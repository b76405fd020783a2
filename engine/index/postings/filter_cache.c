#include "engine/index/postings/filter_cache.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/index/tables/id_cache.h"

enum { FILTERS_FIRST = 1 << 8, FILTER_WORDS = sizeof(struct overlap_filter) / sizeof(uint64_t) };
_Static_assert(sizeof(struct overlap_filter) % sizeof(uint64_t) == 0, "a filter is whole words");

struct filter_cache {
    struct id_cache sids;
};

int filter_cache_new(size_t max_filters, struct filter_cache **ret_cache)
{
    const size_t n_first = max_filters < FILTERS_FIRST ? max_filters : FILTERS_FIRST;
    struct filter_cache *cache = malloc(sizeof(*cache));
    int r = cache ? id_cache_init(&cache->sids, FILTER_WORDS, n_first, max_filters) : -ENOMEM;
    if (r < 0) {
        free(cache);
        return r;
    }
    *ret_cache = cache;
    return 0;
}

void filter_cache_free(struct filter_cache *cache)
{
    if (cache)
        id_cache_done(&cache->sids);
    free(cache);
}

const struct overlap_filter *filter_cache_find(const struct filter_cache *cache, uint64_t sid)
{
    return id_cache_find(&cache->sids, sid);
}

void filter_cache_put(struct filter_cache *cache, uint64_t sid, const struct min_sketch *sketch)
{
    if (!filter_cache_find(cache, sid))
        overlap_filter_make(sketch, id_cache_put(&cache->sids, sid));
}

void filter_cache_drop(struct filter_cache *cache, uint64_t sid)
{
    id_cache_drop(&cache->sids, sid);
}
