/* Merging by blocks of eight values, for kernels that compare eight with eight at once.
 *
 * The blocks at the front of A and of B are compared, all with all; then the one that ends lower is
 * done (both, if they end alike). Let `last` be its greatest value. Every value up to it in A has
 * been compared with every one in B that could be the same, and no greater pair has been seen,
 * since a pair is never greater than the end of either block. At any time the merge therefore
 * stands at last.
 *
 * Example with blocks of two: A = {1 4 | 6 9}, B = {2 4 | 5 6}. The blocks 1 4 and 2 4 have one
 * pair, end alike and are both done; 6 9 and 5 6 have one pair, and 5 6 is done: last = 6, and of A
 * the values 1 4 6 are merged.
 *
 * Cost: one step for eight values of A or B, without a branch on a value. A step compares 64 pairs
 * where a scalar merge compares some ten, which pays as a vector compares eight pairs at once.
 */
#ifndef KINFS_ENGINE_SKETCH_MINIMA_MERGE_VALUES_BLOCKS_H
#define KINFS_ENGINE_SKETCH_MINIMA_MERGE_VALUES_BLOCKS_H

#include <immintrin.h>
#include <stdbool.h>

#include "engine/sketch/minima/merge_values.h"

enum { MERGE_BLOCK = 8, MERGE_SMALL_BLOCK = 4 };

/* A mask of the values of a that are in b: bit i is set for a[i]. Each kernel has its own. */
static unsigned common(const uint64_t a[MERGE_BLOCK], const uint64_t b[MERGE_BLOCK]);

static inline unsigned common_small(const uint64_t a[MERGE_SMALL_BLOCK],
                                    const uint64_t b[MERGE_SMALL_BLOCK])
{
    __m256i four = _mm256_loadu_si256((const __m256i *)a), found = _mm256_setzero_si256();
#pragma GCC unroll 4
    for (int i = 0; i < MERGE_SMALL_BLOCK; i++)
        found = _mm256_or_si256(found, _mm256_cmpeq_epi64(four, _mm256_set1_epi64x((int64_t)b[i])));
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(found));
}

/* The number of values of a sorted array that are up to last, of which the first n are known to be,
 * and which ends within a block behind them. */
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
    /* A block of each adds at most 2 * size values to the union. */
    while (n_a + size <= merge->end_a && n_b + size <= merge->end_b &&
           n_a + n_b - n_both + 2 * size <= u_end) {
        uint64_t last_a = a[n_a + size - 1], last_b = b[n_b + size - 1];
        n_both += (uint32_t)__builtin_popcount(
            size == MERGE_BLOCK ? common(a + n_a, b + n_b) : common_small(a + n_a, b + n_b));
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

/* The block at p, or, where fewer than eight values are left, a copy that repeats the last one. */
static inline const uint64_t *whole_block(const uint64_t *p, uint32_t n, uint64_t copy[MERGE_BLOCK])
{
    if (n >= MERGE_BLOCK)
        return p;
    for (uint32_t i = 0; i < MERGE_BLOCK; i++)
        copy[i] = p[i < n ? i : n - 1];
    return copy;
}

/* The merge of all values, without keeping count of the union on the way. */
static inline __attribute__((always_inline)) void merge_all_blocks(struct value_merge *merge)
{
    const uint64_t *a = merge->a + merge->n_a, *b = merge->b + merge->n_b;
    uint32_t left_a = merge->end_a - merge->n_a, left_b = merge->end_b - merge->n_b, n_both = 0;
    while (left_a >= MERGE_BLOCK && left_b >= MERGE_BLOCK) {
        uint64_t last_a = a[MERGE_BLOCK - 1], last_b = b[MERGE_BLOCK - 1];
        n_both += (uint32_t)__builtin_popcount(common(a, b));
        uint32_t n_a = MERGE_BLOCK * (last_a <= last_b), n_b = MERGE_BLOCK * (last_b <= last_a);
        a += n_a; /* no branch on values */
        left_a -= n_a;
        b += n_b;
        left_b -= n_b;
    }
    if (left_a && left_b) {
        /* The shorter is less than a block. */
        const uint64_t *longer = left_a < left_b ? b : a, *shorter = left_a < left_b ? a : b;
        uint32_t left = left_a < left_b ? left_b : left_a, n = left_a < left_b ? left_a : left_b;
        uint64_t copy[MERGE_BLOCK], last_copy[MERGE_BLOCK];
        shorter = whole_block(shorter, n, copy);
        for (; left >= MERGE_BLOCK && longer[0] <= shorter[MERGE_BLOCK - 1]; left -= MERGE_BLOCK) {
            n_both += (uint32_t)__builtin_popcount(common(longer, shorter));
            longer += MERGE_BLOCK;
        }
        if (left && left < MERGE_BLOCK)
            n_both += (uint32_t)__builtin_popcount(
                common(whole_block(longer, left, last_copy), shorter) & ((1u << left) - 1));
    }
    merge->n_a = merge->end_a;
    merge->n_b = merge->end_b;
    merge->n_both += n_both;
    merge->u = merge->n_a + merge->n_b - merge->n_both;
}

static inline void merge_blocks(struct value_merge *merge, uint32_t u_end)
{
    if ((uint64_t)merge->u + (merge->end_a - merge->n_a) + (merge->end_b - merge->n_b) <= u_end) {
        merge_all_blocks(merge);
        return;
    }
    merge_blocks_of(merge, u_end, MERGE_BLOCK);
    merge_blocks_of(merge, u_end, MERGE_SMALL_BLOCK);
    merge_values_scalar(merge, u_end);
}

#endif
