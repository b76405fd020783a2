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
    size_t k;
    uint64_t *slots;
    struct linear_hash *permutations;
    struct tabulation before;
};

int min_hash_new(const uint8_t key[SKETCH_KEY_BYTES], const char *purpose, size_t k,
                 struct min_hash **ret_min_hash)
{
    _cleanup_(min_hash_free_p) struct min_hash *min_hash = calloc(1, sizeof(*min_hash));
    _cleanup_free_ uint64_t *random = calloc(2 * k, sizeof(*random));
    if (!min_hash || !random)
        return -ENOMEM;
    min_hash->k = k;
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
    *ret_min_hash = TAKE_PTR(min_hash);
    return 0;
}

void min_hash_free(struct min_hash *min_hash)
{
    if (!min_hash)
        return;
    free(min_hash->slots);
    free(min_hash->permutations);
    free(min_hash);
}

void min_hash_begin(struct min_hash *min_hash)
{
    memset(min_hash->slots, 0xff, min_hash->k * sizeof(*min_hash->slots));
}

void min_hash_add(struct min_hash *min_hash, const uint64_t *elements, size_t n_elements)
{
    for (size_t j = 0; j < n_elements; j++) {
        uint64_t x = linear_residue(tabulate(&min_hash->before, elements[j]));
        for (size_t i = 0; i < min_hash->k; i++) {
            uint64_t value = linear_hash(&min_hash->permutations[i], x);
            if (value < min_hash->slots[i])
                min_hash->slots[i] = value;
        }
    }
}

const uint64_t *min_hash_slots(const struct min_hash *min_hash)
{
    return min_hash->slots;
}
