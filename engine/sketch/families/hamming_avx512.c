/* The AVX-512 kernel of hamming.c holds eight words of choices in a vector and draws the random
 * numbers of all eight at once. The results are those of flip_scalar(); the loops are turned round,
 * words outside and elements inside, so that the sums stay in a register. */
#include <immintrin.h>

#include "engine/sketch/families/hamming_kernel.h"

enum { SURE = 8 }; /* digits after which choices are nearly always left: no test is made earlier */

static inline __m512i mix(__m512i z)
{
    z = _mm512_mullo_epi64(_mm512_xor_si512(z, _mm512_srli_epi64(z, 30)),
                           _mm512_set1_epi64((int64_t)HAMMING_MIX_FIRST));
    z = _mm512_mullo_epi64(_mm512_xor_si512(z, _mm512_srli_epi64(z, 27)),
                           _mm512_set1_epi64((int64_t)HAMMING_MIX_SECOND));
    return _mm512_xor_si512(z, _mm512_srli_epi64(z, 31));
}

void hamming_flip_avx512(const struct hamming *hamming, const uint64_t *elements, size_t n_elements,
                         uint64_t *parities)
{
    const __m512i step = _mm512_set1_epi64((int64_t)HAMMING_STEP);
    const uint64_t word_step = hamming->n_digits * HAMMING_STEP;
    /* n_others counts the digits from the first 1 on, n_sure those that are left when the test
     * begins whether all choices are made. */
    const unsigned n_others = 64 - (unsigned)__builtin_clzll(hamming->digits);
    const unsigned n_sure = hamming->n_digits > SURE ? hamming->n_digits - SURE : 0;
    const __m512i in_order = _mm512_setr_epi64(1, 2, 3, 4, 5, 6, 7, 8);
    for (uint32_t word = 0; word < hamming->n_words; word += HAMMING_WORDS) {
        uint32_t left = hamming->n_words - word;
        __mmask8 there = (__mmask8)(left < HAMMING_WORDS ? (1u << left) - 1 : 0xff);
        __m512i sums = _mm512_maskz_loadu_epi64(there, parities + word);
        __m512i last =
            _mm512_add_epi64(/* the first digit of each word */
                             _mm512_mullo_epi64(in_order, _mm512_set1_epi64((int64_t)word_step)),
                             _mm512_set1_epi64((int64_t)(word * word_step)));
        for (size_t at = 0; at < n_elements; at++) {
            uint64_t seed = hamming_mix(elements[at] ^ hamming->seed);
            __m512i seeds = _mm512_add_epi64(last, _mm512_set1_epi64((int64_t)seed));
            __m512i undecided = _mm512_maskz_set1_epi64(there, -1);
            unsigned i = hamming->n_digits;
            for (; i > n_others; i--) {
                undecided = _mm512_and_si512(undecided, mix(seeds));
                seeds = _mm512_sub_epi64(seeds, step);
            }
            while (i-- > 0) {
                __m512i ones = _mm512_and_si512(undecided, mix(seeds));
                if (hamming->digits >> i & 1) {
                    sums = _mm512_xor_si512(sums, ones);
                    undecided = _mm512_xor_si512(undecided, ones);
                } else {
                    undecided = ones;
                }
                seeds = _mm512_sub_epi64(seeds, step);
                if (i < n_sure && !_mm512_test_epi64_mask(undecided, undecided))
                    break;
            }
        }
        _mm512_mask_storeu_epi64(parities + word, there, sums);
    }
}
