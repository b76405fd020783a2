#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "base/bytes.h"
#include "base/mix.h"
#include "engine/sketch/hash/shingle_hash.h"
#include "engine/sketch/hash/shingle_hash_kernel.h"

static struct policy test_policy(uint32_t w, uint8_t key)
{
    struct policy policy = {"test", POLICY_TOKENISER_WORDS, POLICY_HASH_GF64, w, 128, 25, 4096,
                            {key}};
    return policy;
}

static struct shingle_hash *make_for(uint32_t w, uint8_t key, enum kernel kernel)
{
    struct policy policy = test_policy(w, key);
    struct shingle_hash *hash = NULL;
    assert_int_equal(shingle_hash_new_for(&policy, kernel, &hash), 0);
    return hash;
}

static struct shingle_hash *make(uint32_t w, uint8_t key)
{
    return make_for(w, key, kernel_in_use());
}

typedef unsigned __int128 u128;

/* x^64 + x^4 + x^3 + x + 1 */
static const u128 modulus = (u128)1 << 64 | 0x1b;

/* In the field of 2^degree elements, bit by bit, as it is defined. */
static uint64_t plain_multiply(uint64_t a, uint64_t b, u128 modulus_, unsigned degree)
{
    u128 product = 0;
    for (unsigned i = 0; i < degree; i++)
        product ^= (a >> i & 1) ? (u128)b << i : 0;
    for (unsigned i = 2 * degree - 2; i >= degree; i--)
        product ^= (product >> i & 1) ? modulus_ << (i - degree) : 0;
    return (uint64_t)product;
}

static uint64_t plain64(uint64_t a, uint64_t b)
{
    return plain_multiply(a, b, modulus, 64);
}

/* The same family over the field of 16 elements, all keys of two words and an offset, all pairs of
 * different inputs: every pair of values is hit equally often. This is the theorem of
 * shingle_hash.c, checked exhaustively. */
static void test_shingle_hash__formula_is_pairwise_independent_over_all_keys(void **state)
{
    (void)state;
    uint8_t product[16][16];
    for (unsigned a = 0; a < 16; a++)
        for (unsigned b = 0; b < 16; b++)
            product[a][b] = (uint8_t)plain_multiply(a, b, 0x13, 4); /* x^4 + x + 1 */
    for (unsigned x = 0; x < 256; x++) {
        for (unsigned y = 0; y < x; y++) {
            uint32_t hits[16][16] = {{0}};
            for (unsigned a1 = 0; a1 < 16; a1++) {
                for (unsigned a2 = 0; a2 < 16; a2++) {
                    unsigned sum_x = product[a1][x >> 4] ^ product[a2][x & 15];
                    unsigned sum_y = product[a1][y >> 4] ^ product[a2][y & 15];
                    for (unsigned a0 = 0; a0 < 16; a0++)
                        hits[a0 ^ sum_x][a0 ^ sum_y]++;
                }
            }
            for (unsigned u = 0; u < 16; u++)
                for (unsigned v = 0; v < 16; v++)
                    assert_int_equal(hits[u][v], 16 * 16 * 16 / (16 * 16));
        }
    }
}

static unsigned degree(u128 polynomial)
{
    unsigned n = 0;
    while (polynomial >>= 1)
        n++;
    return n;
}

static u128 greatest_common_divisor(u128 a, u128 b)
{
    while (b) {
        while (a && degree(a) >= degree(b))
            a ^= b << (degree(a) - degree(b));
        u128 rest = a;
        a = b;
        b = rest;
    }
    return a;
}

/* Rabin's test: of degree 64, whose only prime divisor is 2, a polynomial is irreducible iff it
 * divides x^(2^64) - x and has nothing in common with x^(2^32) - x. (The second half tells it from
 * a product of two of degree 32.) */
static void test_shingle_hash__polynomial_is_irreducible(void **state)
{
    (void)state;
    uint64_t power = 2; /* the element x */
    for (int i = 0; i < 32; i++)
        power = plain64(power, power);
    assert_true(greatest_common_divisor(modulus, power ^ 2) == 1);
    for (int i = 0; i < 32; i++)
        power = plain64(power, power);
    assert_true(power == 2);
}

