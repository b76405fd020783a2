/* The estimates of min_sketch.c against the exact values, over many independent keys: a mean must
 * lie within 4 standard errors of the exact value, and the scatter be that of theory. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/sort_numbers.h"
#include "tests/lib/fixtures/min_sketch_fixture.h"

/* -- worked examples -- */

/* Letters in the order of the alphabet, and far above V. */
static struct min_sketch build_letters(struct min_sketch_builder *builder, const char *letters)
{
    uint64_t values[26];
    for (size_t i = 0; letters[i]; i++)
        values[i] = (uint64_t)letters[i] << 56 | (uint64_t)1 << 55;
    return build(builder, values, strlen(letters));
}

static void expect_letters(const struct min_sketch *sketch, const char *letters)
{
    assert_int_equal(sketch->n_values, strlen(letters));
    for (size_t i = 0; letters[i]; i++)
        assert_int_equal(sketch->values[i] >> 56, letters[i]);
}

/* B1: MIN_3{x,m,t,r} = {m,r,t}, and MIN_3 of the union {e,m,r}; all of a set that is smaller */
static void test_min_sketch__gives_the_smallest_three_of_the_example(void **state)
{
    (void)state;
    struct policy policy = test_policy(3, 1 << 20, 64);
    _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *one = builder_new(&policy),
                                                                   *two = builder_new(&policy),
                                                                   *three = builder_new(&policy);
    struct min_sketch a = build_letters(one, "xmtr"), b = build_letters(two, "exmr"), both;
    expect_letters(&a, "mrt");
    expect_letters(&b, "emr");
    both = build_letters(three, "xmtrexmr");
    expect_letters(&both, "emr");
    struct estimate estimate;
    assert_int_equal(min_sketch_resemblance(&a, &b, &estimate), 0);
    assert_true(estimate.value == 2. / 3); /* of e m r, m and r are in both; exactly it is 3/5 */
    assert_int_equal(estimate.n_samples, 3);
    assert_true(!estimate.exact && estimate.error > 0);

    b = build_letters(two, "ze");
    expect_letters(&b, "ez");
    assert_int_equal(b.below, 0);
}

static void test_min_sketch__of_another_policy_is_not_compared(void **state)
{
    (void)state;
    struct policy policy = test_policy(16, 7, 64), other = policy;
    other.key[0] ^= 1;
    struct min_sketch a = {.policy_id = policy_id(&policy)}, b = {.policy_id = policy_id(&other)};
    struct estimate estimate;
    assert_int_equal(min_sketch_resemblance(&a, &b, &estimate), -EPROTO);
    assert_int_equal(min_sketch_containment(&a, &b, &estimate), -EPROTO);
    assert_int_equal(min_sketch_reaches(&a, &b, 0.5, &estimate), -EPROTO);
}

/* -- the theorem -- */

/* Sizes of A \ B, A n B and B \ A. */
struct sets {
    unsigned only_a, both, only_b;
};

/* What many keys give for one pair of sets. */
struct trial {
    struct moments r, r_error, c_ab, c_ab_error, c_ba;
    struct moments c_ab_or_0;   /* no answer counted as 0 */
    unsigned n_covered, n_none; /* |estimate - r| < 1.96 error; no answer for c(A,B) */
};

static struct trial run_trial(const struct policy *policy, struct sets sets, unsigned n_keys)
{
    struct trial trial = {0};
    _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *one = builder_new(policy),
                                                                   *two = builder_new(policy);
    size_t n_a = sets.only_a + sets.both, n_b = sets.both + sets.only_b, n = n_a + sets.only_b;
    double r = (double)sets.both / (double)n;
    assert_true(n <= MOST);
    for (unsigned key = 0; key < n_keys; key++) {
        struct estimate estimate;
        make_fingerprints(key, n);
        struct min_sketch a = build(one, fingerprints, n_a);
        struct min_sketch b = build(two, fingerprints + sets.only_a, n_b);

        assert_int_equal(min_sketch_resemblance(&a, &b, &estimate), 0);
        moments_add(&trial.r, estimate.value);
        moments_add(&trial.r_error, estimate.error);
        trial.n_covered += fabs(estimate.value - r) < 1.96 * estimate.error;
        assert_true(estimate.exact == (estimate.error == 0));

        int ret = min_sketch_containment(&a, &b, &estimate);
        moments_add(&trial.c_ab_or_0, ret == 0 ? estimate.value : 0);
        if (ret == 0) {
            moments_add(&trial.c_ab, estimate.value);
            moments_add(&trial.c_ab_error, estimate.error);
        } else {
            assert_int_equal(ret, -ENODATA);
            trial.n_none++;
        }
        if (min_sketch_containment(&b, &a, &estimate) == 0)
            moments_add(&trial.c_ba, estimate.value);
    }
    return trial;
}

