/* The AVX-512 kernel of shingle_hash.c works on eight tokens, or eight windows, at a time. A vector
 * holds four 128-bit sums of carry-less products; two vectors, one with the even and one with the
 * odd of eight sums, are reduced together. */
#include <immintrin.h>

#include "engine/sketch/hash/shingle_hash_kernel.h"

enum { XOR3 = 0x96, XOR_AND = 0x78 }; /* of vpternlog: a ^ b ^ c, a ^ (b & c) */

static inline __m512i xor3(__m512i a, __m512i b, __m512i c)
{
    return _mm512_ternarylogic_epi64(a, b, c, XOR3);
}

/* gf64_reduce() of eight sums, which are taken from the two vectors in turn. */
static inline __m512i reduce(__m512i even, __m512i odd)
{
    __m512i low = _mm512_unpacklo_epi64(even, odd), high = _mm512_unpackhi_epi64(even, odd);
    high = _mm512_xor_si512(xor3(high, _mm512_srli_epi64(high, 63), _mm512_srli_epi64(high, 61)),
                            _mm512_srli_epi64(high, 60));
    low = xor3(low, high, _mm512_slli_epi64(high, 1));
    return xor3(low, _mm512_slli_epi64(high, 3), _mm512_slli_epi64(high, 4));
}

static inline __m512i mix(__m512i x)
{
    const __m512i upper = _mm512_set1_epi64((int64_t)0xffffffff00000000);
    x = _mm512_ternarylogic_epi64(x, _mm512_mul_epu32(x, _mm512_set1_epi64(SHINGLE_MIX_FIRST)),
                                  upper, XOR_AND);
    __m512i product =
        _mm512_mul_epu32(_mm512_srli_epi64(x, 32), _mm512_set1_epi64(SHINGLE_MIX_SECOND));
    return _mm512_xor_si512(x, _mm512_srli_epi64(product, 32));
}

/* A token of any length, 16 bytes at a time. */
static uint64_t long_token(const struct shingle_hash *hash, const uint8_t *p, size_t size_bytes)
{
    __m128i sum = _mm_cvtsi64_si128((int64_t)hash->token_offset[size_bytes]);
    for (size_t at = 0; at < size_bytes; at += 16) {
        size_t left = size_bytes - at;
        __m128i words =
            _mm_maskz_loadu_epi8((__mmask16)(left < 16 ? (1u << left) - 1 : 0xffff), p + at);
        __m128i keys = _mm_loadu_si128((const __m128i *)(hash->token_key + at / 8));
        sum = _mm_ternarylogic_epi64(sum, _mm_clmulepi64_si128(words, keys, 0x00),
                                     _mm_clmulepi64_si128(words, keys, 0x11), XOR3);
    }
    return shingle_mix(
        gf64_reduce((uint64_t)_mm_extract_epi64(sum, 1), (uint64_t)_mm_cvtsi128_si64(sum)));
}

/* Indices of bytes: that of the first byte of each of four dwords, sixteen times each; with `first`
 * those of the next four dwords. */
static inline __m512i places_of(size_t first)
{
    const __m512i places =
        _mm512_set_epi64(0x0c0c0c0c0c0c0c0c, 0x0c0c0c0c0c0c0c0c, 0x0808080808080808,
                         0x0808080808080808, 0x0404040404040404, 0x0404040404040404, 0, 0);
    return first ? _mm512_or_si512(places, _mm512_set1_epi8(16)) : places;
}

static inline __m512i steps(void)
{
    return _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

/* The words of tokens first to first + 3 of eight, none longer than 16 bytes, in the 64 bytes with
 * which the first of the four begins. begins: from there. */
static inline __m512i near_words(const uint8_t *p, size_t first, __m256i begins)
{
    __m512i from = _mm512_permutexvar_epi8(places_of(first), _mm512_castsi256_si512(begins));
    return _mm512_permutexvar_epi8(_mm512_add_epi8(from, steps()), _mm512_loadu_si512(p));
}

/* The first two words of each of four tokens. */
static inline __m512i far_words(const uint8_t *p, const uint32_t begins[4])
{
    __m512i four = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(p + begins[0])));
    four = _mm512_inserti64x2(four, _mm_loadu_si128((const __m128i *)(p + begins[1])), 1);
    four = _mm512_inserti64x2(four, _mm_loadu_si128((const __m128i *)(p + begins[2])), 2);
    return _mm512_inserti64x2(four, _mm_loadu_si128((const __m128i *)(p + begins[3])), 3);
}

/* The sums of the words of four tokens of these sizes, at most 16. */
static inline __m512i sums_of(__m512i words, size_t first, __m256i sizes, __m512i keys)
{
    __m512i size = _mm512_permutexvar_epi8(places_of(first), _mm512_castsi256_si512(sizes));
    words = _mm512_maskz_mov_epi8(_mm512_cmpgt_epu8_mask(size, steps()), words);
    return _mm512_xor_si512(_mm512_clmulepi64_epi128(words, keys, 0x00),
                            _mm512_clmulepi64_epi128(words, keys, 0x11));
}

