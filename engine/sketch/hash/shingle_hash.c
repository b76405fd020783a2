/* Fingerprints of tokens and shingles by the multilinear family over the field of 2^64 elements
 * (gf64.h; addition is exclusive or).
 *
 *   h(x_1..x_n) = a_0 + a_1 x_1 + ... + a_n x_n
 *
 * Theorem. For x != y of one length, h(x) and h(y) are independent and each uniform on 64 bits.
 * Proof. h(x) - h(y) = sum a_i (x_i - y_i), in which some x_i - y_i is not 0; times it the uniform
 * a_i is uniform, whatever the other terms. And a_0, which is not in it, makes h(x) uniform and
 * independent of it. QED. In particular P(h(x) = h(y)) = 2^-64, and that of h(x) = u and h(y) = v
 * is 2^-128 for all u, v. (No bit is lost, nothing is assumed of the inputs, and n is any number.)
 *
 * Tokens. x is (length, first 8 bytes, next 8 bytes, ...), little endian, the last word filled up
 * with zeros. Tokens of different length do not collide more than others: their first words differ,
 * so that, the shorter one thought of as followed by zero words (which change neither sum), the
 * theorem applies. Tokens of the same length differ in some word.
 *
 * The fingerprint of a token is m(h(x)) with a fixed bijection m, which leaves pairs as independent
 * and uniform as they were. Without it the fingerprints of tokens that differ in some bits of one
 * word would be all sums of a few elements, those of their shingles again, and such a subspace has
 * a power of two of elements below a power of two: unbiased over all keys, but with a scatter that
 * comes from a few keys alone. m is not linear, neither over the bits nor over the integers.
 *
 * Shingles. x is the w fingerprints of the tokens. A shingle of n < w tokens, the only one of a
 * document so short, has keys of its own for each n: its a_0 is independent of that of any other
 * length, so fingerprints of shingles of different length are independent whatever the tokens.
 * Two different shingles have different x but with probability 2^-64, so that the whole is pairwise
 * independent up to that.
 *
 * Features. x is the two halves of the feature's digest, with keys of their own.
 *
 * Why pairwise independence is enough: bottom-k samples under it estimate with an expected relative
 * error of O(1/sqrt(f k)) (Thorup 2013, "Bottom-k and priority sampling, set similarity and subset
 * sums with minimal independence"), where k repetitions of one minimum keep a constant bias.
 *
 * Keys: block j of purpose p is SHA-256(domain | p | j | the policy's 32 secret bytes), a pseudo-
 * random stream of 64-bit keys, four a block; the theorem holds for random keys, and for these as
 * far as nobody can tell them from random.
 *
 * Example in the field of 4 elements (x^2 + x + 1, so 2 * 2 = 3, 2 * 3 = 1, 3 * 3 = 2): with the
 * keys a_0 = 1, a_1 = 2, a_2 = 3, the shingle (3, 2) has the fingerprint
 * 1 ^ 2*3 ^ 3*2 = 1 ^ 1 ^ 1 = 1.
 *
 * Cost: the products are added up unreduced, as 128 bits, and the sum is reduced once: one
 * carry-less multiplication a word where the processor has them (the kernels of
 * shingle_hash_kernel.h), w for a shingle.
 *
 * Left out: a rolling hash, which costs O(1) a shingle instead of w products but needs powers of
 * one key, for which the theorem does not hold; with w = 5 there is nothing to be won. Left out,
 * too: multilinear hashing modulo 2^128, which had to drop half of the bits.
 */
#include "engine/sketch/hash/shingle_hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "base/bytes.h"
#include "engine/sketch/hash/shingle_hash_kernel.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the words of a token are read as they lie"
#endif

/* The purpose is the first part of a key's domain. A window of n tokens has purpose n. */
enum { PURPOSE_TOKEN = 0, PURPOSE_FEATURE = POLICY_W_MAX + 1 };

enum { BLOCK_KEYS = SHA256_DIGEST_LENGTH / 8 };

