/* Estimates over many keys against exact values: means within so many standard errors, scatter as
 * claimed. Included by tests only. */
#ifndef KINFS_TESTS_LIB_TRIALS_H
#define KINFS_TESTS_LIB_TRIALS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/mix.h"
#include "engine/sketch/hash/shingle_hash.h"
#include "tests/lib/share.h"

/* The n-th of independent keys. */
static inline void trial_key(unsigned n, uint8_t ret_key[POLICY_KEY_BYTES])
{
    memset(ret_key, 0, POLICY_KEY_BYTES);
    memcpy(ret_key, &n, sizeof(n));
}

/* Fingerprints of the shingles of one token, whose tokens are these numbers, under a key. */
static inline void trial_fingerprints(const uint8_t key[POLICY_KEY_BYTES], const uint64_t *numbers,
                                      size_t n, uint64_t *ret_fingerprints)
{
    struct policy policy = {"test", POLICY_TOKENISER_WORDS, POLICY_HASH_GF64, 1, 2, 1, 2, {0}};
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    memcpy(policy.key, key, POLICY_KEY_BYTES);
    assert_int_equal(shingle_hash_new(&policy, &hash), 0);
    for (size_t from = 0; from < n; from += TOKEN_BLOCK_MAX) {
        uint8_t bytes[8 * TOKEN_BLOCK_MAX + TOKEN_BLOCK_SLACK_BYTES];
        uint64_t tokens[TOKEN_BLOCK_MAX];
        uint32_t ends[TOKEN_BLOCK_MAX];
        size_t n_block = n - from < TOKEN_BLOCK_MAX ? n - from : TOKEN_BLOCK_MAX;
        memcpy(bytes, numbers + from, 8 * n_block);
        for (size_t i = 0; i < n_block; i++)
            ends[i] = 8 * (uint32_t)(i + 1);
        shingle_hash_tokens(hash, &(struct token_block){bytes, ends, n_block}, tokens);
        shingle_hash_windows(hash, tokens, n_block, ret_fingerprints + from);
    }
}

/* Those of the numbers first, first + 1, .. */
static inline void trial_elements(const uint8_t key[POLICY_KEY_BYTES], uint64_t first, size_t n,
                                  uint64_t *ret_elements)
{
    for (size_t i = 0; i < n; i++)
        ret_elements[i] = first + i;
    trial_fingerprints(key, ret_elements, n, ret_elements);
}

static inline int trial_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

struct moments {
    double n, sum, squares;
};

static inline void moments_add(struct moments *moments, double value)
{
    moments->n++;
    moments->sum += value;
    moments->squares += value * value;
}

static inline double moments_mean(const struct moments *moments)
{
    return moments->sum / moments->n;
}

static inline double moments_sd(const struct moments *moments)
{
    double mean = moments_mean(moments);
    return sqrt(fmax(0, moments->squares - moments->n * mean * mean) / (moments->n - 1));
}

static inline void expect_mean(const struct moments *moments, double exact)
{
    double error = moments_sd(moments) / sqrt(moments->n);
    if (!(fabs(moments_mean(moments) - exact) <= 4 * error + 1e-12)) /* nor NAN */
        fail_msg("mean %.5f, exact %.5f, standard error %.5f", moments_mean(moments), exact, error);
}

static inline void expect_ratio(double actual, double expected, double tolerance)
{
    if (!(fabs(actual / expected - 1) <= tolerance))
        fail_msg("%.5f, expected %.5f within %.0f %%", actual, expected, 100 * tolerance);
}

/* The tolerance is that for all trials; for fewer it is as many standard errors. */
static inline void expect_ratio_of_trials(double actual, double expected, double tolerance)
{
    expect_ratio(actual, expected, tolerance * sqrt(trial_share()));
}

#endif
