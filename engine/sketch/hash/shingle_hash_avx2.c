/* The AVX2 kernel of shingle_hash.c works on four tokens, or four windows, at a time: carry-less
 * products one by one, as the processor has no vector of them, and everything else in vectors of
 * four. Tokens of at most 16 bytes are hashed without a branch; longer ones are noted and hashed
 * again by long_token(). */
#include <immintrin.h>
#include <string.h>

#include "engine/sketch/hash/shingle_hash_kernel.h"

/* gf64_reduce() of four sums. */
static inline __m256i reduce(__m128i a, __m128i b, __m128i c, __m128i d)
{
    __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpacklo_epi64(a, b)),
                                          _mm_unpacklo_epi64(c, d), 1);
    __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpackhi_epi64(a, b)),
                                           _mm_unpackhi_epi64(c, d), 1);
    __m256i carried =
        _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(high, 63), _mm256_srli_epi64(high, 61)),
                         _mm256_srli_epi64(high, 60));
    high = _mm256_xor_si256(high, carried);
    __m256i shifted =
        _mm256_xor_si256(_mm256_xor_si256(_mm256_slli_epi64(high, 1), _mm256_slli_epi64(high, 3)),
                         _mm256_slli_epi64(high, 4));
    return _mm256_xor_si256(_mm256_xor_si256(low, high), shifted);
}

static inline __m256i mix(__m256i x)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i product = _mm256_mul_epu32(x, _mm256_set1_epi64x(SHINGLE_MIX_FIRST));
    x = _mm256_xor_si256(x, _mm256_blend_epi32(zero, product, 0xaa)); /* the upper halves */
    product = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), _mm256_set1_epi64x(SHINGLE_MIX_SECOND));
    return _mm256_xor_si256(x, _mm256_srli_epi64(product, 32));
}

/* 16 bytes at p, of which those behind the first n are made 0. */
static inline __m128i load_words(const uint8_t *p, size_t n)
{
    static const uint8_t ones_zeros[32] = {[0 ... 15] = 0xff};
    return _mm_and_si128(_mm_loadu_si128((const __m128i *)p),
                         _mm_loadu_si128((const __m128i *)(ones_zeros + 16 - n)));
}

static inline __m128i add_words(__m128i sum, __m128i words, __m128i keys)
{
    return _mm_xor_si128(sum, _mm_xor_si128(_mm_clmulepi64_si128(words, keys, 0x00),
                                            _mm_clmulepi64_si128(words, keys, 0x11)));
}

static uint64_t long_token(const struct shingle_hash *hash, const uint8_t *p, size_t size_bytes)
{
    __m128i sum = _mm_cvtsi64_si128((int64_t)hash->token_offset[size_bytes]);
    for (size_t at = 0; at < size_bytes; at += 16) {
        size_t left = size_bytes - at;
        sum = add_words(sum, load_words(p + at, left < 16 ? left : 16),
                        _mm_loadu_si128((const __m128i *)(hash->token_key + at / 8)));
    }
    return shingle_mix(
        gf64_reduce((uint64_t)_mm_extract_epi64(sum, 1), (uint64_t)_mm_cvtsi128_si64(sum)));
}

/* The sum of a token's first 16 bytes. */
static inline __m128i short_sum(const struct shingle_hash *hash, const uint8_t *p,
                                size_t size_bytes, __m128i keys)
{
    size_t n = size_bytes < SHORT_TOKEN_BYTES ? size_bytes : SHORT_TOKEN_BYTES;
    return add_words(_mm_loadl_epi64((const __m128i *)(hash->token_offset + n)), load_words(p, n),
                     keys);
}

