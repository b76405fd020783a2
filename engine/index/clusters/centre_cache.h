/* The centres of clusters (cluster_centres.h) that were asked for lately, in memory: reading one is
 * two looks into the store. Of the committer's thread, which alone changes them. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CENTRE_CACHE_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CENTRE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/index/tables/member.h"

/* Where a node stands. */
struct place {
    uint64_t sid; /* the first of its class */
    uint8_t order[ORDER_BYTES];
};

/* All zero: nothing is known. */
struct centre_cache {
    struct known_centre *centres; /* a cluster has one place, where the last one stays */
};

/* Forgets all and gives back the memory: at the end too. */
void centre_cache_clear(struct centre_cache *cache);

bool centre_cache_get(const struct centre_cache *cache, uint64_t cluster, struct place *ret_centre);
/* Without memory it is forgotten. */
void centre_cache_set(struct centre_cache *cache, uint64_t cluster, const struct place *centre);

/* Before documents come into a cluster (0: none) or leave it: what stands behind the centre changes
 * nothing. */
void centre_cache_changed(struct centre_cache *cache, uint64_t cluster,
                          const struct member *members, size_t n_members);

#endif
