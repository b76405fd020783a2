/* Owners take turns at what is slow. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lib/fixtures/change_queue_fixture.h"

/* However many one owner has, and however long they take: the second who takes is another's. */
static void test_change_queue__no_owner_keeps_all_who_take_slow_ones(void **state)
{
    enum { ONE = 1000, OTHER = 2000, THIRD = 3000 };
    (void)state;
    struct change_queue *queue = new_queue(64);
    for (unsigned n = 0; n < 20; n++)
        note_slow(queue, LANE_SCAN, n, ONE);
    struct change *first = take_slow(queue, 0), *second = take_slow(queue, 1); /* nobody else's */
    for (unsigned n = 100; n < 105; n++)
        note_slow(queue, LANE_SCAN, n, OTHER);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), 25);
    change_queue_done(queue, second);
    for (unsigned n = 100; n < 105; n++) /* the first is still at it */
        change_queue_done(queue, take_slow(queue, n));
    second = take_slow(queue, 2);
    change_queue_done(queue, first);

    /* Of those who have as many in work it is the turn of who had none for longest... */
    note_slow(queue, LANE_SCAN, 200, THIRD);
    note_slow(queue, LANE_SCAN, 201, THIRD);
    first = take_slow(queue, 200);
    change_queue_done(queue, second);
    change_queue_done(queue, first);
    first = take_slow(queue, 3);
    change_queue_done(queue, first);
    first = take_slow(queue, 201);
    change_queue_done(queue, first);
    /* ... but of what was just written before. */
    note_slow(queue, LANE_SCAN, 202, THIRD);
    note_slow(queue, LANE_FOREGROUND, 300, ONE);
    change_queue_done(queue, take_slow(queue, 300));
    change_queue_done(queue, take_slow(queue, 202));
    for (unsigned n = 4; n < 20; n++)
        change_queue_done(queue, take_slow(queue, n));
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), 0);
    assert_int_equal(change_queue_outstanding(queue, LANE_SCAN), 0);
    change_queue_free(queue);
}

/* Who commands very many users has what is next looked for among a bounded number of them: of each
 * turn one is taken at a time here, so as many are as there are turns. */
static void test_change_queue__owners_past_a_bound_share_a_turn(void **state)
{
    enum { N_OWNERS = 3000, MOST = 1024 };
    (void)state;
    struct change_queue *queue = new_queue(N_OWNERS);
    change_queue_bound_turns(queue, CHANGE_SLOW_CONTENT, 1);
    for (unsigned n = 0; n < N_OWNERS; n++)
        note_slow(queue, LANE_SCAN, n, 100000 + n);
    struct change *in_work[MOST], *change;
    for (unsigned n = 0; n < MOST; n++)
        assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &in_work[n]), 1);
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 0);

    bool *taken = calloc(N_OWNERS, sizeof(*taken));
    for (unsigned n = 0; n < N_OWNERS; n++) {
        uint32_t file;
        if (n < MOST)
            change = in_work[n];
        else
            assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 1);
        for (file = 0; file < N_OWNERS; file++) {
            const struct file_key key = key_of(file);
            if (file_key_equal(&change->key, &key))
                break;
        }
        assert_true(file < N_OWNERS && !taken[file]);
        taken[file] = true;
        change_queue_done(queue, change);
    }
    free(taken);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), 0);
    /* There is room for owners again: each has a turn. */
    for (unsigned n = 0; n < MOST; n++)
        note_slow(queue, LANE_SCAN, n, 200000 + n / 2);
    for (unsigned n = 0; n < MOST / 2; n++)
        assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &in_work[n]), 1);
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 0);
    for (unsigned n = 0; n < MOST / 2; n++)
        change_queue_done(queue, in_work[n]);
    change_queue_free(queue);
}

struct taker {
    struct change_queue *queue;
    atomic_int thread;
    struct change *change;
};

static void *take_when_there_is_one(void *user)
{
    struct taker *taker = user;
    atomic_store(&taker->thread, (int)syscall(SYS_gettid));
    if (change_queue_take(taker->queue, CHANGE_SLOW_CONTENT, true, &taker->change) == 1)
        change_queue_done(taker->queue, taker->change);
    return NULL;
}

static bool is_asleep(int thread)
{
    char path[64], state = '?';
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
    fclose(file);
    return state == 'S';
}

/* The thread that ended the turn may wait for something else before it takes a change. */
static void test_change_queue__a_turn_that_ends_is_for_those_who_wait(void **state)
{
    (void)state;
    struct taker taker = {.queue = new_queue(8)};
    pthread_t thread;
    change_queue_bound_turns(taker.queue, CHANGE_SLOW_CONTENT, 1);
    for (unsigned n = 0; n < 2; n++)
        note_slow(taker.queue, LANE_FOREGROUND, n, 1000);
    struct change *first = take_slow(taker.queue, 0);
    assert_int_equal(pthread_create(&thread, NULL, take_when_there_is_one, &taker), 0);
    while (!atomic_load(&taker.thread) || !is_asleep(atomic_load(&taker.thread)))
        usleep(1000);
    change_queue_end_turn(taker.queue, first);
    pthread_join(thread, NULL);
    assert_non_null(taker.change);
    change_queue_done(taker.queue, first);
    assert_int_equal(change_queue_settle(taker.queue, LANE_SCAN, 0), 0);
    change_queue_free(taker.queue);
}

/* What waits to be stored is nobody's turn any more. */
static void test_change_queue__an_owner_has_so_many_turns(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct change *change, *changes[2];
    change_queue_bound_turns(queue, CHANGE_SLOW_CONTENT, 2);
    for (unsigned n = 0; n < 5; n++)
        note_slow(queue, LANE_FOREGROUND, n, 1000);
    for (unsigned n = 0; n < 2; n++)
        changes[n] = take_slow(queue, n);
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 0);
    note_slow(queue, LANE_SCAN, 7, 2000);
    change_queue_done(queue, take_slow(queue, 7));
    change_queue_end_turn(queue, changes[0]);
    struct change *third = take_slow(queue, 2);
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 0);
    change_queue_done(queue, changes[0]);
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 0);
    change_queue_retry(queue, third);
    changes[0] = take_slow(queue, 3);
    change_queue_pass_on(queue, changes[0], 1000, true);
    change_queue_done(queue, take_slow(queue, 4));
    change_queue_done(queue, take_slow(queue, 3));
    change_queue_done(queue, take(queue, 2));
    change_queue_done(queue, changes[1]);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), 0);
    change_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_change_queue__no_owner_keeps_all_who_take_slow_ones),
        cmocka_unit_test(test_change_queue__an_owner_has_so_many_turns),
        cmocka_unit_test(test_change_queue__owners_past_a_bound_share_a_turn),
        cmocka_unit_test(test_change_queue__a_turn_that_ends_is_for_those_who_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
