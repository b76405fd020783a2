/* In which order tasks have their turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/lib/fixtures/defer_fixture.h"

/* In which they end. */
static void expect_order(struct queue *queue, const char *letters)
{
    char order[64] = "";
    pthread_mutex_unlock(&queue->gate);
    for (int i = 0; i < queue->n; i++)
        wait_for(&queue->jobs[i].n_runs, 1);
    for (int i = 0; i < queue->n; i++)
        order[queue->jobs[i].ended_at - 1] = (char)('A' + queue->jobs[i].uid);
    assert_string_equal(order, letters);
    pthread_mutex_lock(&queue->gate);
}

static void test_defer__turns_go_round_by_user(void **state)
{
    (void)state;
    struct queue queue;
    open_queue(&queue);
    for (int i = 0; i < 6; i++)
        push(&queue, 'A', 0);
    push(&queue, 'B', 0);
    push(&queue, 'B', 0);
    push(&queue, 'C', 0);
    expect_order(&queue, "ABCABAAAA");
    close_queue(&queue);
}

/* Sixty of one user before it, and another's is the next one. */
static void test_defer__a_crowd_of_one_user_keeps_nobody_waiting(void **state)
{
    (void)state;
    struct queue queue;
    open_queue(&queue);
    for (int i = 0; i < 60; i++)
        push(&queue, 'A', 1000);
    push(&queue, 'B', 1000);
    expect_order(&queue, "ABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    close_queue(&queue);
}

static void test_defer__turns_are_of_time(void **state)
{
    (void)state;
    struct queue queue;
    open_queue(&queue);
    for (int i = 0; i < 3; i++)
        push(&queue, 'A', 5000);
    for (int i = 0; i < 12; i++)
        push(&queue, 'B', 1000);
    /* Each 1 us for the turn itself: B's fifth ends at 5,005, behind A's first at 5,001. */
    expect_order(&queue, "ABBBBBABBBBBABB");
    close_queue(&queue);
}

static void test_defer__who_asked_nothing_for_long_has_no_more_turns_than_others(void **state)
{
    (void)state;
    struct queue queue;
    pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&second);
    open_queue(&queue);
    push(&queue, 'A', 1000000);
    push(&queue, 'A', 1000);
    queue.jobs[1].gate = &second;
    push(&queue, 'B', 1000);
    pthread_mutex_unlock(&queue.gate);
    wait_for(&queue.n_running, 3); /* the second of A's, which has had a second, B a millisecond */
    pthread_mutex_lock(&queue.gate);
    for (int i = 0; i < 3; i++)
        push(&queue, 'A', 1000);
    for (int i = 0; i < 3; i++)
        push(&queue, 'B', 1000);
    pthread_mutex_unlock(&second);
    expect_order(&queue, "ABABABABA");
    close_queue(&queue);
}

/* One that has nothing to do for a moment is not new. */
static void test_defer__who_had_more_than_others_waits_for_them(void **state)
{
    (void)state;
    enum { N = 4 };
    struct defer *defer = make(1, 16);
    pthread_mutex_t gates[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
    atomic_int clock = 0, n_running[2] = {0};
    struct job a = {.gate = &gates[0], .n_running = &n_running[0], .uid = 0, .takes_us = 3500};
    struct job b[N], again = {.uid = 0, .clock = &clock};
    for (int i = 0; i < N; i++)
        b[i] = (struct job){.uid = 1, .clock = &clock, .takes_us = 1000};
    b[0].gate = &gates[1];
    b[0].n_running = &n_running[1];
    pthread_mutex_lock(&gates[0]);
    pthread_mutex_lock(&gates[1]);
    assert_int_equal(defer_push(defer, &a), 0);
    wait_for(&n_running[0], 1);
    for (int i = 0; i < N; i++)
        assert_int_equal(defer_push(defer, &b[i]), 0);
    pthread_mutex_unlock(&gates[0]);
    wait_for(&n_running[1], 1); /* A has nothing to do, and is 3.5 ms ahead */
    assert_int_equal(defer_push(defer, &again), 0);
    pthread_mutex_unlock(&gates[1]);
    wait_for(&again.n_runs, 1);
    for (int i = 0; i < N; i++)
        wait_for(&b[i].n_runs, 1);
    defer_free(defer);
    assert_int_equal(again.ended_at, N + 1);
}

/* Of four threads A, C, D and E have one each, and B waits. That one has had 5 ms less than A then,
 * though nothing of A's has ended. */
static void test_defer__what_still_runs_is_charged_for(void **state)
{
    (void)state;
    enum { A, C, D, E, N };
    struct defer *defer = make(4, 16);
    pthread_mutex_t gates[N + 1];
    atomic_int clock = 0, n_running = 0;
    struct job long_ones[N], first = {.gate = &gates[N], .n_running = &n_running, .uid = N},
                             second = {.clock = &clock, .uid = N},
                             other = {.clock = &clock, .uid = A};
    for (int i = 0; i <= N; i++) {
        pthread_mutex_init(&gates[i], NULL);
        pthread_mutex_lock(&gates[i]);
    }
    for (int i = 0; i < N; i++) {
        long_ones[i] = (struct job){.gate = &gates[i], .n_running = &n_running, .uid = (uid_t)i};
        assert_int_equal(defer_push(defer, &long_ones[i]), 0);
    }
    long_ones[E].takes_us = 5000;
    wait_for(&n_running, N);
    assert_int_equal(defer_push(defer, &first), 0);
    pthread_mutex_unlock(&gates[E]);
    wait_for(&n_running, N + 1);
    assert_int_equal(defer_push(defer, &other), 0);
    assert_int_equal(defer_push(defer, &second), 0);
    pthread_mutex_unlock(&gates[D]); /* one thread is for who has none */
    pthread_mutex_unlock(&gates[C]);
    wait_for(&other.n_runs, 1);
    wait_for(&second.n_runs, 1);
    assert_true(second.ended_at < other.ended_at);
    pthread_mutex_unlock(&gates[A]);
    pthread_mutex_unlock(&gates[N]);
    defer_free(defer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defer__turns_go_round_by_user),
        cmocka_unit_test(test_defer__a_crowd_of_one_user_keeps_nobody_waiting),
        cmocka_unit_test(test_defer__turns_are_of_time),
        cmocka_unit_test(test_defer__who_asked_nothing_for_long_has_no_more_turns_than_others),
        cmocka_unit_test(test_defer__who_had_more_than_others_waits_for_them),
        cmocka_unit_test(test_defer__what_still_runs_is_charged_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
