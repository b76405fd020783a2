/* MinHash: k permutations of all elements, and for each the least value that it gives to an element
 * of the set. The element of the union A u B whose value is least under a permutation is equally
 * likely to be any of them; A and B have the same minimum exactly when it is in both, so they agree
 * in a slot with probability |A n B| / |A u B|.
 *
 * Example with k = 2, the permutations 3x + 1 and 5x + 2 modulo 11: A = {1 4} has the values 4 2
 * and 7 0 and so the slots (2, 0); B = {4 7} has 2 0 and 0 4 and the slots (0, 0). They agree in
 * one slot of two; the resemblance is 1/3.
 *
 * A linear function modulo a prime is not a random permutation: it is biased on elements that
 * stand in a row (linear_hash.h). Elements are therefore hashed by tabulation first, once for all
 * k.
 *
 * Cost: eight table look-ups an element, and for each slot one multiplication of 64 by 64 bits.
 * Adding is O(k) an element, which is why the index uses min_sketch.h, whose cost is constant.
 *
 * Left out: vectors. The family only serves comparisons between families.
 */
#include "engine/sketch/families/min_hash.h"

#include <errno.h>
#include <string.h>

#include "engine/sketch/hash/linear_hash.h"
#include "engine/sketch/hash/tabulation.h"

struct min_hash {
    size_t k, payload_bytes;
    uint64_t *slots;
    struct linear_hash *permutations;
    struct tabulation before;
    min_hash_pack pack;
    uint8_t payload[];
};

int min_hash_new(const uint8_t key[SKETCH_KEY_BYTES], const char *purpose, size_t k,
                 min_hash_pack pack, size_t payload_bytes, void **ret_state)
{
    struct min_hash *min_hash = calloc(1, sizeof(*min_hash) + payload_bytes);
    _cleanup_(min_hash_free_p) void *state = min_hash;
    _cleanup_free_ uint64_t *random = calloc(2 * k, sizeof(*random));
    if (!min_hash || !random)
        return -ENOMEM;
    min_hash->k = k;
    min_hash->payload_bytes = payload_bytes;
    min_hash->pack = pack;
    min_hash->slots = malloc(k * sizeof(*min_hash->slots));
    min_hash->permutations = malloc(k * sizeof(*min_hash->permutations));
    if (!min_hash->slots || !min_hash->permutations)
        return -ENOMEM;
    int r = sketch_key_derive(key, purpose, random, 2 * k * sizeof(*random));
    if (r == 0)
        r = tabulation_init(&min_hash->before, key, "min-hash tabulation");
    if (r < 0)
        return r;
    for (size_t i = 0; i < k; i++)
        min_hash->permutations[i] = linear_hash_of(random[2 * i], random[2 * i + 1]);
    min_hash_begin(min_hash);
    *ret_state = TAKE_PTR(state);
    return 0;
}

void min_hash_free(void *state)
{
    struct min_hash *min_hash = state;
    if (!min_hash)
        return;
    free(min_hash->slots);
    free(min_hash->permutations);
    free(min_hash);
}

void min_hash_begin(void *state)
{
    struct min_hash *min_hash = state;
    memset(min_hash->slots, 0xff, min_hash->k * sizeof(*min_hash->slots));
}

int min_hash_add(void *state, const uint64_t *elements, size_t n_elements)
{
    struct min_hash *min_hash = state;
    for (size_t j = 0; j < n_elements; j++) {
        uint64_t x = linear_residue(tabulate(&min_hash->before, elements[j]));
        for (size_t i = 0; i < min_hash->k; i++) {
            uint64_t value = linear_hash(&min_hash->permutations[i], x);
            if (value < min_hash->slots[i])
                min_hash->slots[i] = value;
        }
    }
    return 0;
}

int min_hash_finish(void *state, struct sketch_payload *ret_payload)
{
    struct min_hash *min_hash = state;
    min_hash->pack(min_hash->slots, min_hash->payload);
    *ret_payload = (struct sketch_payload){min_hash->payload, min_hash->payload_bytes};
    return 0;
}

const uint64_t *min_hash_slots(const void *state)
{
    const struct min_hash *min_hash = state;
    return min_hash->slots;
}