static void tokens(const struct shingle_hash *hash, const struct token_block *block, uint64_t *ret)
{
    const __m512i keys = _mm512_broadcast_i64x2(_mm_loadu_si128((const __m128i *)hash->token_key));
    const __m512i offsets_low = _mm512_loadu_si512(hash->token_offset + 1);
    const __m512i offsets_high = _mm512_loadu_si512(hash->token_offset + 9);
    const __m512i in_order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    const uint8_t *p = block->bytes;
    size_t n = block->n_tokens;
    __m256i ends = _mm256_setzero_si256();
    uint32_t begin = 0;

    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i;
        __mmask8 there = (__mmask8)(left < 8 ? (1u << left) - 1 : 0xff);
        __m256i next = _mm256_maskz_loadu_epi32(there, block->ends + i);
        __m256i begins = _mm256_maskz_alignr_epi32(there, next, ends, 7);
        __m256i sizes = _mm256_sub_epi32(next, begins);
        ends = next;
        unsigned is_long = _mm256_cmpgt_epu32_mask(sizes, _mm256_set1_epi32(SHORT_TOKEN_BYTES));
        __m512i words, words_4;
        if (is_long) {
            uint32_t from[8];
            _mm256_storeu_si256((__m256i *)from, begins);
            words = far_words(p, from);
            words_4 = far_words(p, from + 4);
            sizes = _mm256_min_epu32(sizes, _mm256_set1_epi32(SHORT_TOKEN_BYTES));
        } else {
            __m256i near = _mm256_sub_epi32(begins, _mm256_shuffle_epi32(begins, 0));
            words = near_words(p + begin, 0, near);
            words_4 = near_words(p + (left > 4 ? block->ends[i + 3] : begin), 4, near);
        }
        __m512i sums = sums_of(words, 0, sizes, keys), sums_4 = sums_of(words_4, 4, sizes, keys);
        __m512i which = _mm512_cvtepu32_epi64(_mm256_sub_epi32(sizes, _mm256_set1_epi32(1)));
        __m512i offsets = _mm512_permutex2var_epi64(offsets_low, which, offsets_high);
        __m512i hashes = _mm512_permutexvar_epi64(in_order, reduce(sums, sums_4));
        _mm512_mask_storeu_epi64(ret + i, there, mix(_mm512_xor_si512(hashes, offsets)));

        for (; is_long; is_long &= is_long - 1) {
            size_t at = i + (size_t)__builtin_ctz(is_long);
            uint32_t from = at ? block->ends[at - 1] : 0;
            ret[at] = long_token(hash, p + from, block->ends[at] - from);
        }
        begin = block->ends[i + (left < 8 ? left : 8) - 1];
    }
}

static inline __attribute__((always_inline)) void windows_of(const struct window_keys *keys,
                                                             size_t w, const uint64_t *tokens_,
                                                             size_t n_windows, uint64_t *ret)
{
    const __m512i offset = /* in the lower half of each sum */
        _mm512_maskz_set1_epi64(0x55, (int64_t)keys->offset);
    for (size_t i = 0; i < n_windows; i += 8) {
        __mmask8 there = (__mmask8)(n_windows - i < 8 ? (1u << (n_windows - i)) - 1 : 0xff);
        __m512i even = offset, odd = offset;
        size_t j = 0;
        for (; j + 2 <= w; j += 2) {
            __m512i a = _mm512_maskz_loadu_epi64(there, tokens_ + i + j);
            __m512i b = _mm512_maskz_loadu_epi64(there, tokens_ + i + j + 1);
            __m512i key_a = _mm512_set1_epi64((int64_t)keys->key[j]);
            __m512i key_b = _mm512_set1_epi64((int64_t)keys->key[j + 1]);
            even = xor3(even, _mm512_clmulepi64_epi128(a, key_a, 0x00),
                        _mm512_clmulepi64_epi128(b, key_b, 0x00));
            odd = xor3(odd, _mm512_clmulepi64_epi128(a, key_a, 0x01),
                       _mm512_clmulepi64_epi128(b, key_b, 0x01));
        }
        if (j < w) {
            __m512i a = _mm512_maskz_loadu_epi64(there, tokens_ + i + j);
            __m512i key_a = _mm512_set1_epi64((int64_t)keys->key[j]);
            even = _mm512_xor_si512(even, _mm512_clmulepi64_epi128(a, key_a, 0x00));
            odd = _mm512_xor_si512(odd, _mm512_clmulepi64_epi128(a, key_a, 0x01));
        }
        _mm512_mask_storeu_epi64(ret + i, there, reduce(even, odd));
    }
}

#include "engine/sketch/hash/shingle_hash_parts.h"

const struct shingle_hash_kernel shingle_hash_avx512 = {tokens, windows, features};
