/* Changes that are slow: passed on to others, and what nobody else noted. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "engine/index/queue/change_queue.h"
#include "tests/lib/fixtures/change_queue_fixture.h"

/* A hint, which anybody else who notes the file takes back, and so does work on it. */
static void test_change_queue__unknown_is_what_nobody_else_noted(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key keys[] = {key_of(1), key_of(2), key_of(3)};
    struct change *change;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(change_queue_note_unknown(queue, LANE_SCAN, &keys[i], 0, NULL), 1);
    assert_int_equal(change_queue_note_unknown(queue, LANE_FOREGROUND, &keys[0], 0, NULL), 0);
    assert_int_equal(note(queue, LANE_SCAN, 2), 0);
    change = take(queue, 1);
    assert_true(change->is_unknown);
    change_queue_pass_on(queue, change, 0, false);
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 1);
    assert_true(change->is_unknown);
    change_queue_done(queue, change);
    change = take(queue, 2);
    assert_false(change->is_unknown);
    change_queue_done(queue, change);
    change = take(queue, 3);
    change_queue_retry(queue, change);
    change = take(queue, 3);
    assert_false(change->is_unknown);
    change_queue_done(queue, change);

    assert_int_equal(change_queue_note_unknown(queue, LANE_SCAN, &keys[0], 0, NULL), 1);
    change = take(queue, 1);
    assert_int_equal(change_queue_note_unknown(queue, LANE_SCAN, &keys[0], 0, NULL), 0);
    change_queue_done(queue, change); /* there is something in the store now */
    change = take(queue, 1);
    assert_false(change->is_unknown);
    change_queue_done(queue, change);
    assert_empty(queue);
    change_queue_free(queue);
}

/* That a file was written is not forgotten while it is passed on or tried again, and is of the work
 * that begins after it was noted. */
static void test_change_queue__what_was_written_is_so_until_it_is_done(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key key = key_of(1);
    struct change *change;
    assert_int_equal(change_queue_note_written(queue, CHANGE_CONTENT, &key, NULL, 0, NULL), 1);
    note(queue, LANE_FOREGROUND, 1);
    change = take(queue, 1);
    assert_true(change->is_written);
    change_queue_retry(queue, change);
    change = take(queue, 1);
    assert_true(change->is_written);
    change_queue_pass_on(queue, change, 0, false);
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 1);
    assert_true(change->is_written);
    note(queue, LANE_FOREGROUND, 1);
    change_queue_done(queue, change);
    change = take(queue, 1);
    assert_false(change->is_written);
    assert_int_equal(change_queue_note_written(queue, CHANGE_CONTENT, &key, NULL, 0, NULL), 0);
    assert_false(change->is_written);
    change_queue_done(queue, change);
    change = take(queue, 1);
    assert_true(change->is_written);
    change_queue_done(queue, change);
    assert_empty(queue);
    change_queue_free(queue);
}

/* What was passed on is for others; who waits for it does so as before. */
static void test_change_queue__what_is_passed_on_is_for_others(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct change *change;
    note(queue, LANE_SCAN, 1);
    note(queue, LANE_SCAN, 2);
    change_queue_pass_on(queue, take(queue, 1), 0, false);
    note(queue, LANE_FOREGROUND, 3);
    change_queue_pass_on(queue, take(queue, 3), 0, false);
    change_queue_done(queue, take(queue, 2));
    assert_empty(queue);
    assert_int_equal(change_queue_outstanding(queue, LANE_SCAN), 1);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);

    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0); /* it goes before others, and not back */
    assert_empty(queue);
    unsigned expected[] = {3, 1};
    for (size_t i = 0; i < 2; i++) {
        struct file_key key = key_of(expected[i]);
        assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 1);
        assert_true(file_key_equal(&change->key, &key));
        assert_int_equal(change->kind, CHANGE_CONTENT);
        assert_int_equal(change->lane, LANE_FOREGROUND);
        assert_int_equal(change->n_tries, 0);
        if (i == 0) {
            assert_int_equal(note(queue, LANE_FOREGROUND, 3), 0); /* who knows what it is now */
            change_queue_done(queue, change);
            change_queue_done(queue, take(queue, 3));
        } else {
            change_queue_retry(queue, change);
            change_queue_done(queue, take(queue, 1));
        }
    }
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 0);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), 0);
    change_queue_free(queue);
}

/* Who waits for what was written does not wait for it, nor when it is written again and again. */
static void test_change_queue__nobody_waits_for_a_long_one(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_FOREGROUND, 1);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    change_queue_pass_on(queue, take(queue, 1), 1000, true);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), -ETIMEDOUT);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 0);
    struct change *change = take_slow(queue, 1);
    assert_true(change->is_long);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);

    /* Worked on once more, it may not be long any more, and is waited for as any other. */
    change_queue_done(queue, change);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    change = take(queue, 1);
    assert_false(change->is_long);
    change_queue_done(queue, change);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), 0);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), 0);
    change_queue_free(queue);
}

/* With what is queued and in work of several owners. */
static void test_change_queue__slow_ones_go_with_the_queue(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    for (unsigned n = 0; n < 6; n++)
        note_slow(queue, LANE_SCAN, n, n / 2);
    for (unsigned n = 0; n < 6; n++)
        note_below(queue, n, n / 2, NULL);
    change_queue_shut_down(queue);
    change_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_change_queue__unknown_is_what_nobody_else_noted),
        cmocka_unit_test(test_change_queue__what_was_written_is_so_until_it_is_done),
        cmocka_unit_test(test_change_queue__what_is_passed_on_is_for_others),
        cmocka_unit_test(test_change_queue__nobody_waits_for_a_long_one),
        cmocka_unit_test(test_change_queue__slow_ones_go_with_the_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
