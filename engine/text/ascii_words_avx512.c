/* 64 bytes at a time: one permutation of a table of 128 bytes classifies and folds them, what is a
 * word is compressed to where the next canonical byte belongs, and the ends of tokens come of the
 * same mask: a word byte before another that is none is the last of its token, and where it stands
 * among the word bytes (PEXT) is where it stands in the block.
 */
#include <immintrin.h>

#include "engine/text/ascii_words.h"
#include "engine/text/words.h"

enum { STEP = 64 };

static const uint8_t positions[STEP] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};

struct place {
    uint32_t n_bytes, n_tokens;
    uint64_t in_word; /* 0 or 1 */
};

/* The first bytes of the 64, as valid has them: one run of ones from bit 0 on. */
static inline __attribute__((always_inline)) void take(struct words *words, struct place *place,
                                                       __m512i bytes, __mmask64 valid)
{
    const __m512i low = _mm512_loadu_si512(ascii_words_fold);
    const __m512i high = _mm512_loadu_si512(ascii_words_fold + 64);
    __m512i folded = _mm512_permutex2var_epi8(low, bytes, high);
    uint64_t word = _mm512_test_epi8_mask(folded, folded) & valid;
    _mm512_storeu_si512(words->bytes + place->n_bytes, _mm512_maskz_compress_epi8(word, folded));

    /* Whether the last valid byte ends its token, only the next one tells. */
    uint64_t last = word & ~(word >> 1) & valid >> 1;
    uint64_t ends = _pext_u64(last, word) << 1 | (place->in_word & ~word);
    unsigned n_ends = (unsigned)_mm_popcnt_u64(ends); /* 32 at most */
    const __m512i numbers = _mm512_loadu_si512(positions);
    __m512i at = _mm512_maskz_compress_epi8(ends, numbers);
    __m512i base = _mm512_set1_epi32((int)place->n_bytes);
    uint32_t *to = words->ends + place->n_tokens + 1;
    __m512i first = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(at));
    _mm512_storeu_si512(to, _mm512_add_epi32(base, first));
    if (__builtin_expect(n_ends > 16, 0)) {
        __m512i others = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(at, 1));
        _mm512_storeu_si512(to + 16, _mm512_add_epi32(base, others));
    }
    place->n_bytes += (uint32_t)_mm_popcnt_u64(word);
    place->n_tokens += n_ends;
    place->in_word = (word & ~(valid >> 1)) != 0;
}

size_t ascii_words_avx512(struct words *words, const uint8_t *p, size_t size_bytes)
{
    struct place place = {words->n_bytes, words->n_tokens,
                          words->n_bytes != words->ends[words->n_tokens]};
    size_t at = 0;
    while (at < size_bytes && place.n_bytes <= WORDS_STEP_BYTES_MAX &&
           place.n_tokens <= WORDS_STEP_TOKENS_MAX &&
           place.n_bytes - words->ends[place.n_tokens] <= CANON_TOKEN_MAX_BYTES - STEP) {
        __mmask64 valid =
            size_bytes - at < STEP ? _bzhi_u64(~0ull, (unsigned)(size_bytes - at)) : ~(__mmask64)0;
        __m512i bytes = _mm512_maskz_loadu_epi8(valid, p + at);
        uint64_t others = _mm512_movepi8_mask(bytes);
        if (others | ~valid) { /* the last step */
            if (others)
                valid = _blsmsk_u64(others) >> 1;
            if (valid)
                take(words, &place, bytes, valid);
            at += (size_t)_mm_popcnt_u64(valid);
            break;
        }
        take(words, &place, bytes, ~(__mmask64)0);
        at += STEP;
    }
    words->n_bytes = place.n_bytes;
    words->n_tokens = place.n_tokens;
    return at;
}
