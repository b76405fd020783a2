#include <immintrin.h>

#include "engine/text/ascii_words.h"

enum { RUNS_COPY = 32 };

/* Digits have the bit that makes a letter small already; an underscore must not get it. */
static inline void runs_copy(uint8_t *to, const uint8_t *from)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)from);
    __m256i is_underscore = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('_'));
    __m256i small = _mm256_andnot_si256(is_underscore, _mm256_set1_epi8(0x20));
    _mm256_storeu_si256((__m256i *)to, _mm256_or_si256(bytes, small));
}

/* The upper half of a byte says which lower halves make a word byte: digits (bit 0), A-O and a-o
 * (bit 1), P-Z and the underscore (bit 2), p-z (bit 3). What is not ASCII finds none. */
static inline uint32_t mask_of(__m256i bytes)
{
    const __m256i lower =
        _mm256_setr_epi8(13, 15, 15, 15, 15, 15, 15, 15, 15, 15, 14, 2, 2, 2, 2, 6, 13, 15, 15, 15,
                         15, 15, 15, 15, 15, 15, 14, 2, 2, 2, 2, 6);
    const __m256i upper = _mm256_setr_epi8(0, 0, 0, 1, 2, 4, 2, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                           1, 2, 4, 2, 8, 0, 0, 0, 0, 0, 0, 0, 0);
    __m256i halves = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    __m256i both =
        _mm256_and_si256(_mm256_shuffle_epi8(lower, bytes), _mm256_shuffle_epi8(upper, halves));
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(both, _mm256_setzero_si256()));
}

static inline uint64_t runs_mask(const uint8_t *p, uint64_t *ret_others)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)p);
    __m256i high = _mm256_loadu_si256((const __m256i *)(p + 32));
    *ret_others =
        (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32 | (uint32_t)_mm256_movemask_epi8(low);
    return (uint64_t)mask_of(high) << 32 | mask_of(low);
}

static inline unsigned runs_first(uint64_t mask)
{
    return (unsigned)_tzcnt_u64(mask);
}

#include "engine/text/ascii_runs.h"

size_t ascii_words_avx2(struct words *words, const uint8_t *p, size_t size_bytes)
{
    return runs_words(words, p, size_bytes);
}
