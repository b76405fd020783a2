#include "engine/cluster/overlap_filter.h"

void overlap_filter_make(const struct min_sketch *sketch, struct overlap_filter *ret_filter)
{
    bool complete = sketch->below == 0;
    struct overlap_filter filter = {
        .n = complete || sketch->n_values < sketch->s ? sketch->n_values : sketch->s,
        .n_v = min_sketch_n_v(sketch),
        .complete = complete,
    };
    for (uint32_t i = 0; i < filter.n; i++) {
        unsigned bit = sketch->values[i] % OVERLAP_BITS;
        filter.bits[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
    *ret_filter = filter;
}
