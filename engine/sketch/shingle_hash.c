/* Fingerprints of tokens and shingles by the multilinear family over 128-bit arithmetic.
 *
 *   h(x_1..x_n) = ((a_0 + a_1 x_1 + ... + a_n x_n) mod 2^128) >> 64
 *
 * x_i are 64-bit words, a_i random 128-bit keys (Lemire and Kaser 2014, "Strongly universal string
 * hashing is fast", theorem 1, with K = 128 and L = 64).
 *
 * Theorem. For x != y of one length, h(x) and h(y) are independent and each uniform on 64 bits.
 * Proof. Let A(x) be the sum before the shift. a_0 makes A(x) uniform on 128 bits and independent
 * of the difference D = A(x) - A(y) = sum a_i (x_i - y_i), in which a_0 does not occur. Some d =
 * x_i - y_i is not 0 and |d| < 2^64, so d = 2^t * odd with t <= 63. As a_i is uniform, a_i * d mod
 * 2^128 is uniform on the multiples of 2^t, so, whatever the other terms of D are, A(y) is, given
 * A(x), uniform on a residue class of 2^t; its bits t and up, among them the upper 64, are uniform.
 * Hence P(h(x) = u and h(y) = v) = 2^-128 for all u, v. QED. In particular P(h(x) = h(y)) = 2^-64.
 *
 * Tokens. x is (length, first 8 bytes, next 8 bytes, ...), little endian, the last word filled up
 * with zeros. Tokens of different length do not collide more than others: their first words differ,
 * so that, the shorter one thought of as followed by zero words (which change neither sum), the
 * theorem applies. Tokens of the same length differ in some word.
 *
 * The fingerprint of a token is m(h(x)) with a fixed bijection m, which leaves pairs as independent
 * and uniform as they were. Without it the fingerprints of shingles that differ in a counter would
 * be an arithmetic progression: unbiased over all keys, but with a scatter that a few keys make up
 * (measured on the numbers 0 to 11999, V with m = 25, r = 0.1: standard deviation of the estimate
 * over 250 keys three quarters of theory, and with m in place that of theory).
 *
 * Shingles. x is the w fingerprints of the tokens. A shingle of n < w tokens, the only one of a
 * document so short, has keys of its own for each n: its a_0 is independent of that of any other
 * length, so fingerprints of shingles of different length are independent whatever the tokens.
 * Two different shingles have different x but with probability 2^-64, so that the whole is pairwise
 * independent up to 2^-64.
 *
 * Features. x is the two halves of the feature's digest, with keys of their own.
 *
 * Why pairwise independence is enough: bottom-k samples under it estimate with an expected relative
 * error of O(1/sqrt(f k)) (Thorup 2013, "Bottom-k and priority sampling, set similarity and subset
 * sums with minimal independence"), where k repetitions of one minimum keep a constant bias.
 *
 * Keys: block j of purpose p is SHA-256(domain | p | j | the policy's 32 secret bytes), a pseudo-
 * random stream of 128-bit keys; the theorem holds for random keys, and for these as far as nobody
 * can tell them from random. Keys of a token's words past TOKEN_BLOCKS are made when asked for.
 *
 * Cost: h takes the upper half only, so of a_i = hi * 2^64 + lo it needs the full product lo * x
 * and the lower half of hi * x: two multiplications a word.
 */
#include "engine/sketch/shingle_hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "base/bytes.h"
#include "engine/text/canon.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "load_le64() and load_tail() read the words of a token as they lie"
#endif

typedef unsigned __int128 u128;

enum { TOKEN_BLOCKS = CANON_TOKEN_MAX_BYTES / 8 };

/* The first part of a key's domain: what the key is for. A window of n tokens has purpose n. */
enum { PURPOSE_TOKEN = 0, PURPOSE_FEATURE = POLICY_W_MAX + 1 };

struct key {
    uint64_t lo, hi;
};

struct shingle_hash {
    uint8_t secret[POLICY_KEY_BYTES];
    unsigned w;
    u128 token_offset[CANON_TOKEN_MAX_BYTES + 1]; /* a_0 + a_1 * length */
    struct key token[TOKEN_BLOCKS];               /* a_2 .. */
    struct {
        u128 offset;
        struct key low, high;
    } feature;
    struct window_keys {
        u128 offset; /* a_0 */
        struct key key[POLICY_W_MAX];
    } window[]; /* of 1..w tokens */
};

