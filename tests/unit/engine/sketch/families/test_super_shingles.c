/* B20, B21, B22: super shingles, what they tell and what they cannot; D10: what who knows the key
 * can hide, and from whom not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/sketch/families/family.h"
#include "engine/sketch/minima/min_sketch.h"
#include "tests/lib/trials.h"

enum { MOST = 20000 };
static uint64_t elements[MOST];

static struct sketch phi(struct sketcher *sketcher, const uint64_t *first, size_t n)
{
    struct sketch sketch;
    sketcher_begin(sketcher);
    assert_int_equal(sketcher_add(sketcher, first, n), 0);
    assert_int_equal(sketcher_finish(sketcher, &sketch), 0);
    return sketch;
}

/* Of B \ A, A n B, A \ B: the estimate of a family under the n-th key. */
static struct estimate estimate_of(const char *name, unsigned number, unsigned only_a,
                                   unsigned both, unsigned only_b)
{
    uint8_t key[SKETCH_KEY_BYTES];
    struct estimate estimate;
    _cleanup_(sketcher_free_p) struct sketcher *sketcher = NULL;
    trial_key(number, key);
    trial_elements(key, 0, only_a + both + only_b, elements);
    assert_int_equal(sketcher_new(sketch_family_find(name), key, &sketcher), 0);
    struct sketch a = phi(sketcher, elements, only_a + both);
    struct sketch b = phi(sketcher, elements + only_a, both + only_b);
    assert_int_equal(sketch_estimate(&a, &b, &estimate), 0);
    sketch_done(&a);
    sketch_done(&b);
    return estimate;
}

/* B20: P(at least 1 of 6) = 1 - (1 - r^14)^6: 0.237 at 0.8, 0.790 at 0.9, 0.982 at 0.95, within 2
 * points. B22: P(at least 2): 0.415 at 0.9, 0.996 at 0.98. */
static void test_super_shingles__are_shared_as_often_as_computed(void **state)
{
    (void)state;
    /* Two points are three standard errors of 6,000 keys. */
    const unsigned n_keys = 6000 / trial_share();
    const double most = .02 * sqrt(trial_share());
    static const struct {
        unsigned only, both;
        double one, two; /* < 0: not printed */
    } cases[] = {
        {20, 160, .237, -1}, {10, 180, .790, .415}, {5, 190, .982, -1}, {2, 196, -1, .996}};
    for (size_t i = 0; i < 4; i++) {
        double r = cases[i].both / (cases[i].both + 2. * cases[i].only), one = 0, two = 0;
        for (unsigned key = 0; key < n_keys; key++) {
            struct estimate estimate =
                estimate_of("super-shingles", key, cases[i].only, cases[i].both, cases[i].only);
            one += estimate.value * 6 > .5;
            two += estimate.value * 6 > 1.5;
        }
        double p = pow(r, 14), none = pow(1 - p, 6);
        print_message("r = %.2f: at least one %.3f, two %.3f\n", r, one / n_keys, two / n_keys);
        assert_true(fabs(one / n_keys - (1 - none)) < most);
        assert_true(fabs(two / n_keys - (1 - none - 6 * p * pow(1 - p, 5))) < most);
        if (cases[i].one >= 0)
            assert_true(fabs(one / n_keys - cases[i].one) < most);
        if (cases[i].two >= 0)
            assert_true(fabs(two / n_keys - cases[i].two) < most);
    }
}

/* B20, as printed: documents that resemble each other much share a run of the sorted sketch, others
 * do not */
static void test_super_shingles__as_printed_tell_near_duplicates(void **state)
{
    (void)state;
    unsigned n_near = 0, n_far = 0;
    const unsigned n_keys = 500 / trial_share();
    for (unsigned key = 0; key < n_keys; key++) {
        n_near += estimate_of("super-shingles-1997", key, 10, 980, 10).value > 0;  /* r = .98 */
        n_far += estimate_of("super-shingles-1997", key, 250, 500, 250).value > 0; /* r = .5 */
    }
    assert_true(n_near * 50 > n_keys * 49);
    assert_true(n_far * 100 < n_keys);
}

/* B21, J5: B is A with as much again between: all of A is in B, no super shingle is in common, and
 * V finds it */
