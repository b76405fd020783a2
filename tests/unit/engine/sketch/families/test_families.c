/* B19: every family of sketches keeps the same promises, tested by the same tests: phi depends on
 * the set alone, psi is symmetric, exact at both ends, without bias against the exact value over
 * many independent keys, and right about its own error; no damaged sketch is believed. Of B16 (k
 * minima, one permutation), B18 (1 and 8 bits) and B23 (resemblance, Hamming distance, cosine) this
 * is the proof. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "engine/sketch/families/family.h"
#include "tests/lib/trials.h"

enum { MOST = 30000, HEAD_BYTES = 24 };
static uint64_t elements[MOST];

/* Sizes of A \ B, A n B and B \ A; A is elements[0 ..], B what follows A \ B. */
struct sets {
    unsigned only_a, both, only_b;
};

static unsigned size_of_a(struct sets sets)
{
    return sets.only_a + sets.both;
}

static unsigned size_of_b(struct sets sets)
{
    return sets.both + sets.only_b;
}

static unsigned size_of_union(struct sets sets)
{
    return sets.only_a + sets.both + sets.only_b;
}

static struct sketcher *new_sketcher(const struct sketch_family *family, unsigned key_number)
{
    uint8_t key[SKETCH_KEY_BYTES];
    struct sketcher *sketcher = NULL;
    trial_key(key_number, key);
    assert_int_equal(sketcher_new(family, key, &sketcher), 0);
    return sketcher;
}

static struct sketch phi(struct sketcher *sketcher, const uint64_t *first, size_t n)
{
    struct sketch sketch;
    sketcher_begin(sketcher);
    assert_int_equal(sketcher_add(sketcher, first, n), 0);
    assert_int_equal(sketcher_finish(sketcher, &sketch), 0);
    return sketch;
}

static void make_elements(unsigned key_number, size_t n)
{
    uint8_t key[SKETCH_KEY_BYTES];
    assert_true(n <= MOST);
    trial_key(key_number, key);
    trial_elements(key, 0, n, elements);
}

/* -- what is estimated, from the sizes alone -- */

/* Mean share of common runs of 14 among those of the 84 smallest of A and of B, when the order is a
 * random permutation. */
static double exact_runs(struct sets sets)
{
    enum { S = 84, RUN = 14, ROUNDS = 20000, MOST_UNION = 1000 };
    uint8_t owners[MOST_UNION]; /* 1: A, 2: B */
    unsigned n = size_of_union(sets);
    uint64_t random = 7;
    struct moments share = {0};
    assert_true(n <= MOST_UNION && size_of_a(sets) >= S && size_of_b(sets) >= S);
    for (unsigned i = 0; i < n; i++)
        owners[i] = i < sets.only_a ? 1 : i < size_of_a(sets) ? 3 : 2;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = n - 1; i > 0; i--) {
            unsigned j = (unsigned)(mix64_next(&random) % (i + 1));
            uint8_t owner = owners[i];
            owners[i] = owners[j];
            owners[j] = owner;
        }
        unsigned n_a = 0, n_b = 0, together = 0, common = 0;
        for (unsigned i = 0; i < n && (n_a < S || n_b < S); i++) {
            bool of_a = owners[i] & 1 && n_a < S, of_b = owners[i] & 2 && n_b < S;
            n_a += of_a;
            n_b += of_b;
            together = of_a && of_b ? together + 1 : 0;
            common += together >= RUN;
        }
        moments_add(&share, (double)common / (2 * (S - RUN + 1) - common));
    }
    return moments_mean(&share);
}

static double exact_value(enum sketch_measure measure, struct sets sets)
{
    double r = (double)sets.both / size_of_union(sets);
    switch (measure) {
    case SKETCH_RESEMBLANCE: return r;
    case SKETCH_SUPER: return pow(r, 14);
    case SKETCH_RUNS: return exact_runs(sets);
    case SKETCH_HAMMING: return sets.only_a + sets.only_b;
    case SKETCH_COSINE: return sets.both / sqrt((double)size_of_a(sets) * size_of_b(sets));
    }
    fail();
    return NAN;
}