static void test_shingle_hash__field_multiplies_as_defined(void **state)
{
    (void)state;
    uint64_t random = 4;
    for (int i = 0; i < 20000; i++) {
        uint64_t a = mix64_next(&random) >> mix64_next(&random) % 64,
                 b = mix64_next(&random) << mix64_next(&random) % 64;
        assert_true(gf64_multiply(a, b) == plain64(a, b));
        assert_true(gf64_double(a) == plain64(a, 2));
    }
}

/* The keys that the file's head describes, by the plain route. */
static uint64_t plain_key(const struct policy *policy, uint32_t purpose, uint64_t i)
{
    uint8_t input[20 + 4 + 8 + POLICY_KEY_BYTES] = "kinfs gf64 shingles", digest[32];
    put_be32(input + 20, purpose);
    put_be64(input + 24, i / 4);
    memcpy(input + 32, policy->key, POLICY_KEY_BYTES);
    SHA256(input, sizeof(input), digest);
    return get_be64(digest + 8 * (i % 4));
}

/* The bijection, and its way back: it is one. */
static uint64_t plain_mix(uint64_t x)
{
    uint32_t high = (uint32_t)(x >> 32), low = (uint32_t)x;
    uint32_t new_high = high ^ (uint32_t)((uint64_t)low * 0x9e3779b1u >> 32);
    uint32_t new_low = low ^ (uint32_t)((uint64_t)new_high * 0x85ebca77u >> 32);

    uint32_t old_low = new_low ^ (uint32_t)((uint64_t)new_high * 0x85ebca77u >> 32);
    uint32_t old_high = new_high ^ (uint32_t)((uint64_t)old_low * 0x9e3779b1u >> 32);
    assert_true(old_low == low && old_high == high);
    return (uint64_t)new_high << 32 | new_low;
}

enum { FORMULA_KEYS = 2 + CANON_TOKEN_MAX_BYTES / 8 };

static uint64_t plain_token(const uint64_t keys[FORMULA_KEYS], const uint8_t *token, size_t size)
{
    uint64_t sum = keys[0] ^ plain64(size, keys[1]);
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        for (size_t i = 0; i < 8 && at + i < size; i++)
            word |= (uint64_t)token[at + i] << 8 * i;
        sum ^= plain64(word, keys[2 + at / 8]);
    }
    return plain_mix(sum);
}

/* Blocks of 1 to 70 tokens and of TOKEN_BLOCK_MAX, short and long ones in all mixtures. Behind a
 * block's slack its memory ends. */
static void test_shingle_hash__tokens_are_the_formula_by_every_kernel(void **state)
{
    (void)state;
    struct policy policy = test_policy(5, 7);
    uint64_t keys[FORMULA_KEYS], random = 1;
    for (size_t i = 0; i < FORMULA_KEYS; i++)
        keys[i] = plain_key(&policy, 0, i);
    for (size_t round = 1; round <= 71; round++) {
        size_t n = round <= 70 ? round : TOKEN_BLOCK_MAX;
        uint32_t ends[TOKEN_BLOCK_MAX], at = 0;
        for (size_t i = 0; i < n; i++) /* each length; then mostly short ones */
            ends[i] = at +=
                (uint32_t)(round == 71 && i < 256                ? i + 1
                           : mix64_next(&random) % 8 < round % 9 ? 1 + mix64_next(&random) % 16
                                                                 : 1 + mix64_next(&random) % 256);
        uint8_t *bytes = malloc(at + TOKEN_BLOCK_SLACK_BYTES);
        assert_non_null(bytes);
        for (size_t i = 0; i < at + TOKEN_BLOCK_SLACK_BYTES; i++)
            bytes[i] = (uint8_t)mix64_next(&random);
        const struct token_block block = {bytes, ends, n};
        uint64_t expected[TOKEN_BLOCK_MAX];
        for (size_t i = 0; i < n; i++) {
            uint32_t begin = i ? ends[i - 1] : 0;
            expected[i] = plain_token(keys, bytes + begin, ends[i] - begin);
        }
        for (int kernel = 0; kernel < KERNEL_N; kernel++) {
            if (!kernel_is_there((enum kernel)kernel))
                continue;
            _cleanup_(shingle_hash_free_p) struct shingle_hash *hash =
                make_for(5, 7, (enum kernel)kernel);
            uint64_t fingerprints[TOKEN_BLOCK_MAX + 1];
            fingerprints[n] = 12345; /* nothing is written behind */
            shingle_hash_tokens(hash, &block, fingerprints);
            assert_memory_equal(fingerprints, expected, n * sizeof(uint64_t));
            assert_true(fingerprints[n] == 12345);
        }
        free(bytes);
    }
}

