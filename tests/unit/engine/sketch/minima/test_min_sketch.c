#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mix.h"
#include "engine/sketch/minima/merge_values.h"
#include "engine/sketch/minima/min_sketch.h"
#include "engine/sketch/minima/select_values.h"

enum { MANY = 20000 };

static struct policy test_policy(uint32_t s, uint32_t m, uint32_t v_max)
{
    struct policy policy = {"test", POLICY_TOKENISER_WORDS, POLICY_HASH_GF64, 5, s, m, v_max, {1}};
    return policy;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t sort_unique(uint64_t *values, size_t n)
{
    size_t kept = 0;
    qsort(values, n, sizeof(*values), compare);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || values[kept - 1] != values[i])
            values[kept++] = values[i];
    return kept;
}

static struct min_sketch build(const struct policy *policy, const uint64_t *values, size_t n)
{
    _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder = NULL;
    struct min_sketch sketch, copy;
    assert_int_equal(min_sketch_builder_new(policy, &builder), 0);
    min_sketch_builder_begin(builder);
    min_sketch_builder_add(builder, values, n);
    min_sketch_builder_finish(builder, n, &sketch);
    assert_int_equal(min_sketch_copy(&sketch, &copy), 0);
    return copy;
}

static void expect_equal(const struct min_sketch *a, const struct min_sketch *b)
{
    assert_true(a->policy_id == b->policy_id && a->below == b->below && a->v_below == b->v_below);
    assert_int_equal(a->s, b->s);
    assert_int_equal(a->m, b->m);
    assert_int_equal(a->n_values, b->n_values);
    for (uint32_t i = 0; i < a->n_values; i++)
        assert_true(a->values[i] == b->values[i]);
}

/* The definition, by sorting everything: F = first s, V = all below v_below. */
static void expect_definition(const struct policy *policy, const uint64_t *sorted, size_t n,
                              const struct min_sketch *sketch)
{
    unsigned __int128 bound = ((unsigned __int128)1 << 64) / policy->m;
    size_t n_v;
    for (;;) {
        for (n_v = 0; n_v < n && sorted[n_v] < bound; n_v++)
            ;
        if (n_v <= policy->v_max)
            break;
        unsigned __int128 power = 1;
        while (power * 2 < bound)
            power *= 2;
        bound = power;
    }
    assert_true(sketch->v_below == (uint64_t)bound);
    assert_int_equal(min_sketch_n_v(sketch), n_v);
    size_t n_kept = n_v > policy->s ? n_v : policy->s < n ? policy->s : n;
    assert_int_equal(sketch->n_values, n_kept);
    for (size_t i = 0; i < n_kept; i++)
        assert_true(sketch->values[i] == sorted[i]);
    bool all = n <= policy->s || bound >> 64;
    assert_true((sketch->below == 0) == all);
    if (!all) {
        assert_true(sketch->below == (n_v > policy->s || bound > sorted[policy->s - 1]
                                          ? (uint64_t)bound
                                          : sorted[policy->s - 1] + 1));
    }
}

static const struct policy *some_policies(size_t *n)
{
    static struct policy policies[8];
    policies[0] = test_policy(128, 25, 4096);
    policies[1] = test_policy(128, 25, 128); /* V_i soon */
    policies[2] = test_policy(2, 1, 2);
    policies[3] = test_policy(100, 1, 200); /* V_i at once */
    policies[4] = test_policy(3, 1 << 20, 65536);
    policies[5] = test_policy(4096, 2, 4096);
    policies[6] = test_policy(10, 1, 65536); /* all is kept */
    policies[7] = test_policy(16, 7, 64);
    *n = 8;
    return policies;
}

static void test_min_sketch__is_what_sorting_everything_gives(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 9, 10, 11, 127, 128, 129, 255, 256, 257, 1000, MANY};
    static uint64_t values[3 * MANY], sorted[3 * MANY];
    size_t n_policies;
    const struct policy *policies = some_policies(&n_policies);
    uint64_t random = 5;
    for (size_t p = 0; p < n_policies; p++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            /* each value about three times, and in groups of very near ones now and then */
            size_t n = 3 * sizes[i];
            for (size_t j = 0; j < n; j++) {
                uint64_t id = mix64_next(&random) % sizes[i], x = i % 2 ? id : id / 16;
                values[j] = mix64_next(&x) + (i % 2 ? 0 : id % 16);
            }
            memcpy(sorted, values, n * sizeof(*values));
            size_t n_unique = sort_unique(sorted, n);
            struct min_sketch sketch = build(&policies[p], values, n);
            expect_definition(&policies[p], sorted, n_unique, &sketch);
            min_sketch_done(&sketch);
        }
    }
}

/* Few different values over and over, exactly s of them among them; numbers in a row, upwards and
 * downwards, as no hash makes them. */
