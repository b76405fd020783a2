#include "engine/index/clusters/centre_cache.h"

#include <stdlib.h>
#include <string.h>

enum { N_CENTRES = 1 << 13 };

struct known_centre {
    uint64_t cluster; /* 0: nothing, no cluster has it */
    struct place centre;
};

void centre_cache_clear(struct centre_cache *cache)
{
    free(cache->centres);
    cache->centres = NULL;
}

/* Ids are given one after the other. */
static struct known_centre *place_of(const struct centre_cache *cache, uint64_t cluster)
{
    return &cache->centres[cluster % N_CENTRES];
}

bool centre_cache_get(const struct centre_cache *cache, uint64_t cluster, struct place *ret_centre)
{
    if (!cache->centres || place_of(cache, cluster)->cluster != cluster)
        return false;
    *ret_centre = place_of(cache, cluster)->centre;
    return true;
}

void centre_cache_set(struct centre_cache *cache, uint64_t cluster, const struct place *centre)
{
    if (!cache->centres)
        cache->centres = calloc(N_CENTRES, sizeof(*cache->centres));
    if (cache->centres)
        *place_of(cache, cluster) = (struct known_centre){cluster, *centre};
}

void centre_cache_changed(struct centre_cache *cache, uint64_t cluster,
                          const struct member *members, size_t n_members)
{
    struct known_centre *known = cache->centres ? place_of(cache, cluster) : NULL;

    if (!known || cluster == 0 || known->cluster != cluster)
        return;
    for (size_t i = 0; i < n_members; i++)
        if (memcmp(members[i].order, known->centre.order, ORDER_BYTES) <= 0)
            known->cluster = 0;
}
