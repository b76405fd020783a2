/* How many of the threads, and of the places in the queue, a user and long tasks have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/lib/fixtures/defer_fixture.h"

static void wait_for_holders(struct threads *threads, uid_t uid, unsigned at_least)
{
    for (bool is_so = false; !is_so; sched_yield()) {
        pthread_mutex_lock(&threads->lock);
        is_so = threads->n[uid] >= at_least;
        pthread_mutex_unlock(&threads->lock);
    }
}

static void test_defer__a_user_has_half_of_the_threads_at_most(void **state)
{
    (void)state;
    enum { N = 6 };
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    struct threads threads = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct defer *defer = make(4, 16);
    struct job a[N], b[2];
    pthread_mutex_lock(&gate);
    for (int i = 0; i < N; i++) {
        a[i] = (struct job){.gate = &gate, .threads = &threads, .uid = 1};
        assert_int_equal(defer_push(defer, &a[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        b[i] = (struct job){.threads = &threads, .uid = 2};
        assert_int_equal(defer_push(defer, &b[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        wait_for(&b[i].n_runs, 1); /* while no other one ends */
    wait_for_holders(&threads, 1, 2);
    for (int i = 0; i < N; i++)
        assert_int_equal(a[i].n_runs, 0);
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < N; i++)
        wait_for(&a[i].n_runs, 1);
    defer_free(defer);
    assert_int_equal(threads.n_max[1], 2);
}

/* Of eight one has four, the next two, and others are left one each. */
static void test_defer__who_comes_later_leaves_threads_to_others_too(void **state)
{
    (void)state;
    enum { N_GREEDY = 3, N = 8 };
    static const int n_expected[N_GREEDY] = {4, 6, 7};
    static struct job jobs[N_GREEDY][N];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    struct threads threads = {.lock = PTHREAD_MUTEX_INITIALIZER};
    atomic_int n_running = 0;
    struct defer *defer = make(8, 64);
    struct job last = {.uid = N_GREEDY + 1};
    pthread_mutex_lock(&gate);
    for (int user = 0; user < N_GREEDY; user++) {
        for (int i = 0; i < N; i++) {
            jobs[user][i] = (struct job){.gate = &gate,
                                         .n_running = &n_running,
                                         .threads = &threads,
                                         .uid = (uid_t)user + 1};
            assert_int_equal(defer_push(defer, &jobs[user][i]), 0);
        }
        wait_for(&n_running, n_expected[user]);
    }
    assert_int_equal(defer_push(defer, &last), 0);
    wait_for(&last.n_runs, 1); /* while no other one ends */
    assert_int_equal(n_running, 7);
    for (int user = 0; user < N_GREEDY; user++)
        assert_int_equal(threads.n_max[user + 1], 4 >> user);
    pthread_mutex_unlock(&gate);
    for (int user = 0; user < N_GREEDY; user++)
        for (int i = 0; i < N; i++)
            wait_for(&jobs[user][i].n_runs, 1);
    defer_free(defer);
}

/* Of four threads two may do what is long, one for each user; what is not passes by. */
static void test_defer__long_tasks_are_few_and_others_pass_by(void **state)
{
    (void)state;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    struct threads threads = {.lock = PTHREAD_MUTEX_INITIALIZER};
    atomic_int n_running = 0;
    struct defer *defer = make(4, 16);
    struct job a[3], b, c, short_ones[3];
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 3; i++) {
        a[i] = (struct job){
            .gate = &gate, .n_running = &n_running, .threads = &threads, .uid = 1, .is_long = true};
        assert_int_equal(defer_push(defer, &a[i]), 0);
    }
    b = a[0], b.uid = 2;
    assert_int_equal(defer_push(defer, &b), 0);
    wait_for(&n_running, 2); /* one of A's and B's */
    c = a[1], c.uid = 3;
    assert_int_equal(defer_push(defer, &c), 0);
    for (int i = 0; i < 3; i++) {
        short_ones[i] = (struct job){.threads = &threads, .uid = (uid_t)i + 1};
        assert_int_equal(defer_push(defer, &short_ones[i]), 0);
    }
    for (int i = 0; i < 3; i++)
        wait_for(&short_ones[i].n_runs, 1);
    assert_int_equal(n_running, 2);
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < 3; i++)
        wait_for(&a[i].n_runs, 1);
    wait_for(&b.n_runs, 1);
    wait_for(&c.n_runs, 1);
    defer_free(defer);
    assert_true(threads.n_long_max <= 2);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(threads.n_long_of_max[i], 1);
}