static void test_super_shingles__do_not_see_containment(void **state)
{
    (void)state;
    unsigned n_super = 0, n_run = 0;
    struct moments containment = {0};
    for (unsigned number = 0; number < 200; number++) {
        uint8_t key[SKETCH_KEY_BYTES];
        struct estimate estimate;
        _cleanup_(sketcher_free_p) struct sketcher *sketcher = NULL;
        n_super += estimate_of("super-shingles", number, 0, 3000, 3000).value > 0;
        n_run += estimate_of("super-shingles-1997", number, 0, 3000, 3000).value > 0;
        trial_key(number, key);
        assert_int_equal(sketcher_new(sketch_family_find("bottom-k"), key, &sketcher), 0);
        struct sketch a = phi(sketcher, elements, 3000), b = phi(sketcher, elements, 6000);
        assert_int_equal(sketch_containment(&a, &b, &estimate), 0);
        moments_add(&containment, estimate.value);
        sketch_done(&a);
        sketch_done(&b);
    }
    assert_true(n_super == 0 && n_run == 0);
    assert_true(moments_mean(&containment) == 1);
}

/* B21: of short documents, one changed word in 20 shingles of w = 5 (r = 15/25) leaves hardly ever
 * a super shingle, where the estimate of the resemblance is exact */
static void test_super_shingles__are_bad_for_short_documents(void **state)
{
    (void)state;
    unsigned n_shared = 0;
    for (unsigned key = 0; key < 500; key++) {
        n_shared += estimate_of("super-shingles", key, 5, 15, 5).value > 0;
        struct estimate estimate = estimate_of("bottom-k", key, 5, 15, 5);
        assert_true(estimate.exact && estimate.value == 15. / 25);
    }
    assert_true(n_shared < 25); /* 6 * 0.6^14 = 0.5 % */
}

/* D10: who knows the key of the stored sketches changes just the shingles that are in one: it shows
 * nothing of what is still alike, and a sketch under a fresh key shows it as it is. */
static void test_resample__sees_what_was_hidden_from_a_known_key(void **state)
{
    (void)state;
    enum { DOCUMENT = 6000, ROOM = 12000 };
    static uint64_t known[ROOM], fresh[ROOM], attacked_known[DOCUMENT], attacked_fresh[DOCUMENT];
    const struct sketch_family *family = sketch_families[0];
    double n_hidden = 0;
    for (unsigned number = 0; number < 50; number++) {
        uint8_t stored_key[SKETCH_KEY_BYTES], fresh_key[SKETCH_KEY_BYTES];
        _cleanup_(sketcher_free_p) struct sketcher *stored = NULL, *resampled = NULL;
        _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder = NULL;
        struct policy policy;
        struct min_sketch sketch;
        struct estimate estimate;
        trial_key(number, stored_key);
        trial_key(1000000 + number, fresh_key);
        trial_elements(stored_key, 0, ROOM, known);
        trial_elements(fresh_key, 0, ROOM, fresh);
        assert_int_equal(sketcher_new(family, stored_key, &stored), 0);
        assert_int_equal(sketcher_new(family, fresh_key, &resampled), 0);

        assert_int_equal(policy_preset("default", &policy), 0);
        assert_int_equal(min_sketch_builder_new(&policy, &builder), 0);
        min_sketch_builder_begin(builder);
        min_sketch_builder_add(builder, known, DOCUMENT);
        min_sketch_builder_finish(builder, DOCUMENT, &sketch);
        unsigned n_changed = 0;
        for (unsigned i = 0; i < DOCUMENT; i++) {
            bool selected = bsearch(&known[i], sketch.values, sketch.n_values, 8, trial_compare);
            unsigned id = selected ? DOCUMENT + n_changed++ : i;
            attacked_known[i] = known[id];
            attacked_fresh[i] = fresh[id];
        }
        double r = (DOCUMENT - n_changed) / (DOCUMENT + (double)n_changed);
        assert_true(r > .85 && n_changed == sketch.n_values);

        struct sketch a = phi(stored, known, DOCUMENT), b = phi(stored, attacked_known, DOCUMENT);
        assert_int_equal(sketch_estimate(&a, &b, &estimate), 0);
        assert_true(estimate.value < .2);
        sketch_done(&a);
        sketch_done(&b);
        a = phi(resampled, fresh, DOCUMENT);
        b = phi(resampled, attacked_fresh, DOCUMENT);
        assert_int_equal(sketch_estimate(&a, &b, &estimate), 0);
        assert_true(fabs(estimate.value - r) < 5 * estimate.error);
        n_hidden += estimate.value < .5;
        sketch_done(&a);
        sketch_done(&b);
    }
    assert_true(n_hidden == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_super_shingles__are_shared_as_often_as_computed),
        cmocka_unit_test(test_super_shingles__as_printed_tell_near_duplicates),
        cmocka_unit_test(test_super_shingles__do_not_see_containment),
        cmocka_unit_test(test_super_shingles__are_bad_for_short_documents),
        cmocka_unit_test(test_resample__sees_what_was_hidden_from_a_known_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
