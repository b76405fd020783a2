/* The most frequent values of a stream, beside counting them all. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/cluster/frequent.h"

enum { VALUES = 5000, ALL = 200000 };

static uint64_t random_state;
static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

static size_t find(const struct frequent_value *values, size_t n, uint64_t value)
{
    for (size_t i = 0; i < n; i++)
        if (values[i].value == value)
            return i;
    return n;
}

/* Value v is about as frequent as 1 / (v + 1); multiplied, it has its differences in the upper bits
 * or in the lower ones. */
static void check(size_t n_counters, uint64_t factor)
{
    _cleanup_(frequent_free_p) struct frequent *frequent = NULL;
    static struct frequent_value found[4 * VALUES];
    static uint64_t counts[VALUES];
    for (unsigned v = 0; v < VALUES; v++)
        counts[v] = 0;
    assert_int_equal(frequent_new(n_counters, &frequent), 0);
    for (unsigned i = 0; i < ALL; i++) {
        uint32_t v = random_below(1 + random_below(VALUES));
        counts[v]++;
        frequent_add(frequent, v * factor);
    }
    uint64_t missed = frequent_missed(frequent);
    assert_true(missed <= ALL / n_counters);
    size_t n_found = frequent_candidates(frequent, 10, found, 4 * VALUES);
    assert_true(n_found <= 2 * n_counters && (n_found >= 10 || n_counters < 100));
    for (size_t i = 0; i < n_found; i++) {
        uint64_t count = counts[found[i].value / factor];
        assert_true(found[i].count <= count && count <= found[i].count + missed);
        assert_int_equal(find(found, i, found[i].value), i);
    }
    /* The ten most frequent are among them: what was left out has ten before it, or is one that can
     * be missed. */
    for (unsigned v = 0; v < VALUES; v++) {
        if (find(found, n_found, v * factor) < n_found)
            continue;
        unsigned n_more = 0;
        for (unsigned other = 0; other < VALUES; other++)
            n_more += counts[other] >= counts[v] && other != v;
        assert_true(n_more >= 10 || counts[v] <= missed);
    }
    assert_int_equal(frequent_candidates(frequent, 10, found, 3), n_found < 3 ? n_found : 3);
}

static void test_frequent__are_among_the_candidates(void **state)
{
    static const size_t n_counters[] = {20, 64, 100, 1000, 2500, 10000};
    static const uint64_t factors[] = {1, UINT64_C(1) << 51, 977};
    (void)state;
    for (size_t i = 0; i < sizeof(n_counters) / sizeof(*n_counters); i++)
        for (size_t j = 0; j < sizeof(factors) / sizeof(*factors); j++)
            check(n_counters[i], factors[j]);
}

static void test_frequent__are_exact_where_there_is_room(void **state)
{
    _cleanup_(frequent_free_p) struct frequent *frequent = NULL;
    struct frequent_value found[3];
    (void)state;
    assert_int_equal(frequent_new(8, &frequent), 0);
    assert_int_equal(frequent_candidates(frequent, 3, found, 3), 0);
    for (unsigned i = 0; i < 60; i++)
        frequent_add(frequent, i % 10 < 6 ? 0 : i % 10 < 9 ? 7 : UINT64_MAX);
    assert_int_equal(frequent_missed(frequent), 0);
    assert_int_equal(frequent_candidates(frequent, 2, found, 3), 2);
    assert_true(found[0].value == 0 && found[0].count == 36);
    assert_true(found[1].value == 7 && found[1].count == 18);
}

/* The answer does not depend on the order of the stream: of equal counters the smaller values come
 * first, and where nothing was missed no more of them than were asked for. */
static void test_frequent__orders_equal_ones_by_value(void **state)
{
    enum { N = 50 };
    (void)state;
    for (unsigned step = 1; step < N; step += 2) {
        if (step % 5 == 0) /* else all of them, in one order or another */
            continue;
        _cleanup_(frequent_free_p) struct frequent *frequent = NULL;
        struct frequent_value found[N];
        assert_int_equal(frequent_new(N, &frequent), 0);
        for (unsigned i = 0; i < N; i++)
            frequent_add(frequent, (uint64_t)(i * step % N) << 32);
        assert_int_equal(frequent_candidates(frequent, 20, found, N), 20);
        for (uint64_t i = 0; i < 20; i++)
            assert_true(found[i].value == i << 32 && found[i].count == 1);
    }
}

static void test_frequent__has_bounds(void **state)
{
    struct frequent *frequent = NULL;
    (void)state;
    assert_int_equal(frequent_new(0, &frequent), -EINVAL);
    assert_int_equal(frequent_new((1 << 24) + 1, &frequent), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frequent__are_among_the_candidates),
        cmocka_unit_test(test_frequent__are_exact_where_there_is_room),
        cmocka_unit_test(test_frequent__orders_equal_ones_by_value),
        cmocka_unit_test(test_frequent__has_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
