/* The foreground, which owners share. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/index/queue/change_queue.h"
#include "tests/lib/fixtures/change_queue_fixture.h"

enum { MAX = 64, ONE = 1000, OTHER = 2000, MANY = 3000 };

static int note_of(struct change_queue *queue, uid_t owner, unsigned n)
{
    struct file_key key = key_of(n);
    return change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &key, NULL, owner, NULL);
}

/* Files from first on; how many of them there was room for. */
static unsigned note_many(struct change_queue *queue, uid_t owner, unsigned first, unsigned n)
{
    unsigned n_noted = 0;
    for (unsigned i = 0; i < n; i++) {
        int r = note_of(queue, owner, first + i);
        assert_true(r == 1 || r == -ENOBUFS);
        n_noted += r == 1;
        assert_true(change_queue_outstanding(queue, LANE_FOREGROUND) <= MAX);
    }
    return n_noted;
}

/* Takes and does what there is, in the order in which it is given; how many changes each owner had
 * until n were taken. */
static unsigned do_of(struct change_queue *queue, unsigned n, uid_t owner)
{
    unsigned n_of = 0;
    struct change *change;
    for (unsigned i = 0; i < n && change_queue_take(queue, CHANGE_CONTENT, false, &change) == 1;
         i++) {
        n_of += change->owner == owner;
        change_queue_done(queue, change);
    }
    return n_of;
}

static void test_change_queue__who_floods_it_keeps_nobody_out(void **state)
{
    enum { FEW = 10 };
    (void)state;
    struct change_queue *queue = new_queue(MAX);
    unsigned n_told = 0;
    change_queue_on_work(queue, count_work, &n_told);
    assert_int_equal(note_many(queue, ONE, 0, 2 * MAX), MAX); /* who is alone has all of it */
    assert_false(change_queue_wants_scan(queue));
    assert_int_equal(n_told, 0);
    assert_int_equal(note_many(queue, OTHER, 1000, FEW), FEW);
    assert_true(change_queue_wants_scan(queue)); /* for what was dropped */
    assert_int_equal(n_told, 1);
    assert_int_equal(note_many(queue, ONE, MAX - FEW, MAX), 0);
    assert_int_equal(note_of(queue, ONE, MAX - FEW - 1), 0); /* the older ones are there */
    assert_int_equal(do_of(queue, 2 * FEW, OTHER), FEW);     /* taken in turn */
    change_queue_scan_begins(queue);
    assert_int_equal(do_of(queue, MAX, ONE), MAX - 2 * FEW);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 0);
    assert_false(change_queue_wants_scan(queue));
    change_queue_free(queue);
}

static void test_change_queue__many_who_flood_it_have_as_many_each(void **state)
{
    enum { OWNERS = 7 };
    (void)state;
    struct change_queue *queue = new_queue(MAX);
    for (unsigned i = 0; i < OWNERS; i++)
        note_many(queue, MANY + i, i * 1000, 2 * MAX);
    assert_int_equal(note_many(queue, OTHER, 100000, 5), 5);
    assert_int_equal(note_many(queue, ONE, 200000, 2 * MAX), (MAX - 5) / (OWNERS + 1));
    for (unsigned i = 0; i < OWNERS; i++)
        assert_int_equal(note_many(queue, MANY + i, i * 1000 + 500, 2 * MAX), 0);
    assert_int_equal(do_of(queue, 5 * (OWNERS + 2), OTHER), 5);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), MAX - 5 * (OWNERS + 2));
    change_queue_free(queue);
}

/* As who commands many uids can have: each place is one of another owner's. */
static void test_change_queue__more_owners_than_places_take_none_from_each_other(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(MAX);
    for (unsigned i = 0; i < MAX; i++)
        assert_int_equal(note_of(queue, MANY + i * MAX, i), 1);
    assert_int_equal(note_of(queue, ONE, MAX), -ENOBUFS);
    change_queue_done(queue, take(queue, 0));
    assert_int_equal(note_of(queue, ONE, MAX), 1);
    assert_int_equal(note_of(queue, ONE, MAX + 1), -ENOBUFS);
    assert_false(change_queue_wants_scan(queue));
    for (unsigned i = 1; i <= MAX; i++)
        change_queue_done(queue, take(queue, i));
    change_queue_free(queue);
}

