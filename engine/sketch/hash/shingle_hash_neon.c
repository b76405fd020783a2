/* The NEON kernel of shingle_hash.c works on two sums at a time: carry-less products one by one,
 * reduced in vectors of two. */
#include <arm_neon.h>
#include <string.h>

#include "engine/sketch/hash/shingle_hash_kernel.h"

static inline uint64x2_t product(uint64_t a, uint64_t b)
{
    return vreinterpretq_u64_p128(vmull_p64((poly64_t)a, (poly64_t)b));
}

/* gf64_reduce() of two sums. */
static inline uint64x2_t reduce(uint64x2_t a, uint64x2_t b)
{
    uint64x2_t low = vzip1q_u64(a, b), high = vzip2q_u64(a, b);
    uint64x2_t carried =
        veorq_u64(veorq_u64(vshrq_n_u64(high, 63), vshrq_n_u64(high, 61)), vshrq_n_u64(high, 60));
    high = veorq_u64(high, carried);
    uint64x2_t shifted =
        veorq_u64(veorq_u64(vshlq_n_u64(high, 1), vshlq_n_u64(high, 3)), vshlq_n_u64(high, 4));
    return veorq_u64(veorq_u64(low, high), shifted);
}

/* The sum of a token. The bytes behind it may be read but do not count. */
static inline uint64x2_t token_sum(const struct shingle_hash *hash, const uint8_t *p,
                                   size_t size_bytes)
{
    uint64x2_t sum = {hash->token_offset[size_bytes], 0};
    const uint64_t *key = hash->token_key;
    uint64_t x;
    for (; size_bytes > 8; size_bytes -= 8, p += 8) {
        memcpy(&x, p, sizeof(x));
        sum = veorq_u64(sum, product(x, *key++));
    }
    memcpy(&x, p, sizeof(x));
    return veorq_u64(sum, product(x & UINT64_MAX >> (64 - 8 * size_bytes), *key));
}

static void tokens(const struct shingle_hash *hash, const struct token_block *block, uint64_t *ret)
{
    const uint8_t *p = block->bytes;
    uint32_t begin = 0;
    for (size_t i = 0; i < block->n_tokens; i += 2) {
        uint32_t end = block->ends[i];
        uint64x2_t a = token_sum(hash, p + begin, end - begin), b = a;
        begin = end;
        if (i + 1 < block->n_tokens) {
            end = block->ends[i + 1];
            b = token_sum(hash, p + begin, end - begin);
            begin = end;
        }
        uint64x2_t hashes = reduce(a, b);
        ret[i] = shingle_mix(vgetq_lane_u64(hashes, 0));
        if (i + 1 < block->n_tokens)
            ret[i + 1] = shingle_mix(vgetq_lane_u64(hashes, 1));
    }
}

static inline __attribute__((always_inline)) uint64x2_t window_sum(const struct window_keys *keys,
                                                                   size_t w, const uint64_t *p)
{
    uint64x2_t sum = {keys->offset, 0};
    for (size_t j = 0; j < w; j++)
        sum = veorq_u64(sum, product(p[j], keys->key[j]));
    return sum;
}

static inline __attribute__((always_inline)) void windows_of(const struct window_keys *keys,
                                                             size_t w, const uint64_t *p,
                                                             size_t n_windows, uint64_t *ret)
{
    size_t i = 0;
    for (; i + 2 <= n_windows; i += 2)
        vst1q_u64(ret + i, reduce(window_sum(keys, w, p + i), window_sum(keys, w, p + i + 1)));
    if (i < n_windows) {
        uint64x2_t sum = window_sum(keys, w, p + i);
        ret[i] = vgetq_lane_u64(reduce(sum, sum), 0);
    }
}

#include "engine/sketch/hash/shingle_hash_parts.h"

static void features(const struct shingle_hash *hash, const struct feature *p, size_t n,
                     uint64_t *ret)
{
    for (size_t i = 0; i < n; i++) {
        uint64x2_t sum = veorq_u64(product(p[i].low, hash->feature_key[0]),
                                   product(p[i].high, hash->feature_key[1]));
        ret[i] = hash->feature_offset ^ gf64_reduce(vgetq_lane_u64(sum, 1), vgetq_lane_u64(sum, 0));
    }
}

const struct shingle_hash_kernel shingle_hash_neon = {tokens, windows, features};