static struct sets sets_of_union(unsigned n, double r)
{
    unsigned both = (unsigned)lround(r * n);
    unsigned rest = n - both;
    return (struct sets){rest / 3, both, rest - rest / 3};
}

static double hypergeometric(double r, double k, double n)
{
    return sqrt(r * (1 - r) / k * (n - k) / (n - 1));
}

/* B3: MIN_s is unbiased for r at 20 values of r, its scatter is the hypergeometric one, and so is
 * the standard error it gives. Theorem part 3 on the same samples: c(A,B) and c(B,A) unbiased. */
static void test_min_sketch__min_s_estimates_resemblance_without_bias(void **state)
{
    (void)state;
    enum { KEYS = 10000, N = 700, S = 64 };
    struct policy policy = test_policy(S, 1 << 20, 4096); /* V plays no part */
    double scatter = 0, error = 0;
    for (unsigned i = 0; i < 20; i++) {
        struct sets sets = sets_of_union(N, (i + .5) / 20);
        double r = (double)sets.both / N, expected = hypergeometric(r, S, N);
        struct trial trial = run_trial(&policy, sets, KEYS / trial_share());
        expect_mean(&trial.r, r);
        expect_mean(&trial.c_ab, (double)sets.both / (sets.both + sets.only_a));
        expect_mean(&trial.c_ba, (double)sets.both / (sets.both + sets.only_b));
        /* the relative error of a standard deviation of KEYS values is 1/sqrt(2 KEYS) = 0.7 % */
        expect_ratio_of_trials(moments_sd(&trial.r), expected, .03);
        scatter += moments_sd(&trial.r) / expected / 20;
        error += moments_mean(&trial.r_error) / expected / 20;
    }
    expect_ratio_of_trials(scatter, 1, .01);
    expect_ratio(error, 1.05, .05); /* a little on the safe side: more near r = 0 and 1 */
}

/* B3: exact when the union has at most s shingles */
static void test_min_sketch__is_exact_while_all_shingles_are_kept(void **state)
{
    (void)state;
    struct policy policy = test_policy(128, 25, 4096);
    for (unsigned both = 0; both <= 100; both += 10) {
        struct sets sets = {20, both, 128 - both};
        struct trial trial = run_trial(&policy, sets, 20);
        assert_true(moments_sd(&trial.r) < 1e-6);
        expect_ratio(moments_mean(&trial.r) + 1, both / 148. + 1, 1e-12);
        expect_ratio(moments_mean(&trial.c_ab) + 1, both / (20. + both) + 1, 1e-12);
        assert_true(moments_mean(&trial.r_error) == 0);
    }
}

/* B4: MOD_m, where V of the union has more than s values, is unbiased, with the scatter of that
 * many samples; |V| has mean n/m and variance n/m (1-1/m) */
static void test_min_sketch__mod_m_estimates_resemblance_without_bias(void **state)
{
    (void)state;
    enum { KEYS = 2000, N = 12000, M = 25 };
    struct policy policy = test_policy(128, M, 4096);
    for (unsigned i = 0; i < 5; i++) {
        struct sets sets = sets_of_union(N, .1 + .2 * i);
        double r = (double)sets.both / N;
        struct trial trial = run_trial(&policy, sets, KEYS / trial_share());
        expect_mean(&trial.r, r);
        expect_mean(&trial.c_ab, (double)sets.both / (sets.both + sets.only_a));
        expect_mean(&trial.c_ba, (double)sets.both / (sets.both + sets.only_b));
        /* 1/sqrt(2 KEYS) = 1.6 % */
        expect_ratio_of_trials(moments_sd(&trial.r), hypergeometric(r, N / (double)M, N), .06);
        expect_ratio(moments_mean(&trial.r_error), hypergeometric(r, N / (double)M, N), .04);
    }

    struct moments n_v = {0};
    _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder = builder_new(&policy);
    for (unsigned key = 0; key < 1000; key++) {
        make_fingerprints(key, 5000);
        struct min_sketch sketch = build(builder, fingerprints, 5000);
        moments_add(&n_v, min_sketch_n_v(&sketch));
    }
    expect_mean(&n_v, 5000. / M);
    expect_ratio(moments_sd(&n_v), sqrt(5000. / M * (1 - 1. / M)), .1);
}

