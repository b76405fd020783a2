/* Overlap filters (engine/cluster/pairs/overlap_filter.h) of documents that were posted or compared
 * lately: most candidates of a document that has much boilerplate share that and no more, and are
 * refused without their records being looked at. What a sid stands for never changes; only that it
 * is gone is told, so that whoever meets it in a list looks for its record and drops it there. In
 * memory, 80 bytes each. Of one thread. */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_FILTER_CACHE_H
#define KINFS_ENGINE_INDEX_POSTINGS_FILTER_CACHE_H

#include "engine/cluster/pairs/overlap_filter.h"

struct filter_cache;

/* max_filters  a power of two; as many as are come by need. Returns 0, -ENOMEM. */
int filter_cache_new(size_t max_filters, struct filter_cache **ret_cache);
void filter_cache_free(struct filter_cache *cache);

/* NULL: not there. Valid until the next one is put. */
const struct overlap_filter *filter_cache_find(const struct filter_cache *cache, uint64_t sid);
/* Some 0.2 us; where it is there already, none. */
void filter_cache_put(struct filter_cache *cache, uint64_t sid, const struct min_sketch *sketch);
void filter_cache_drop(struct filter_cache *cache, uint64_t sid); /* the document is gone */

#endif
