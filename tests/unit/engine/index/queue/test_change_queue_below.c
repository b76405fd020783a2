/* Directories whose entries are looked for, among the changes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "engine/index/queue/change_queue_private.h"
#include "tests/lib/fixtures/change_queue_fixture.h"

static struct change *take_below(struct change_queue *queue, unsigned n)
{
    struct file_key key = key_of(n);
    struct change *change;
    assert_int_equal(change_queue_take(queue, CHANGE_BELOW, false, &change), 1);
    assert_int_equal(change->kind, CHANGE_BELOW);
    assert_true(file_key_equal(&change->key, &key));
    return change;
}

/* Beside the documents', and a directory that is noted while it is read stays its owner's. */
static void test_change_queue__directories_have_turns_of_their_own(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(16);
    struct change *change, *changes[3];
    change_queue_bound_turns(queue, CHANGE_BELOW, 2);
    for (unsigned n = 0; n < 4; n++)
        assert_int_equal(note_below(queue, n, 1000, NULL), 1);
    note_slow(queue, LANE_FOREGROUND, 0, 1000);
    for (unsigned n = 0; n < 2; n++)
        changes[n] = take_below(queue, n);
    assert_int_equal(change_queue_take(queue, CHANGE_BELOW, false, &change), 0);
    changes[2] = take_slow(queue, 0);
    assert_int_equal(note_below(queue, 5, 2000, NULL), 1);
    change_queue_done(queue, take_below(queue, 5));

    assert_int_equal(note_below(queue, 0, 1000, NULL), 0);
    change_queue_done(queue, changes[0]);
    changes[0] = take_below(queue, 2);
    assert_int_equal(change_queue_take(queue, CHANGE_BELOW, false, &change), 0);
    change_queue_done(queue, changes[0]);
    change_queue_done(queue, take_below(queue, 3));
    change_queue_done(queue, take_below(queue, 0));
    change_queue_done(queue, changes[1]);
    change_queue_done(queue, changes[2]);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), 0);
    assert_int_equal(queue->below.n, 1);
    change_queue_free(queue);
}

/* Among the directories; and is an entry like others when it is to be looked at once more. */
static void test_change_queue__an_entry_is_passed_on_to_who_reads_directories(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(16);
    struct file_key directory = key_of(1);
    struct change *entry, *change;
    change_queue_bound_turns(queue, CHANGE_BELOW, 1);
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "d", 0, NULL);
    assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
    change_queue_pass_on(queue, entry, 1000, false);
    assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 0);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    note_below(queue, 2, 1000, NULL);
    assert_int_equal(change_queue_take(queue, CHANGE_BELOW, false, &entry), 1);
    assert_int_equal(entry->kind, CHANGE_ENTRY);
    assert_string_equal(entry->name, "d");
    assert_int_equal(change_queue_take(queue, CHANGE_BELOW, false, &change), 0);
    change_queue_end_turn(queue, entry);
    change_queue_done(queue, take_below(queue, 2));
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "d", 0, NULL);
    change_queue_done(queue, entry);
    assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
    change_queue_done(queue, entry);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), 0);
    assert_int_equal(queue->below.n, 1);
    change_queue_free(queue);
}

/* Who waits for an entry waits for what was below it, and for that which was found there. */
static void test_change_queue__what_is_below_settles_with_its_directory(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(16);
    struct file_key directory = key_of(1);
    struct change *entry, *below;
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "d", 0, NULL);
    note(queue, LANE_FOREGROUND, 9);
    assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
    assert_int_equal(note_below(queue, 2, 1000, entry), 1);
    change_queue_done(queue, entry);
    below = take_below(queue, 2);
    struct file_key file = key_of(3);
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, 0, below);
    const struct item *oldest = TAILQ_FIRST(&queue->outstanding[LANE_FOREGROUND]);
    assert_ptr_equal(&oldest->change, below);
    change_queue_done(queue, below);
    oldest = TAILQ_FIRST(&queue->outstanding[LANE_FOREGROUND]);
    assert_true(file_key_equal(&oldest->change.key, &file));
    change_queue_shut_down(queue);
    change_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_change_queue__directories_have_turns_of_their_own),
        cmocka_unit_test(test_change_queue__an_entry_is_passed_on_to_who_reads_directories),
        cmocka_unit_test(test_change_queue__what_is_below_settles_with_its_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
