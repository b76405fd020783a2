/* Changes that are held back. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>

#include "engine/index/queue/change_queue.h"
#include "tests/lib/fixtures/change_queue_fixture.h"

static int note_name(struct change_queue *queue, unsigned directory, const char *name)
{
    struct file_key key = key_of(directory);
    return change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &key, name, 0, NULL);
}

static void test_change_queue__what_is_held_back_comes_when_released(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    change_queue_hold(queue);
    note(queue, LANE_FOREGROUND, 1);
    note(queue, LANE_FOREGROUND, 2);
    assert_empty(queue);
    assert_true(change_queue_is_holding(queue));
    change_queue_release(queue);
    assert_false(change_queue_is_holding(queue));
    struct change *first = take(queue, 1);
    note(queue, LANE_FOREGROUND, 3);
    change_queue_done(queue, first);
    change_queue_done(queue, take(queue, 2));
    change_queue_done(queue, take(queue, 3)); /* came before all was done */
    note(queue, LANE_FOREGROUND, 4);
    assert_empty(queue);
    change_queue_free(queue);
}

static void test_change_queue__the_scan_is_not_held_back(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    change_queue_hold(queue);
    note(queue, LANE_FOREGROUND, 1);
    note(queue, LANE_SCAN, 2);
    note(queue, LANE_SCAN, 3);
    change_queue_done(queue, take(queue, 2));
    assert_int_equal(note(queue, LANE_FOREGROUND, 3), 0); /* from now on it is */
    assert_empty(queue);
    change_queue_release(queue);
    change_queue_done(queue, take(queue, 1));
    change_queue_done(queue, take(queue, 3));
    change_queue_free(queue);
}

static void test_change_queue__who_asks_for_an_effect_releases(void **state)
{
    (void)state;
    struct settler settler = {.queue = new_queue(8), .result = 1};
    pthread_t thread;
    struct change *change;
    change_queue_hold(settler.queue);
    note(settler.queue, LANE_FOREGROUND, 1);
    assert_int_equal(pthread_create(&thread, NULL, settle, &settler), 0);
    assert_int_equal(change_queue_take(settler.queue, CHANGE_CONTENT, true, &change), 1);
    change_queue_done(settler.queue, change);
    pthread_join(thread, NULL);
    assert_int_equal(settler.result, 0);

    note(settler.queue, LANE_FOREGROUND, 2);
    assert_empty(settler.queue);
    assert_int_equal(change_queue_settle(settler.queue, LANE_SCAN, 0), -ETIMEDOUT);
    change_queue_done(settler.queue, take(settler.queue, 2));
    change_queue_free(settler.queue);
}

static void test_change_queue__much_is_not_held_back(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    change_queue_hold(queue);
    for (unsigned i = 1; i <= 3; i++)
        note(queue, LANE_FOREGROUND, i);
    assert_true(change_queue_is_holding(queue));
    note(queue, LANE_FOREGROUND, 4);
    assert_false(change_queue_is_holding(queue));
    for (unsigned i = 1; i <= 4; i++)
        change_queue_done(queue, take(queue, i));
    change_queue_free(queue);
}

static void test_change_queue__what_is_released_can_be_held_back_again(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(16);
    change_queue_hold_again(queue); /* nothing was held back before */
    note(queue, LANE_FOREGROUND, 1);
    change_queue_done(queue, take(queue, 1));
    change_queue_hold(queue);
    for (unsigned i = 1; i <= 4; i++)
        note(queue, LANE_FOREGROUND, i);
    change_queue_release(queue);
    struct change *first = take(queue, 1);
    change_queue_hold_again(queue);
    assert_empty(queue);
    change_queue_done(queue, first);
    assert_empty(queue);
    change_queue_release(queue);
    change_queue_done(queue, take(queue, 2));

    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    change_queue_hold_again(queue); /* but somebody asked */
    change_queue_done(queue, take(queue, 3));
    change_queue_done(queue, take(queue, 4));

    for (unsigned i = 1; i <= 8; i++) /* half of what there may be */
        note(queue, LANE_FOREGROUND, i);
    change_queue_hold_again(queue);
    for (unsigned i = 1; i <= 8; i++)
        change_queue_done(queue, take(queue, i));
    change_queue_free(queue);
}

static void test_change_queue__shutting_down_ends_holding_back(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct change *change;
    change_queue_hold(queue);
    note(queue, LANE_FOREGROUND, 1);
    change_queue_shut_down(queue);
    assert_int_equal(change_queue_take(queue, CHANGE_CONTENT, true, &change), -ESHUTDOWN);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, -1), -ESHUTDOWN);
    change_queue_free(queue);
}

/* Who takes entries is told of each; of what is held back once, and again when it is there. */
static void test_change_queue__tells_when_there_is_work(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(16);
    unsigned n_told = 0;
    struct change *change;
    change_queue_on_work(queue, count_work, &n_told);
    note_name(queue, 1, "a");
    note_name(queue, 1, "b");
    note(queue, LANE_FOREGROUND, 1);
    assert_int_equal(n_told, 2);
    while (change_queue_take(queue, CHANGE_ENTRY, false, &change) == 1)
        change_queue_done(queue, change);
    change_queue_done(queue, take(queue, 1));

    change_queue_hold(queue);
    uint64_t n_before = change_queue_count_notes(queue);
    note(queue, LANE_FOREGROUND, 1);
    assert_int_equal(n_told, 3);
    note_name(queue, 1, "a");
    note_name(queue, 1, "a");
    assert_int_equal(n_told, 3);
    assert_int_equal(change_queue_count_notes(queue), n_before + 3);
    change_queue_release(queue);
    assert_int_equal(n_told, 4);
    change_queue_release(queue);
    assert_int_equal(n_told, 4);
    change_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_change_queue__what_is_held_back_comes_when_released),
        cmocka_unit_test(test_change_queue__the_scan_is_not_held_back),
        cmocka_unit_test(test_change_queue__who_asks_for_an_effect_releases),
        cmocka_unit_test(test_change_queue__much_is_not_held_back),
        cmocka_unit_test(test_change_queue__what_is_released_can_be_held_back_again),
        cmocka_unit_test(test_change_queue__shutting_down_ends_holding_back),
        cmocka_unit_test(test_change_queue__tells_when_there_is_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
