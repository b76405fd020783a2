/* Sketches of bags by the Gumbel-Max trick: a signature is a word, drawn with its share of the
 * weight. Two bags have the same with their probability Jaccard similarity, the sum over common
 * words i of 1 / sum over all words j of max(x_j / x_i, y_j / y_i), which no factor of all weights
 * changes (Moulton and Jiang 2018, "Maximally consistent sampling and the Jaccard index of
 * probability distributions"). It is never less than their similarity, whatever the factors.
 *
 * FastGM (Qi, Wang, Zhang, Li, Tao, Guan and Xu 2020, "Fast generating a large number of Gumbel-Max
 * variables") draws only what can be least: O(m log m + n) for n words and m = 80 in place of O(m
 * n). Both ways give the same sketch to the bit.
 */
#ifndef KINFS_ENGINE_TOPIC_WEIGHTED_GUMBEL_H
#define KINFS_ENGINE_TOPIC_WEIGHTED_GUMBEL_H

#include "engine/sketch/hash/sketch_key.h"
#include "engine/topic/bags/bag.h"
#include "engine/topic/weighted/bag_sketch.h"

/* Draws of a key; any threads read it. */
struct gumbel_hash {
    uint64_t first, second;
};

int gumbel_hash_init(const uint8_t key[SKETCH_KEY_BYTES],
                     struct gumbel_hash *ret_hash); /* 0, -ENOMEM */

/* An empty bag has an empty sketch. Some 15 us for any number of words up to some hundred. Any
 * threads. */
void gumbel_sketch(const struct gumbel_hash *hash, const struct bag *bag,
                   struct bag_sketch *ret_sketch);
/* The same, slowly: some 2 us a word. */
void gumbel_sketch_naive(const struct gumbel_hash *hash, const struct bag *bag,
                         struct bag_sketch *ret_sketch);

#endif
