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
#include "engine/sketch/shingle_hash.h"

static struct policy test_policy(uint32_t w, uint8_t key)
{
    struct policy policy = {
        "test", POLICY_TOKENISER_WORDS, POLICY_HASH_MULTILINEAR, w, 128, 25, 4096, {key}};
    return policy;
}

static struct shingle_hash *make(uint32_t w, uint8_t key)
{
    struct policy policy = test_policy(w, key);
    struct shingle_hash *hash = NULL;
    assert_int_equal(shingle_hash_new(&policy, &hash), 0);
    return hash;
}

static uint64_t next(uint64_t *x) /* splitmix64 */
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* The same family scaled down to words of 4 bits and sums of 8, all keys of two words and an
 * offset: every pair of values is hit equally often for every two different inputs. This is the
 * theorem of shingle_hash.c, checked exhaustively. */
static void test_shingle_hash__formula_is_pairwise_independent_over_all_keys(void **state)
{
    (void)state;
    /* x1 x2 against y1 y2; differences odd, even, divisible by 8, in one word or both */
    static const uint8_t inputs[][4] = {{0, 0, 0, 1}, {0, 0, 8, 0},   {3, 5, 3, 13},
                                        {1, 2, 2, 1}, {15, 0, 0, 15}, {7, 7, 15, 15},
                                        {4, 9, 0, 9}, {2, 6, 10, 14}};
    for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        const uint8_t *x = inputs[i];
        static uint32_t hits[16][16];
        memset(hits, 0, sizeof(hits));
        for (unsigned a1 = 0; a1 < 256; a1++) {
            for (unsigned a2 = 0; a2 < 256; a2++) {
                unsigned sum_x = a1 * x[0] + a2 * x[1], sum_y = a1 * x[2] + a2 * x[3];
                for (unsigned a0 = 0; a0 < 256; a0++)
                    hits[(uint8_t)(a0 + sum_x) >> 4][(uint8_t)(a0 + sum_y) >> 4]++;
            }
        }
        for (unsigned u = 0; u < 16; u++)
            for (unsigned v = 0; v < 16; v++)
                assert_int_equal(hits[u][v], 256 * 256 * 256 / (16 * 16));
    }
}

/* The key block the file's head describes, by the plain route. */
static unsigned __int128 plain_key(const struct policy *policy, uint32_t purpose, uint64_t i)
{
    uint8_t input[20 + 4 + 8 + POLICY_KEY_BYTES] = "kinfs shingle hash", digest[32];
    put_be32(input + 20, purpose);
    put_be64(input + 24, i / 2);
    memcpy(input + 32, policy->key, POLICY_KEY_BYTES);
    SHA256(input, sizeof(input), digest);
    const uint8_t *p = digest + 16 * (i % 2);
    return (unsigned __int128)get_be64(p + 8) << 64 | get_be64(p);
}

/* The bijection, and its way back: it is one. */
static uint64_t plain_mix(uint64_t x)
{
    const uint64_t factor = 0xd6e8feb86659fd93;
    uint64_t inverse = factor; /* right in 3 bits; each step doubles them */
    for (int i = 0; i < 5; i++)
        inverse *= 2 - factor * inverse;
    uint64_t mixed = x;
    for (int i = 0; i < 2; i++)
        mixed = (mixed ^ mixed >> 32) * factor;
    mixed ^= mixed >> 32;

    uint64_t back = mixed;
    for (int i = 0; i < 2; i++)
        back = (back ^ back >> 32) * inverse;
    assert_true((back ^ back >> 32) == x);
    return mixed;
}

static void test_shingle_hash__token_is_the_formula_in_128_bits(void **state)
{
    (void)state;
    struct policy policy = test_policy(5, 7);
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = make(5, 7);
    uint8_t token[1000];
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof(token); i++)
        token[i] = (uint8_t)next(&random);

    for (size_t size = 0; size <= sizeof(token); size += size < 300 ? 1 : 97) {
        unsigned __int128 sum = plain_key(&policy, 0, 0) + plain_key(&policy, 0, 1) * size;
        for (size_t at = 0; at < size; at += 8) {
            uint64_t word = 0;
            for (size_t i = 0; i < 8 && at + i < size; i++)
                word |= (uint64_t)token[at + i] << 8 * i;
            sum += plain_key(&policy, 0, 2 + at / 8) * word;
        }
        assert_true(shingle_hash_token(hash, token, size) == plain_mix((uint64_t)(sum >> 64)));
    }
}

