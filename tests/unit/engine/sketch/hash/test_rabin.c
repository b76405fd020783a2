/* B11, B12: the fingerprints of 1997: the polynomial is irreducible, what is rolled is what is
 * computed from scratch, and raw fingerprints are linear. */
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

static struct permutation40 make_permutation(unsigned n)
{
    struct permutation40 permutation;
    uint8_t key[SKETCH_KEY_BYTES];
    trial_key(n, key);
    assert_int_equal(permutation40_init(&permutation, key), 0);
    return permutation;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
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
        cmocka_unit_test(test_rabin__collides_as_often_as_40_bits_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