/* Keys first .. first + n of a purpose. */
static void derive(const uint8_t secret[POLICY_KEY_BYTES], uint32_t purpose, uint64_t first,
                   size_t n, uint64_t *ret_keys)
{
    static const char domain[20] = "kinfs gf64 shingles";
    uint8_t input[sizeof(domain) + 4 + 8 + POLICY_KEY_BYTES];
    uint8_t digest[SHA256_DIGEST_LENGTH];

    memcpy(input, domain, sizeof(domain));
    put_be32(input + sizeof(domain), purpose);
    memcpy(input + sizeof(domain) + 12, secret, POLICY_KEY_BYTES);
    for (uint64_t i = first; i < first + n; i++) {
        if (i == first || i % BLOCK_KEYS == 0) {
            put_be64(input + sizeof(domain) + 4, i / BLOCK_KEYS);
            SHA256(input, sizeof(input), digest);
        }
        ret_keys[i - first] = get_be64(digest + 8 * (i % BLOCK_KEYS));
    }
    OPENSSL_cleanse(input, sizeof(input));
    OPENSSL_cleanse(digest, sizeof(digest));
}

static const struct shingle_hash_kernel *kernel_of(enum kernel kernel)
{
    if (!kernel_is_there(kernel))
        return NULL;
    switch (kernel) {
#if defined(__x86_64__)
    case KERNEL_AVX2: return &shingle_hash_avx2;
    case KERNEL_AVX512: return &shingle_hash_avx512;
#elif defined(__aarch64__)
    case KERNEL_NEON: return &shingle_hash_neon;
#endif
    default: return &shingle_hash_scalar;
    }
}

int shingle_hash_new_for(const struct policy *policy, enum kernel kernel,
                         struct shingle_hash **ret_hash)
{
    if (policy_validate(policy) < 0)
        return -EINVAL;
    const struct shingle_hash_kernel *functions = kernel_of(kernel);
    if (!functions)
        return -ENOTSUP;

    unsigned w = policy->w;
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash =
        calloc(1, sizeof(*hash) + w * sizeof(hash->window[0]));
    if (!hash)
        return -ENOMEM;

    hash->kernel = functions;
    hash->w = w;
    uint64_t first[2];
    derive(policy->key, PURPOSE_TOKEN, 0, 2, first);
    for (size_t size = 0; size <= CANON_TOKEN_MAX_BYTES; size++)
        hash->token_offset[size] = first[0] ^ gf64_multiply(size, first[1]);
    OPENSSL_cleanse(first, sizeof(first));
    derive(policy->key, PURPOSE_TOKEN, 2, TOKEN_WORDS, hash->token_key);
    derive(policy->key, PURPOSE_FEATURE, 0, 1, &hash->feature_offset);
    derive(policy->key, PURPOSE_FEATURE, 1, 2, hash->feature_key);
    for (unsigned n = 1; n <= w; n++) {
        derive(policy->key, n, 0, 1, &hash->window[n - 1].offset);
        derive(policy->key, n, 1, n, hash->window[n - 1].key);
    }
    if (functions == &shingle_hash_scalar) {
        int r = shingle_hash_tables_new(hash, &hash->tables);
        if (r < 0)
            return r;
    }
    *ret_hash = TAKE_PTR(hash);
    return 0;
}

int shingle_hash_new(const struct policy *policy, struct shingle_hash **ret_hash)
{
    return shingle_hash_new_for(policy, kernel_in_use(), ret_hash);
}

void shingle_hash_free(struct shingle_hash *hash)
{
    if (!hash)
        return;
    shingle_hash_tables_free(hash->tables, hash);
    OPENSSL_cleanse(hash, sizeof(*hash) + hash->w * sizeof(hash->window[0]));
    free(hash);
}

void shingle_hash_tokens(const struct shingle_hash *hash, const struct token_block *block,
                         uint64_t *ret)
{
    hash->kernel->tokens(hash, block, ret);
}

uint64_t shingle_hash_window(const struct shingle_hash *hash, const uint64_t *tokens,
                             size_t n_tokens)
{
    const struct window_keys *keys = &hash->window[n_tokens - 1];
    uint64_t sum = keys->offset;
    for (size_t i = 0; i < n_tokens; i++)
        sum ^= gf64_multiply(tokens[i], keys->key[i]);
    return sum;
}

void shingle_hash_windows(const struct shingle_hash *hash, const uint64_t *tokens, size_t n_windows,
                          uint64_t *ret)
{
    hash->kernel->windows(hash, tokens, n_windows, ret);
}

void shingle_hash_features(const struct shingle_hash *hash, const struct feature *features,
                           size_t n_features, uint64_t *ret)
{
    hash->kernel->features(hash, features, n_features, ret);
}
