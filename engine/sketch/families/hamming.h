/* Sketches for the Hamming distance (Kushilevitz, Ostrovsky and Rabani 1998, "Efficient search for
 * approximate nearest neighbor in high dimensional spaces"): t parities, each of the elements that
 * a random choice takes with probability 1/(2k). A set is the vector that is 1 at its elements; the
 * distance of two is how many elements are in one of them only.
 *
 * Parities of x and y at distance m agree with probability (1 + (1 - 1/k)^m) / 2: more than 12/18
 * or so for m <= k, less than 10/18 or so for m >= 2k. More than 11/18 of t agreeing means "at most
 * k", which is wrong with probability delta at most where the distance is <= k or >= 2k. The
 * printed bounds hold in the limit: for k = 1 the probability is 1/2 on both sides and nothing can
 * be told; for k = 2 it is 0.625 at k, near 11/18, and t is large.
 *
 * The sketch is linear: that of the symmetric difference is the exclusive or.
 */
#ifndef KINFS_ENGINE_SKETCH_FAMILIES_HAMMING_H
#define KINFS_ENGINE_SKETCH_FAMILIES_HAMMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kernel.h"
#include "engine/sketch/hash/sketch_key.h"

enum { HAMMING_T_MAX = 1 << 20 };

/* Probability that a parity of two vectors at distance m agrees. */
double hamming_agreement(uint32_t k, double m);

/* The least t (from 1 on) with which both errors are at most delta, from the binomial distribution.
 * Returns 0, -EDOM for k < 2 (k = 1: compare the sets instead), -EINVAL for delta not within 0
 * and 1/2, -ERANGE when HAMMING_T_MAX parities do not do. Time: O(t log t). */
int hamming_parities(uint32_t k, double delta, uint32_t *ret_t);

/* The choices of one sketch of t parities at k. */
struct hamming {
    uint64_t seed;
    uint32_t k;
    uint32_t n_words; /* t / 64, rounded up; the parities past t are chosen as well */
    uint32_t t;
    unsigned n_digits; /* of 1/(2k), binary, behind the point */
    uint64_t digits;
};

/* Returns 0, -EDOM for k < 2, -EINVAL for t = 0 or above HAMMING_T_MAX, -ENOMEM. */
int hamming_init(struct hamming *hamming, const uint8_t key[SKETCH_KEY_BYTES], uint32_t k,
                 uint32_t t);

/* Add elements to (or take them out of) the n_words words of parities. Time: some ten random
 * numbers a word and element. */
typedef void hamming_flip_fn(const struct hamming *hamming, const uint64_t *elements,
                             size_t n_elements, uint64_t *parities);

/* The function of the kernel in use, and that of a given kernel; NULL when this processor does not
 * have it. */
hamming_flip_fn hamming_flip;
hamming_flip_fn *hamming_flip_of(enum kernel kernel);

/* The number of the t parities that differ. */
uint32_t hamming_differences(const struct hamming *hamming, const uint64_t *a, const uint64_t *b);

/* True when more than 11/18 agree: the distance is at most k, if it is not between k and 2k. */
bool hamming_accepts(const struct hamming *hamming, const uint64_t *a, const uint64_t *b);

#endif
