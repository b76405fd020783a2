/* Pairs of documents that resemble each other, found in any order and given in that of their
 * resemblance, the greatest first. A pair is one number, so that sorting numbers sorts pairs, and
 * what was found by several fingerprints stands side by side:
 *
 *    | 14 bits: 10,000 less the resemblance in ten thousandths | b bits: the smaller | b: the
 * larger |
 *
 * with b at most 25, for 33,554,432 documents. */
#ifndef KINFS_ENGINE_CLUSTER_PAIRS_RESEMBLING_PAIRS_H
#define KINFS_ENGINE_CLUSTER_PAIRS_RESEMBLING_PAIRS_H

#include <math.h>

#include "base/ratio.h"
#include "engine/cluster/large/spill.h"

enum {
    RESEMBLING_MOST_DOCUMENTS = 1 << 25,
    RESEMBLING_UNITS = 10000,
    RESEMBLING_IN_PARTITION_BITS = 4, /* of the resemblance, in one partition */
    RESEMBLING_PARTITIONS = (RESEMBLING_UNITS >> RESEMBLING_IN_PARTITION_BITS) + 1,
};

/* Two documents that are not equal: 1 is said of equal ones alone. Returns 0 or an error of
 * spill_add(). */
static inline int resembling_pair_add(struct spill_writer *writer, unsigned number_bits, uint32_t a,
                                      uint32_t b, double resemblance)
{
    const uint32_t less =
        RESEMBLING_UNITS - (uint32_t)lrint(fmin(resemblance, RATIO_BELOW_ONE) * RESEMBLING_UNITS);
    const uint64_t smaller = a < b ? a : b, larger = a < b ? b : a;
    const uint64_t pair = ((uint64_t)less << number_bits | smaller) << number_bits | larger;
    return spill_add(writer, less >> RESEMBLING_IN_PARTITION_BITS, &pair);
}

/* Hands out all pairs of a spill, which is used up: each once, those of equal resemblance by their
 * numbers, a the smaller.
 *
 * runs        for partitions that do not fit into the room; used by nobody else
 * room_bytes  SORTED_LEAST_BYTES at least
 * Returns 0, what take returned, -ENOMEM, an error of scratch_file.h. */
typedef int (*resembling_pair_fn)(void *user, uint32_t a, uint32_t b, double resemblance);
int resembling_pairs_each(struct spill *spill, unsigned number_bits, struct scratch_file *runs,
                          size_t room_bytes, resembling_pair_fn take, void *user);

#endif
