/* B11, B12: the fingerprints of 1997: the polynomial is irreducible, what is rolled is what is
 * computed from scratch, raw fingerprints are linear, and the permutation is one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/sketch/hash/permutation40.h"
#include "engine/sketch/hash/rabin.h"
#include "tests/lib/trials.h"

static unsigned degree(uint64_t a)
{
    return 63 - (unsigned)__builtin_clzll(a);
}

static uint64_t remainder_of(uint64_t a, uint64_t divisor)
{
    while (a && degree(a) >= degree(divisor))
        a ^= divisor << (degree(a) - degree(divisor));
    return a;
}

/* By trial division. */
static bool has_no_divisor(uint64_t polynomial)
{
    for (uint64_t divisor = 2; 2 * degree(divisor) <= degree(polynomial); divisor++)
        if (remainder_of(polynomial, divisor) == 0)
            return false;
    return true;
}

/* B12: the test of irreducibility against trial division by everything, for all polynomials up to
 * degree 12; and how many there are of each degree (Gauss): the sum over d | n of d * count(d) is
 * 2^n. */
static void test_rabin__irreducible_is_what_has_no_divisor(void **state)
{
    (void)state;
    uint64_t counts[13] = {0};
    for (uint64_t polynomial = 2; polynomial < 1 << 13; polynomial++) {
        bool irreducible = rabin_is_irreducible(polynomial);
        assert_int_equal(irreducible, has_no_divisor(polynomial));
        counts[degree(polynomial)] += irreducible;
    }
    for (unsigned n = 1; n <= 12; n++) {
        uint64_t sum = 0;
        for (unsigned d = 1; d <= n; d++)
            sum += n % d == 0 ? d * counts[d] : 0;
        assert_int_equal(sum, (uint64_t)1 << n);
    }
}

/* B12: polynomials drawn from keys have degree 40 and no divisor of degree 1 to 20, of which there
 * are two million */
static void test_rabin__draws_irreducible_polynomials(void **state)
{
    (void)state;
    uint64_t last = 0;
    for (unsigned i = 0; i < 3; i++) {
        struct rabin rabin;
        uint8_t key[SKETCH_KEY_BYTES];
        trial_key(i, key);
        assert_int_equal(rabin_init(&rabin, key), 0);
        assert_int_equal(degree(rabin.polynomial), RABIN_DEGREE);
        assert_true(has_no_divisor(rabin.polynomial));
        assert_true(rabin.polynomial != last);
        last = rabin.polynomial;
    }
    /* products are refused at the same degree */
    assert_false(rabin_is_irreducible(((uint64_t)1 << 40) | 1)); /* (t^5 + 1)^8 */
}

static struct rabin make_rabin(unsigned n)
{
    struct rabin rabin;
    uint8_t key[SKETCH_KEY_BYTES];
    trial_key(n, key);
    assert_int_equal(rabin_init(&rabin, key), 0);
    return rabin;
}

/* Bit by bit, from the definition. */
static uint64_t slow_of_bytes(const struct rabin *rabin, const uint8_t *bytes, size_t n)
{
    uint64_t fingerprint = 0;
    for (size_t i = 0; i < 8 * n; i++) {
        fingerprint = fingerprint << 1 | (bytes[i / 8] >> (7 - i % 8) & 1);
        if (fingerprint >> RABIN_DEGREE)
            fingerprint ^= rabin->polynomial;
    }
    return fingerprint;
}

static void test_rabin__is_the_remainder(void **state)
{
    (void)state;
    struct rabin rabin = make_rabin(1);
    uint64_t random = 1;
    for (unsigned round = 0; round < 2000; round++) {
        uint8_t bytes[64];
        size_t n = mix64_next(&random) % 64;
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)mix64_next(&random);
        assert_true(rabin_of_bytes(&rabin, bytes, n) == slow_of_bytes(&rabin, bytes, n));
        uint64_t x = mix64_next(&random), a = x >> 24, b = mix64_next(&random) >> 24;
        assert_true(rabin_remainder(&rabin, x) == remainder_of(x, rabin.polynomial));
        assert_true(rabin_remainder(&rabin, a) == remainder_of(a, rabin.polynomial));
        /* the product by schoolbook */
        uint64_t product = 0, shifted = remainder_of(a, rabin.polynomial);
        a = shifted;
        b = remainder_of(b, rabin.polynomial);
        for (unsigned i = 0; i < RABIN_DEGREE; i++) {
            product ^= b >> i & 1 ? shifted : 0;
            shifted = remainder_of(shifted << 1, rabin.polynomial);
        }
        assert_true(rabin_multiply(&rabin, a, b) == product);
    }
}

