/* The AVX-512 kernel takes 64 bytes at a time: one permutation of a table of 128 bytes classifies
 * and folds them, word bytes are compressed to the place of the next canonical byte, and the ends
 * of tokens come of the same mask: a word byte before one that is none is the last of its token,
 * and its number among the word bytes (PEXT) is its place in the block.
 *
 * Example with eight bytes: "Ab, c-d " is folded to a b . . c . d . with the mask 11001010 (first
 * byte first); the bytes are compressed to "abcd". The last bytes of tokens are b, c and d, which
 * are numbers 1, 2 and 3 among the word bytes: the ends are 2, 3 and 4.
 *
 * Letters of two bytes are looked up sixteen at a time, in the table that words.c has for them, and
 * are word bytes like others then.
 */
#include <immintrin.h>

#include "engine/text/words/ascii_words.h"
#include "engine/text/words/unicode.h"
#include "engine/text/words/words.h"

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

static inline __m512i fold_ascii(__m512i bytes)
{
    const __m512i low = _mm512_loadu_si512(ascii_words_fold);
    const __m512i high = _mm512_loadu_si512(ascii_words_fold + 64);
    return _mm512_permutex2var_epi8(low, bytes, high);
}

/* The foldings of 16 characters of two bytes. */
static inline __m256i fold_pairs(__m256i codes)
{
    return _mm512_cvtepi32_epi16(
        _mm512_i32gather_epi32(_mm512_cvtepu16_epi32(codes), (const int *)unicode_pairs, 2));
}

/* Letters of two bytes among ASCII, which are gathered, looked up, and put back where they were.
 * ret_others: bytes that are neither, or are of a letter that has no folding of two bytes. */
static inline __m512i fold_both(__m512i bytes, uint64_t *ret_others)
{
    uint64_t others = *ret_others;
    uint64_t leads = _mm512_mask_cmplt_epu8_mask(others, bytes, _mm512_set1_epi8((char)0xe0)) &
                     _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8((char)0xc2));
    uint64_t inside = _mm512_mask_cmplt_epu8_mask(others, bytes, _mm512_set1_epi8((char)0xc0));
    leads &= inside >> 1;
    __m256i first = _mm512_castsi512_si256(_mm512_maskz_compress_epi8(leads, bytes));
    __m256i second = _mm512_castsi512_si256(_mm512_maskz_compress_epi8(leads << 1, bytes));
    __m512i codes = _mm512_or_si512(
        _mm512_slli_epi16(_mm512_and_si512(_mm512_cvtepu8_epi16(first), _mm512_set1_epi16(0x1f)),
                          6),
        _mm512_and_si512(_mm512_cvtepu8_epi16(second), _mm512_set1_epi16(0x3f)));
    __m512i folded =
        _mm512_inserti64x4(_mm512_castsi256_si512(fold_pairs(_mm512_castsi512_si256(codes))),
                           fold_pairs(_mm512_extracti64x4_epi64(codes, 1)), 1);
    uint64_t known = _pdep_u64(_mm512_test_epi16_mask(folded, folded), leads);
    __m512i firsts = _mm512_castsi256_si512(_mm512_cvtepi16_epi8(folded));
    __m512i seconds = _mm512_castsi256_si512(_mm512_cvtepi16_epi8(_mm512_srli_epi16(folded, 8)));
    *ret_others = others & ~(known | known << 1);
    folded = _mm512_mask_expand_epi8(fold_ascii(bytes), leads, firsts);
    return _mm512_mask_expand_epi8(folded, leads << 1, seconds);
}

/* The hyphens that are followed by a control character or a blank, by one that is not ASCII, or by
 * nothing. */
static inline uint64_t line_ends(__m512i bytes, __m512i next)
{
    __mmask64 hyphens = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('-'));
    return _mm512_mask_cmple_epi8_mask(hyphens, next, _mm512_set1_epi8(' '));
}

/* Takes the first of the 64 bytes, as many as `valid` has ones from bit 0 on. */
static inline __attribute__((always_inline)) void take(struct words *words, struct place *place,
                                                       __m512i folded, __mmask64 valid)
{
    uint64_t word = _mm512_test_epi8_mask(folded, folded) & valid;
    _mm512_storeu_si512(words->bytes + place->n_bytes, _mm512_maskz_compress_epi8(word, folded));

    /* The last valid byte may end its token: only the byte behind it tells, in the next step. */
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
        __mmask64 valid = ~(__mmask64)0;
        __m512i bytes, next; /* each byte's next one */
        if (size_bytes - at > STEP) {
            bytes = _mm512_loadu_si512(p + at);
            next = _mm512_loadu_si512(p + at + 1);
        } else {
            valid = _bzhi_u64(valid, (unsigned)(size_bytes - at));
            bytes = _mm512_maskz_loadu_epi8(valid, p + at);
            next = _mm512_maskz_loadu_epi8(valid >> 1, p + at + 1);
        }
        uint64_t others = _mm512_movepi8_mask(bytes);
        bool pairs = others && p[at + _tzcnt_u64(others)] < 0xe0; /* else there are none before */
        __m512i folded = pairs ? fold_both(bytes, &others) : fold_ascii(bytes);
        uint64_t ends = line_ends(bytes, next);
        if (__builtin_expect(ends != 0, 0)) /* those of words */
            others |= ends & (_mm512_test_epi8_mask(folded, folded) << 1 | place.in_word);
        if (others | ~valid) { /* the last step */
            if (others)
                valid = _blsmsk_u64(others) >> 1;
            if (valid)
                take(words, &place, folded, valid);
            at += (size_t)_mm_popcnt_u64(valid);
            break;
        }
        take(words, &place, folded, ~(__mmask64)0);
        at += STEP;
    }
    words->n_bytes = place.n_bytes;
    words->n_tokens = place.n_tokens;
    return at;
}
