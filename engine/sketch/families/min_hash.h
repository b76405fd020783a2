/* k minima under k permutations: slot i holds the least value of the set under permutation i. Two
 * sets agree in a slot with probability |A n B| / |A u B| (Broder, Charikar, Frieze and
 * Mitzenmacher 1998, "Min-wise independent permutations").
 *
 * The permutations are x -> a_i t(x) + b_i mod 2^61 - 1, t a tabulation that all have in common.
 */
#ifndef KINFS_ENGINE_SKETCH_FAMILIES_MIN_HASH_H
#define KINFS_ENGINE_SKETCH_FAMILIES_MIN_HASH_H

#include "engine/sketch/families/family.h"

/* Makes a payload of k slots. */
typedef void (*min_hash_pack)(const uint64_t *slots, uint8_t *payload);

/* The state of a family whose payload is made of the slots; the functions below are the family's.
 * purpose: as in sketch_key_derive(). Returns 0, -ENOMEM; ret_state gives. */
int min_hash_new(const uint8_t key[SKETCH_KEY_BYTES], const char *purpose, size_t k,
                 min_hash_pack pack, size_t payload_bytes, void **ret_state);
void min_hash_free(void *state);
DEFINE_CLEANUP(void *, min_hash_free);

void min_hash_begin(void *state);
int min_hash_add(void *state, const uint64_t *elements, size_t n_elements); /* 0 */
int min_hash_finish(void *state, struct sketch_payload *ret_payload);       /* 0 */

/* The k slots as of now, each below 2^61; UINT64_MAX where nothing was added. */
const uint64_t *min_hash_slots(const void *state);

#endif
