/* The overlap filter is made here; overlap_filter.h has the idea, the bound and the comparison.
 *
 * Example with 8 bits in place of 512: the values 1 3 9 12 set the bits 1 3 4, the values 1 5 6 12
 * the bits 1 4 5 6. Three bits differ, so at most (4 + 4 - 3) / 2 = 2 values are common; 1 and 12
 * are.
 *
 * Cost: a bit for each of s values; comparing two filters is 64 bytes of exclusive or and a count.
 * Left out: filters of other sizes. 512 bits are a cache line, and for s = 128 tell nearly all
 * pairs of unlike documents apart.
 */
#include "engine/cluster/pairs/overlap_filter.h"

void overlap_filter_make(const struct min_sketch *sketch, struct overlap_filter *ret_filter)
{
    bool complete = sketch->below == 0;
    struct overlap_filter filter = {
        .n = complete || sketch->n_values < sketch->s ? sketch->n_values : sketch->s,
        .n_v = min_sketch_n_v(sketch) & INT32_MAX, /* at most POLICY_V_MAX */
        .complete = complete,
    };
    for (uint32_t i = 0; i < filter.n; i++) {
        unsigned bit = sketch->values[i] % OVERLAP_BITS;
        filter.bits[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
    *ret_filter = filter;
}

size_t overlap_scan_scalar(const struct overlap_filter *filter, uint32_t set,
                           const struct overlap_filter *filters, const uint32_t *sets, size_t from,
                           size_t n, uint32_t s, double at_least, uint64_t *n_others)
{
    return overlap_scan(filter, set, filters, sets, from, n, s, at_least, n_others);
}

overlap_scan_fn *overlap_scan_of(enum kernel kernel)
{
    if (!kernel_is_there(kernel))
        return NULL;
    switch (kernel) {
#if defined(__x86_64__)
    case KERNEL_AVX2: return overlap_scan_avx2;
    case KERNEL_AVX512: return overlap_scan_avx512;
#endif
    default: return overlap_scan_scalar;
    }
}
