/* Changes that lead to others, and settle with them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "engine/index/queue/change_queue.h"
#include "tests/lib/fixtures/change_queue_fixture.h"

static void test_change_queue__a_part_settles_with_its_whole(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key directory = key_of(7), file = key_of(8);
    struct change *entry;
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "name", 0, NULL);
    assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
    assert_string_equal(entry->name, "name");
    note(queue, LANE_FOREGROUND, 9);
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, 0, entry);
    change_queue_done(queue, entry);
    change_queue_done(queue, take(queue, 9));
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    change_queue_done(queue, take(queue, 8));
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);
    change_queue_free(queue);
}

static void test_change_queue__entries_of_two_names_are_two_changes(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key directory = key_of(7);
    assert_int_equal(
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "a", 0, NULL), 1);
    assert_int_equal(
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "b", 0, NULL), 1);
    assert_int_equal(
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "a", 0, NULL), 0);
    change_queue_free(queue);
}

static void test_change_queue__a_part_known_already_settles_with_its_whole(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key directory = key_of(7), file = key_of(8);
    struct change *entry;
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "name", 0, NULL);
    note(queue, LANE_FOREGROUND, 9); /* stands between the two */
    note(queue, LANE_FOREGROUND, 8);
    assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, 0, entry);
    change_queue_done(queue, entry);
    change_queue_done(queue, take(queue, 9));
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 1);
    change_queue_done(queue, take(queue, 8));
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);
    change_queue_free(queue);
}

/* File and name lead to each other, for ever where the two never agree. */
static void test_change_queue__what_leads_to_itself_counts_its_rounds(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key directory = key_of(7), file = key_of(8);
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, 0, NULL);
    for (unsigned i = 0; i < 3; i++) {
        struct change *entry, *content = take(queue, 8);
        assert_int_equal(content->n_tries, i);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "name", 0, content);
        change_queue_done(queue, content);
        assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
        assert_int_equal(entry->n_tries, i + 1);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, 0, entry);
        change_queue_done(queue, entry);
    }
    change_queue_free(queue);
}

/* A directory that comes leads to what is in it, however deep that is: no round of anything, and a
 * part the more. */
static void test_change_queue__what_is_below_counts_no_rounds(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key file = key_of(8);
    struct change *above = NULL;
    for (unsigned depth = 0; depth < 20; depth++) {
        struct file_key directory = key_of(100 + depth);
        struct change *entry;
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "name", 0, above);
        if (above)
            change_queue_done(queue, above);
        assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
        assert_int_equal(entry->n_tries, 0);
        assert_int_equal(entry->n_wholes, depth);
        above = entry;
    }
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, 0, above);
    const struct change *content = take(queue, 8);
    assert_int_equal(content->n_tries, 0);
    assert_int_equal(content->n_wholes, 20);
    change_queue_free(queue);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Each stands far from the last item of its lane; walking there from the end took minutes. */
static void test_change_queue__many_parts_and_promotions_take_no_walk(void **state)
{
    (void)state;
    enum { N = 100000 };
    const size_t max_changes[LANE_N] = {4 * N, 2 * N};
    struct change_queue *queue;
    char name[16];
    assert_int_equal(change_queue_new(max_changes, &queue), 0);
    double begin = seconds_now();
    for (unsigned i = 0; i < N; i++)
        note(queue, LANE_SCAN, i);
    for (unsigned i = 0; i < N; i++) {
        struct file_key directory = key_of(7);
        snprintf(name, sizeof(name), "%u", i);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, name, 0, NULL);
    }
    for (unsigned i = 0; i < N; i++) {
        struct file_key file = key_of(2 * N + i);
        struct change *entry;
        assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, 0, entry);
        change_queue_done(queue, entry);
    }
    for (unsigned i = 0; i < N / 2; i++) /* upwards, and downwards */
        note(queue, LANE_FOREGROUND, i);
    for (unsigned i = N; i-- > N / 2;)
        note(queue, LANE_FOREGROUND, i);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 2 * N);
    assert_true(seconds_now() - begin < 5);
    change_queue_free(queue);
}

static void end_all_contents(struct change_queue *queue)
{
    struct change *content;
    while (change_queue_take(queue, CHANGE_CONTENT, false, &content) == 1)
        change_queue_done(queue, content);
}

/* A file that is noted again while it is worked on stands just before what came since, and parts of
 * an old change stand far from there: walking from one to the other took a minute. */
static void test_change_queue__what_is_noted_again_amid_many_takes_no_walk(void **state)
{
    (void)state;
    enum { N = 100000 };
    const size_t max_changes[LANE_N] = {4 * N, N};
    const struct file_key directory = key_of(7), file = key_of(8), part = key_of(9);
    struct change_queue *queue;
    struct change *old, *content;
    char name[16];
    assert_int_equal(change_queue_new(max_changes, &queue), 0);
    double begin = seconds_now();
    for (unsigned i = 0; i < 2 * N; i++) {
        snprintf(name, sizeof(name), "%u", i);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, name, 0, NULL);
        if (i == 0)
            assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &old), 1);
        if (i < N)
            continue;
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, 0, NULL);
        assert_int_equal(change_queue_take(queue, CHANGE_CONTENT, false, &content), 1);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, 0, NULL);
        snprintf(name, sizeof(name), "since%u", i);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, name, 0, NULL);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &part, NULL, 0, old);
        change_queue_done(queue, content);
        end_all_contents(queue);
    }
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 3 * N);
    assert_true(seconds_now() - begin < 5);
    change_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_change_queue__a_part_settles_with_its_whole),
        cmocka_unit_test(test_change_queue__a_part_known_already_settles_with_its_whole),
        cmocka_unit_test(test_change_queue__what_leads_to_itself_counts_its_rounds),
        cmocka_unit_test(test_change_queue__what_is_below_counts_no_rounds),
        cmocka_unit_test(test_change_queue__many_parts_and_promotions_take_no_walk),
        cmocka_unit_test(test_change_queue__what_is_noted_again_amid_many_takes_no_walk),
        cmocka_unit_test(test_change_queue__entries_of_two_names_are_two_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