static const struct sets *cases_of(enum sketch_measure measure)
{
    static const struct sets alike[] = {
        {300, 110, 190}, {100, 300, 200}, {60, 540, 30}, {20, 60, 40}, {0}};
    static const struct sets very_alike[] = {{20, 560, 10}, {10, 570, 15}, {25, 550, 25}, {0}};
    static const struct sets distances[] = {{2, 300, 1}, {30, 300, 10}, {200, 100, 250}, {0}};
    switch (measure) {
    case SKETCH_SUPER:
    case SKETCH_RUNS: return very_alike;
    case SKETCH_HAMMING: return distances;
    default: return alike;
    }
}

/* One in 25 is selected: from fewer the claimed error is on the safe side by more than a tenth. */
static struct sets scaled(const struct sketch_family *family, struct sets sets)
{
    unsigned by = family == sketch_family_find("broder1997") ? 10 : 1;
    return (struct sets){sets.only_a * by, sets.both * by, sets.only_b * by};
}

/* -- the statistics -- */

static void expect_estimates(const struct sketch_family *family, struct sets sets)
{
    const unsigned n_keys = 600 / trial_share();
    double exact = exact_value(family->measure, sets), claimed = 0;
    double c = (double)sets.both / size_of_a(sets);
    struct moments values = {0}, containments = {0}, squares = {0};
    for (unsigned key = 0; key < n_keys; key++) {
        _cleanup_(sketcher_free_p) struct sketcher *sketcher = new_sketcher(family, key);
        struct estimate estimate;
        make_elements(key, size_of_union(sets));
        struct sketch a = phi(sketcher, elements, size_of_a(sets));
        struct sketch b = phi(sketcher, elements + sets.only_a, size_of_b(sets));
        int r = sketch_estimate(&a, &b, &estimate);
        if (r == 0) {
            moments_add(&values, estimate.value);
            moments_add(&squares, (estimate.value - exact) * (estimate.value - exact));
            claimed += estimate.error * estimate.error;
            assert_true(estimate.n_samples > 0 && estimate.exact == (estimate.error == 0));
            assert_true(isnan(estimate.error) == (family->measure == SKETCH_RUNS));
        } else {
            assert_int_equal(r, -ENODATA); /* nothing selected */
        }
        r = sketch_containment(&a, &b, &estimate);
        if (r == 0)
            moments_add(&containments, estimate.value);
        else
            assert_int_equal(r, family->containment ? -ENODATA : -EOPNOTSUPP);
        sketch_done(&a);
        sketch_done(&b);
    }
    assert_true(values.n > 0.9 * n_keys);
    claimed = sqrt(claimed / values.n);
    double rmse = sqrt(moments_mean(&squares)), ratio = rmse / claimed;
    print_message(
        "%-20s %4u %4u %4u  exact %8.4f  mean %8.4f (%+5.2f)  rmse %7.4f / %7.4f = %.3f\n",
        family->name, sets.only_a, sets.both, sets.only_b, exact, moments_mean(&values),
        (moments_mean(&values) - exact) / (moments_sd(&values) / sqrt(values.n) + 1e-12), rmse,
        claimed, ratio);
    expect_mean(&values, exact);
    if (claimed > 0) /* known, and not all exact */
        expect_ratio_of_trials(rmse, claimed, .1);
    if (family->containment)
        expect_mean(&containments, c);
}

static void test_families__estimate_without_bias_and_know_their_error(void **state)
{
    (void)state;
    for (size_t i = 0; sketch_families[i]; i++)
        for (const struct sets *sets = cases_of(sketch_families[i]->measure); sets->both; sets++)
            expect_estimates(sketch_families[i], scaled(sketch_families[i], *sets));
}

/* -- both ends -- */

static double value_of_equals(enum sketch_measure measure)
{
    return measure == SKETCH_HAMMING ? 0 : 1;
}