static void test_min_sketch__repeated_and_chosen_values_are_kept_right(void **state)
{
    (void)state;
    enum { N = 60000 };
    static const size_t different[] = {1, 100, 127, 128, 129, 130, 500, 4096, 4097, N};
    static uint64_t values[N], sorted[N];
    size_t n_policies;
    const struct policy *policies = some_policies(&n_policies);
    for (size_t p = 0; p < n_policies; p++) {
        for (size_t d = 0; d < sizeof(different) / sizeof(different[0]); d++) {
            for (int how = 0; how < 3; how++) {
                for (size_t i = 0; i < N; i++) {
                    uint64_t id = i % different[d], x = id;
                    values[i] = how == 0 ? mix64_next(&x) : how == 1 ? id : N - id;
                }
                memcpy(sorted, values, sizeof(values));
                size_t n_unique = sort_unique(sorted, N);
                struct min_sketch sketch = build(&policies[p], values, N);
                expect_definition(&policies[p], sorted, n_unique, &sketch);
                min_sketch_done(&sketch);
            }
        }
    }
}

static void test_min_sketch__every_kernel_selects_the_same_values(void **state)
{
    (void)state;
    enum { N = 70 };
    uint64_t random = 8, values[N], expected[N], selected[N + SELECT_VALUES_SLACK];
    for (int kernel = 0; kernel < KERNEL_N; kernel++) {
        select_values_fn *select = select_values_of((enum kernel)kernel);
        assert_int_equal(select != NULL, kernel_is_there((enum kernel)kernel));
        for (size_t n = 0; select && n <= N; n++) {
            for (int round = 0; round < 50; round++) {
                uint64_t last = round == 0   ? UINT64_MAX
                                : round == 1 ? 0
                                             : mix64_next(&random) >> round % 4;
                size_t n_expected = 0;
                for (size_t i = 0; i < n; i++) {
                    values[i] = (size_t)round % 10 == i % 10 ? last : mix64_next(&random);
                    if (values[i] <= last)
                        expected[n_expected++] = values[i];
                }
                assert_int_equal(select(values, n, last, selected), n_expected);
                assert_memory_equal(selected, expected, n_expected * sizeof(uint64_t));
                memcpy(selected, values, n * sizeof(uint64_t)); /* in place */
                assert_int_equal(select(selected, n, last, selected), n_expected);
                assert_memory_equal(selected, expected, n_expected * sizeof(uint64_t));
            }
        }
    }
}

/* Two sets, from next to nothing in common to all, of any sizes; in one go and in steps. */
static void test_min_sketch__every_kernel_merges_as_one_by_one(void **state)
{
    (void)state;
    enum { MOST = 200 };
    uint64_t random = 9, a[MOST], b[MOST];
    for (int round = 0; round < 3000; round++) {
        uint64_t range = 1 + mix64_next(&random) % (round % 2 ? 300 : 100000),
                 most = 1 + round % MOST;
        size_t n_a = mix64_next(&random) % most, n_b = mix64_next(&random) % most;
        for (size_t i = 0; i < n_a; i++)
            a[i] = mix64_next(&random) % range + (round % 3 ? 0 : UINT64_MAX - range);
        for (size_t i = 0; i < n_b; i++)
            b[i] = mix64_next(&random) % range + (round % 3 ? 0 : UINT64_MAX - range);
        n_a = sort_unique(a, n_a);
        n_b = sort_unique(b, n_b);
        const struct value_merge begin = {
            .a = a, .b = b, .end_a = (uint32_t)n_a, .end_b = (uint32_t)n_b};
        for (int kernel = 0; kernel < KERNEL_N; kernel++) {
            merge_values_fn *merge = merge_values_of((enum kernel)kernel);
            assert_int_equal(merge != NULL, kernel_is_there((enum kernel)kernel));
            if (!merge)
                continue;
            struct value_merge m = begin;
            uint32_t step = 1 + (uint32_t)(mix64_next(&random) % (2 * MOST));
            for (uint32_t u_end = step; u_end < 3 * MOST; u_end += step) {
                merge(&m, u_end);
                uint32_t i = 0, j = 0, both = 0, u = 0; /* the definition */
                for (; u < u_end && (i < n_a || j < n_b); u++) {
                    bool from_a = j == n_b || (i < n_a && a[i] <= b[j]);
                    bool from_b = i == n_a || (j < n_b && b[j] <= a[i]);
                    i += from_a;
                    j += from_b;
                    both += from_a && from_b;
                }
                assert_int_equal(m.n_a, i);
                assert_int_equal(m.n_b, j);
                assert_int_equal(m.n_both, both);
                assert_int_equal(m.u, u);
            }
        }
    }
}