/* The two samples meet where V of the union has about s values: which one is taken is decided by
 * the union alone, so there is no bias there either. */
static void test_min_sketch__has_no_bias_where_the_samples_meet(void **state)
{
    (void)state;
    struct policy policy = test_policy(32, 20, 4096);
    for (unsigned n = 560; n <= 720; n += 80) {
        struct sets sets = sets_of_union(n, .5);
        struct trial trial = run_trial(&policy, sets, 3000);
        expect_mean(&trial.r, (double)sets.both / n);
        expect_mean(&trial.c_ab, (double)sets.both / (sets.both + sets.only_a));
        expect_mean(&trial.c_ba, (double)sets.both / (sets.both + sets.only_b));
    }
}

/* B5, J2, J10: part 3 is |V(A) n V(B)| / |V(A)| and unbiased given that V(A) is not empty; counting
 * no answer as 0, after division by 1 - (1 - 1/m)^n */
static void test_min_sketch__containment_of_short_in_long_is_unbiased_given_an_answer(void **state)
{
    (void)state;
    enum { KEYS = 800, M = 25 };
    struct policy policy = test_policy(128, M, 4096);
    struct sets sets = {12, 18, 8000};
    struct trial trial = run_trial(&policy, sets, KEYS);
    double c = 18. / 30, answered = 1 - pow(1 - 1. / M, 30);
    expect_mean(&trial.c_ab, c);
    expect_mean(&trial.c_ab_or_0, c * answered);
    assert_true(trial.n_none > 0);
    expect_ratio(trial.n_none / (double)KEYS, 1 - answered, .25);
}

/* A document that holds all its shingles against one that does not, either way round. */
static void test_min_sketch__containment_of_a_complete_sketch_is_unbiased(void **state)
{
    (void)state;
    struct policy policy = test_policy(64, 1 << 20, 4096);
    const struct sets cases[] = {{10, 40, 500}, {500, 40, 10}, {50, 5, 50}, {0, 50, 400}};
    for (size_t i = 0; i < 4; i++) {
        struct sets sets = cases[i];
        struct trial trial = run_trial(&policy, sets, 2000);
        expect_mean(&trial.r, (double)sets.both / (sets.only_a + sets.both + sets.only_b));
        expect_mean(&trial.c_ab, (double)sets.both / (sets.both + sets.only_a));
        expect_mean(&trial.c_ba, (double)sets.both / (sets.both + sets.only_b));
        if (sets.only_a == 0) /* A7: all of a part is contained */
            assert_true(moments_mean(&trial.c_ab) == 1 && moments_sd(&trial.c_ab) < 1e-6);
    }
}

/* B10: the error of the containment of shorter and shorter documents grows as 1/sqrt(samples) */
static void test_min_sketch__containment_of_shorter_documents_is_less_certain(void **state)
{
    (void)state;
    struct policy policy = test_policy(32, 20, 4096);
    double last = 0;
    for (unsigned n_a = 2000; n_a >= 125; n_a /= 4) {
        struct sets sets = {n_a / 2, n_a / 2, 10000};
        struct trial trial = run_trial(&policy, sets, 300);
        expect_mean(&trial.c_ab, .5);
        double sd = moments_sd(&trial.c_ab);
        if (last > 0)
            expect_ratio(sd, 2 * last, .25);
        last = sd;
        /* (the mean of 1/sqrt(k) is more than 1/sqrt of the mean where k is small) */
        expect_ratio(moments_mean(&trial.c_ab_error), sd, .15);
    }
}

/* Where all of b is known each value of a's sketch is: no bias, the scatter of a sample of that
 * many of a, exact where that is all; and an answer always, where V may have none. */
