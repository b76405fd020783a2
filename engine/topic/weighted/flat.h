/* Sketches of bags by flattening: a word of weight f becomes f elements, the word's first to f-th
 * copy, and the bag the set of all of them. Two such sets have as many elements in common as the
 * sum of the lesser weights, and together as many as the sum of the greater ones, so their
 * resemblance is the similarity of the bags (Haveliwala, Gionis and Indyk 2000, section 4).
 *
 * Of a weight that is no whole number the fraction is one more copy with that probability, by a
 * number that the word and the copy alone decide (Haeupler, Manasse and Talwar 2014, "Consistent
 * weighted sampling made fast, small, and easy"). Lesser and greater sums are then right on
 * average; their ratio has a bias of at most n / 4 / u^2 for n words with fractions and the greater
 * sum u, which the scale makes as small as needed.
 */
#ifndef KINFS_ENGINE_TOPIC_WEIGHTED_FLAT_H
#define KINFS_ENGINE_TOPIC_WEIGHTED_FLAT_H

#include <stddef.h>

#include "base/cleanup.h"
#include "engine/sketch/hash/sketch_key.h"
#include "engine/topic/bags/bag.h"
#include "engine/topic/weighted/bag_sketch.h"

enum { FLAT_MOST_ELEMENTS = 1 << 16 };

struct flat_hash; /* what a key draws; any threads read it */

/* scale  what all weights are multiplied with: 1 for weights whose sum is 100
 * Returns 0, -ENOMEM, -EINVAL for a scale that is not above 0; gives. */
int flat_hash_new(const uint8_t key[SKETCH_KEY_BYTES], double scale, struct flat_hash **ret_hash);
void flat_hash_free(struct flat_hash *hash);
DEFINE_CLEANUP(struct flat_hash *, flat_hash_free);

/* Returns 0, -E2BIG for a bag of more than FLAT_MOST_ELEMENTS; an empty bag has an empty sketch.
 * Some 3 us for 100 elements, 8 without AVX2. Any threads. */
int flat_sketch(const struct flat_hash *hash, const struct bag *bag, struct bag_sketch *ret_sketch);

/* The elements, of 31 bits, that the bag is flattened to, in no order: as many as `most` are
 * written. Returns how many there are, or -E2BIG. */
int64_t flat_elements(const struct flat_hash *hash, const struct bag *bag, uint32_t *ret_elements,
                      size_t most);

#endif