/* B11: f(x) ^ f(y) = f(x ^ y): why a permutation is due */
static void test_rabin__raw_fingerprints_are_linear(void **state)
{
    (void)state;
    struct rabin rabin = make_rabin(2);
    uint64_t random = 2;
    for (unsigned round = 0; round < 10000; round++) {
        uint64_t x = mix64_next(&random), y = mix64_next(&random);
        assert_true((rabin_remainder(&rabin, x) ^ rabin_remainder(&rabin, y)) ==
                    rabin_remainder(&rabin, x ^ y));
    }
}

/* B12: rolled is from scratch, over a million windows */
static void test_rabin__rolled_windows_are_those_from_scratch(void **state)
{
    (void)state;
    enum { TOKENS = 125000, ROOM = 64 * 257 };
    struct rabin rabin = make_rabin(3);
    const unsigned ws[] = {1, 2, 3, 5, 10, 17, 33, 64};
    uint64_t random = 3, n_windows = 0;
    for (unsigned i = 0; i < 8; i++) {
        _cleanup_(rabin_window_free_p) struct rabin_window *window = NULL;
        _cleanup_free_ uint8_t *text = malloc(ROOM);
        size_t starts[65] = {0}, size = 0;
        unsigned w = ws[i];
        assert_non_null(text);
        assert_int_equal(rabin_window_new(&rabin, w, &window), 0);
        for (unsigned n = 1; n <= TOKENS; n++) {
            uint8_t token[256];
            uint64_t fingerprint;
            size_t length = n % 1000 == 0 ? 256 : 1 + mix64_next(&random) % 8;
            for (size_t j = 0; j < length; j++)
                token[j] = (uint8_t)(1 + mix64_next(&random) % 254);
            if (n > w) { /* drop the first token of the text */
                size -= starts[1];
                memmove(text, text + starts[1], size);
                size_t gone = starts[1];
                for (unsigned j = 0; j < w; j++)
                    starts[j] = starts[j + 1] - gone;
            }
            memcpy(text + size, token, length);
            text[size + length] = 0xff;
            size += length + 1;
            starts[n < w ? n : w] = size;
            bool complete = rabin_window_add(window, token, length, &fingerprint);
            assert_int_equal(complete, n >= w);
            if (!complete)
                assert_true(rabin_window_all(window) == rabin_of_bytes(&rabin, text, size));
            else
                assert_true(fingerprint == rabin_of_bytes(&rabin, text, size));
            n_windows += complete;
        }
    }
    assert_true(n_windows > 990000);
}

/* -- the permutation -- */

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

/* B11: distinct strings collide as often as 40 bits have it. Of N values those whose upper three
 * bits are 0 are kept, n or so, of 2^37: n^2 / 2^38 pairs, which are 64; within 4 deviations of
 * Poisson's. */
static void test_rabin__collides_as_often_as_40_bits_do(void **state)
{
    (void)state;
    enum { N = 1 << 25, ROOM = N / 8 + N / 64 };
    struct rabin rabin = make_rabin(9);
    struct permutation40 permutation = make_permutation(9);
    _cleanup_free_ uint64_t *values = malloc(ROOM * sizeof(*values));
    assert_non_null(values);
    uint64_t random = 9;
    size_t n = 0;
    for (unsigned i = 0; i < N; i++) {
        uint64_t value = permute40(&permutation, rabin_remainder(&rabin, mix64_next(&random)));
        if (value >> 37 != 0)
            continue;
        assert_true(n < ROOM);
        values[n++] = value;
    }
    qsort(values, n, sizeof(*values), compare);
    double n_pairs = 0, expected = (double)n * (double)n / 0x1p38;
    for (size_t i = 1; i < n; i++)
        n_pairs += values[i] == values[i - 1];
    assert_true(fabs(n_pairs - expected) < 4 * sqrt(expected));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rabin__irreducible_is_what_has_no_divisor),
        cmocka_unit_test(test_rabin__draws_irreducible_polynomials),
        cmocka_unit_test(test_rabin__is_the_remainder),
        cmocka_unit_test(test_rabin__raw_fingerprints_are_linear),
        cmocka_unit_test(test_rabin__rolled_windows_are_those_from_scratch),
        cmocka_unit_test(test_permutation40__is_a_bijection),
        cmocka_unit_test(test_permutation40__spreads_numbers_in_a_row),
        cmocka_unit_test(test_permutation40__has_more_rounds_than_can_be_told),
        cmocka_unit_test(test_rabin__collides_as_often_as_40_bits_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
