#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/index/queue/lane_share.h"

struct times {
    int64_t users_us, found_us;
};

/* A worker for whom changes of both lanes wait all the time. */
static struct times work(struct lane_share *share, int64_t users_us, int64_t found_us, unsigned n)
{
    struct times all = {0};
    for (unsigned i = 0; i < n; i++) {
        const bool is_found = lane_share_is_owed(share);
        lane_share_spend(share, is_found ? LANE_SCAN : LANE_FOREGROUND,
                         is_found ? found_us : users_us);
        *(is_found ? &all.found_us : &all.users_us) += is_found ? found_us : users_us;
    }
    return all;
}

static void assert_shared(int64_t users_us, int64_t found_us)
{
    struct lane_share share = {0};
    const struct times all = work(&share, users_us, found_us, 100000);
    const int64_t longest_us = users_us > found_us ? users_us : found_us;
    assert_in_range(4 * all.found_us, all.users_us - 4 * longest_us, all.users_us + 4 * longest_us);
}

static void test_lane_share__is_a_fifth_however_long_changes_take(void **state)
{
    (void)state;
    assert_shared(1000, 1000);
    assert_shared(250000, 100);
    assert_shared(100, 250000);
    assert_shared(3, 1000);
}

/* An hour of the one alone is not owed to the other. */
static void test_lane_share__owes_nothing_for_time_that_nobody_wanted(void **state)
{
    (void)state;
    const int64_t hour_us = INT64_C(3600) * 1000 * 1000;
    struct lane_share share = {0};
    lane_share_spend(&share, LANE_SCAN, hour_us);
    assert_true(work(&share, 1000, 1000, 10).found_us > 0);
    lane_share_spend(&share, LANE_FOREGROUND, hour_us);
    lane_share_forget(&share);
    assert_false(lane_share_is_owed(&share));
    assert_true(work(&share, 1000, 1000, 10).users_us > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lane_share__is_a_fifth_however_long_changes_take),
        cmocka_unit_test(test_lane_share__owes_nothing_for_time_that_nobody_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