static void test_min_sketch__containment_in_a_known_set_rests_on_all_of_the_sketch(void **state)
{
    (void)state;
    enum { KEYS = 2000, S = 32 };
    static const struct sets cases[] = {{0, 7, 5000},     {5, 10, 9000},     {24, 8, 0},
                                        {100, 300, 5000}, {300, 100, 20000}, {4000, 1000, 3000}};
    static uint64_t scratch[MOST];
    struct policy policy = test_policy(S, 20, 4096);
    _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder = builder_new(&policy);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t n_a = cases[i].only_a + cases[i].both, n_b = cases[i].both + cases[i].only_b;
        const double c = (double)cases[i].both / (double)n_a;
        struct moments value = {0}, error = {0}, samples = {0};
        for (unsigned key = 0; key < KEYS / trial_share(); key++) {
            struct estimate estimate;
            make_fingerprints(key, n_a + cases[i].only_b);
            struct min_sketch a = build(builder, fingerprints, n_a);
            uint64_t *b = fingerprints + cases[i].only_a;
            sort_numbers(b, n_b, scratch);
            assert_int_equal(min_sketch_containment_in(&a, b, n_b, &estimate), 0);
            assert_int_equal(estimate.exact, n_a <= S);
            moments_add(&value, estimate.value);
            moments_add(&error, estimate.error);
            moments_add(&samples, estimate.n_samples);
        }
        if (n_a <= S) {
            assert_true(fabs(moments_mean(&value) - c) < 1e-12 && moments_mean(&error) == 0);
            continue;
        }
        const double k = moments_mean(&samples);
        assert_true(k >= S && k < S + (double)n_a / 20 * 1.2);
        expect_mean(&value, c);
        expect_ratio_of_trials(moments_sd(&value), hypergeometric(c, k, (double)n_a), .08);
        expect_ratio(moments_mean(&error), moments_sd(&value), .12);
    }
    struct min_sketch empty = build(builder, fingerprints, 0);
    struct estimate estimate;
    assert_int_equal(min_sketch_containment_in(&empty, fingerprints, 3, &estimate), -ENODATA);
}

/* The standard error says what it should: 95 % of estimates are nearer than 1.96 of it. */
static void test_min_sketch__intervals_cover_the_exact_value(void **state)
{
    (void)state;
    struct policy policy = test_policy(128, 25, 4096);
    unsigned n_covered = 0, n = 0;
    for (unsigned i = 1; i <= 9; i++) {
        struct trial trial = run_trial(&policy, sets_of_union(1500, i / 10.), 500);
        n_covered += trial.n_covered;
        n += 500;
    }
    assert_true(n_covered > .93 * n && n_covered < .97 * n);
}

static void test_min_sketch__counts_distinct_shingles(void **state)
{
    (void)state;
    struct policy policy = test_policy(128, 25, 256);
    _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder = builder_new(&policy);
    static const size_t sizes[] = {100, 128, 1000, 6000, 30000};
    for (size_t i = 0; i < 5; i++) {
        struct moments count = {0};
        for (unsigned key = 0; key < 150; key++) {
            make_fingerprints(key, sizes[i]);
            struct min_sketch sketch = build(builder, fingerprints, sizes[i]);
            moments_add(&count, min_sketch_cardinality(&sketch));
        }
        expect_mean(&count, (double)sizes[i]);
        if (sizes[i] <= 128)
            assert_true(moments_mean(&count) == (double)sizes[i]);
        else
            expect_ratio(1 + moments_sd(&count) / (double)sizes[i], 1, .12);
    }
}

/* By hand, with s = 4 and m = 4: V is not more than the four smallest, of which the last is at 1/4
 * of the range: 3 / (1/4). With one value more in V: 5 / (1/4). */
static void test_min_sketch__counts_by_v_where_it_is_more_than_s(void **state)
{
    (void)state;
    struct policy policy = test_policy(4, 4, 64);
    _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder = builder_new(&policy);
    const uint64_t quarter = (uint64_t)1 << 62;
    const uint64_t values[] = {quarter / 4, quarter / 2,     quarter / 4 * 3, quarter - 1,
                               2 * quarter, 2 * quarter + 1, quarter / 8};
    struct min_sketch sketch = build(builder, values, 6);
    assert_int_equal(min_sketch_n_v(&sketch), 4);
    assert_true(min_sketch_cardinality(&sketch) == 12);
    sketch = build(builder, values, 7);
    assert_int_equal(min_sketch_n_v(&sketch), 5);
    assert_true(min_sketch_cardinality(&sketch) == 20);
}

/* -- the early decision -- */

