/* The AVX2 kernel takes 64 bytes at a time: two tables of half bytes tell the word bytes, and the
 * word bytes of each eight are shuffled to the place of the next canonical byte. The ends of tokens
 * come of the same mask: a word byte before one that is none is the last of its token, and its
 * number among the word bytes (PEXT) is its place in the block.
 */
#include <immintrin.h>
#include <string.h>

#include "engine/text/words/ascii_words.h"
#include "engine/text/words/words.h"

enum { STEP = 64, MOST_ENDS = 12 };

/* positions[byte] has the numbers of the bits that are set in the byte, a byte each. */
#define BIT(m, i) ((uint64_t)((m) >> (i)&1))
#define BEFORE(m, i, others) ((others) << 8 * BIT(m, i) | BIT(m, i) * (i))
#define POSITIONS(m)                                                                               \
    BEFORE(                                                                                        \
        m, 0,                                                                                      \
        BEFORE(m, 1,                                                                               \
               BEFORE(m, 2,                                                                        \
                      BEFORE(m, 3, BEFORE(m, 4, BEFORE(m, 5, BEFORE(m, 6, BEFORE(m, 7, 0))))))))
#define POSITIONS_4(m) POSITIONS(m), POSITIONS((m) + 1), POSITIONS((m) + 2), POSITIONS((m) + 3)
#define POSITIONS_16(m)                                                                            \
    POSITIONS_4(m), POSITIONS_4((m) + 4), POSITIONS_4((m) + 8), POSITIONS_4((m) + 12)
#define POSITIONS_64(m)                                                                            \
    POSITIONS_16(m), POSITIONS_16((m) + 16), POSITIONS_16((m) + 32), POSITIONS_16((m) + 48)
static const uint64_t positions[256] = {POSITIONS_64(0), POSITIONS_64(64), POSITIONS_64(128),
                                        POSITIONS_64(192)};

/* Digits have the bit that makes a letter small already; an underscore must not get it. */
static inline __m256i fold(__m256i bytes)
{
    __m256i is_underscore = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('_'));
    return _mm256_or_si256(bytes, _mm256_andnot_si256(is_underscore, _mm256_set1_epi8(0x20)));
}

/* The upper half of a byte selects the lower halves that make a word byte: digits (bit 0), A-O and
 * a-o (bit 1), P-Z and the underscore (bit 2), p-z (bit 3). Bytes that are not ASCII find none. */
static inline uint32_t word_mask(__m256i bytes)
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

/* The hyphens that are followed by a control character or a blank, by one that is not ASCII, or by
 * nothing. */
static inline __m256i line_ends(__m256i bytes, const uint8_t *next)
{
    __m256i behind = _mm256_loadu_si256((const __m256i *)next);
    return _mm256_and_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('-')),
                            _mm256_cmpgt_epi8(_mm256_set1_epi8(' ' + 1), behind));
}

static inline uint64_t mask_of(__m256i low, __m256i high)
{
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32 |
           (uint32_t)_mm256_movemask_epi8(low);
}

struct place {
    uint32_t n_bytes, n_tokens;
    uint64_t in_word; /* 0 or 1 */
};

/* Takes the first of 64 bytes, as many as `valid` has ones from bit 0 on. word: a mask of the word
 * bytes among them. */
static inline __attribute__((always_inline)) void take(struct words *words, struct place *place,
                                                       __m256i low, __m256i high, uint64_t word,
                                                       uint64_t valid)
{
    uint8_t folded[STEP];
    _mm256_storeu_si256((__m256i *)folded, fold(low));
    _mm256_storeu_si256((__m256i *)(folded + 32), fold(high));
    uint8_t *to = words->bytes + place->n_bytes;
#pragma GCC unroll 8
    for (unsigned i = 0; i < STEP; i += 8) {
        uint8_t mask = (uint8_t)(word >> i);
        __m128i bytes = _mm_loadl_epi64((const __m128i *)(folded + i));
        __m128i order = _mm_loadl_epi64((const __m128i *)(positions + mask));
        _mm_storel_epi64((__m128i *)to, _mm_shuffle_epi8(bytes, order));
        to += _mm_popcnt_u32(mask);
    }

    /* The last valid byte may end its token: only the byte behind it tells, in the next step. */
    uint64_t last = word & ~(word >> 1) & valid >> 1;
    uint64_t ends = _pext_u64(last, word) << 1 | (place->in_word & ~word);
    uint32_t *to_end = words->ends + place->n_tokens + 1;
    place->n_tokens += (uint32_t)_mm_popcnt_u64(ends);
#pragma GCC unroll 12
    for (unsigned i = 0; i < MOST_ENDS; i++, ends &= ends - 1)
        *to_end++ = place->n_bytes + (uint32_t)_tzcnt_u64(ends);
    for (; __builtin_expect(ends != 0, 0); ends &= ends - 1)
        *to_end++ = place->n_bytes + (uint32_t)_tzcnt_u64(ends);
    place->n_bytes += (uint32_t)_mm_popcnt_u64(word);
    place->in_word = (word & ~(valid >> 1)) != 0;
}

size_t ascii_words_avx2(struct words *words, const uint8_t *p, size_t size_bytes)
{
    struct place place = {words->n_bytes, words->n_tokens,
                          words->n_bytes != words->ends[words->n_tokens]};
    uint8_t copy[STEP + 1];
    size_t at = 0;
    while (at < size_bytes && place.n_bytes <= WORDS_STEP_BYTES_MAX &&
           place.n_tokens <= WORDS_STEP_TOKENS_MAX &&
           place.n_bytes - words->ends[place.n_tokens] <= CANON_TOKEN_MAX_BYTES - STEP) {
        const uint8_t *from = p + at;
        uint64_t valid = ~(uint64_t)0;
        if (size_bytes - at <= STEP) { /* nothing may be read behind them */
            valid = _bzhi_u64(valid, (unsigned)(size_bytes - at));
            memset(copy, 0, sizeof(copy));
            memcpy(copy, from, size_bytes - at);
            from = copy;
        }
        __m256i low = _mm256_loadu_si256((const __m256i *)from);
        __m256i high = _mm256_loadu_si256((const __m256i *)(from + 32));
        uint64_t others = mask_of(low, high);
        uint64_t word = (uint64_t)word_mask(high) << 32 | word_mask(low);
        __m256i low_ends = line_ends(low, from + 1), high_ends = line_ends(high, from + 33);
        __m256i ends = _mm256_or_si256(low_ends, high_ends);
        if (__builtin_expect(!_mm256_testz_si256(ends, ends), 0)) /* those of words */
            others |= mask_of(low_ends, high_ends) & (word << 1 | place.in_word);
        if (others) {
            valid &= _blsmsk_u64(others) >> 1;
            word &= valid;
        }
        if (valid)
            take(words, &place, low, high, word, valid);
        at += (size_t)_mm_popcnt_u64(valid);
        if (others)
            break;
    }
    words->n_bytes = place.n_bytes;
    words->n_tokens = place.n_tokens;
    return at;
}
