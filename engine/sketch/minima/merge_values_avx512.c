/* The AVX-512 kernel of merge_values.h: eight values are one vector, so a block pair takes eight
 * vector comparisons. merge_values_blocks.h has the idea. */
#include "engine/sketch/minima/merge_values_blocks.h"

static inline unsigned common(const uint64_t a[MERGE_BLOCK], const uint64_t b[MERGE_BLOCK])
{
    __m512i eight = _mm512_loadu_si512(a);
    __mmask8 found = 0;
#pragma GCC unroll 8
    for (int i = 0; i < MERGE_BLOCK; i++)
        found = _kor_mask8(found, _mm512_cmpeq_epi64_mask(eight, _mm512_set1_epi64((int64_t)b[i])));
    return found;
}

void merge_values_avx512(struct value_merge *merge, uint32_t u_end)
{
    merge_blocks(merge, u_end);
}