/* Keys 2*pair and 2*pair+1 of a purpose. */
static void derive_pair(const uint8_t secret[POLICY_KEY_BYTES], uint32_t purpose, uint64_t pair,
                        struct key ret_keys[2])
{
    static const char domain[20] = "kinfs shingle hash";
    uint8_t input[sizeof(domain) + 4 + 8 + POLICY_KEY_BYTES];
    uint8_t digest[SHA256_DIGEST_LENGTH];

    memcpy(input, domain, sizeof(domain));
    put_be32(input + sizeof(domain), purpose);
    put_be64(input + sizeof(domain) + 4, pair);
    memcpy(input + sizeof(domain) + 12, secret, POLICY_KEY_BYTES);
    SHA256(input, sizeof(input), digest);
    for (int i = 0; i < 2; i++) {
        ret_keys[i].lo = get_be64(digest + 16 * i);
        ret_keys[i].hi = get_be64(digest + 16 * i + 8);
    }
    OPENSSL_cleanse(input, sizeof(input));
    OPENSSL_cleanse(digest, sizeof(digest));
}

static struct key derive(const uint8_t secret[POLICY_KEY_BYTES], uint32_t purpose, uint64_t i)
{
    struct key keys[2];
    derive_pair(secret, purpose, i / 2, keys);
    struct key key = keys[i % 2];
    OPENSSL_cleanse(keys, sizeof(keys));
    return key;
}

static u128 key_value(struct key key)
{
    return (u128)key.hi << 64 | key.lo;
}

int shingle_hash_new(const struct policy *policy, struct shingle_hash **ret_hash)
{
    if (policy_validate(policy) < 0)
        return -EINVAL;

    unsigned w = policy->w;
    struct shingle_hash *hash = calloc(1, sizeof(*hash) + w * sizeof(hash->window[0]));
    if (!hash)
        return -ENOMEM;

    hash->w = w;
    memcpy(hash->secret, policy->key, POLICY_KEY_BYTES);
    struct key first[2];
    derive_pair(hash->secret, PURPOSE_TOKEN, 0, first);
    for (size_t size = 0; size <= CANON_TOKEN_MAX_BYTES; size++)
        hash->token_offset[size] = key_value(first[0]) + key_value(first[1]) * size;
    OPENSSL_cleanse(first, sizeof(first));
    for (size_t i = 0; i < TOKEN_BLOCKS; i += 2)
        derive_pair(hash->secret, PURPOSE_TOKEN, 1 + i / 2, &hash->token[i]);
    hash->feature.offset = key_value(derive(hash->secret, PURPOSE_FEATURE, 0));
    hash->feature.low = derive(hash->secret, PURPOSE_FEATURE, 1);
    hash->feature.high = derive(hash->secret, PURPOSE_FEATURE, 2);
    for (unsigned n = 1; n <= w; n++) {
        struct window_keys *keys = &hash->window[n - 1];
        keys->offset = key_value(derive(hash->secret, n, 0));
        for (unsigned i = 0; i < n; i++)
            keys->key[i] = derive(hash->secret, n, 1 + i);
    }
    *ret_hash = hash;
    return 0;
}

void shingle_hash_free(struct shingle_hash *hash)
{
    if (!hash)
        return;
    OPENSSL_cleanse(hash, sizeof(*hash) + hash->w * sizeof(hash->window[0]));
    free(hash);
}

/* The sum is kept as a 128-bit sum of lo * x and a 64-bit sum of hi * x, which is due 64 bits up.
 */
struct sum {
    u128 low;
    uint64_t high;
};

static inline void sum_add(struct sum *sum, struct key key, uint64_t x)
{
    sum->low += (u128)key.lo * x;
    sum->high += key.hi * x;
}

static inline uint64_t sum_upper_half(const struct sum *sum)
{
    return (uint64_t)(sum->low >> 64) + sum->high;
}

/* A bijection of 64 bits (two rounds of xor-shift and odd multiplication). */
static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93;
    return x ^ x >> 32;
}

static inline uint64_t load_le64(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof(x));
    return x;
}

