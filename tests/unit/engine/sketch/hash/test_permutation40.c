/* B11: the permutation of 40 bits is one, and cannot be told from any other by few numbers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/sketch/hash/permutation40.h"
#include "tests/lib/trials.h"

static struct permutation40 make_permutation(unsigned n)
{
    struct permutation40 permutation;
    uint8_t key[SKETCH_KEY_BYTES];
    trial_key(n, key);
    assert_int_equal(permutation40_init(&permutation, key), 0);
    return permutation;
}

static uint64_t inverse(const struct permutation40 *permutation, uint64_t y)
{
    uint32_t left = (uint32_t)(y >> 20), right = y & 0xfffff;
    for (unsigned i = PERMUTATION40_ROUNDS; i-- > 0;) {
        uint32_t before = right ^ permutation40_round(permutation->keys[i], left);
        right = left;
        left = before;
    }
    return (uint64_t)left << 20 | right;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* B11: it has an inverse, on random numbers and on 2^20 in a row, which stay apart */
static void test_permutation40__is_a_bijection(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    _cleanup_free_ uint64_t *values = malloc(N * sizeof(*values));
    assert_non_null(values);
    for (unsigned key = 0; key < 4; key++) {
        struct permutation40 permutation = make_permutation(key);
        uint64_t random = key;
        for (uint64_t i = 0; i < N; i++) {
            uint64_t x = key % 2 ? mix64_next(&random) >> 24 : i << (10 * key);
            uint64_t y = permute40(&permutation, x);
            assert_true(y >> 40 == 0 && inverse(&permutation, y) == x);
            values[i] = y;
        }
        if (key % 2)
            continue;
        qsort(values, N, sizeof(*values), compare);
        for (unsigned i = 1; i < N; i++)
            assert_true(values[i - 1] < values[i]);
    }
}

/* B11: what comes out of numbers in a row is uniform, over the whole and modulo 25 (chi-square
 * within 5 standard deviations of its mean) */
static void test_permutation40__spreads_numbers_in_a_row(void **state)
{
    (void)state;
    enum { N = 1 << 18, BINS = 256 };
    for (unsigned key = 0; key < 8; key++) {
        struct permutation40 permutation = make_permutation(key);
        unsigned upper[BINS] = {0}, lower[BINS] = {0}, residues[25] = {0};
        for (uint64_t i = 0; i < N; i++) {
            uint64_t y = permute40(&permutation, i);
            upper[y >> 32]++;
            lower[y & 0xff]++;
            residues[y % 25]++;
        }
        const struct {
            const unsigned *counts;
            unsigned n;
        } tables[] = {{upper, BINS}, {lower, BINS}, {residues, 25}};
        for (size_t t = 0; t < 3; t++) {
            double expected = (double)N / tables[t].n, chi = 0, freedom = tables[t].n - 1.;
            for (unsigned i = 0; i < tables[t].n; i++)
                chi +=
                    (tables[t].counts[i] - expected) * (tables[t].counts[i] - expected) / expected;
            assert_true(fabs(chi - freedom) < 5 * sqrt(2 * freedom));
        }
    }
}

/* B11: not two rounds, not three: with two the difference of the left halves is left as it is where
 * the right ones are equal; with three, what goes back from (S2, T2 + L1 + L2) has the right half
 * S1 + S2 + R (Luby and Rackoff 1988). Of four, each has so with probability 2^-20. */
static void test_permutation40__has_more_rounds_than_can_be_told(void **state)
{
    (void)state;
    enum { N = 2000 };
    unsigned n_two = 0, n_three = 0;
    uint64_t random = 40;
    for (unsigned i = 0; i < N; i++) {
        struct permutation40 permutation = make_permutation(i);
        uint64_t left_1 = mix64_next(&random) >> 44, left_2 = mix64_next(&random) >> 44,
                 right = mix64_next(&random) >> 44;
        if (left_1 == left_2)
            continue;
        uint64_t y_1 = permute40(&permutation, left_1 << 20 | right),
                 y_2 = permute40(&permutation, left_2 << 20 | right);
        uint64_t back = inverse(&permutation, y_2 ^ left_1 ^ left_2);
        n_two += (y_1 ^ y_2) >> 20 == (left_1 ^ left_2);
        n_three += (back & 0xfffff) == ((y_1 ^ y_2) >> 20 ^ right);
    }
    assert_in_range(n_two, 0, 1);
    assert_in_range(n_three, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permutation40__is_a_bijection),
        cmocka_unit_test(test_permutation40__spreads_numbers_in_a_row),
        cmocka_unit_test(test_permutation40__has_more_rounds_than_can_be_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