static void tokens(const struct shingle_hash *hash, const struct token_block *block, uint64_t *ret)
{
    const __m128i keys = _mm_loadu_si128((const __m128i *)hash->token_key);
    const uint8_t *p = block->bytes;
    const uint32_t *ends = block->ends;
    uint32_t long_at[TOKEN_BLOCK_MAX];
    size_t n_long = 0, n = block->n_tokens, i = 0;
    uint32_t begin = 0;

    for (; i + 4 <= n; i += 4) {
        uint32_t a = ends[i], b = ends[i + 1], c = ends[i + 2], d = ends[i + 3];
        __m128i sum_a = short_sum(hash, p + begin, a - begin, keys);
        __m128i sum_b = short_sum(hash, p + a, b - a, keys);
        __m128i sum_c = short_sum(hash, p + b, c - b, keys);
        __m128i sum_d = short_sum(hash, p + c, d - c, keys);
        long_at[n_long] = (uint32_t)i;
        n_long += a - begin > SHORT_TOKEN_BYTES;
        long_at[n_long] = (uint32_t)i + 1;
        n_long += b - a > SHORT_TOKEN_BYTES;
        long_at[n_long] = (uint32_t)i + 2;
        n_long += c - b > SHORT_TOKEN_BYTES;
        long_at[n_long] = (uint32_t)i + 3;
        n_long += d - c > SHORT_TOKEN_BYTES;
        begin = d;
        _mm256_storeu_si256((__m256i *)(ret + i), mix(reduce(sum_a, sum_b, sum_c, sum_d)));
    }
    for (; i < n; begin = ends[i++])
        ret[i] = long_token(hash, p + begin, ends[i] - begin);
    for (i = 0; i < n_long; i++) {
        begin = long_at[i] ? ends[long_at[i] - 1] : 0;
        ret[long_at[i]] = long_token(hash, p + begin, ends[long_at[i]] - begin);
    }
}

/* The sums of the windows at p and p + 1. */
static inline __attribute__((always_inline)) void add_window_pair(const struct window_keys *keys,
                                                                  size_t w, const uint64_t *p,
                                                                  __m128i *sum_a, __m128i *sum_b)
{
    __m128i a = _mm_cvtsi64_si128((int64_t)keys->offset), b = a;
    size_t j = 0;
    for (; j + 2 <= w; j += 2) {
        __m128i key = _mm_loadu_si128((const __m128i *)(keys->key + j));
        __m128i x = _mm_loadu_si128((const __m128i *)(p + j));
        __m128i y = _mm_loadu_si128((const __m128i *)(p + j + 1));
        a = _mm_xor_si128(a, _mm_xor_si128(_mm_clmulepi64_si128(x, key, 0x00),
                                           _mm_clmulepi64_si128(y, key, 0x10)));
        b = _mm_xor_si128(b, _mm_xor_si128(_mm_clmulepi64_si128(x, key, 0x01),
                                           _mm_clmulepi64_si128(y, key, 0x11)));
    }
    if (j < w) {
        __m128i key = _mm_loadl_epi64((const __m128i *)(keys->key + j));
        __m128i x = _mm_loadu_si128((const __m128i *)(p + j));
        a = _mm_xor_si128(a, _mm_clmulepi64_si128(x, key, 0x00));
        b = _mm_xor_si128(b, _mm_clmulepi64_si128(x, key, 0x01));
    }
    *sum_a = a;
    *sum_b = b;
}

static inline __attribute__((always_inline)) void windows_of(const struct window_keys *keys,
                                                             size_t w, const uint64_t *p,
                                                             size_t n_windows, uint64_t *ret)
{
    size_t i = 0;
    __m128i a, b, c, d;
    for (; i + 4 <= n_windows; i += 4) {
        add_window_pair(keys, w, p + i, &a, &b);
        add_window_pair(keys, w, p + i + 2, &c, &d);
        _mm256_storeu_si256((__m256i *)(ret + i), reduce(a, b, c, d));
    }
    if (i < n_windows) {
        uint64_t last[4 + POLICY_W_MAX] = {0}, hashes[4];
        memcpy(last, p + i, (n_windows - i + w - 1) * sizeof(uint64_t));
        add_window_pair(keys, w, last, &a, &b);
        add_window_pair(keys, w, last + 2, &c, &d);
        _mm256_storeu_si256((__m256i *)hashes, reduce(a, b, c, d));
        memcpy(ret + i, hashes, (n_windows - i) * sizeof(uint64_t));
    }
}

#include "engine/sketch/hash/shingle_hash_parts.h"

const struct shingle_hash_kernel shingle_hash_avx2 = {tokens, windows, features};