static void test_min_sketch__reaches_decides_as_the_estimate_does(void **state)
{
    (void)state;
    const struct policy policies[] = {test_policy(128, 25, 4096), test_policy(32, 20, 64),
                                      test_policy(2, 1, 2)};
    uint64_t random = 12;
    for (size_t p = 0; p < 3; p++) {
        _cleanup_(
            min_sketch_builder_free_p) struct min_sketch_builder *one = builder_new(&policies[p]),
                                                                 *two = builder_new(&policies[p]);
        for (unsigned round = 0; round < 1500; round++) {
            unsigned most = round % 10 ? 300 : 6000;
            struct sets sets = {(unsigned)(next(&random) % most), (unsigned)(next(&random) % most),
                                (unsigned)(next(&random) % most)};
            size_t n_a = sets.only_a + sets.both, n_b = sets.both + sets.only_b;
            if (!n_a || !n_b)
                continue;
            for (size_t i = 0; i < n_a + sets.only_b; i++)
                fingerprints[i] = next(&random);
            struct min_sketch a = build(one, fingerprints, n_a);
            struct min_sketch b = build(two, fingerprints + sets.only_a, n_b);
            struct estimate full, early;
            assert_int_equal(min_sketch_resemblance(&a, &b, &full), 0);
            const double thresholds[] = {0,   .1, .3, .5, .7, .9, full.value, full.value + 1e-9,
                                         1.0, 1.1};
            for (size_t i = 0; i < 10; i++) {
                early.n_samples = 0;
                int r = min_sketch_reaches(&a, &b, thresholds[i], &early);
                assert_int_equal(r, full.value >= thresholds[i]);
                if (r == 1)
                    assert_true(early.value == full.value && early.error == full.error &&
                                early.n_samples == full.n_samples && early.exact == full.exact);
                else
                    assert_int_equal(early.n_samples, 0);
            }
        }
    }
}

/* J6, C15: equal sets have equal fingerprints, and sets with the same smallest values need not */
static void test_min_sketch__fingerprint_tells_sketches_apart(void **state)
{
    (void)state;
    struct policy policy = test_policy(128, 25, 4096);
    _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder = builder_new(&policy);
    uint8_t seen[40][16];
    make_fingerprints(3, 7000);
    for (size_t i = 0; i < 40; i++) {
        size_t n = i < 20 ? 120 + i : 300 * (i - 18);
        struct min_sketch sketch = build(builder, fingerprints, n);
        min_sketch_fingerprint(&sketch, seen[i]);
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(seen[i], seen[j], 16);
        uint8_t again[16];
        sketch = build(builder, fingerprints, n);
        min_sketch_fingerprint(&sketch, again);
        assert_memory_equal(again, seen[i], 16);
        struct min_sketch bounds = sketch; /* the same values, complete up to another bound */
        bounds.v_below--;
        min_sketch_fingerprint(&bounds, again);
        assert_memory_not_equal(again, seen[i], 16);
        bounds = sketch;
        bounds.below--;
        min_sketch_fingerprint(&bounds, again);
        assert_memory_not_equal(again, seen[i], 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_min_sketch__gives_the_smallest_three_of_the_example),
        cmocka_unit_test(test_min_sketch__of_another_policy_is_not_compared),
        cmocka_unit_test(test_min_sketch__min_s_estimates_resemblance_without_bias),
        cmocka_unit_test(test_min_sketch__is_exact_while_all_shingles_are_kept),
        cmocka_unit_test(test_min_sketch__mod_m_estimates_resemblance_without_bias),
        cmocka_unit_test(test_min_sketch__has_no_bias_where_the_samples_meet),
        cmocka_unit_test(test_min_sketch__containment_of_short_in_long_is_unbiased_given_an_answer),
        cmocka_unit_test(test_min_sketch__containment_of_a_complete_sketch_is_unbiased),
        cmocka_unit_test(test_min_sketch__containment_of_shorter_documents_is_less_certain),
        cmocka_unit_test(test_min_sketch__containment_in_a_known_set_rests_on_all_of_the_sketch),
        cmocka_unit_test(test_min_sketch__intervals_cover_the_exact_value),
        cmocka_unit_test(test_min_sketch__counts_distinct_shingles),
        cmocka_unit_test(test_min_sketch__counts_by_v_where_it_is_more_than_s),
        cmocka_unit_test(test_min_sketch__reaches_decides_as_the_estimate_does),
        cmocka_unit_test(test_min_sketch__fingerprint_tells_sketches_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
