#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "engine/index/tables/number_vector.h"

/* Fills with n sids from first on, below range above it, and compares with a table of all. */
static void check(uint64_t first, size_t n, uint64_t range, uint64_t seed)
{
    struct number_vector vector = {0};
    uint8_t *present = calloc(range, 1);
    size_t n_distinct = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t offset = mix64(seed + i) % range;
        n_distinct += !present[offset];
        present[offset] = 1;
        assert_int_equal(number_vector_push(&vector, first + offset), 0);
    }
    number_vector_sort_unique(&vector);
    assert_int_equal(vector.n_numbers, n_distinct);
    for (uint64_t offset = 0; offset < range; offset++)
        if (present[offset])
            assert_int_equal(vector.numbers[at++], first + offset);
    free(present);
    number_vector_done(&vector);
}

static void test_number_vector__sorts_and_drops_duplicates_dense_or_sparse(void **state)
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

static void test_number_vector__a_set_grows_with_what_is_distinct(void **state)
{
    (void)state;
    struct number_vector vector = {0};
    for (uint64_t i = 0; i < 100000; i++)
        assert_int_equal(number_vector_push_set(&vector, 7 + i % 300), 0);
    assert_true(vector.capacity <= 1024);
    number_vector_sort_unique(&vector);
    assert_int_equal(vector.n_numbers, 300);
    assert_true(number_vector_has(&vector, 306));
    assert_false(number_vector_has(&vector, 307));
    number_vector_done(&vector);
}

/* Ascending, descending, and with one that is out of order; against an array of what is there. */
static void test_number_vector__sets_come_many_at_a_time(void **state)
{
    enum { RANGE = 2000, SETS = 12 };
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct number_vector vector = {0};
        bool present[RANGE] = {false};
        size_t n_present = 0, at = 0;
        for (uint64_t set = 0; set < SETS; set++) {
            uint64_t sids[RANGE];
            size_t n = 0;
            for (uint64_t sid = 0; sid < RANGE; sid++)
                if (mix64(seed * SETS * RANGE + set * RANGE + sid) % (1 + seed) == 0)
                    sids[n++] = set % 2 ? sid : RANGE - 1 - sid;
            if (n > 2 && set % 3 == 2)
                sids[n / 2] = sids[0];
            for (size_t i = 0; i < n; i++) {
                n_present += !present[sids[i]];
                present[sids[i]] = true;
            }
            assert_int_equal(number_vector_make_room(&vector, n), 0);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(number_vector_push(&vector, sids[i]), 0);
            assert_true(vector.n_numbers <= vector.capacity);
            if (set % 4 == 3)
                number_vector_sort_unique(&vector);
        }
        number_vector_sort_unique(&vector);
        assert_int_equal(vector.n_numbers, n_present);
        assert_true(vector.capacity <= 4 * (n_present + RANGE));
        for (uint64_t sid = 0; sid < RANGE; sid++)
            if (present[sid])
                assert_int_equal(vector.numbers[at++], sid);
        number_vector_done(&vector);
    }
}

/* Against setting bits. */
static void test_number_vector__the_first_of_two_are_those_of_both(void **state)
{
    enum { RANGE = 300 };
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct number_vector a = {0}, b = {0}, merged;
        bool present[RANGE] = {false};
        const size_t most = seed % 5 ? mix64(seed) % RANGE : SIZE_MAX;
        size_t n = 0;
        for (uint64_t sid = 0; sid < RANGE; sid++) {
            const uint64_t which = mix64(seed * RANGE + sid) % (2 + seed % 20);
            if (which < 2 && which != seed % 7)
                assert_int_equal(number_vector_push(&a, sid), 0);
            if (which > 0 && which < 4 && seed % 9)
                assert_int_equal(number_vector_push(&b, sid), 0);
            present[sid] = (which < 2 && which != seed % 7) || (which > 0 && which < 4 && seed % 9);
        }
        assert_int_equal(number_vector_merge(&a, &b, most, &merged), 0);
        for (uint64_t sid = 0; sid < RANGE && n < most; sid++)
            if (present[sid])
                assert_int_equal(merged.numbers[n++], sid);
        assert_int_equal(merged.n_numbers, n);
        number_vector_done(&a);
        number_vector_done(&b);
        number_vector_done(&merged);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number_vector__sorts_and_drops_duplicates_dense_or_sparse),
        cmocka_unit_test(test_number_vector__a_set_grows_with_what_is_distinct),
        cmocka_unit_test(test_number_vector__sets_come_many_at_a_time),
        cmocka_unit_test(test_number_vector__the_first_of_two_are_those_of_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
