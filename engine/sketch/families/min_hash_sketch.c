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

struct min_hash_sketch {
    struct min_hash *min_hash;
    uint8_t payload[PAYLOAD_BYTES];
};

static void min_hash_sketch_free(void *state)
{
    struct min_hash_sketch *sketch = state;
    min_hash_free(sketch->min_hash);
    free(sketch);
}

static int min_hash_sketch_new(const uint8_t key[SKETCH_KEY_BYTES], void **ret_state)
{
    struct min_hash_sketch *sketch = calloc(1, sizeof(*sketch));
    if (!sketch)
        return -ENOMEM;
    int r = min_hash_new(key, "min-hash", K, &sketch->min_hash);
    if (r < 0) {
        free(sketch);
        return r;
    }
    *ret_state = sketch;
    return 0;
}

static void min_hash_sketch_begin(void *state)
{
    struct min_hash_sketch *sketch = state;
    min_hash_begin(sketch->min_hash);
}

static int min_hash_sketch_add(void *state, const uint64_t *elements, size_t n_elements)
{
    struct min_hash_sketch *sketch = state;
    min_hash_add(sketch->min_hash, elements, n_elements);
    return 0;
}

static int min_hash_sketch_finish(void *state, struct sketch_payload *ret_payload)
{
    struct min_hash_sketch *sketch = state;
    const uint64_t *slots = min_hash_slots(sketch->min_hash);
    for (size_t i = 0; i < K; i++)
        put_be64(sketch->payload + 8 * i, slots[i]);
    *ret_payload = (struct sketch_payload){sketch->payload, PAYLOAD_BYTES};
    return 0;
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
    .state_free = min_hash_sketch_free,
    .begin = min_hash_sketch_begin,
    .add = min_hash_sketch_add,
    .finish = min_hash_sketch_finish,
    .estimate = min_hash_sketch_estimate,
};
