#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/index/queue/lull.h"

static void test_lull__ends_when_no_more_comes(void **state)
{
    (void)state;
    struct lull lull = {0};
    assert_false(lull_look(&lull, true, 7, 1000));
    assert_false(lull_look(&lull, true, 7, 1000 + LULL_REST_MS - 1));
    assert_true(lull_look(&lull, true, 7, 1000 + LULL_REST_MS));
}

static void test_lull__lasts_while_more_comes(void **state)
{
    (void)state;
    struct lull lull = {0};
    assert_false(lull_look(&lull, true, 1, 0));
    assert_false(lull_look(&lull, true, 2, LULL_REST_MS));
    assert_false(lull_look(&lull, true, 2, 2 * LULL_REST_MS - 1));
    assert_true(lull_look(&lull, true, 2, 2 * LULL_REST_MS));
}

static void test_lull__ends_in_bounded_time(void **state)
{
    (void)state;
    struct lull lull = {0};
    uint64_t n_notes = 0;
    for (int64_t now_ms = 0; now_ms < LULL_MAX_MS; now_ms++)
        assert_false(lull_look(&lull, true, n_notes++, now_ms));
    assert_true(lull_look(&lull, true, n_notes, LULL_MAX_MS));
}

/* What came after the rest is an event like those before it. */
static void test_lull__comes_and_goes(void **state)
{
    (void)state;
    struct lull lull = {0};
    assert_false(lull_look(&lull, true, 1, 0));
    assert_true(lull_look(&lull, true, 1, LULL_REST_MS));
    assert_false(lull_look(&lull, true, 2, LULL_REST_MS + 1));
    assert_true(lull_look(&lull, true, 2, 2 * LULL_REST_MS + 1));
    assert_false(lull_look(&lull, true, 3, LULL_MAX_MS - 1));
    assert_true(lull_look(&lull, true, 4, LULL_MAX_MS));
}

/* The time of one burst is not counted for the next. */
static void test_lull__each_begins_anew(void **state)
{
    (void)state;
    struct lull lull = {0};
    assert_false(lull_look(&lull, true, 1, 0));
    assert_false(lull_look(&lull, false, 1, 10));
    assert_false(lull_look(&lull, true, 2, LULL_MAX_MS + 5));
    assert_true(lull_look(&lull, true, 2, LULL_MAX_MS + 5 + LULL_REST_MS));
    assert_false(lull_look(&lull, false, 2, LULL_MAX_MS + 6 + LULL_REST_MS));
    assert_false(lull_look(&lull, true, 2, LULL_MAX_MS + 7 + LULL_REST_MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lull__ends_when_no_more_comes),
        cmocka_unit_test(test_lull__lasts_while_more_comes),
        cmocka_unit_test(test_lull__ends_in_bounded_time),
        cmocka_unit_test(test_lull__comes_and_goes),
        cmocka_unit_test(test_lull__each_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
