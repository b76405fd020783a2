/* The AVX2 kernel of select_values.h compares four values at once. AVX2 has no instruction that
 * moves the selected values to the front, so a table of the 16 possible selections says which
 * halves of values go where.
 *
 * Example: of four values the first and the third are selected, 0101 in binary, which is entry 5:
 * halves 0 1 (the first value) and 4 5 (the third one). One permutation and one store for four
 * values.
 */
#include <immintrin.h>

#include "engine/sketch/minima/select_values.h"

/* gather[selection] has the halves of the selected values in order; bit i of a selection is value
 * i. */
static const uint32_t gather[16][8] = {{0},
                                       {0, 1},
                                       {2, 3},
                                       {0, 1, 2, 3},
                                       {4, 5},
                                       {0, 1, 4, 5},
                                       {2, 3, 4, 5},
                                       {0, 1, 2, 3, 4, 5},
                                       {6, 7},
                                       {0, 1, 6, 7},
                                       {2, 3, 6, 7},
                                       {0, 1, 2, 3, 6, 7},
                                       {4, 5, 6, 7},
                                       {0, 1, 4, 5, 6, 7},
                                       {2, 3, 4, 5, 6, 7},
                                       {0, 1, 2, 3, 4, 5, 6, 7}};

size_t select_values_avx2(const uint64_t *values, size_t n, uint64_t last, uint64_t *to)
{
    /* AVX2 compares signed numbers only; with the sign bits turned they order as unsigned ones. */
    const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
    const __m256i bound = _mm256_xor_si256(_mm256_set1_epi64x((int64_t)last), sign);
    size_t n_selected = 0, i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i four = _mm256_loadu_si256((const __m256i *)(values + i));
        __m256i greater = _mm256_cmpgt_epi64(_mm256_xor_si256(four, sign), bound);
        unsigned selected = 15 ^ (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(greater));
        __m256i order = _mm256_loadu_si256((const __m256i *)gather[selected]);
        _mm256_storeu_si256((__m256i *)(to + n_selected), _mm256_permutevar8x32_epi32(four, order));
        n_selected += (size_t)__builtin_popcount(selected);
    }
    for (; i < n; i++) {
        uint64_t value = values[i];
        to[n_selected] = value;
        n_selected += value <= last;
    }
    return n_selected;
}