static void test_families__know_identical_sets_and_disjoint_ones(void **state)
{
    (void)state;
    const unsigned sizes[] = {1, 2, 13, 200, 3000};
    for (size_t i = 0; sketch_families[i]; i++) {
        const struct sketch_family *family = sketch_families[i];
        for (unsigned key = 0; key < 20; key++) {
            _cleanup_(sketcher_free_p) struct sketcher *one = new_sketcher(family, key),
                                                       *two = new_sketcher(family, key);
            unsigned n = sizes[key % 5];
            struct estimate there, back;
            make_elements(key, 2 * n);
            struct sketch a = phi(one, elements, n), same = phi(two, elements, n),
                          other = phi(two, elements + n, n);
            assert_int_equal(a.size_bytes, same.size_bytes);
            assert_memory_equal(a.bytes, same.bytes, a.size_bytes);
            int r = sketch_estimate(&a, &same, &there);
            assert_true(r == 0 || (r == -ENODATA && family == sketch_family_find("broder1997")));
            if (r == 0)
                assert_true(there.value == value_of_equals(family->measure));
            if (sketch_estimate(&a, &other, &there) == 0) {
                double exact = family->measure == SKETCH_HAMMING ? 2 * n : 0;
                assert_true(isnan(there.error) ? there.value == exact
                                               : fabs(there.value - exact) <= 4 * there.error);
                assert_int_equal(sketch_estimate(&other, &a, &back), 0);
                assert_true(there.value == back.value && there.n_samples == back.n_samples);
                assert_true(there.error == back.error || isnan(there.error));
            }
            sketch_done(&a);
            sketch_done(&same);
            sketch_done(&other);
        }
    }
}

/* One element, in one bin of 128, which all the others have from it: one trial, which succeeded; of
 * 128 bins and the four of Agresti and Coull 130 agree. */
static void test_families__one_permutation_of_one_element_is_one_trial(void **state)
{
    (void)state;
    const struct sketch_family *family = sketch_family_find("one-permutation");
    _cleanup_(sketcher_free_p) struct sketcher *sketcher = new_sketcher(family, 1);
    make_elements(1, 1);
    struct sketch a = phi(sketcher, elements, 1);
    struct estimate estimate;
    assert_int_equal(sketch_estimate(&a, &a, &estimate), 0);
    assert_true(estimate.value == 1 && estimate.n_samples == 1);
    assert_true(fabs(estimate.error - sqrt(130. / 132 * 2 / 132)) < 1e-12);
    sketch_done(&a);
}

/* -- phi is a function of the set -- */

static void test_families__depend_on_the_set_alone(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (size_t i = 0; sketch_families[i]; i++) {
        _cleanup_(sketcher_free_p) struct sketcher *sketcher = new_sketcher(sketch_families[i], 1);
        for (unsigned n = 1; n <= 5000; n = 3 * n + 1) {
            struct sketch expected, sketch;
            make_elements(n, n);
            expected = phi(sketcher, elements, n);
            sketcher_begin(sketcher); /* one begun and dropped */
            assert_int_equal(sketcher_add(sketcher, elements, n / 2), 0);
            sketcher_begin(sketcher);
            for (unsigned j = n - 1; j > 0; j--) {
                unsigned k = (unsigned)(mix64_next(&random) % (j + 1));
                uint64_t element = elements[j];
                elements[j] = elements[k];
                elements[k] = element;
            }
            for (unsigned j = 0; j < n;) {
                unsigned left = n - j, some = (unsigned)(mix64_next(&random) % (left + 1));
                assert_int_equal(sketcher_add(sketcher, elements + j, some), 0);
                assert_int_equal(sketcher_add(sketcher, elements, some), 0); /* again */
                j += some;
            }
            assert_int_equal(sketcher_finish(sketcher, &sketch), 0);
            assert_int_equal(sketch.size_bytes, expected.size_bytes);
            assert_memory_equal(sketch.bytes, expected.bytes, sketch.size_bytes);
            sketch_done(&sketch);
            sketch_done(&expected);
        }
    }
}

