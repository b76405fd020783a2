/* V_i: the modulus follows the size of a document, and sketches of two moduli are compared. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/lib/fixtures/min_sketch_fixture.h"

static uint64_t bit_reverse(uint64_t x)
{
    uint64_t reversed = 0;
    for (unsigned i = 0; i < 64; i++)
        reversed |= (x >> i & 1) << (63 - i);
    return reversed;
}

/* Of n fingerprints those whose bit reversal 2^i divides. */
static size_t n_divided(size_t n, unsigned i)
{
    size_t n_kept = 0;
    for (size_t j = 0; j < n; j++)
        n_kept += bit_reverse(fingerprints[j]) % ((uint64_t)1 << i) == 0;
    return n_kept;
}

/* B7, J1: with the modulus 2^i for sizes 100 2^i to 100 2^(i+1) the expected size of V_i is 100 to
 * 200, not 50 to 100 as printed; and V of that modulus is what 2^i divides, all of it */
static void test_min_sketch__literal_moduli_keep_100_to_200_values(void **state)
{
    (void)state;
    enum { KEYS = 100 };
    for (unsigned i = 0; i <= 8; i += 2) {
        struct policy policy = test_policy(16, 1u << i, 4096);
        _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder =
            builder_new(&policy);
        double least = 1e9, most = 0;
        for (unsigned part = 0; part <= 4; part++) {
            size_t n = ((size_t)100 << i) * (4 + part) / 4;
            struct moments size = {0};
            for (unsigned key = 0; key < KEYS; key++) {
                make_fingerprints(key, n);
                struct min_sketch sketch = build(builder, fingerprints, n);
                assert_int_equal(min_sketch_n_v(&sketch), n_divided(n, i));
                moments_add(&size, min_sketch_n_v(&sketch));
            }
            double mean = moments_mean(&size);
            least = mean < least ? mean : least;
            most = mean > most ? mean : most;
        }
        assert_true(least > 97 && least < 103); /* sd of a mean: at most 1.4 */
        assert_true(most > 195 && most < 205);
    }
}

/* B7: the i of V_i is the least with which V has no more than v_max values: the modulus is doubled
 * as the document grows, not before and not further */
static void test_min_sketch__v_i_has_the_least_modulus_that_has_room(void **state)
{
    (void)state;
    enum { V_MAX = 200 };
    struct policy policy = test_policy(16, 1, V_MAX);
    _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder = builder_new(&policy);
    unsigned seen = 0;
    for (unsigned part = 4; part <= 4 << 9; part += part / 4) {
        size_t n = (size_t)V_MAX * part / 4;
        unsigned i = 0;
        if (n > MOST)
            break;
        make_fingerprints(part, n);
        while (n_divided(n, i) > V_MAX)
            i++;
        struct min_sketch sketch = build(builder, fingerprints, n);
        assert_true(sketch.v_below == (i ? (uint64_t)1 << (64 - i) : 0));
        assert_int_equal(min_sketch_n_v(&sketch), n_divided(n, i));
        seen |= 1u << i;
    }
    assert_int_equal(seen & 0xff, 0xff);
}

/* B8, J3: V_(i+1) is what 2^(i+1) divides of V_i, all of it, and equals V_(i+1) made directly; the
 * sketch has it as a prefix */
static void test_min_sketch__each_v_i_is_nested_in_the_one_before(void **state)
{
    (void)state;
    make_fingerprints(1, MOST);
    static uint64_t v_i[MOST];
    uint32_t n_i = MOST;
    memcpy(v_i, fingerprints, sizeof(v_i));
    qsort(v_i, MOST, sizeof(*v_i), trial_compare);
    for (unsigned i = 1; i <= 12; i++) {
        struct policy policy = test_policy(2, 1u << i, POLICY_V_MAX);
        _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder =
            builder_new(&policy);
        struct min_sketch sketch = build(builder, fingerprints, MOST);
        uint32_t n_filtered = 0;
        for (uint32_t j = 0; j < n_i; j++)
            if (bit_reverse(v_i[j]) % ((uint64_t)1 << i) == 0)
                v_i[n_filtered++] = v_i[j];
        assert_int_equal(min_sketch_n_v(&sketch), n_filtered);
        assert_memory_equal(sketch.values, v_i, n_filtered * sizeof(*v_i));
        n_i = n_filtered;
    }
}

/* B7: whatever the size, V has at most v_max values and about v_max/2 to v_max once it is V_i */
static void test_min_sketch__v_is_bounded_for_any_size(void **state)
{
    (void)state;
    struct policy policy = test_policy(16, 1, 200);
    _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder = builder_new(&policy);
    for (size_t n = 10; n <= MOST; n = n * 5 / 4) {
        make_fingerprints((unsigned)n, n);
        struct min_sketch sketch = build(builder, fingerprints, n);
        assert_true(sketch.n_values <= 200);
        assert_true(n <= 200 ? sketch.n_values == n : sketch.n_values > 60);
    }
}

/* B9: two documents are compared at the modulus of the longer one, with the result that sketches of
 * that modulus would have given */
static void test_min_sketch__compares_at_the_longer_ones_modulus(void **state)
{
    (void)state;
    struct policy policy = test_policy(16, 1, 400), coarse = policy;
    _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *one = builder_new(&policy),
                                                                   *two = builder_new(&policy);
    for (unsigned key = 0; key < 20; key++) {
        make_fingerprints(key, 8000);
        size_t n_small = key % 2 ? 1000 : 350; /* of some modulus; of none: v_below is 2^64 */
        struct min_sketch small = build(one, fingerprints, n_small);
        struct min_sketch large = build(two, fingerprints + 200, 7800);
        assert_true(small.v_below - 1 > large.v_below - 1 && (small.v_below != 0) == key % 2);
        coarse.m = (uint32_t)(((unsigned __int128)1 << 64) / large.v_below);
        _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *direct =
            builder_new(&coarse);
        struct min_sketch same_modulus = build(direct, fingerprints, n_small);
        assert_true(same_modulus.v_below == large.v_below);
        same_modulus.policy_id = large.policy_id;

        struct estimate estimate, expected;
        assert_int_equal(min_sketch_resemblance(&small, &large, &estimate), 0);
        assert_int_equal(min_sketch_resemblance(&same_modulus, &large, &expected), 0);
        assert_true(estimate.value == expected.value && estimate.n_samples == expected.n_samples);
        assert_int_equal(min_sketch_containment(&small, &large, &estimate), 0);
        assert_int_equal(min_sketch_containment(&same_modulus, &large, &expected), 0);
        assert_true(estimate.value == expected.value && estimate.n_samples == expected.n_samples);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_min_sketch__literal_moduli_keep_100_to_200_values),
        cmocka_unit_test(test_min_sketch__v_i_has_the_least_modulus_that_has_room),
        cmocka_unit_test(test_min_sketch__each_v_i_is_nested_in_the_one_before),
        cmocka_unit_test(test_min_sketch__v_is_bounded_for_any_size),
        cmocka_unit_test(test_min_sketch__compares_at_the_longer_ones_modulus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
