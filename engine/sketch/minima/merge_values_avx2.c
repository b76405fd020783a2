/* The AVX2 kernel of merge_values.h: eight values are two vectors of four, so a block pair takes
 * sixteen vector comparisons. merge_values_blocks.h has the idea. */
#include "engine/sketch/minima/merge_values_blocks.h"

static inline unsigned common(const uint64_t a[MERGE_BLOCK], const uint64_t b[MERGE_BLOCK])
{
    __m256i low = _mm256_loadu_si256((const __m256i *)a);
    __m256i high = _mm256_loadu_si256((const __m256i *)(a + 4));
    __m256i found_low = _mm256_setzero_si256(), found_high = found_low;
#pragma GCC unroll 8
    for (int i = 0; i < MERGE_BLOCK; i++) {
        __m256i one = _mm256_set1_epi64x((int64_t)b[i]);
        found_low = _mm256_or_si256(found_low, _mm256_cmpeq_epi64(low, one));
        found_high = _mm256_or_si256(found_high, _mm256_cmpeq_epi64(high, one));
    }
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(found_low)) |
           (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(found_high)) << 4;
}

void merge_values_avx2(struct value_merge *merge, uint32_t u_end)
{
    merge_blocks(merge, u_end);
}
