/* k minima under k permutations: slot i holds the least value of the set under permutation i. Two
 * sets agree in a slot with probability |A n B| / |A u B| (Broder, Charikar, Frieze and
 * Mitzenmacher 1998, "Min-wise independent permutations").
 *
 * The permutations are x -> a_i t(x) + b_i mod 2^61 - 1, t a tabulation that all have in common.
 */
#ifndef KINFS_ENGINE_SKETCH_MIN_HASH_H
#define KINFS_ENGINE_SKETCH_MIN_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "engine/sketch/hash/sketch_key.h"

struct min_hash;

/* Returns 0, -ENOMEM; ret_min_hash gives. purpose: as in sketch_key_derive(). */
int min_hash_new(const uint8_t key[SKETCH_KEY_BYTES], const char *purpose, size_t k,
                 struct min_hash **ret_min_hash);
void min_hash_free(struct min_hash *min_hash);
DEFINE_CLEANUP(struct min_hash *, min_hash_free);

void min_hash_begin(struct min_hash *min_hash);
void min_hash_add(struct min_hash *min_hash, const uint64_t *elements, size_t n_elements);

/* The k slots as of now, each below 2^61; UINT64_MAX where nothing was added. */
const uint64_t *min_hash_slots(const struct min_hash *min_hash);

#endif
