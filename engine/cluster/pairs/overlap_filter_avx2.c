/* The portable scan compiled with the instructions of AVX2 processors, which count bits at once. */
#include "engine/cluster/pairs/overlap_filter.h"

size_t overlap_scan_avx2(const struct overlap_filter *filter, uint32_t set,
                         const struct overlap_filter *filters, const uint32_t *sets, size_t from,
                         size_t n, uint32_t s, double at_least, uint64_t *n_others)
{
    return overlap_scan(filter, set, filters, sets, from, n, s, at_least, n_others);
}