static void test_min_sketch__does_not_depend_on_the_pieces_added(void **state)
{
    (void)state;
    struct policy policy = test_policy(128, 25, 256);
    static uint64_t values[MANY];
    uint64_t random = 6;
    for (size_t i = 0; i < MANY; i++)
        values[i] = mix64_next(&random);
    struct min_sketch whole = build(&policy, values, MANY);

    _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder = NULL;
    assert_int_equal(min_sketch_builder_new(&policy, &builder), 0);
    for (size_t most = 1; most < 3000; most *= 3) {
        struct min_sketch sketch;
        min_sketch_builder_begin(builder);
        for (size_t at = 0, n; at < MANY; at += n) {
            n = mix64_next(&random) % (most + 1);
            if (n > MANY - at)
                n = MANY - at;
            min_sketch_builder_add(builder, values + at, n);
        }
        min_sketch_builder_finish(builder, MANY, &sketch);
        expect_equal(&sketch, &whole);
    }
    min_sketch_done(&whole);
}

static void test_min_sketch__survives_being_stored(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 128, 129, 1000, MANY};
    static uint64_t values[MANY];
    size_t n_policies;
    const struct policy *policies = some_policies(&n_policies);
    uint64_t random = 7;
    for (size_t p = 0; p < n_policies; p++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            for (size_t j = 0; j < sizes[i]; j++)
                values[j] = mix64_next(&random);
            struct min_sketch sketch = build(&policies[p], values, sizes[i]), decoded;
            size_t size = min_sketch_encoded_bytes(&sketch);
            _cleanup_free_ uint8_t *data = malloc(size);
            min_sketch_encode(&sketch, data);
            assert_int_equal(min_sketch_decode(data, size, &decoded), 0);
            expect_equal(&decoded, &sketch);
            assert_true(decoded.n_tokens == sizes[i]);
            assert_int_equal(min_sketch_decode(data, size - 1, &decoded), -EUCLEAN);
            min_sketch_done(&decoded);
            min_sketch_done(&sketch);
        }
    }
}

/* A damaged sketch is refused, or is one that can be used like any other. */
static void test_min_sketch__damage_is_refused_or_harmless(void **state)
{
    (void)state;
    struct policy policies[] = {test_policy(16, 7, 64), test_policy(64, 25, 128)};
    uint64_t values[600], random = 8;
    for (size_t i = 0; i < 600; i++)
        values[i] = mix64_next(&random);
    for (size_t p = 0; p < 4; p++) {
        struct min_sketch sketch = build(&policies[p / 2], values, p % 2 ? 600 : 12), damaged;
        size_t size = min_sketch_encoded_bytes(&sketch);
        _cleanup_free_ uint8_t *data = malloc(size);
        min_sketch_encode(&sketch, data);
        size_t n_refused = 0;
        for (size_t bit = 0; bit < 8 * size; bit++) {
            data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            int r = min_sketch_decode(data, size, &damaged);
            data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            if (r < 0) {
                assert_int_equal(r, -EUCLEAN);
                n_refused++;
                continue;
            }
            struct estimate estimate;
            damaged.policy_id = sketch.policy_id;
            r = min_sketch_resemblance(&damaged, &sketch, &estimate);
            assert_true(r == -EPROTO || (r == 0 && estimate.value >= 0 && estimate.value <= 1));
            r = min_sketch_containment(&sketch, &damaged, &estimate);
            assert_true(r == -EPROTO || r == -ENODATA || estimate.value <= 1);
            min_sketch_reaches(&sketch, &damaged, .5, &estimate);
            assert_true(min_sketch_cardinality(&damaged) >= 1);
            min_sketch_done(&damaged);
        }
        assert_true(n_refused > 8 * 20);
        /* No power of two, and one above 2^64/m. */
        static const uint64_t no_bounds[] = {3, UINT64_MAX, (uint64_t)1 << 63};
        for (size_t i = 0; i < sizeof(no_bounds) / sizeof(no_bounds[0]); i++) {
            put_be64(data + 40, no_bounds[i]);
            assert_int_equal(min_sketch_decode(data, size, &damaged), -EUCLEAN);
        }
        put_be64(data + 40, sketch.v_below);
        for (size_t cut = 0; cut < size; cut++)
            assert_int_equal(min_sketch_decode(data, cut, &damaged), -EUCLEAN);
        min_sketch_done(&sketch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_min_sketch__is_what_sorting_everything_gives),
        cmocka_unit_test(test_min_sketch__repeated_and_chosen_values_are_kept_right),
        cmocka_unit_test(test_min_sketch__every_kernel_selects_the_same_values),
        cmocka_unit_test(test_min_sketch__every_kernel_merges_as_one_by_one),
        cmocka_unit_test(test_min_sketch__does_not_depend_on_the_pieces_added),
        cmocka_unit_test(test_min_sketch__survives_being_stored),
        cmocka_unit_test(test_min_sketch__damage_is_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
