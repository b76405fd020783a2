/* The room that owners have for what is slow, and what is dropped for want of it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "engine/index/queue/change_queue.h"
#include "tests/lib/fixtures/change_queue_fixture.h"

static void note_slow_many(struct change_queue *queue, unsigned first, unsigned n, uid_t owner)
{
    for (unsigned i = 0; i < n; i++)
        note_slow(queue, LANE_SCAN, first + i, owner);
}

/* Takes and does n slow ones of an owner who alone has any. */
static void do_slow(struct change_queue *queue, unsigned n)
{
    struct change *change;
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 1);
        change_queue_done(queue, change);
    }
}

/* Each as many as are left for others, so that there is always some room for one who comes. */
static void test_change_queue__owners_share_what_room_there_is(void **state)
{
    enum { MAX = 1024, ONE = 1000, OTHER = 2000, THIRD = 3000, SHARE_MIN = 64 };
    (void)state;
    struct change_queue *queue = new_queue(4 * MAX);
    change_queue_bound_slow(queue, MAX);
    note_slow_many(queue, 0, MAX, ONE);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), MAX / 2);
    note_slow_many(queue, MAX, MAX, OTHER);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), MAX / 2 + MAX / 4);
    for (unsigned i = 0; i < 20; i++) /* however many there are */
        note_slow_many(queue, (2 + i) * MAX, MAX, THIRD + i);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN),
                     MAX / 2 + MAX / 4 + MAX / 8 + 19 * SHARE_MIN);
    /* What was dropped is not in the queue, and what is not slow has the room that it had. */
    assert_int_equal(change_queue_outstanding(queue, LANE_SCAN),
                     change_queue_slow(queue, LANE_SCAN));
    assert_int_equal(note(queue, LANE_SCAN, MAX - 1), 1);
    change_queue_done(queue, take(queue, MAX - 1));
    change_queue_free(queue);
}

/* Not as long as there is no room; and then once, by when all that was dropped can be found. */
static void test_change_queue__what_is_dropped_wants_a_scan_once_there_is_room(void **state)
{
    enum { MAX = 1024, KEPT = MAX / 2, LEFT = KEPT / 8, ONE = 1000, OTHER = 2000 };
    (void)state;
    struct change_queue *queue = new_queue(2 * MAX);
    unsigned n_told = 0;
    change_queue_on_work(queue, count_work, &n_told);
    change_queue_bound_slow(queue, MAX);
    note_slow_many(queue, 0, KEPT, ONE);
    do_slow(queue, KEPT); /* nothing was dropped */
    assert_false(change_queue_wants_scan(queue));

    note_slow_many(queue, 0, MAX, ONE);
    for (unsigned round = 0; round < 3; round++) { /* each finds what there is no room for */
        change_queue_scan_begins(queue);
        note_slow_many(queue, KEPT, MAX, ONE);
        assert_false(change_queue_wants_scan(queue));
    }
    do_slow(queue, KEPT - LEFT - 1);
    assert_false(change_queue_wants_scan(queue));
    assert_int_equal(n_told, 0);
    do_slow(queue, 1);
    assert_true(change_queue_wants_scan(queue));
    assert_int_equal(n_told, 1);
    change_queue_scan_begins(queue);
    assert_false(change_queue_wants_scan(queue));
    do_slow(queue, LEFT);
    assert_false(change_queue_wants_scan(queue));

    /* Another's share is as full as ever. */
    note_slow_many(queue, 0, MAX, OTHER);
    note_slow_many(queue, MAX, KEPT, ONE);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), KEPT + KEPT / 2);
    for (unsigned i = 0; i < KEPT / 2; i++) { /* of the two it is each one's turn */
        struct change *change;
        for (unsigned j = 0; j < 2; j++) {
            assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 1);
            change_queue_done(queue, change);
        }
    }
    assert_true(change_queue_wants_scan(queue));
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), KEPT / 2);
    change_queue_free(queue);
}

/* Round by round, and nothing besides. */
static void test_change_queue__scans_find_all_that_was_dropped(void **state)
{
    enum { MAX = 256, N = 1500, ONE = 1000 };
    (void)state;
    struct change_queue *queue = new_queue(N);
    bool is_done[N] = {0};
    unsigned n_done = 0, n_scans = 0;
    struct change *change;
    change_queue_bound_slow(queue, MAX);
    for (bool scans = true; scans; scans = change_queue_wants_scan(queue)) {
        n_scans++;
        change_queue_scan_begins(queue);
        for (unsigned n = 0; n < N; n++) {
            if (is_done[n] || note(queue, LANE_SCAN, n) == 0)
                continue;
            change_queue_pass_on(queue, take(queue, n), ONE, n % 2);
        }
        while (!change_queue_wants_scan(queue) &&
               change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change) == 1) {
            uint32_t n;
            memcpy(&n, change->key.bytes, sizeof(n));
            assert_false(is_done[n]);
            is_done[n] = true;
            n_done++;
            change_queue_done(queue, change);
        }
    }
    assert_int_equal(n_done, N);
    assert_int_equal(change_queue_outstanding(queue, LANE_SCAN), 0);
    assert_true(n_scans > 1 && n_scans <= N / (MAX / 2 - MAX / 16) + 1);
    change_queue_free(queue);
}

/* Those past some dozens wait behind it, as long ones do, and cannot be brought back by their
 * owner. */
static void test_change_queue__an_owner_has_few_slow_ones_in_the_foreground(void **state)
{
    enum { N = 100, AHEAD = 32, ONE = 1000, OTHER = 2000 };
    (void)state;
    struct change_queue *queue = new_queue(2 * N);
    for (unsigned n = 0; n < N; n++)
        note_slow(queue, LANE_FOREGROUND, n, ONE);
    assert_int_equal(change_queue_slow(queue, LANE_FOREGROUND), AHEAD);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), N - AHEAD);
    assert_int_equal(note(queue, LANE_FOREGROUND, N - 1), 0);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), AHEAD);
    note_slow(queue, LANE_FOREGROUND, N, OTHER); /* who has as many */
    assert_int_equal(change_queue_slow(queue, LANE_FOREGROUND), AHEAD + 1);
    assert_int_equal(note(queue, LANE_FOREGROUND, N + 1), 1); /* short ones have no bound */
    change_queue_done(queue, take(queue, N + 1));

    /* One is done, and another is noted again: it has its place. */
    change_queue_done(queue, take_slow(queue, N));
    change_queue_done(queue, take_slow(queue, 0));
    assert_int_equal(note(queue, LANE_FOREGROUND, N - 1), 0);
    assert_int_equal(note(queue, LANE_FOREGROUND, N - 2), 0);
    assert_int_equal(change_queue_slow(queue, LANE_FOREGROUND), AHEAD);
    do_slow(queue, N - 1);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), 0);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), 0);
    assert_false(change_queue_wants_scan(queue));
    change_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_change_queue__owners_share_what_room_there_is),
        cmocka_unit_test(test_change_queue__what_is_dropped_wants_a_scan_once_there_is_room),
        cmocka_unit_test(test_change_queue__scans_find_all_that_was_dropped),
        cmocka_unit_test(test_change_queue__an_owner_has_few_slow_ones_in_the_foreground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
