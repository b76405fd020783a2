/* Orders of documents in which groups stand together. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mix.h"
#include "tools/commands/report/seriation.h"

enum { MOST = 60 };

static void set(double *resemblances, size_t n, size_t i, size_t j, double value)
{
    resemblances[i * n + j] = resemblances[j * n + i] = value;
}

static void fill(double *resemblances, size_t n, double value)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            set(resemblances, n, i, j, i == j ? 1 : value);
}

static void assert_each_once(const uint32_t *order, size_t n)
{
    bool seen[MOST] = {0};
    for (size_t i = 0; i < n; i++) {
        assert_true(order[i] < n);
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
    }
}

static void test_seriation__has_each_once(void **state)
{
    double resemblances[MOST * MOST] = {0};
    uint32_t order[MOST];
    uint64_t number = 1;
    (void)state;
    for (size_t n = 0; n <= MOST; n += n < 5 ? 1 : 11) {
        fill(resemblances, n, 0);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++)
                set(resemblances, n, i, j, (double)(mix64(number++) % 1000) / 1000);
        assert_int_equal(seriation_find(resemblances, n, order), 0);
        assert_each_once(order, n);
    }
}

/* Groups whose documents are numbered in turn: 0, 3, 6 .. are of one. */
static void test_seriation__puts_groups_together(void **state)
{
    enum { GROUPS = 3, N = 30 };
    double resemblances[N * N];
    uint32_t order[N];
    unsigned n_changes = 0;
    (void)state;
    fill(resemblances, N, 0.1);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i; j++)
            if (i % GROUPS == j % GROUPS)
                set(resemblances, N, i, j, 0.9);
    assert_int_equal(seriation_find(resemblances, N, order), 0);
    assert_each_once(order, N);
    for (size_t i = 1; i < N; i++)
        n_changes += order[i] % GROUPS != order[i - 1] % GROUPS;
    assert_int_equal(n_changes, GROUPS - 1);
}

/* Versions that came one after another, each with its own place, dealt out anew: the order is that
 * of their places, or that turned around. */
static void test_seriation__finds_the_order_of_a_chain(void **state)
{
    enum { N = 16, STRIDE = 7 };
    double resemblances[N * N];
    uint32_t order[N], place[N];
    (void)state;
    for (uint32_t i = 0; i < N; i++)
        place[i] = i * STRIDE % N;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++)
            set(resemblances, N, i, j, pow(0.8, fabs((double)place[i] - (double)place[j])));
    assert_int_equal(seriation_find(resemblances, N, order), 0);
    const bool turned = place[order[0]] != 0;
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(place[order[i]], turned ? N - 1 - i : i);
}

static void test_seriation__takes_what_is_not_known_for_nothing(void **state)
{
    enum { N = 4 };
    double known[N * N], unknown[N * N];
    uint32_t a[N], b[N];
    (void)state;
    fill(known, N, 0);
    set(known, N, 0, 3, 0.8);
    memcpy(unknown, known, sizeof(known));
    set(unknown, N, 1, 2, NAN);
    assert_int_equal(seriation_find(known, N, a), 0);
    assert_int_equal(seriation_find(unknown, N, b), 0);
    assert_memory_equal(a, b, sizeof(a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seriation__has_each_once),
        cmocka_unit_test(test_seriation__puts_groups_together),
        cmocka_unit_test(test_seriation__finds_the_order_of_a_chain),
        cmocka_unit_test(test_seriation__takes_what_is_not_known_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
