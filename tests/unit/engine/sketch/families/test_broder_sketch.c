/* The sketch of 1997 byte by byte: what broder_sketch.c selects and writes, from its definition. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/sketch/families/family.h"
#include "engine/sketch/hash/rabin.h"
#include "tests/lib/fixtures/plain_derive.h"
#include "tests/lib/trials.h"

enum { MOST = 30000, HEAD_BYTES = 24 };

/* Bit by bit. */
static uint64_t plain_remainder(uint64_t bits, uint64_t polynomial)
{
    for (unsigned i = 63; i >= 40; i--)
        bits ^= bits >> i & 1 ? polynomial << (i - 40) : 0;
    return bits;
}

/* The upper 20 bits of what is multiplied twice. */
static uint64_t plain_round(uint64_t key, uint64_t half)
{
    uint64_t once = (half + key) * 13787848793156543929u;
    return ((once ^ once >> 29 ^ key) * 10723151780598845931u) >> 44;
}

/* Four Feistel rounds, two at a time, so that no halves change places. */
static uint64_t plain_permute(const uint64_t keys[4], uint64_t x)
{
    uint64_t left = x / 1048576, right = x % 1048576;
    left ^= plain_round(keys[0], right);
    right ^= plain_round(keys[1], left);
    left ^= plain_round(keys[2], right);
    right ^= plain_round(keys[3], left);
    return left * 1048576 + right;
}

/* V by the definition: permuted fingerprints that 25 divides, ascending, each once, 5 bytes. */
static size_t plain_sketch(const uint8_t key[SKETCH_KEY_BYTES], const uint64_t *elements, size_t n,
                           uint8_t *ret_bytes)
{
    static uint64_t values[MOST];
    struct rabin rabin;
    uint64_t keys[4];
    size_t n_values = 0, size = 0;
    assert_int_equal(rabin_init(&rabin, key), 0); /* the polynomial: test_rabin.c */
    plain_derive(key, "permutation of 40 bits", keys, sizeof(keys));
    for (size_t i = 0; i < n; i++)
        values[i] = plain_permute(keys, plain_remainder(elements[i], rabin.polynomial));
    qsort(values, n, sizeof(*values), trial_compare);
    for (size_t i = 0; i < n; i++) {
        if (values[i] % 25 != 0 || (i > 0 && values[i] == values[i - 1]))
            continue;
        for (int shift = 32; shift >= 0; shift -= 8)
            ret_bytes[size++] = (uint8_t)(values[i] >> shift);
        n_values++;
    }
    assert_int_equal(size, 5 * n_values);
    return size;
}

static void test_broder_sketch__is_its_definition(void **state)
{
    (void)state;
    static uint64_t elements[MOST];
    static uint8_t expected[5 * MOST];
    const struct sketch_family *family = sketch_family_find("broder1997");
    for (unsigned i = 0; i < 12; i++) {
        static const size_t sizes[] = {1, 24, 700, MOST};
        size_t n = sizes[i % 4];
        uint8_t key[SKETCH_KEY_BYTES];
        _cleanup_(sketcher_free_p) struct sketcher *sketcher = NULL;
        struct sketch sketch;
        trial_key(i, key);
        trial_elements(key, 0, n, elements);
        assert_int_equal(sketcher_new(family, key, &sketcher), 0);
        sketcher_begin(sketcher);
        assert_int_equal(sketcher_add(sketcher, elements, n), 0);
        assert_int_equal(sketcher_add(sketcher, elements, n / 2), 0); /* again */
        assert_int_equal(sketcher_finish(sketcher, &sketch), 0);
        size_t size = plain_sketch(key, elements, n, expected);
        assert_int_equal(sketch.size_bytes, HEAD_BYTES + size);
        assert_memory_equal(sketch.bytes + HEAD_BYTES, expected, size);
        sketch_done(&sketch);
    }
}

/* One in 25 of many, under many keys: within 4 standard errors, of which one in 24 is 13 away. */
static void test_broder_sketch__selects_one_in_25(void **state)
{
    (void)state;
    enum { KEYS = 80 };
    static uint64_t elements[MOST];
    const struct sketch_family *family = sketch_family_find("broder1997");
    double n_selected = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        uint8_t key[SKETCH_KEY_BYTES];
        _cleanup_(sketcher_free_p) struct sketcher *sketcher = NULL;
        struct sketch sketch;
        trial_key(i, key);
        trial_elements(key, 0, MOST, elements);
        assert_int_equal(sketcher_new(family, key, &sketcher), 0);
        sketcher_begin(sketcher);
        assert_int_equal(sketcher_add(sketcher, elements, MOST), 0);
        assert_int_equal(sketcher_finish(sketcher, &sketch), 0);
        n_selected += (double)(sketch.size_bytes - HEAD_BYTES) / 5;
        sketch_done(&sketch);
    }
    double n = (double)KEYS * MOST;
    assert_true(fabs(n_selected - n / 25) < 4 * sqrt(n * (1. / 25) * (24. / 25)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broder_sketch__is_its_definition),
        cmocka_unit_test(test_broder_sketch__selects_one_in_25),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