static void test_shingle_hash__windows_are_the_formula_for_every_w_by_every_kernel(void **state)
{
    (void)state;
    enum { N = 300 };
    uint64_t random = 3, all[N + POLICY_W_MAX];
    for (size_t i = 0; i < N + POLICY_W_MAX; i++)
        all[i] = mix64_next(&random);
    for (uint32_t w = 1; w <= POLICY_W_MAX; w++) { /* A5 */
        struct policy policy = test_policy(w, 9);
        uint64_t keys[1 + POLICY_W_MAX], expected[N];
        for (uint32_t i = 0; i <= w; i++)
            keys[i] = plain_key(&policy, w, i);
        for (size_t i = 0; i < N; i++) {
            expected[i] = keys[0];
            for (uint32_t j = 0; j < w; j++)
                expected[i] ^= plain64(keys[1 + j], all[i + j]);
        }
        for (int kernel = 0; kernel < KERNEL_N; kernel++) {
            if (!kernel_is_there((enum kernel)kernel))
                continue;
            _cleanup_(shingle_hash_free_p) struct shingle_hash *hash =
                make_for(w, 9, (enum kernel)kernel);
            for (size_t n = 1; n <= N; n += n < 33 ? 1 : 89) { /* every remainder; several chunks */
                size_t first = mix64_next(&random) % (N - n + 1);
                uint64_t windows[N + 1], *tokens = malloc((n + w - 1) * sizeof(uint64_t));
                assert_non_null(tokens);
                memcpy(tokens, all + first, (n + w - 1) * sizeof(uint64_t));
                windows[n] = 12345;
                shingle_hash_windows(hash, tokens, n, windows);
                assert_memory_equal(windows, expected + first, n * sizeof(uint64_t));
                assert_true(windows[n] == 12345);
                free(tokens);
            }
        }
    }
}

/* Those of documents shorter than w. */
static void test_shingle_hash__short_windows_are_the_formula(void **state)
{
    (void)state;
    struct policy policy = test_policy(POLICY_W_MAX, 9);
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = make(POLICY_W_MAX, 9);
    uint64_t random = 5, tokens[POLICY_W_MAX];
    for (size_t i = 0; i < POLICY_W_MAX; i++)
        tokens[i] = mix64_next(&random);
    for (uint32_t n = 1; n <= POLICY_W_MAX; n++) {
        uint64_t sum = plain_key(&policy, n, 0);
        for (uint32_t i = 0; i < n; i++)
            sum ^= plain64(plain_key(&policy, n, 1 + i), tokens[i]);
        assert_true(shingle_hash_window(hash, tokens, n) == sum);
    }
}

static void test_shingle_hash__features_are_the_formula_with_keys_of_their_own(void **state)
{
    (void)state;
    enum { N = 100 };
    struct policy policy = test_policy(5, 9);
    struct feature features[N];
    uint64_t random = 5, fingerprints[N];
    for (int i = 0; i < N; i++)
        features[i] = (struct feature){mix64_next(&random), mix64_next(&random)};
    for (enum kernel kernel = 0; kernel < KERNEL_N; kernel++) {
        if (!kernel_is_there(kernel))
            continue;
        _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
        assert_int_equal(shingle_hash_new_for(&policy, kernel, &hash), 0);
        shingle_hash_features(hash, features, N, fingerprints);
        for (int i = 0; i < N; i++)
            assert_true(fingerprints[i] ==
                        (plain_key(&policy, POLICY_W_MAX + 1, 0) ^
                         plain64(plain_key(&policy, POLICY_W_MAX + 1, 1), features[i].low) ^
                         plain64(plain_key(&policy, POLICY_W_MAX + 1, 2), features[i].high)));
    }
}

