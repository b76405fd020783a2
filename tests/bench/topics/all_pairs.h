/* What each bag has in common with each other, nothing left out: the sum of lesser weights, of bags
 * that sum to 100 in whole numbers. */
#ifndef KINFS_TESTS_BENCH_TOPICS_ALL_PAIRS_H
#define KINFS_TESTS_BENCH_TOPICS_ALL_PAIRS_H

#include "base/cleanup.h"
#include "engine/topic/bags/bag.h"

struct all_pairs;

/* The lists of words; bags are borrowed. Returns 0 or -ENOMEM; gives. */
int all_pairs_new(const struct bag *bags, uint32_t n, struct all_pairs **ret_pairs);
void all_pairs_free(struct all_pairs *pairs);
DEFINE_CLEANUP(struct all_pairs *, all_pairs_free);

/* Writes what each of the n has in common with one; of itself 0. Linear in the lists of its words.
 */
void all_pairs_of(const struct all_pairs *pairs, uint32_t one, uint8_t *ret_common);

/* sim() of what is in common. */
static inline double common_resemblance(unsigned common)
{
    return common / (2.0 * BAG_SUM - common);
}

/* The least in common of a resemblance. */
unsigned common_least(double resemblance);

#endif