static void test_shingle_hash__tokens_of_a_block_are_hashed_as_one_by_one(void **state)
{
    (void)state;
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = make(5, 7);
    enum { N = CANON_TOKEN_MAX_BYTES };
    static uint8_t bytes[N * (N + 1) / 2 + TOKEN_BLOCK_SLACK_BYTES];
    uint32_t ends[N], at = 0;
    uint64_t random = 2, fingerprints[N];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)next(&random);
    for (uint32_t i = 0; i < N; i++)
        ends[i] = at += i + 1;
    struct token_block block = {bytes, ends, N};
    shingle_hash_tokens(hash, &block, fingerprints);
    for (uint32_t i = 0; i < N; i++)
        assert_true(fingerprints[i] == shingle_hash_token(hash, bytes + ends[i] - (i + 1), i + 1));
}

static void test_shingle_hash__windows_are_the_formula_for_every_w(void **state)
{
    (void)state;
    uint64_t random = 3, tokens[100 + POLICY_W_MAX], windows[100];
    for (size_t i = 0; i < 100 + POLICY_W_MAX; i++)
        tokens[i] = next(&random);
    for (uint32_t w = 1; w <= POLICY_W_MAX; w++) { /* A5 */
        struct policy policy = test_policy(w, 9);
        _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = make(w, 9);
        shingle_hash_windows(hash, tokens, 100, windows);
        for (size_t i = 0; i < 100; i++)
            assert_true(windows[i] == shingle_hash_window(hash, tokens + i, w));
        for (uint32_t n = 1; n <= w; n++) {
            unsigned __int128 sum = plain_key(&policy, n, 0);
            for (uint32_t i = 0; i < n; i++)
                sum += plain_key(&policy, n, 1 + i) * tokens[i];
            assert_true(shingle_hash_window(hash, tokens, n) == (uint64_t)(sum >> 64));
        }
    }
}

static void test_shingle_hash__features_are_the_formula_with_keys_of_their_own(void **state)
{
    (void)state;
    struct policy policy = test_policy(5, 9);
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = make(5, 9);
    uint64_t random = 4, fingerprints[20];
    struct feature features[20];
    for (size_t i = 0; i < 20; i++)
        features[i] = (struct feature){next(&random), next(&random)};
    shingle_hash_features(hash, features, 20, fingerprints);
    for (size_t i = 0; i < 20; i++) {
        unsigned __int128 sum = plain_key(&policy, POLICY_W_MAX + 1, 0);
        sum += plain_key(&policy, POLICY_W_MAX + 1, 1) * features[i].low;
        sum += plain_key(&policy, POLICY_W_MAX + 1, 2) * features[i].high;
        assert_true(fingerprints[i] == (uint64_t)(sum >> 64));
    }
}

/* Zero words change no sum: only the length tells these tokens apart, and it does. */
static void test_shingle_hash__tells_tokens_of_different_length_apart(void **state)
{
    (void)state;
    const uint8_t zeros[600] = {0};
    for (uint8_t key = 0; key < 20; key++) {
        _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = make(5, key);
        uint64_t seen[600];
        for (size_t size = 0; size < 600; size++) {
            seen[size] = shingle_hash_token(hash, zeros, size);
            for (size_t i = 0; i < size; i++)
                assert_true(seen[i] != seen[size]);
        }
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
    double collisions = 0;
    for (uint8_t key = 0; key < KEYS; key++) {
        _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = make(W, key);
        for (unsigned i = 0; i < N + W; i++) {
            char text[16];
            int size = snprintf(text, sizeof(text), "%u", i);
            tokens[i] = shingle_hash_token(hash, text, (size_t)size);
        }
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

static void test_shingle_hash__refuses_an_invalid_policy(void **state)
{
    (void)state;
    struct policy policy = test_policy(0, 0);
    struct shingle_hash *hash = NULL;
    assert_int_equal(shingle_hash_new(&policy, &hash), -EINVAL);
    assert_null(hash);
    shingle_hash_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shingle_hash__formula_is_pairwise_independent_over_all_keys),
        cmocka_unit_test(test_shingle_hash__token_is_the_formula_in_128_bits),
        cmocka_unit_test(test_shingle_hash__tokens_of_a_block_are_hashed_as_one_by_one),
        cmocka_unit_test(test_shingle_hash__windows_are_the_formula_for_every_w),
        cmocka_unit_test(test_shingle_hash__features_are_the_formula_with_keys_of_their_own),
        cmocka_unit_test(test_shingle_hash__tells_tokens_of_different_length_apart),
        cmocka_unit_test(test_shingle_hash__values_of_structured_text_look_uniform),
        cmocka_unit_test(test_shingle_hash__refuses_an_invalid_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
