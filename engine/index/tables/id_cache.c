#include "engine/index/tables/id_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t stride_words(const struct id_cache *cache)
{
    return 1 + cache->value_words;
}

int id_cache_init(struct id_cache *cache, size_t value_words, size_t n_places, size_t max_places)
{
    *cache = (struct id_cache){
        .value_words = value_words, .n_places = n_places, .max_places = max_places};
    cache->words = calloc(n_places * stride_words(cache), sizeof(*cache->words));
    return cache->words ? 0 : -ENOMEM;
}

void id_cache_done(struct id_cache *cache)
{
    free(cache->words);
    cache->words = NULL;
}

static uint64_t *place_of(const struct id_cache *cache, uint64_t id)
{
    return cache->words + (id & (cache->n_places - 1)) * stride_words(cache);
}

/* To twice the size. Without memory it stays. */
static void grow(struct id_cache *cache)
{
    const size_t n_words = stride_words(cache), n_bytes = n_words * sizeof(*cache->words);
    struct id_cache larger = *cache;

    larger.n_places *= 2;
    cache->n_put = 0; /* where it stays: asks again after as many */
    if (larger.n_places > larger.max_places)
        return;
    larger.words = calloc(larger.n_places, n_bytes);
    if (!larger.words)
        return;
    for (size_t i = 0; i < cache->n_places; i++) {
        const uint64_t *place = cache->words + i * n_words;
        if (*place)
            memcpy(place_of(&larger, *place), place, n_bytes);
    }
    free(cache->words);
    *cache = larger;
}

const void *id_cache_find(const struct id_cache *cache, uint64_t id)
{
    const uint64_t *place = place_of(cache, id);
    return *place == id ? place + 1 : NULL;
}

void *id_cache_put(struct id_cache *cache, uint64_t id)
{
    if (*place_of(cache, id) != id && ++cache->n_put > cache->n_places)
        grow(cache);
    uint64_t *place = place_of(cache, id);
    *place = id;
    return place + 1;
}

void id_cache_drop(struct id_cache *cache, uint64_t id)
{
    uint64_t *place = place_of(cache, id);
    if (*place == id)
        *place = 0;
}

void id_cache_clear(struct id_cache *cache)
{
    cache->n_put = 0;
    memset(cache->words, 0, cache->n_places * stride_words(cache) * sizeof(*cache->words));
}
