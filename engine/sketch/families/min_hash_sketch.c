/* The min-hash family keeps the k = 100 minima of min_hash.c whole, 8 bytes each: 800 bytes a
 * document, whatever its length. The share of agreeing slots is the estimate of the resemblance r;
 * its standard deviation is sqrt(r (1-r) / 100), whatever the sizes of the sets.
 *
 * Example: 80 of 100 slots agree, the estimate is 0.80 +- 0.04.
 *
 * Cost: O(k) an element, 100 comparisons a pair. Left out: the containment, which minima alone do
 * not tell, and any packing; b_bit.c keeps fewer bits of each minimum.
 */
#include <errno.h>

#include "base/bytes.h"
#include "engine/sketch/families/families.h"
#include "engine/sketch/families/min_hash.h"

enum { K = 100, PAYLOAD_BYTES = 8 * K };

static void pack(const uint64_t *slots, uint8_t *payload)
{
    for (size_t i = 0; i < K; i++)
        put_be64(payload + 8 * i, slots[i]);
}

static int min_hash_sketch_new(const uint8_t key[SKETCH_KEY_BYTES], void **ret_state)
{
    return min_hash_new(key, "min-hash", K, pack, PAYLOAD_BYTES, ret_state);
}

static int min_hash_sketch_estimate(const struct sketch_payload *a, const struct sketch_payload *b,
                                    struct estimate *ret_estimate)
{
    uint32_t n_equal = 0;
    if (a->size_bytes != PAYLOAD_BYTES || b->size_bytes != PAYLOAD_BYTES)
        return -EUCLEAN;
    for (size_t i = 0; i < K; i++)
        n_equal += get_be64(a->bytes + 8 * i) == get_be64(b->bytes + 8 * i);
    *ret_estimate = estimate_of_trials(n_equal, K);
    return 0;
}

const struct sketch_family min_hash_family = {
    .name = "min-hash",
    .summary = "the least value under each of 100 permutations",
    .measure = SKETCH_RESEMBLANCE,
    .number = 3,
    .state_new = min_hash_sketch_new,
    .state_free = min_hash_free,
    .begin = min_hash_begin,
    .add = min_hash_add,
    .finish = min_hash_finish,
    .estimate = min_hash_sketch_estimate,
};
