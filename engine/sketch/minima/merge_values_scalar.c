/* The portable kernel of merge_values.h: a merge of two sorted arrays that counts. Both positions
 * advance by the result of a comparison, without a branch, which would be mispredicted every other
 * time.
 *
 * Example: A = {1 4 6}, B = {2 4 6 7}, up to u_end = 3: 1 is in A, 2 in B, 4 in both. The merge
 * stands at n_a = 2, n_b = 2, n_both = 1, u = 3.
 *
 * Cost: one step a value of the union. The vector kernels (merge_values_blocks.h) take eight values
 * a step. Left out: galloping, which helps only where one array is far longer than the other;
 * sketches have similar lengths.
 */
#include "engine/sketch/minima/merge_values.h"

void merge_values_scalar(struct value_merge *merge, uint32_t u_end)
{
    struct value_merge at = *merge;
    while (at.u < u_end && at.n_a < at.end_a && at.n_b < at.end_b) {
        uint64_t a = at.a[at.n_a], b = at.b[at.n_b];
        at.n_a += a <= b;
        at.n_b += b <= a;
        at.n_both += a == b;
        at.u++;
    }
    uint32_t left = at.u < u_end ? u_end - at.u : 0;
    uint32_t left_a = at.end_a - at.n_a, left_b = at.end_b - at.n_b;
    if (left && left_a) { /* only one of the two arrays can have values left */
        uint32_t n = left < left_a ? left : left_a;
        at.n_a += n;
        at.u += n;
    } else if (left && left_b) {
        uint32_t n = left < left_b ? left : left_b;
        at.n_b += n;
        at.u += n;
    }
    *merge = at;
}