/* B6, B20: sizes that do not depend on the document, but for the one that says so */
static void test_families__have_the_sizes_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t payload_bytes;
    } sizes[] = {{"min-hash", 800},         {"8-bit", 64},          {"1-bit", 64},
                 {"one-permutation", 1040}, {"super-shingles", 48}, {"simhash", 128},
                 {"hamming", 1600}};
    make_elements(1, 9000);
    for (size_t i = 0; i < 7; i++) {
        const struct sketch_family *family = sketch_family_find(sizes[i].name);
        _cleanup_(sketcher_free_p) struct sketcher *sketcher = new_sketcher(family, 1);
        for (unsigned n = 1; n <= 9000; n *= 20) {
            struct sketch sketch = phi(sketcher, elements, n);
            assert_int_equal(sketch.size_bytes, HEAD_BYTES + sizes[i].payload_bytes);
            sketch_done(&sketch);
        }
    }
    assert_null(sketch_family_find("none"));
}

/* J6: an empty set resembles nothing, not even another one */
static void test_families__say_nothing_of_the_empty_set(void **state)
{
    (void)state;
    make_elements(1, 3);
    for (size_t i = 0; sketch_families[i]; i++) {
        _cleanup_(sketcher_free_p) struct sketcher *sketcher = new_sketcher(sketch_families[i], 1);
        struct sketch empty = phi(sketcher, NULL, 0), full = phi(sketcher, elements, 3);
        struct estimate estimate;
        int no_containment = sketch_families[i]->containment ? -ENODATA : -EOPNOTSUPP;
        assert_int_equal(sketch_estimate(&empty, &empty, &estimate), -ENODATA);
        assert_int_equal(sketch_estimate(&empty, &full, &estimate), -ENODATA);
        assert_int_equal(sketch_estimate(&full, &empty, &estimate), -ENODATA);
        assert_int_equal(sketch_containment(&empty, &full, &estimate), no_containment);
        sketch_done(&empty);
        sketch_done(&full);
    }
}

/* -- damage -- */

/* The check sum as the head of family.c describes it. */
static void mend_check(struct sketch *sketch)
{
    uint64_t head = XXH3_64bits(sketch->bytes, 16);
    put_be64(sketch->bytes + 16, XXH3_64bits_withSeed(sketch->bytes + HEAD_BYTES,
                                                      sketch->size_bytes - HEAD_BYTES, head));
}

static void expect_refused(const struct sketch *whole, const struct sketch *damaged, int expected)
{
    struct estimate estimate;
    assert_int_equal(sketch_estimate(whole, damaged, &estimate), expected);
    assert_int_equal(sketch_estimate(damaged, whole, &estimate), expected);
    if (expected != -EPROTO)
        assert_int_equal(sketch_estimate(damaged, damaged, &estimate), expected);
    assert_true(sketch_containment(damaged, whole, &estimate) < 0);
}

static void test_families__refuse_damaged_sketches(void **state)
{
    (void)state;
    make_elements(1, 700);
    for (size_t i = 0; sketch_families[i]; i++) {
        _cleanup_(sketcher_free_p) struct sketcher *sketcher = new_sketcher(sketch_families[i], 1);
        struct sketch whole = phi(sketcher, elements, 700);
        struct sketch damaged = {malloc(whole.size_bytes + 8), whole.size_bytes};
        assert_non_null(damaged.bytes);
        memset(damaged.bytes, 0, whole.size_bytes + 8);
        memcpy(damaged.bytes, whole.bytes, whole.size_bytes);
        for (size_t at = 0; at < whole.size_bytes; at++) {
            damaged.bytes[at] ^= (uint8_t)(1 << at % 8);
            expect_refused(&whole, &damaged, -EUCLEAN);
            damaged.bytes[at] = whole.bytes[at];
        }
        for (size_t size = 0; size < whole.size_bytes + 8; size++) {
            damaged.size_bytes = size;
            if (size != whole.size_bytes)
                expect_refused(&whole, &damaged, -EUCLEAN);
        }
        /* with a right check sum: payloads of other lengths, and unknown families */
        for (size_t size = HEAD_BYTES + 1; size < whole.size_bytes + 8; size += 3) {
            if (size == whole.size_bytes)
                continue;
            damaged.size_bytes = size;
            put_be32(damaged.bytes + 4, (uint32_t)(size - HEAD_BYTES));
            mend_check(&damaged);
            struct estimate estimate;
            int r = sketch_estimate(&whole, &damaged, &estimate);
            /* a list of whole values is a sketch of fewer */
            bool shorter = size < whole.size_bytes &&
                           ((sketch_families[i]->number == 2 && (size - HEAD_BYTES) % 5 == 0) ||
                            (sketch_families[i]->number == 8 && (size - HEAD_BYTES) % 8 == 0));
            assert_int_equal(r, shorter ? 0 : -EUCLEAN);
        }
        damaged.size_bytes = whole.size_bytes;
        memcpy(damaged.bytes, whole.bytes, whole.size_bytes);
        put_be16(damaged.bytes, 99);
        mend_check(&damaged);
        expect_refused(&whole, &damaged, -EUCLEAN);
        memcpy(damaged.bytes, whole.bytes, whole.size_bytes);
        damaged.bytes[3] = 1; /* empty, with a payload */
        mend_check(&damaged);
        expect_refused(&whole, &damaged, -EUCLEAN);
        sketch_done(&damaged);
        sketch_done(&whole);
    }
}

