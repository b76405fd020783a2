/* A cache of something that goes with an id, of the ids that were asked for lately, in memory. As
 * many as are come by need, up to a bound; an id has one place, where the last one stays. Ids are
 * dense, or well mixed, and not 0. Of one thread. */
#ifndef KINFS_ENGINE_INDEX_TABLES_ID_CACHE_H
#define KINFS_ENGINE_INDEX_TABLES_ID_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct id_cache {
    uint64_t *words; /* of each place the id (0: nothing, none is 0), then the value */
    size_t value_words, n_places, max_places;
    size_t n_put; /* ids that came to a place of nothing or of another; at its most, lately */
};

/* value_words  of 8 bytes, at least one
 * n_places     at first, and max_places at most: powers of two. 0, -ENOMEM */
int id_cache_init(struct id_cache *cache, size_t value_words, size_t n_places, size_t max_places);
void id_cache_done(struct id_cache *cache);

/* NULL: not there. Valid until the next one is put. */
const void *id_cache_find(const struct id_cache *cache, uint64_t id);
/* The place of its value, to be written; what was there is undefined. */
void *id_cache_put(struct id_cache *cache, uint64_t id);
void id_cache_drop(struct id_cache *cache, uint64_t id);
void id_cache_clear(struct id_cache *cache);

#endif
