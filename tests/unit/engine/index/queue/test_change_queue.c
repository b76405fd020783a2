/* A queue of changes: lanes, bounds and waits. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "engine/index/queue/change_queue_private.h"
#include "tests/lib/fixtures/change_queue_fixture.h"

static void test_change_queue__foreground_goes_before_scan(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_SCAN, 1);
    note(queue, LANE_FOREGROUND, 2);
    change_queue_done(queue, take(queue, 2));
    change_queue_done(queue, take(queue, 1));
    assert_empty(queue);
    change_queue_free(queue);
}

/* A worker that owes the scan lane takes of it, whatever else waits. */
static void test_change_queue__what_was_found_is_taken_alone(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key key = key_of(2);
    struct change *change;
    note(queue, LANE_FOREGROUND, 1);
    assert_int_equal(change_queue_take_found(queue, CHANGE_CONTENT, &change), 0);
    note(queue, LANE_SCAN, 2);
    assert_int_equal(change_queue_take_found(queue, CHANGE_CONTENT, &change), 1);
    assert_true(file_key_equal(&change->key, &key));
    assert_int_equal(change->lane, LANE_SCAN);
    change_queue_done(queue, change);
    assert_int_equal(change_queue_take_found(queue, CHANGE_CONTENT, &change), 0);
    change_queue_done(queue, take(queue, 1));
    change_queue_shut_down(queue);
    assert_int_equal(change_queue_take_found(queue, CHANGE_CONTENT, &change), -ESHUTDOWN);
    change_queue_free(queue);
}

static void test_change_queue__a_file_is_queued_once(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 1);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0);
    change_queue_done(queue, take(queue, 1));
    assert_empty(queue);
    change_queue_free(queue);
}

static void test_change_queue__noted_while_in_work_is_worked_on_again(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_FOREGROUND, 1);
    struct change *change = take(queue, 1);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0);
    assert_empty(queue); /* not twice at once */
    change_queue_done(queue, change);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    change_queue_done(queue, take(queue, 1));
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);
    change_queue_free(queue);
}

static bool is_settler_waiting(struct change_queue *queue)
{
    LOCKED(&queue->lock);
    return queue->n_waiting > 0;
}

/* Its ticket is taken then. */
static void wait_for_settler(struct change_queue *queue)
{
    while (!is_settler_waiting(queue))
        sched_yield();
}

/* Each time that it is worked on it is noted again, and so is outstanding for ever. */
static void test_change_queue__who_waits_does_not_wait_for_what_goes_on_changing(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct settler settler = {.queue = queue, .result = 1};
    pthread_t thread;
    note(queue, LANE_FOREGROUND, 1);
    struct change *change = take(queue, 1);
    assert_int_equal(pthread_create(&thread, NULL, settle, &settler), 0);
    wait_for_settler(queue);
    note(queue, LANE_FOREGROUND, 1);
    change_queue_done(queue, change);
    pthread_join(thread, NULL);
    assert_int_equal(settler.result, 0);

    /* But who waits since it was noted again waits for that. */
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    change = take(queue, 1);
    note(queue, LANE_FOREGROUND, 1);
    assert_int_equal(pthread_create(&thread, NULL, settle, &settler), 0);
    wait_for_settler(queue);
    note(queue, LANE_FOREGROUND, 1);
    change_queue_done(queue, change);
    assert_true(is_settler_waiting(queue));
    change = take(queue, 1);
    note(queue, LANE_FOREGROUND, 1);
    change_queue_done(queue, change);
    pthread_join(thread, NULL);
    assert_int_equal(settler.result, 0);
    change_queue_free(queue);
}

static void test_change_queue__a_scanned_file_that_is_noted_moves_ahead(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_SCAN, 1);
    note(queue, LANE_SCAN, 2);
    note(queue, LANE_FOREGROUND, 2);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 1);
    assert_int_equal(change_queue_outstanding(queue, LANE_SCAN), 1);
    struct change *change = take(queue, 2);
    assert_int_equal(change->lane, LANE_FOREGROUND);
    change_queue_done(queue, change);
    change_queue_done(queue, take(queue, 1));
    change_queue_free(queue);
}

