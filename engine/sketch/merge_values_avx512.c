#include <immintrin.h>

#include "engine/sketch/merge_values_blocks.h"

static inline uint32_t n_common(const uint64_t a[MERGE_BLOCK], const uint64_t b[MERGE_BLOCK])
{
    __m512i eight = _mm512_loadu_si512(a);
    __mmask8 common = 0;
#pragma GCC unroll 8
    for (int i = 0; i < MERGE_BLOCK; i++)
        common =
            _kor_mask8(common, _mm512_cmpeq_epi64_mask(eight, _mm512_set1_epi64((int64_t)b[i])));
    return (uint32_t)__builtin_popcount(common);
}

static inline uint32_t n_common_small(const uint64_t a[MERGE_SMALL_BLOCK],
                                      const uint64_t b[MERGE_SMALL_BLOCK])
{
    __m256i four = _mm256_loadu_si256((const __m256i *)a), common = _mm256_setzero_si256();
#pragma GCC unroll 4
    for (int i = 0; i < MERGE_SMALL_BLOCK; i++)
        common =
            _mm256_or_si256(common, _mm256_cmpeq_epi64(four, _mm256_set1_epi64x((int64_t)b[i])));
    return (uint32_t)__builtin_popcount((unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(common)));
}

void merge_values_avx512(struct value_merge *merge, uint32_t u_end)
{
    merge_blocks(merge, u_end);
}
