#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/index/sid_vector.h"

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Fills with n sids from first on, below range above it, and compares with a table of all. */
static void check(uint64_t first, size_t n, uint64_t range, uint64_t seed)
{
    struct sid_vector vector = {0};
    uint8_t *present = calloc(range, 1);
    size_t n_distinct = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t offset = mix(seed + i) % range;
        n_distinct += !present[offset];
        present[offset] = 1;
        assert_int_equal(sid_vector_push(&vector, first + offset), 0);
    }
    sid_vector_sort_unique(&vector);
    assert_int_equal(vector.n_sids, n_distinct);
    for (uint64_t offset = 0; offset < range; offset++)
        if (present[offset])
            assert_int_equal(vector.sids[at++], first + offset);
    free(present);
    sid_vector_done(&vector);
}

static void test_sid_vector__sorts_and_drops_duplicates_dense_or_sparse(void **state)
{
    (void)state;
    const size_t counts[] = {1, 2, 255, 256, 257, 5000};
    const uint64_t ranges[] = {1, 63, 64, 65, 4096, 1000000};
    const uint64_t firsts[] = {1, 64, UINT64_MAX - 1000000};
    for (size_t f = 0; f < 3; f++)
        for (size_t c = 0; c < 6; c++)
            for (size_t r = 0; r < 6; r++)
                check(firsts[f], counts[c], ranges[r], f * 100 + c * 10 + r);
}

static void test_sid_vector__a_set_grows_with_what_is_distinct(void **state)
{
    (void)state;
    struct sid_vector vector = {0};
    for (uint64_t i = 0; i < 100000; i++)
        assert_int_equal(sid_vector_push_set(&vector, 7 + i % 300), 0);
    assert_true(vector.capacity <= 1024);
    sid_vector_sort_unique(&vector);
    assert_int_equal(vector.n_sids, 300);
    assert_true(sid_vector_has(&vector, 306));
    assert_false(sid_vector_has(&vector, 307));
    sid_vector_done(&vector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sid_vector__sorts_and_drops_duplicates_dense_or_sparse),
        cmocka_unit_test(test_sid_vector__a_set_grows_with_what_is_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
