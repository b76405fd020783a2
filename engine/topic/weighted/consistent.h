/* Sketches of bags of any weights, above 0, by consistent weighted sampling: a signature is a word
 * and a place below its weight, and the chance of two bags to have the same is their similarity,
 * exactly (Ioffe 2010, "Improved consistent sampling, weighted minhash and L1 sketching": ICWS).
 *
 * I2CWS (Wu, Li, Chen, Zhang and Yu 2019, "Improved consistent weighted sampling revisited")
 * chooses word and place by random numbers that are independent of each other. Its authors take
 * that for the remedy of a fault of ICWS; but ICWS is right because the two depend on each other,
 * and I2CWS estimates too little: 7/12 and not 2/3 for the weights 1, 1 and 1, 2. It is here to
 * compare with.
 */
#ifndef KINFS_ENGINE_TOPIC_WEIGHTED_CONSISTENT_H
#define KINFS_ENGINE_TOPIC_WEIGHTED_CONSISTENT_H

#include "base/cleanup.h"
#include "engine/sketch/hash/sketch_key.h"
#include "engine/topic/bags/bag.h"
#include "engine/topic/weighted/bag_sketch.h"

enum consistent_kind {
    CONSISTENT_ICWS,
    CONSISTENT_I2CWS,
};

struct consistent_hash; /* what a key draws; any threads read it */

/* Returns 0, -ENOMEM; gives. */
int consistent_hash_new(const uint8_t key[SKETCH_KEY_BYTES], struct consistent_hash **ret_hash);
void consistent_hash_free(struct consistent_hash *hash);
DEFINE_CLEANUP(struct consistent_hash *, consistent_hash_free);

/* An empty bag has an empty sketch. 80 times three logarithms a word: some 4 us a word. Any
 * threads. */
void consistent_sketch(const struct consistent_hash *hash, enum consistent_kind kind,
                       const struct bag *bag, struct bag_sketch *ret_sketch);

#endif