/* Values out of order, twice, or of another modulus are no sketch of those families that keep a
 * sorted list. */
static void test_families__refuse_lists_that_are_none(void **state)
{
    (void)state;
    const struct {
        const char *name;
        size_t value_bytes;
    } lists[] = {{"broder1997", 5}, {"super-shingles-1997", 8}};
    make_elements(1, 700);
    for (size_t i = 0; i < 2; i++) {
        size_t size = lists[i].value_bytes;
        _cleanup_(sketcher_free_p) struct sketcher *sketcher =
            new_sketcher(sketch_family_find(lists[i].name), 1);
        struct sketch whole = phi(sketcher, elements, 700), damaged = phi(sketcher, elements, 700);
        memcpy(damaged.bytes + HEAD_BYTES + size, damaged.bytes + HEAD_BYTES, size);
        mend_check(&damaged);
        expect_refused(&whole, &damaged, -EUCLEAN);
        memcpy(damaged.bytes + HEAD_BYTES, whole.bytes + HEAD_BYTES + size, size);
        memcpy(damaged.bytes + HEAD_BYTES + size, whole.bytes + HEAD_BYTES, size);
        mend_check(&damaged);
        expect_refused(&whole, &damaged, -EUCLEAN);
        if (size == 5) {
            memcpy(damaged.bytes, whole.bytes, whole.size_bytes);
            damaged.bytes[HEAD_BYTES + 4] ^= 1;
            mend_check(&damaged);
            expect_refused(&whole, &damaged, -EUCLEAN);
        }
        sketch_done(&damaged);
        sketch_done(&whole);
    }
}

static void test_families__never_compare_with_another_key_or_family(void **state)
{
    (void)state;
    make_elements(1, 100);
    struct sketch last = {0};
    for (size_t i = 0; sketch_families[i]; i++) {
        _cleanup_(sketcher_free_p) struct sketcher *one = new_sketcher(sketch_families[i], 1),
                                                   *two = new_sketcher(sketch_families[i], 2);
        struct sketch a = phi(one, elements, 100), b = phi(two, elements, 100);
        expect_refused(&a, &b, -EPROTO);
        if (last.bytes)
            expect_refused(&a, &last, -EPROTO);
        sketch_done(&b);
        sketch_done(&last);
        last = a;
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(sketch_families[i]->name, sketch_families[j]->name);
            assert_int_not_equal(sketch_families[i]->number, sketch_families[j]->number);
        }
    }
    sketch_done(&last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families__estimate_without_bias_and_know_their_error),
        cmocka_unit_test(test_families__know_identical_sets_and_disjoint_ones),
        cmocka_unit_test(test_families__one_permutation_of_one_element_is_one_trial),
        cmocka_unit_test(test_families__depend_on_the_set_alone),
        cmocka_unit_test(test_families__have_the_sizes_they_say),
        cmocka_unit_test(test_families__say_nothing_of_the_empty_set),
        cmocka_unit_test(test_families__refuse_damaged_sketches),
        cmocka_unit_test(test_families__refuse_lists_that_are_none),
        cmocka_unit_test(test_families__never_compare_with_another_key_or_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
