/* The first values of the union of two sets, each a sorted array: how many of them belong to one,
 * to the other, and to both. What every comparison of two sketches spends its time on. */
#ifndef KINFS_ENGINE_SKETCH_MERGE_VALUES_H
#define KINFS_ENGINE_SKETCH_MERGE_VALUES_H

#include <stdint.h>

#include "base/kernel.h"

/* u values of the union so far: the first n_a of A, the first n_b of B, of which n_both are the
 * same. */
struct value_merge {
    const uint64_t *a, *b;
    uint32_t end_a, end_b; /* values of A and B that take part */
    uint32_t n_a, n_b, n_both, u;
};

/* Go on until there are u_end values, or all there are. */
typedef void merge_values_fn(struct value_merge *merge, uint32_t u_end);

/* The one of a kernel, NULL when that is not there. */
merge_values_fn *merge_values_of(enum kernel kernel);

/* That of the kernel in use. */
void merge_values(struct value_merge *merge, uint32_t u_end);

merge_values_fn merge_values_scalar, merge_values_avx2, merge_values_avx512;

#endif