static void test_defer__a_full_queue_has_room_for_who_has_less(void **state)
{
    (void)state;
    struct queue queue;
    open_queue(&queue);
    defer_free(TAKE_PTR(queue.defer));
    queue.defer = make(1, 4);
    push(&queue, 'A', 0); /* runs */
    for (int i = 0; i < 4; i++)
        push(&queue, 'A', 0);
    push(&queue, 'B', 0);
    assert_int_equal(queue.jobs[4].n_runs, 1);
    assert_int_equal(queue.jobs[4].error, -EAGAIN);
    push(&queue, 'B', 0);
    assert_int_equal(queue.jobs[3].n_runs, 1);
    assert_int_equal(queue.jobs[3].error, -EAGAIN);
    struct job refused[2] = {{.uid = 1}, {.uid = 0}}, newcomer = {.uid = 2};
    for (int i = 0; i < 2; i++)
        assert_int_equal(defer_push(queue.defer, &refused[i]), -EAGAIN);
    assert_int_equal(defer_push(queue.defer, &newcomer), 0); /* in the place of one of two */
    pthread_mutex_unlock(&queue.gate);
    wait_for(&newcomer.n_runs, 1);
    for (int i = 0; i < queue.n; i++)
        wait_for(&queue.jobs[i].n_runs, 1);
    pthread_mutex_lock(&queue.gate);
    close_queue(&queue);
    int n_displaced = 0;
    for (int i = 0; i < queue.n; i++) {
        assert_int_equal(queue.jobs[i].n_runs, 1);
        n_displaced += queue.jobs[i].error == -EAGAIN;
    }
    assert_int_equal(n_displaced, 3);
    assert_int_equal(refused[0].n_runs + refused[1].n_runs, 0);
}

static void test_defer__answers_those_given_up_behind_their_users_half(void **state)
{
    (void)state;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    atomic_int n_running = 0;
    struct defer *defer = make(2, 4); /* one for each user */
    struct job running = {.gate = &gate, .n_running = &n_running}, waiting = {.gate = &gate};
    pthread_mutex_lock(&gate);
    assert_int_equal(defer_push(defer, &running), 0);
    wait_for(&n_running, 1);
    assert_int_equal(defer_push(defer, &waiting), 0);
    waiting.given_up = true;
    wait_for(&waiting.n_runs, 1);
    assert_int_equal(waiting.error, -EINTR);
    assert_int_equal(running.n_runs, 0);
    pthread_mutex_unlock(&gate);
    defer_free(defer);
}

/* As no thread is ever without a task. */
static void test_defer__answers_those_given_up_between_two_tasks(void **state)
{
    (void)state;
    pthread_mutex_t gates[] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                               PTHREAD_MUTEX_INITIALIZER};
    atomic_int n_running = 0;
    struct job a = {.gate = &gates[0], .n_running = &n_running},
               waiting = {0}, /* behind its user's half */
        b = {.uid = 1, .gate = &gates[1], .n_running = &n_running},
               next = {.uid = 1, .gate = &gates[2], .n_running = &n_running};
    struct defer *defer = make(2, 4);
    for (int i = 0; i < 3; i++)
        pthread_mutex_lock(&gates[i]);
    assert_int_equal(defer_push(defer, &a), 0);
    wait_for(&n_running, 1);
    assert_int_equal(defer_push(defer, &b), 0);
    wait_for(&n_running, 2);
    assert_int_equal(defer_push(defer, &waiting), 0);
    assert_int_equal(defer_push(defer, &next), 0);
    atomic_store(&waiting.given_up, true);
    pthread_mutex_unlock(&gates[1]);
    wait_for(&waiting.n_runs, 1);
    assert_int_equal(waiting.error, -EINTR);
    pthread_mutex_unlock(&gates[0]);
    pthread_mutex_unlock(&gates[2]);
    defer_free(defer);
}

/* More users than the queue has places, long tasks and short ones. */
static void test_defer__runs_all_of_many_users_within_their_shares(void **state)
{
    (void)state;
    enum { N = 3000 };
    static struct job jobs[N];
    struct threads threads = {.lock = PTHREAD_MUTEX_INITIALIZER};
    unsigned short seed[3] = {1, 2, 3};
    struct defer *defer = make(5, 7);
    int n_refused = 0;
    for (int i = 0; i < N; i++) {
        const bool is_one_of_many = i % 16 == 0;
        jobs[i] = (struct job){.uid = is_one_of_many ? (uid_t)(1000 + i)
                                                     : (uid_t)(nrand48(seed) % N_USERS),
                               .is_long = nrand48(seed) % 2,
                               .takes_us = nrand48(seed) % 100,
                               .threads = is_one_of_many ? NULL : &threads};
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
        assert_true(jobs[i].error == 0 || jobs[i].error == -EAGAIN);
        n_refused += jobs[i].error == -EAGAIN;
    }
    assert_true(n_refused < N / 2);
    assert_true(threads.n_long_max <= 2);
    for (int i = 0; i < N_USERS; i++) {
        assert_true(threads.n_max[i] <= 3);
        assert_true(threads.n_long_of_max[i] <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defer__a_user_has_half_of_the_threads_at_most),
        cmocka_unit_test(test_defer__who_comes_later_leaves_threads_to_others_too),
        cmocka_unit_test(test_defer__long_tasks_are_few_and_others_pass_by),
        cmocka_unit_test(test_defer__a_full_queue_has_room_for_who_has_less),
        cmocka_unit_test(test_defer__answers_those_given_up_behind_their_users_half),
        cmocka_unit_test(test_defer__answers_those_given_up_between_two_tasks),
        cmocka_unit_test(test_defer__runs_all_of_many_users_within_their_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
