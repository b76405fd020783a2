/* Of a user one thread at a time may take longer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "fs/views/slow_turns.h"

static void test_slow_turns__are_one_threads_of_a_user(void **state)
{
    (void)state;
    struct slow_turns turns;
    slow_turns_init(&turns);
    assert_true(slow_turns_take(&turns, 7, 100, 1000));
    assert_false(slow_turns_take(&turns, 7, 101, 1001));
    assert_true(slow_turns_take(&turns, 8, 101, 1001));
    assert_true(slow_turns_take(&turns, 7, 100, 2000)); /* once more, and from then on */
    assert_false(slow_turns_take(&turns, 7, 101, 2000 + SLOW_TURN_MS - 1));
    assert_true(slow_turns_take(&turns, 7, 101, 2000 + SLOW_TURN_MS));
    assert_false(slow_turns_take(&turns, 7, 100, 2000 + SLOW_TURN_MS));
    slow_turns_done(&turns);
}

/* Where no two users share a bucket: the last one who took it is gone through for. */
static void test_slow_turns__agree_with_a_list(void **state)
{
    (void)state;
    enum { N = 20000, N_USERS = 5, N_THREADS = 4 };
    static struct {
        uid_t uid;
        uint64_t thread;
        int64_t at_ms;
    } taken[N];
    struct slow_turns turns;
    unsigned short seed[3] = {1, 2, 3};
    int n = 0;
    int64_t now_ms = 1;
    slow_turns_init(&turns);
    for (int i = 0; i < N; i++) {
        const uid_t uid = (uid_t)(nrand48(seed) % N_USERS);
        const uint64_t thread = 1 + (uint64_t)(nrand48(seed) % N_THREADS);
        int last = n - 1;
        now_ms += nrand48(seed) % (SLOW_TURN_MS / 4);
        while (last >= 0 && taken[last].uid != uid)
            last--;
        const bool expected =
            last < 0 || taken[last].thread == thread || now_ms - taken[last].at_ms >= SLOW_TURN_MS;
        assert_int_equal(slow_turns_take(&turns, uid, thread, now_ms), expected);
        if (!expected)
            continue;
        taken[n].uid = uid;
        taken[n].thread = thread;
        taken[n++].at_ms = now_ms;
    }
    assert_true(n > N / 10 && n < N);
    slow_turns_done(&turns);
}

/* However many threads queue, each beginning when the one before has ended. */
static void test_slow_turns__others_have_a_time_together(void **state)
{
    (void)state;
    enum { MOST_MS = 3000, ALL_MS = SLOW_PART * MOST_MS, N_LATER = 100 };
    struct slow_turns turns;
    int64_t now_ms = 1000;
    slow_turns_init(&turns);
    assert_int_equal(slow_turns_allowed_ms(&turns, 7, 100, MOST_MS, now_ms), MOST_MS);
    assert_true(slow_turns_take(&turns, 7, 100, now_ms));
    for (uint64_t thread = 101; slow_turns_allowed_ms(&turns, 7, thread, MOST_MS, now_ms) > SLOW_MS;
         thread++) {
        const int64_t since_ms = now_ms;
        now_ms += slow_turns_allowed_ms(&turns, 7, thread, MOST_MS, now_ms);
        slow_turns_end(&turns, 7, thread, MOST_MS, since_ms, now_ms);
        assert_true(slow_turns_take(&turns, 7, 100, now_ms)); /* whose own counts for nothing */
        slow_turns_end(&turns, 7, 100, MOST_MS, since_ms, now_ms);
    }
    assert_in_range(now_ms, ALL_MS, 1000 + ALL_MS * SLOW_AGAIN / (SLOW_AGAIN - 1));
    assert_int_equal(slow_turns_allowed_ms(&turns, 7, 100, MOST_MS, now_ms), MOST_MS);
    assert_int_equal(slow_turns_allowed_ms(&turns, 8, 101, MOST_MS, now_ms), MOST_MS);
    for (uint64_t thread = 200; thread < 200 + N_LATER; thread++) {
        const int64_t since_ms = now_ms;
        now_ms += SLOW_MS;
        slow_turns_end(&turns, 7, thread, MOST_MS, since_ms, now_ms);
        assert_in_range(slow_turns_allowed_ms(&turns, 7, thread, MOST_MS, now_ms), SLOW_MS,
                        2 * SLOW_MS);
    }
    assert_true(slow_turns_take(&turns, 7, 100, now_ms + ALL_MS * SLOW_AGAIN - 1));
    assert_int_equal(slow_turns_allowed_ms(&turns, 7, 101, MOST_MS, now_ms + ALL_MS * SLOW_AGAIN),
                     MOST_MS);
    slow_turns_done(&turns);
}

static void test_slow_turns__others_time_comes_back(void **state)
{
    (void)state;
    enum { MOST_MS = 3000 };
    struct slow_turns turns;
    slow_turns_init(&turns);
    assert_true(slow_turns_take(&turns, 7, 100, 1000));
    slow_turns_end(&turns, 7, 101, MOST_MS, 1000, 1000 + SLOW_MS - 1); /* was quick */
    assert_int_equal(slow_turns_allowed_ms(&turns, 7, 101, MOST_MS, 2000), MOST_MS);
    slow_turns_end(&turns, 7, 101, MOST_MS, 2000, 5000);
    slow_turns_end(&turns, 7, 102, MOST_MS, 3000,
                   6000); /* of which two seconds have been counted */
    assert_int_equal(slow_turns_allowed_ms(&turns, 7, 103, MOST_MS, 6000),
                     MOST_MS - (4000 - 1000 / SLOW_AGAIN) / SLOW_PART);
    assert_true(slow_turns_take(&turns, 7, 100, 15000));
    assert_int_equal(slow_turns_allowed_ms(&turns, 7, 103, MOST_MS, 6000 + 4000 * SLOW_AGAIN),
                     MOST_MS);
    slow_turns_done(&turns);
}

/* One that commands several takes the turn of one from none of its threads by another. */
static void test_slow_turns__are_kept_of_users_in_one_bucket(void **state)
{
    (void)state;
    struct slow_turns turns;
    slow_turns_init(&turns);
    for (uid_t i = 0; i < 3; i++)
        assert_true(slow_turns_take(&turns, 7 + i * SLOW_TURNS_BUCKETS, 100, 1000));
    for (uid_t i = 0; i < 3; i++)
        assert_false(slow_turns_take(&turns, 7 + i * SLOW_TURNS_BUCKETS, 101, 1001));
    assert_true(slow_turns_take(&turns, 7, 102, 1000 + SLOW_TURN_MS)); /* the others are gone */
    slow_turns_done(&turns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_turns__are_one_threads_of_a_user),
        cmocka_unit_test(test_slow_turns__agree_with_a_list),
        cmocka_unit_test(test_slow_turns__others_have_a_time_together),
        cmocka_unit_test(test_slow_turns__others_time_comes_back),
        cmocka_unit_test(test_slow_turns__are_kept_of_users_in_one_bucket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
