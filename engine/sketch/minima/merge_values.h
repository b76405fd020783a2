/* The merge of two sets, each a sorted array, counts how many of the first values of their union
 * belong to one, to the other, and to both. Every comparison of two sketches spends its time here.
 */
#ifndef KINFS_ENGINE_SKETCH_MINIMA_MERGE_VALUES_H
#define KINFS_ENGINE_SKETCH_MINIMA_MERGE_VALUES_H

#include <stdint.h>

#include "base/kernel.h"

/* A merge under way: u values of the union so far, which are the first n_a of A and the first n_b
 * of B; n_both values are in both. */
struct value_merge {
    const uint64_t *a, *b;
    uint32_t end_a, end_b; /* values of A and B that take part */
    uint32_t n_a, n_b, n_both, u;
};

/* The merge goes on until u = u_end, or until both arrays are at their ends. */
typedef void merge_values_fn(struct value_merge *merge, uint32_t u_end);

/* The function of a kernel; NULL when this processor does not have it. */
merge_values_fn *merge_values_of(enum kernel kernel);

/* The function of the kernel in use. */
void merge_values(struct value_merge *merge, uint32_t u_end);

merge_values_fn merge_values_scalar, merge_values_avx2, merge_values_avx512;

#endif
