/* Merging by blocks of eight values, for kernels that compare eight with eight at once.
 *
 * The blocks at the front of A and of B are compared, all with all; then the one that ends lower is
 * done (both, if they end alike). Let `last` be its greatest value. Every value up to it in A has
 * been compared with every one in B that could be the same, and no greater pair has been seen,
 * since a pair is never greater than the end of either block. So at any time the merge stands at
 * last.
 */
#ifndef KINFS_ENGINE_SKETCH_MERGE_VALUES_BLOCKS_H
#define KINFS_ENGINE_SKETCH_MERGE_VALUES_BLOCKS_H

#include <stdbool.h>

#include "engine/sketch/merge_values.h"

enum { MERGE_BLOCK = 8, MERGE_SMALL_BLOCK = 4 };

/* How many values of one block are in the other. */
static uint32_t n_common(const uint64_t a[MERGE_BLOCK], const uint64_t b[MERGE_BLOCK]);
static uint32_t n_common_small(const uint64_t a[MERGE_SMALL_BLOCK],
                               const uint64_t b[MERGE_SMALL_BLOCK]);

/* How many values of a sorted array, from the n-th on, are up to last, and n. */
static inline uint32_t n_up_to(const uint64_t *values, uint32_t n, uint32_t end, uint64_t last)
{
    uint32_t until = end - n < MERGE_BLOCK ? end : n + MERGE_BLOCK;
    for (uint32_t i = n; i < until; i++) /* no branch on a value */
        n += values[i] <= last;
    return n;
}

static inline __attribute__((always_inline)) void merge_blocks_of(struct value_merge *merge,
                                                                  uint32_t u_end, uint32_t size)
{
    const uint64_t *a = merge->a, *b = merge->b;
    uint32_t n_a = merge->n_a, n_b = merge->n_b, n_both = merge->n_both;
    uint64_t last = 0;
    bool any = false;
    /* A block more of each is at most so much further. */
    while (n_a + size <= merge->end_a && n_b + size <= merge->end_b &&
           n_a + n_b - n_both + 2 * size <= u_end) {
        uint64_t last_a = a[n_a + size - 1], last_b = b[n_b + size - 1];
        n_both +=
            size == MERGE_BLOCK ? n_common(a + n_a, b + n_b) : n_common_small(a + n_a, b + n_b);
        last = last_a < last_b ? last_a : last_b;
        n_a += size * (last_a <= last_b); /* no branch on values */
        n_b += size * (last_b <= last_a);
        any = true;
    }
    if (any) {
        merge->n_a = n_up_to(a, n_a, merge->end_a, last);
        merge->n_b = n_up_to(b, n_b, merge->end_b, last);
        merge->n_both = n_both;
        merge->u = merge->n_a + merge->n_b - n_both;
    }
}

static inline void merge_blocks(struct value_merge *merge, uint32_t u_end)
{
    merge_blocks_of(merge, u_end, MERGE_BLOCK);
    merge_blocks_of(merge, u_end, MERGE_SMALL_BLOCK);
    merge_values_scalar(merge, u_end);
}

#endif
