#include "engine/index/postings/postings.h"

size_t postings_tier_keys(enum postings_tier tier, const struct min_sketch *sketch)
{
    if (tier == POSTINGS_TIER_R)
        return sketch->n_values < POSTINGS_TIER_R_KEYS ? sketch->n_values : POSTINGS_TIER_R_KEYS;
    if (sketch->v_below == 0)
        return sketch->n_values;
    size_t low = 0, high = sketch->n_values;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sketch->values[middle] < sketch->v_below)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t postings_tier_rows(enum postings_tier tier, const struct min_sketch *sketch,
                          size_t *ret_first)
{
    size_t n = postings_tier_keys(tier, sketch);

    *ret_first = tier == POSTINGS_TIER_R ? 0 : POSTINGS_TIER_R_KEYS;
    return n > *ret_first ? n - *ret_first : 0;
}
