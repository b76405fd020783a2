/* The AVX-512 kernel of select_values.h compares eight values at once and moves the selected ones
 * to the front by one instruction, vpcompressq. */
#include <immintrin.h>

#include "engine/sketch/minima/select_values.h"

size_t select_values_avx512(const uint64_t *values, size_t n, uint64_t last, uint64_t *to)
{
    const __m512i bound = _mm512_set1_epi64((int64_t)last);
    size_t n_selected = 0;
    for (size_t i = 0; i < n; i += 8) {
        __mmask8 there = (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1 : 0xff);
        __m512i eight = _mm512_maskz_loadu_epi64(there, values + i);
        __mmask8 selected = _mm512_mask_cmple_epu64_mask(there, eight, bound);
        /* The values are compressed in a register and stored whole, as compressing into memory is
         * slow on some processors. */
        _mm512_storeu_si512(to + n_selected, _mm512_maskz_compress_epi64(selected, eight));
        n_selected += (size_t)__builtin_popcount(selected);
    }
    return n_selected;
}
