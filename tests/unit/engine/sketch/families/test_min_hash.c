#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/sketch/families/min_hash.h"
#include "tests/lib/fixtures/plain_derive.h"
#include "tests/lib/trials.h"

typedef unsigned __int128 u128;

enum { K = 100, MOST = 500 };

static void *make(const uint8_t key[SKETCH_KEY_BYTES])
{
    void *min_hash = NULL;
    assert_int_equal(min_hash_new(key, "a test", K, NULL, 0, &min_hash), 0);
    return min_hash;
}

/* By the definition: the least of (a t(x) + b) mod 2^61 - 1, by division. */
static void plain_slots(const uint8_t key[SKETCH_KEY_BYTES], const uint64_t *elements, size_t n,
                        uint64_t ret_slots[K])
{
    static uint64_t tables[8][256];
    const uint64_t p = 2305843009213693951u;
    uint64_t random[2 * K];
    plain_derive(key, "a test", random, sizeof(random));
    plain_derive(key, "min-hash tabulation", tables, sizeof(tables));
    for (size_t i = 0; i < K; i++) {
        u128 a = 1 + random[2 * i] % (p - 1), b = random[2 * i + 1] % p;
        ret_slots[i] = UINT64_MAX;
        for (size_t j = 0; j < n; j++) {
            uint64_t t = 0;
            for (unsigned byte = 0; byte < 8; byte++)
                t ^= tables[byte][(uint8_t)(elements[j] >> 8 * byte)];
            uint64_t value = (uint64_t)((a * (t % p) + b) % p);
            ret_slots[i] = value < ret_slots[i] ? value : ret_slots[i];
        }
    }
}

static void test_min_hash__is_its_definition(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 30, MOST};
    for (unsigned i = 0; i < 5; i++) {
        uint8_t key[SKETCH_KEY_BYTES];
        uint64_t elements[MOST], expected[K];
        trial_key(i, key);
        trial_elements(key, 0, sizes[i], elements);
        _cleanup_(min_hash_free_p) void *min_hash = make(key);
        min_hash_add(min_hash, elements, sizes[i]);
        plain_slots(key, elements, sizes[i], expected);
        assert_memory_equal(min_hash_slots(min_hash), expected, sizeof(expected));
    }
}

static void test_min_hash__begins_with_nothing(void **state)
{
    (void)state;
    const uint8_t key[SKETCH_KEY_BYTES] = {1};
    const uint64_t element = 1;
    _cleanup_(min_hash_free_p) void *min_hash = make(key);
    for (unsigned round = 0; round < 2; round++) {
        for (size_t i = 0; i < K; i++)
            assert_true(min_hash_slots(min_hash)[i] == UINT64_MAX);
        min_hash_add(min_hash, &element, 1);
        for (size_t i = 0; i < K; i++)
            assert_true(min_hash_slots(min_hash)[i] >> 61 == 0);
        min_hash_begin(min_hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_min_hash__is_its_definition),
        cmocka_unit_test(test_min_hash__begins_with_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