/* The last 1..8 bytes of a token, zeros above. */
static inline uint64_t load_tail(const uint8_t *p, size_t size_bytes)
{
    uint64_t x = 0;
    memcpy(&x, p, size_bytes);
    return x;
}

/* A token longer than the canonical form has: the same function, with keys made on the way. */
static uint64_t hash_long_token(const struct shingle_hash *hash, const uint8_t *p,
                                size_t size_bytes)
{
    struct sum sum = {.low = key_value(derive(hash->secret, PURPOSE_TOKEN, 0)) +
                             key_value(derive(hash->secret, PURPOSE_TOKEN, 1)) * size_bytes};

    for (size_t at = 0; at < size_bytes; at += 8) {
        size_t left = size_bytes - at;
        sum_add(&sum, derive(hash->secret, PURPOSE_TOKEN, 2 + at / 8),
                load_tail(p + at, left < 8 ? left : 8));
    }
    return mix(sum_upper_half(&sum));
}

uint64_t shingle_hash_token(const struct shingle_hash *hash, const void *token, size_t size_bytes)
{
    const uint8_t *p = token;
    if (size_bytes > CANON_TOKEN_MAX_BYTES)
        return hash_long_token(hash, p, size_bytes);

    struct sum sum = {.low = hash->token_offset[size_bytes]};
    const struct key *key = hash->token;
    size_t left = size_bytes;
    for (; left >= 8; left -= 8, p += 8)
        sum_add(&sum, *key++, load_le64(p));
    if (left)
        sum_add(&sum, *key, load_tail(p, left));
    return mix(sum_upper_half(&sum));
}

void shingle_hash_tokens(const struct shingle_hash *hash, const struct token_block *block,
                         uint64_t *ret)
{
    size_t at = 0;
    for (size_t i = 0; i < block->n_tokens; i++) {
        const uint8_t *p = block->bytes + at;
        size_t left = block->ends[i] - at;
        at = block->ends[i];

        struct sum sum = {.low = hash->token_offset[left]};
        const struct key *key = hash->token;
        for (; left > 8; left -= 8, p += 8)
            sum_add(&sum, *key++, load_le64(p));
        /* 1 to 8 bytes are left; those behind them may be read but do not count. */
        sum_add(&sum, *key, load_le64(p) & UINT64_MAX >> (64 - 8 * left));
        ret[i] = mix(sum_upper_half(&sum));
    }
}

uint64_t shingle_hash_window(const struct shingle_hash *hash, const uint64_t *tokens,
                             size_t n_tokens)
{
    const struct window_keys *keys = &hash->window[n_tokens - 1];
    struct sum sum = {.low = keys->offset};
    for (size_t i = 0; i < n_tokens; i++)
        sum_add(&sum, keys->key[i], tokens[i]);
    return sum_upper_half(&sum);
}

static inline __attribute__((always_inline)) void hash_windows(const struct window_keys *from,
                                                               size_t w, const uint64_t *tokens,
                                                               size_t n_windows, uint64_t *ret)
{
    /* By value: the compiler need not fear that ret overlaps them. */
    const struct window_keys keys = *from;
    for (size_t i = 0; i < n_windows; i++) {
        struct sum sum = {.low = keys.offset};
        for (size_t j = 0; j < w; j++)
            sum_add(&sum, keys.key[j], tokens[i + j]);
        ret[i] = sum_upper_half(&sum);
    }
}

void shingle_hash_windows(const struct shingle_hash *hash, const uint64_t *tokens, size_t n_windows,
                          uint64_t *ret)
{
    const struct window_keys *keys = &hash->window[hash->w - 1];
    switch (hash->w) { /* the presets: a constant w is unrolled */
    case 5: hash_windows(keys, 5, tokens, n_windows, ret); break;
    case 10: hash_windows(keys, 10, tokens, n_windows, ret); break;
    default: hash_windows(keys, hash->w, tokens, n_windows, ret); break;
    }
}

void shingle_hash_features(const struct shingle_hash *hash, const struct feature *features,
                           size_t n_features, uint64_t *ret)
{
    for (size_t i = 0; i < n_features; i++) {
        struct sum sum = {.low = hash->feature.offset};
        sum_add(&sum, hash->feature.low, features[i].low);
        sum_add(&sum, hash->feature.high, features[i].high);
        ret[i] = sum_upper_half(&sum);
    }
}
