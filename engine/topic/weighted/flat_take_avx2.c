/* The AVX2 kernel of flat_take.h: eight functions at a time, in registers while all elements pass,
 * those of even numbers and those of odd ones as products of 64 bits. Some 0.3 ns a value. */
#include "engine/topic/weighted/flat_take.h"

#include <immintrin.h>

/* The lower and the upper 31 bits of each product, added: below 2^32. */
static inline __m256i fold(__m256i a, __m256i b, __m256i x, __m256i prime)
{
    __m256i product = _mm256_add_epi64(_mm256_mul_epu32(a, x), b);
    return _mm256_add_epi64(_mm256_and_si256(product, prime), _mm256_srli_epi64(product, 31));
}

static inline __m256i take_eight(const uint32_t *a, const uint32_t *b, const uint32_t *elements,
                                 size_t n, __m256i least)
{
    const __m256i low = _mm256_set1_epi64x(0xffffffff), prime = _mm256_set1_epi64x(FLAT_PRIME),
                  primes = _mm256_set1_epi32(FLAT_PRIME);
    __m256i all_a = _mm256_loadu_si256((const __m256i *)a),
            all_b = _mm256_loadu_si256((const __m256i *)b);
    __m256i odd_a = _mm256_srli_epi64(all_a, 32), odd_b = _mm256_srli_epi64(all_b, 32),
            even_b = _mm256_and_si256(all_b, low);
    for (size_t j = 0; j < n; j++) {
        __m256i x = _mm256_set1_epi32((int)elements[j]);
        __m256i even = fold(all_a, even_b, x, prime), odd = fold(odd_a, odd_b, x, prime);
        __m256i sums = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
        __m256i values = _mm256_sub_epi32(sums, primes);
        values = _mm256_add_epi32(values, _mm256_and_si256(_mm256_srai_epi32(values, 31), primes));
        least = _mm256_min_epi32(least, values);
    }
    return least;
}

void flat_take_avx2(const struct flat_functions *functions, const uint32_t *elements, size_t n,
                    int32_t least[BAG_SIGNATURES])
{
    for (unsigned i = 0; i < BAG_SIGNATURES; i += 8) {
        __m256i *to = (__m256i *)(least + i);
        _mm256_storeu_si256(to, take_eight(functions->a + i, functions->b + i, elements, n,
                                           _mm256_loadu_si256(to)));
    }
}

_Static_assert(BAG_SIGNATURES % 8 == 0, "");
