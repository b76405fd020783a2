#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "engine/sketch/minima/winnowing.h"

enum { MANY = 200000 };

/* All that is chosen, the sequence handed over in pieces of these sizes, again and again. */
static size_t winnow(const uint64_t *values, size_t n, size_t window, const size_t *pieces,
                     struct winnowed *ret_chosen)
{
    struct winnowing winnowing;
    size_t n_chosen = 0;
    winnowing_begin(&winnowing, window);
    for (size_t at = 0, piece = 0; at < n; piece = pieces[piece + 1] ? piece + 1 : 0) {
        const size_t n_piece = n - at < pieces[piece] ? n - at : pieces[piece];
        n_chosen += winnowing_add(&winnowing, values + at, n_piece, ret_chosen + n_chosen);
        at += n_piece;
    }
    return n_chosen + winnowing_finish(&winnowing, ret_chosen + n_chosen);
}

static const size_t whole[] = {MANY, 0}, odd[] = {1, 3, 17, 2, 0};

static uint64_t smallest_of(const uint64_t *values, size_t n)
{
    uint64_t smallest = values[0];
    for (size_t i = 1; i < n; i++)
        smallest = values[i] < smallest ? values[i] : smallest;
    return smallest;
}

static void test_winnowing__chooses_what_its_example_says(void **state)
{
    (void)state;
    static const uint64_t values[] = {77, 74, 42, 17, 98, 50, 17, 98, 8, 88};
    static const struct winnowed expected[] = {{3, 17}, {6, 17}, {8, 8}};
    struct winnowed chosen[10];
    assert_int_equal(winnow(values, 10, 4, whole, chosen), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(chosen[i].at, expected[i].at);
        assert_int_equal(chosen[i].value, expected[i].value);
    }
}

/* The guarantee, by brute force, with numbers of which many are equal, too. */
static void test_winnowing__has_the_smallest_of_each_window(void **state)
{
    (void)state;
    enum { LENGTH = 300 };
    static const size_t windows[] = {1, 2, 3, 17, 40, WINNOWING_WINDOW_MAX};
    static const uint64_t kinds[] = {1, 2, 5, 100, UINT64_MAX};
    uint64_t values[LENGTH], seed = 1;
    struct winnowed chosen[LENGTH], again[LENGTH];
    for (size_t w = 0; w < sizeof(windows) / sizeof(windows[0]); w++)
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            const size_t window = windows[w];
            for (size_t i = 0; i < LENGTH; i++)
                values[i] = mix64_next(&seed) % kinds[k];
            const size_t n = winnow(values, LENGTH, window, whole, chosen);
            assert_int_equal(winnow(values, LENGTH, window, odd, again), n);
            assert_memory_equal(chosen, again, n * sizeof(*chosen));
            for (size_t i = 0; i < n; i++) {
                assert_true(i == 0 || chosen[i].at > chosen[i - 1].at);
                assert_true(chosen[i].value == values[chosen[i].at]);
            }
            for (size_t at = 0, c = 0; at + window <= LENGTH; at++) {
                const uint64_t smallest = smallest_of(values + at, window);
                bool found = false;
                while (c < n && chosen[c].at < at)
                    c++;
                for (size_t i = c; i < n && chosen[i].at < at + window; i++)
                    found |= chosen[i].value == smallest;
                assert_true(found);
            }
        }
}

/* Each number that is chosen is the smallest of some window: no more is kept than windows need. */
static void test_winnowing__chooses_nothing_without_a_window(void **state)
{
    (void)state;
    enum { LENGTH = 500, WINDOW = 17 };
    uint64_t values[LENGTH], seed = 2;
    struct winnowed chosen[LENGTH];
    for (size_t i = 0; i < LENGTH; i++)
        values[i] = mix64_next(&seed) % 50;
    const size_t n = winnow(values, LENGTH, WINDOW, odd, chosen);
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t at = 0; at + WINDOW <= LENGTH; at++)
            found |= at <= chosen[i].at && chosen[i].at < at + WINDOW &&
                     smallest_of(values + at, WINDOW) == chosen[i].value;
        assert_true(found);
    }
}

/* 2 / (w + 1); the number chosen has a standard deviation of less than the root of its mean. */
static void test_winnowing__has_the_density_of_theory(void **state)
{
    (void)state;
    static const size_t windows[] = {1, 2, 9, 17, 50, 100, 256};
    uint64_t *values = calloc(MANY, sizeof(*values)), seed = 3;
    struct winnowed *chosen = calloc(MANY, sizeof(*chosen));
    assert_true(values && chosen);
    for (size_t i = 0; i < MANY; i++)
        values[i] = mix64_next(&seed);
    for (size_t w = 0; w < sizeof(windows) / sizeof(windows[0]); w++) {
        const double expected = 2.0 * (MANY - (double)windows[w]) / ((double)windows[w] + 1);
        const double n = (double)winnow(values, MANY, windows[w], whole, chosen);
        assert_true(fabs(n - expected) < 4 * sqrt(expected) + 2);
    }
    free(values);
    free(chosen);
}

/* What repeats itself has a choice a window, not one a number. */
static void test_winnowing__is_thin_where_all_is_equal(void **state)
{
    (void)state;
    enum { LENGTH = 1700, WINDOW = 17 };
    const uint64_t values[LENGTH] = {0};
    struct winnowed chosen[LENGTH];
    assert_int_equal(winnow(values, LENGTH, WINDOW, odd, chosen), LENGTH / WINDOW);
}

static void test_winnowing__keeps_one_of_what_is_shorter_than_a_window(void **state)
{
    (void)state;
    static const uint64_t values[] = {5, 3, 3, 9};
    struct winnowed chosen[4];
    for (size_t n = 1; n <= 4; n++)
        assert_int_equal(winnow(values, n, 17, whole, chosen), 1);
    assert_int_equal(chosen[0].at, 2);
    assert_int_equal(chosen[0].value, 3);
    assert_int_equal(winnow(values, 0, 17, whole, chosen), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_winnowing__chooses_what_its_example_says),
        cmocka_unit_test(test_winnowing__has_the_smallest_of_each_window),
        cmocka_unit_test(test_winnowing__chooses_nothing_without_a_window),
        cmocka_unit_test(test_winnowing__has_the_density_of_theory),
        cmocka_unit_test(test_winnowing__is_thin_where_all_is_equal),
        cmocka_unit_test(test_winnowing__keeps_one_of_what_is_shorter_than_a_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
