#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/index/tables/sid_tally.h"

/* Sids that fall together in small tables, and some that are far apart. */
static uint64_t sid_of(uint64_t i)
{
    return i % 3 == 0 ? i << 40 : i;
}

static void test_sid_tally__keeps_a_number_for_each_sid(void **state)
{
    enum { N = 20000 };
    struct sid_tally tally = {0};
    (void)state;
    assert_null(sid_tally_find(&tally, 1));
    for (uint64_t round = 0; round < 2; round++)
        for (uint64_t i = 1; i <= N; i++) {
            uint32_t *n = sid_tally_of(&tally, sid_of(i));
            assert_non_null(n);
            assert_int_equal(*n, round * (i % 1000));
            *n += (uint32_t)(i % 1000);
        }
    assert_int_equal(tally.n_sids, N);
    assert_true(2 * (tally.n_sids - 1) < tally.n_slots);
    for (uint64_t i = 1; i <= N; i++)
        assert_int_equal(*sid_tally_find(&tally, sid_of(i)), 2 * (i % 1000));
    assert_null(sid_tally_find(&tally, N + 1));
    sid_tally_done(&tally);
    assert_null(sid_tally_find(&tally, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sid_tally__keeps_a_number_for_each_sid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