/* As of a file that is gone, of which each link is looked at. */
static void test_change_queue__parts_of_one_change_leave_room_for_others(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(MAX);
    struct file_key directory = key_of(1);
    unsigned n_noted = 0;
    char name[32];
    assert_int_equal(note_of(queue, ONE, 0), 1);
    struct change *gone = take(queue, 0);
    for (unsigned i = 0; i < 4 * MAX; i++) {
        snprintf(name, sizeof(name), "link%u", i);
        n_noted += change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, name,
                                     gone->owner, gone) == 1;
    }
    assert_int_equal(n_noted, MAX - 1);
    assert_int_equal(note_many(queue, OTHER, 1000, 4 * MAX), MAX / 2);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), MAX);
    assert_int_equal(do_of(queue, MAX, OTHER), MAX / 2);
    change_queue_done(queue, gone);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    struct change *change;
    for (unsigned i = 0; i < MAX / 2 - 1; i++) {
        snprintf(name, sizeof(name), "link%u", i);
        assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &change), 1);
        assert_string_equal(change->name, name);
        change_queue_done(queue, change);
    }
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);
    change_queue_free(queue);
}

/* A change that is taken in turns of another kind has a place, too, and is dropped as any; one that
 * is in work is not. */
static void test_change_queue__places_of_what_takes_long_are_shared(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(MAX);
    for (unsigned i = 0; i < MAX; i++)
        assert_int_equal(note_below(queue, i, ONE, NULL), 1);
    struct change *in_work[MAX];
    for (unsigned i = 0; i < MAX / 4; i++)
        assert_int_equal(change_queue_take(queue, CHANGE_BELOW, false, &in_work[i]), 1);
    assert_int_equal(note_many(queue, OTHER, 1000, MAX), MAX / 2);
    for (unsigned i = 0; i < MAX / 4; i++)
        change_queue_done(queue, in_work[i]);
    for (unsigned i = 0; i < MAX / 4; i++) {
        assert_int_equal(change_queue_take(queue, CHANGE_BELOW, false, &in_work[0]), 1);
        change_queue_done(queue, in_work[0]);
    }
    assert_int_equal(do_of(queue, MAX, OTHER), MAX / 2);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 0);
    change_queue_free(queue);

    queue = new_queue(4);
    struct change *changes[4];
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(note_of(queue, ONE, i), 1);
    for (unsigned i = 0; i < 4; i++)
        changes[i] = take(queue, i);
    assert_int_equal(note_of(queue, OTHER, 4), -ENOBUFS);
    for (unsigned i = 0; i < 4; i++)
        change_queue_done(queue, changes[i]);
    assert_int_equal(note_of(queue, OTHER, 4), 1);
    change_queue_free(queue);
}

/* It is done all the same, and takes nobody's place. */
static void test_change_queue__what_was_scanned_stays_there_where_there_is_no_room(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(MAX);
    assert_int_equal(note(queue, LANE_SCAN, 1000), 1);
    assert_int_equal(note(queue, LANE_SCAN, 1001), 1);
    assert_int_equal(note_many(queue, ONE, 0, MAX), MAX);
    assert_int_equal(note_of(queue, ONE, 1000), 0);
    assert_int_equal(change_queue_outstanding(queue, LANE_SCAN), 2);
    assert_int_equal(note_of(queue, OTHER, 1001), 0);
    assert_int_equal(change_queue_outstanding(queue, LANE_SCAN), 1);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), MAX);
    do_of(queue, MAX, ONE);
    change_queue_done(queue, take(queue, 1000));
    assert_empty(queue);
    change_queue_free(queue);
}

/* So that a directory is opened once for some of them. */
static void test_change_queue__names_are_taken_some_in_a_turn(void **state)
{
    enum { N = 40, AT_A_TURN = 16 };
    (void)state;
    struct change_queue *queue = new_queue(4 * N);
    const uid_t owners[] = {ONE, OTHER};
    struct file_key directory = key_of(1);
    struct change *change;
    char name[32];
    for (unsigned i = 0; i < 2 * N; i++) {
        snprintf(name, sizeof(name), "%u", i);
        assert_int_equal(change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, name,
                                           owners[i / N], NULL),
                         1);
    }
    unsigned n_of[2] = {0};
    for (unsigned i = 0; i < 2 * N; i++) {
        assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &change), 1);
        const unsigned whose = change->owner == OTHER;
        snprintf(name, sizeof(name), "%u", whose * N + n_of[whose]++);
        assert_string_equal(change->name, name); /* in the order of each owner's */
        if (i < 2 * N / AT_A_TURN * AT_A_TURN - AT_A_TURN)
            assert_int_equal(whose, i / AT_A_TURN % 2);
        change_queue_done(queue, change);
    }
    change_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_change_queue__who_floods_it_keeps_nobody_out),
        cmocka_unit_test(test_change_queue__many_who_flood_it_have_as_many_each),
        cmocka_unit_test(test_change_queue__more_owners_than_places_take_none_from_each_other),
        cmocka_unit_test(test_change_queue__parts_of_one_change_leave_room_for_others),
        cmocka_unit_test(test_change_queue__places_of_what_takes_long_are_shared),
        cmocka_unit_test(test_change_queue__what_was_scanned_stays_there_where_there_is_no_room),
        cmocka_unit_test(test_change_queue__names_are_taken_some_in_a_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