/* The fingerprints of n tokens, one in each of n strings. */
static void hash_strings(const struct shingle_hash *hash, char strings[][16], size_t n,
                         uint64_t *ret)
{
    for (size_t from = 0; from < n; from += TOKEN_BLOCK_MAX) {
        uint8_t bytes[16 * TOKEN_BLOCK_MAX + TOKEN_BLOCK_SLACK_BYTES] = {0};
        uint32_t ends[TOKEN_BLOCK_MAX], at = 0;
        size_t n_block = n - from < TOKEN_BLOCK_MAX ? n - from : TOKEN_BLOCK_MAX;
        for (size_t i = 0; i < n_block; i++) {
            size_t size = strlen(strings[from + i]);
            memcpy(bytes + at, strings[from + i], size);
            ends[i] = at += (uint32_t)size;
        }
        shingle_hash_tokens(hash, &(struct token_block){bytes, ends, n_block}, ret + from);
    }
}

/* Zero words change no sum: only the length tells these tokens apart, and it does. */
static void test_shingle_hash__tells_tokens_of_different_length_apart(void **state)
{
    (void)state;
    enum { N = CANON_TOKEN_MAX_BYTES };
    static const uint8_t zeros[N * (N + 1) / 2 + TOKEN_BLOCK_SLACK_BYTES];
    uint32_t ends[N], at = 0;
    for (uint32_t i = 0; i < N; i++)
        ends[i] = at += i + 1;
    for (uint8_t key = 0; key < 20; key++) {
        _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = make(5, key);
        uint64_t seen[N];
        shingle_hash_tokens(hash, &(struct token_block){zeros, ends, N}, seen);
        for (size_t size = 0; size < N; size++)
            for (size_t i = 0; i < size; i++)
                assert_true(seen[i] != seen[size]);
    }
}

/* Structured tokens (the decimal numbers) and their windows: buckets by the upper and the lower 8
 * bits are filled evenly, and values collide as often as random ones: the upper 32 bits of n values
 * n^2/2^33 times. */
static void test_shingle_hash__values_of_structured_text_look_uniform(void **state)
{
    (void)state;
    enum { N = 100000, W = 5, KEYS = 8 };
    static uint64_t tokens[N + W], windows[N];
    static char numbers[N + W][16];
    double collisions = 0;
    for (unsigned i = 0; i < N + W; i++)
        snprintf(numbers[i], sizeof(numbers[i]), "%u", i);
    for (uint8_t key = 0; key < KEYS; key++) {
        _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = make(W, key);
        hash_strings(hash, numbers, N + W, tokens);
        shingle_hash_windows(hash, tokens, N, windows);
        for (unsigned shift = 0; shift <= 56; shift += 56) {
            double hits[256] = {0}, chi2 = 0;
            for (unsigned i = 0; i < N; i++)
                hits[windows[i] >> shift & 255]++;
            for (unsigned i = 0; i < 256; i++)
                chi2 += (hits[i] - N / 256.) * (hits[i] - N / 256.) / (N / 256.);
            /* Pairwise independence gives the mean of chi-square, 255, not its tail: the values of
             * an arithmetic progression may be spread too evenly, never much too unevenly. */
            assert_true(chi2 < 255 + 6 * sqrt(2 * 255));
        }
        static uint32_t seen[1 << 16]; /* the last value of each lower half of 32 bits, plus one */
        memset(seen, 0, sizeof(seen));
        for (unsigned i = 0; i < N; i++) {
            uint32_t value = (uint32_t)(windows[i] >> 40); /* 24 bits */
            seen[value & 0xffff] += (value >> 16) == 0;
        }
        for (unsigned i = 0; i < 1 << 16; i++)
            collisions += seen[i] * (seen[i] - 1.) / 2;
    }
    /* 2^16 of the 2^24 values are watched: N/256 windows fall there. */
    double expected = KEYS * (N / 256.) * (N / 256.) / 2 / (1 << 16);
    assert_true(fabs(collisions - expected) < 6 * sqrt(expected) + 1);
}

