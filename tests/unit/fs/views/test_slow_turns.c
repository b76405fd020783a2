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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_turns__are_one_threads_of_a_user),
        cmocka_unit_test(test_slow_turns__agree_with_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