static void test_change_queue__in_work_of_the_scan_holds_up_the_foreground_once_noted(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_SCAN, 1);
    struct change *change = take(queue, 1);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);
    note(queue, LANE_FOREGROUND, 1);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    change_queue_done(queue, change);
    change_queue_done(queue, take(queue, 1));
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);
    change_queue_free(queue);
}

static void test_change_queue__each_lane_is_bounded(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(2);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 1);
    assert_int_equal(note(queue, LANE_FOREGROUND, 2), 1);
    assert_int_equal(note(queue, LANE_FOREGROUND, 3), -ENOBUFS);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0);
    assert_int_equal(note(queue, LANE_SCAN, 3), 1);
    change_queue_done(queue, take(queue, 1));
    assert_int_equal(note(queue, LANE_FOREGROUND, 4), 1);
    change_queue_free(queue);
}

static void test_change_queue__a_retried_change_goes_to_the_end_and_counts(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_FOREGROUND, 1);
    note(queue, LANE_FOREGROUND, 2);
    change_queue_retry(queue, take(queue, 1));
    change_queue_done(queue, take(queue, 2));
    struct change *change = take(queue, 1);
    assert_int_equal(change->n_tries, 1);
    change_queue_done(queue, change);
    change_queue_free(queue);
}

static void test_change_queue__what_is_taken_keeps_the_lane_it_was_taken_from(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_SCAN, 1);
    struct change *change = take(queue, 1);
    note(queue, LANE_FOREGROUND, 1); /* by another thread, while this one reads the lane */
    assert_int_equal(change->lane, LANE_SCAN);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 1);
    change_queue_done(queue, change);
    change = take(queue, 1);
    assert_int_equal(change->lane, LANE_FOREGROUND);
    change_queue_done(queue, change);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 0);
    change_queue_free(queue);
}

/* A document that is written has a notice of its name and one of its contents. */
static void test_change_queue__a_document_of_two_notices_is_one(void **state)
{
    (void)state;
    enum { N = 400 };
    struct change_queue *queue = new_queue(4 * N);
    struct change *taken;
    struct file_key directory = key_of(N);
    char name[32];
    for (unsigned i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "%u", i);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, name, 0, NULL);
        note(queue, LANE_FOREGROUND, i);
    }
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 2 * N);
    assert_int_equal(change_queue_documents(queue, LANE_FOREGROUND), N);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &taken), 1);
        change_queue_done(queue, taken);
        assert_int_equal(change_queue_documents(queue, LANE_FOREGROUND), N);
    }
    for (unsigned i = N; i > 0; i--) {
        assert_int_equal(change_queue_take(queue, CHANGE_CONTENT, false, &taken), 1);
        assert_int_equal(change_queue_documents(queue, LANE_FOREGROUND), i);
        change_queue_done(queue, taken);
    }
    assert_int_equal(change_queue_documents(queue, LANE_FOREGROUND), 0);
    /* Of what is moved or removed there is the name alone. */
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "name", 0, NULL);
    assert_int_equal(change_queue_documents(queue, LANE_FOREGROUND), 1);
    assert_int_equal(change_queue_documents(queue, LANE_SCAN), 0);
    change_queue_free(queue);
}

static void test_change_queue__settling_does_not_wait_for_later_changes(void **state)
{
    (void)state;
    struct settler settler = {.queue = new_queue(8), .result = 1};
    pthread_t thread;
    note(settler.queue, LANE_FOREGROUND, 1);
    struct change *first = take(settler.queue, 1);
    assert_int_equal(pthread_create(&thread, NULL, settle, &settler), 0);
    /* Whether the second is noted before or after the thread's call, it must end when both are
     * done, and may end when the first is. */
    note(settler.queue, LANE_FOREGROUND, 2);
    struct change *second = take(settler.queue, 2);
    change_queue_done(settler.queue, first);
    change_queue_done(settler.queue, second);
    pthread_join(thread, NULL);
    assert_int_equal(settler.result, 0);
    change_queue_free(settler.queue);
}

