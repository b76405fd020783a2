/* A number that goes with an id, of the ids that were asked for lately, in memory. As many as are
 * come by need, up to a bound; an id has one place, where the last one stays. Of one thread. */
#ifndef KINFS_ENGINE_INDEX_NUMBER_CACHE_H
#define KINFS_ENGINE_INDEX_NUMBER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_cache {
    struct known_number {
        uint64_t id, number; /* id 0: nothing, none is 0 */
    } * places;
    size_t n_places, max_places, n_set; /* n_set: since it grew */
};

/* 16 bytes a place; both powers of two. 0, -ENOMEM */
int number_cache_init(struct number_cache *cache, size_t n_places, size_t max_places);
void number_cache_done(struct number_cache *cache);

bool number_cache_get(const struct number_cache *cache, uint64_t id, uint64_t *ret_number);
void number_cache_set(struct number_cache *cache, uint64_t id, uint64_t number);
/* Before a change of it, which may fail. */
void number_cache_drop(struct number_cache *cache, uint64_t id);
void number_cache_clear(struct number_cache *cache);

#endif
