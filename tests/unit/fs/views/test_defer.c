#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/lib/fixtures/defer_fixture.h"

static void test_defer__runs_every_task_once(void **state)
{
    (void)state;
    enum { N = 1000 };
    static struct job jobs[N];
    struct defer *defer = make(3, 7);
    for (int i = 0; i < N; i++) {
        int r;
        while ((r = defer_push(defer, &jobs[i])) == -EAGAIN)
            sched_yield();
        assert_int_equal(r, 0);
    }
    for (int i = 0; i < N; i++)
        wait_for(&jobs[i].n_runs, 1);
    defer_free(defer);
    for (int i = 0; i < N; i++) {
        assert_int_equal(jobs[i].n_runs, 1);
        assert_int_equal(jobs[i].error, 0);
    }
}

static void *end(void *defer)
{
    defer_free(defer);
    return NULL;
}

static void test_defer__refuses_what_the_queue_cannot_hold_and_answers_it_all_at_the_end(void **s)
{
    (void)s;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    atomic_int n_running = 0;
    struct job jobs[4] = {0};
    for (int i = 0; i < 4; i++)
        jobs[i] = (struct job){.gate = &gate, .n_running = &n_running};
    struct defer *defer = make(1, 2);
    pthread_mutex_lock(&gate);
    assert_int_equal(defer_push(defer, &jobs[0]), 0);
    wait_for(&n_running, 1); /* it is out of the queue */
    assert_int_equal(defer_push(defer, &jobs[1]), 0);
    assert_int_equal(defer_push(defer, &jobs[2]), 0);
    assert_int_equal(defer_push(defer, &jobs[3]), -EAGAIN);

    pthread_t ender;
    assert_int_equal(pthread_create(&ender, NULL, end, defer), 0);
    while (!defer_is_ending(defer))
        sched_yield();
    assert_int_equal(defer_push(defer, &jobs[3]), -ESHUTDOWN);
    pthread_mutex_unlock(&gate);
    pthread_join(ender, NULL);
    assert_int_equal(jobs[0].error, 0);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(jobs[i].n_runs, 1);
        assert_int_equal(jobs[i].error, -ESHUTDOWN);
    }
    assert_int_equal(jobs[3].n_runs, 0);
}

static void test_defer__answers_those_given_up_while_all_threads_wait(void **state)
{
    (void)state;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    atomic_int n_running = 0;
    struct job jobs[4];
    for (int i = 0; i < 4; i++)
        jobs[i] = (struct job){.gate = &gate, .n_running = &n_running};
    struct defer *defer = make(1, 8);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 4; i++)
        assert_int_equal(defer_push(defer, &jobs[i]), 0);
    wait_for(&n_running, 1);
    jobs[2].given_up = true;
    defer_reap(defer);
    assert_int_equal(jobs[2].n_runs, 1);
    assert_int_equal(jobs[2].error, -EINTR);
    assert_int_equal(jobs[1].n_runs, 0);
    jobs[3].given_up = true; /* a thread that takes it has time for it */
    pthread_mutex_unlock(&gate);
    wait_for(&jobs[3].n_runs, 1);
    defer_free(defer);
    assert_int_equal(jobs[1].error, 0);
    assert_int_equal(jobs[3].error, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(jobs[i].n_runs, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defer__runs_every_task_once),
        cmocka_unit_test(
            test_defer__refuses_what_the_queue_cannot_hold_and_answers_it_all_at_the_end),
        cmocka_unit_test(test_defer__answers_those_given_up_while_all_threads_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