/* Why a token's fingerprint ends in a bijection. The numbers with five digits differ in a few bits
 * of one word: without it the values below 2^64/25 scatter 16 % less over the keys than a random
 * sample does (1000 keys, of which this is one of 2.2 % standard error). */
static void test_shingle_hash__counters_scatter_like_a_random_sample(void **state)
{
    (void)state;
    enum { N = 12000, KEYS = 1000 };
    static char numbers[N][16];
    static uint64_t values[N];
    for (unsigned i = 0; i < N; i++)
        snprintf(numbers[i], sizeof(numbers[i]), "%05u", i);
    double sum = 0, squares = 0;
    for (unsigned key = 0; key < KEYS; key++) {
        struct policy policy = test_policy(1, (uint8_t)key);
        policy.key[1] = (uint8_t)(key >> 8);
        _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
        assert_int_equal(shingle_hash_new(&policy, &hash), 0);
        hash_strings(hash, numbers, N, values);
        uint64_t tokens[TOKEN_BLOCK_MAX];
        unsigned n_below = 0;
        for (size_t from = 0; from < N; from += TOKEN_BLOCK_MAX) {
            size_t n = N - from < TOKEN_BLOCK_MAX ? N - from : TOKEN_BLOCK_MAX;
            memcpy(tokens, values + from, n * sizeof(uint64_t));
            shingle_hash_windows(hash, tokens, n, values + from);
            for (size_t i = 0; i < n; i++)
                n_below += values[from + i] < UINT64_MAX / 25;
        }
        sum += n_below;
        squares += (double)n_below * n_below;
    }
    double mean = sum / KEYS, scatter = sqrt(squares / KEYS - mean * mean);
    double theory = sqrt(N / 25. * 24 / 25);
    assert_true(fabs(mean - N / 25.) < 4 * theory / sqrt(KEYS));
    assert_true(fabs(scatter / theory - 1) < 4 / sqrt(2. * KEYS));
}

static void test_shingle_hash__refuses_an_invalid_policy(void **state)
{
    (void)state;
    struct policy policy = test_policy(0, 0);
    struct shingle_hash *hash = NULL;
    assert_int_equal(shingle_hash_new(&policy, &hash), -EINVAL);
    assert_null(hash);
    shingle_hash_free(NULL);
}

static void test_shingle_hash__refuses_a_kernel_that_is_not_there(void **state)
{
    (void)state;
    struct policy policy = test_policy(5, 0);
    for (int kernel = 0; kernel < KERNEL_N; kernel++) {
        struct shingle_hash *hash = NULL;
        int r = shingle_hash_new_for(&policy, (enum kernel)kernel, &hash);
        assert_int_equal(r, kernel_is_there((enum kernel)kernel) ? 0 : -ENOTSUP);
        shingle_hash_free(hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shingle_hash__formula_is_pairwise_independent_over_all_keys),
        cmocka_unit_test(test_shingle_hash__polynomial_is_irreducible),
        cmocka_unit_test(test_shingle_hash__field_multiplies_as_defined),
        cmocka_unit_test(test_shingle_hash__tokens_are_the_formula_by_every_kernel),
        cmocka_unit_test(test_shingle_hash__windows_are_the_formula_for_every_w_by_every_kernel),
        cmocka_unit_test(test_shingle_hash__short_windows_are_the_formula),
        cmocka_unit_test(test_shingle_hash__features_are_the_formula_with_keys_of_their_own),
        cmocka_unit_test(test_shingle_hash__tells_tokens_of_different_length_apart),
        cmocka_unit_test(test_shingle_hash__values_of_structured_text_look_uniform),
        cmocka_unit_test(test_shingle_hash__counters_scatter_like_a_random_sample),
        cmocka_unit_test(test_shingle_hash__refuses_an_invalid_policy),
        cmocka_unit_test(test_shingle_hash__refuses_a_kernel_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