static void test_change_queue__shutting_down_ends_every_wait(void **state)
{
    (void)state;
    struct settler settler = {.queue = new_queue(8), .result = 1};
    pthread_t thread;
    struct change *change;
    note(settler.queue, LANE_FOREGROUND, 1);
    assert_int_equal(pthread_create(&thread, NULL, settle, &settler), 0);
    change_queue_shut_down(settler.queue);
    pthread_join(thread, NULL);
    assert_int_equal(settler.result, -ESHUTDOWN);
    assert_int_equal(change_queue_take(settler.queue, CHANGE_CONTENT, true, &change), -ESHUTDOWN);
    assert_int_equal(note(settler.queue, LANE_FOREGROUND, 2), -ESHUTDOWN);
    change_queue_free(settler.queue);
}

/* -- holding back -- */

/* That is so of every hash that is known beforehand; this one is Fowler, Noll and Vo's. */
static void test_change_queue__names_chosen_to_be_alike_are_found_as_soon(void **state)
{
    enum { MANY = 256, LONG = 32 };
    static const size_t max_changes[LANE_N] = {[LANE_FOREGROUND] = 1024, [LANE_SCAN] = 1024};
    (void)state;
    struct change_queue *alike;
    struct file_key directory = key_of(7);
    char name[16];
    assert_int_equal(change_queue_new(max_changes, &alike), 0);
    for (unsigned i = 0; change_queue_outstanding(alike, LANE_SCAN) < MANY; i++) {
        uint64_t h = file_key_hash(&directory) + CHANGE_ENTRY;
        snprintf(name, sizeof(name), "%u", i);
        for (const char *c = name; *c; c++)
            h = (h ^ (uint8_t)*c) * 0x100000001b3u;
        if (((h ^ h >> 29) & (alike->n_buckets - 1)) == 0)
            assert_int_equal(
                change_queue_note(alike, LANE_SCAN, CHANGE_ENTRY, &directory, name, 0, NULL), 1);
    }
    size_t longest = 0;
    for (size_t i = 0; i < alike->n_buckets; i++) {
        size_t n = 0;
        struct item *item;
        SLIST_FOREACH(item, &alike->buckets[i], bucket)
        n++;
        longest = n > longest ? n : longest;
    }
    assert_true(longest < LONG);
    change_queue_free(alike);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_change_queue__foreground_goes_before_scan),
        cmocka_unit_test(test_change_queue__what_was_found_is_taken_alone),
        cmocka_unit_test(test_change_queue__a_file_is_queued_once),
        cmocka_unit_test(test_change_queue__noted_while_in_work_is_worked_on_again),
        cmocka_unit_test(test_change_queue__who_waits_does_not_wait_for_what_goes_on_changing),
        cmocka_unit_test(test_change_queue__a_scanned_file_that_is_noted_moves_ahead),
        cmocka_unit_test(test_change_queue__in_work_of_the_scan_holds_up_the_foreground_once_noted),
        cmocka_unit_test(test_change_queue__each_lane_is_bounded),
        cmocka_unit_test(test_change_queue__a_retried_change_goes_to_the_end_and_counts),
        cmocka_unit_test(test_change_queue__what_is_taken_keeps_the_lane_it_was_taken_from),
        cmocka_unit_test(test_change_queue__a_document_of_two_notices_is_one),
        cmocka_unit_test(test_change_queue__settling_does_not_wait_for_later_changes),
        cmocka_unit_test(test_change_queue__shutting_down_ends_every_wait),
        cmocka_unit_test(test_change_queue__names_chosen_to_be_alike_are_found_as_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
