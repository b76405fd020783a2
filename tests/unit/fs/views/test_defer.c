#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "fs/views/defer.h"

/* A task that can be told to wait, and says how it was run. */
struct job {
    pthread_mutex_t *gate; /* taken and given back while it runs, or NULL */
    atomic_bool given_up;
    atomic_int n_runs, error;
    atomic_int *n_running;
    struct defer *defer; /* once more there, so many times */
    int n_again;
    int again_error;
    atomic_int *clock; /* when it ended */
    int ended_at;
    uid_t uid;
    bool is_long;
    int64_t takes_us; /* by the clock below */
    struct threads *threads;
};

/* Held by jobs of a few users, at the moment and at most. */
enum { N_USERS = 8 };
struct threads {
    pthread_mutex_t lock;
    unsigned n[N_USERS], n_max[N_USERS], n_long, n_long_max, n_long_of[N_USERS],
        n_long_of_max[N_USERS];
};

static void raise_to(unsigned *max, unsigned value)
{
    if (value > *max)
        *max = value;
}

static void hold_thread(struct job *job)
{
    struct threads *threads = job->threads;
    pthread_mutex_lock(&threads->lock);
    raise_to(&threads->n_max[job->uid], ++threads->n[job->uid]);
    if (job->is_long) {
        raise_to(&threads->n_long_max, ++threads->n_long);
        raise_to(&threads->n_long_of_max[job->uid], ++threads->n_long_of[job->uid]);
    }
    pthread_mutex_unlock(&threads->lock);
}

static void leave_thread(struct job *job)
{
    struct threads *threads = job->threads;
    pthread_mutex_lock(&threads->lock);
    threads->n[job->uid]--;
    threads->n_long -= job->is_long;
    threads->n_long_of[job->uid] -= job->is_long;
    pthread_mutex_unlock(&threads->lock);
}

static void wait_for_holders(struct threads *threads, uid_t uid, unsigned at_least)
{
    for (bool is_so = false; !is_so; sched_yield()) {
        pthread_mutex_lock(&threads->lock);
        is_so = threads->n[uid] >= at_least;
        pthread_mutex_unlock(&threads->lock);
    }
}

/* Stands still but for what a job takes: turns are told by it, however busy the machine is. */
static atomic_int_fast64_t clock_us;

static int64_t now_us(void)
{
    return atomic_load(&clock_us);
}

static void run(void *task, int error)
{
    struct job *job = task;
    if (!error && job->threads)
        hold_thread(job);
    if (job->n_running) /* who waits for it finds its thread held */
        atomic_fetch_add(job->n_running, 1);
    if (!error && job->gate) {
        pthread_mutex_lock(job->gate);
        pthread_mutex_unlock(job->gate);
    }
    if (!error)
        atomic_fetch_add(&clock_us, job->takes_us);
    if (!error && job->threads)
        leave_thread(job);
    if (!error && job->n_again > 0) {
        job->n_again--;
        error = defer_again(job->defer, job);
        if (!error)
            return; /* it may run elsewhere by now */
        job->again_error = error;
    }
    if (job->clock)
        job->ended_at = atomic_fetch_add(job->clock, 1) + 1;
    atomic_store(&job->error, error);
    atomic_fetch_add(&job->n_runs, 1);
}

static bool given_up(void *task)
{
    return atomic_load(&((struct job *)task)->given_up);
}

static uid_t user_of(void *task)
{
    return ((struct job *)task)->uid;
}

static bool is_long(void *task)
{
    return ((struct job *)task)->is_long;
}

static struct defer *make(unsigned n_threads, size_t n_waiting_max)
{
    struct defer *defer;
    struct defer_options options = {.n_threads = n_threads,
                                    .n_long_max = 2,
                                    .n_waiting_max = n_waiting_max,
                                    .run = run,
                                    .given_up = given_up,
                                    .user_of = user_of,
                                    .is_long = is_long,
                                    .now_us = now_us};
    assert_int_equal(defer_new(&options, &defer), 0);
    return defer;
}

static void wait_for(atomic_int *value, int at_least)
{
    while (atomic_load(value) < at_least)
        sched_yield();
}

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

/* One thread and a full queue: who goes on as long as another still lets all of them in. */
static void test_defer__what_is_run_again_lets_the_others_go_first(void **state)
{
    (void)state;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    atomic_int n_running = 0, clock = 0;
    struct job jobs[3] = {0};
    struct defer *defer = make(1, 2);
    for (int i = 0; i < 3; i++)
        jobs[i] = (struct job){
            .gate = &gate, .n_running = &n_running, .defer = defer, .n_again = 0, .clock = &clock};
    jobs[0].n_again = 5;
    jobs[1].n_again = 2;
    pthread_mutex_lock(&gate);
    assert_int_equal(defer_push(defer, &jobs[0]), 0);
    wait_for(&n_running, 1);
    assert_int_equal(defer_push(defer, &jobs[1]), 0);
    assert_int_equal(defer_push(defer, &jobs[2]), 0);
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < 3; i++)
        wait_for(&jobs[i].n_runs, 1);
    defer_free(defer);
    assert_int_equal(n_running, 6 + 3 + 1);
    assert_int_equal(jobs[2].ended_at, 1);
    assert_int_equal(jobs[1].ended_at, 2);
    assert_int_equal(jobs[0].ended_at, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(jobs[i].error, 0);
}

static void test_defer__what_is_to_run_again_is_told_of_the_end(void **state)
{
    (void)state;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    atomic_int n_running = 0;
    struct defer *defer = make(1, 1);
    struct job job = {.gate = &gate, .n_running = &n_running, .defer = defer, .n_again = 1};
    pthread_t ender;
    pthread_mutex_lock(&gate);
    assert_int_equal(defer_push(defer, &job), 0);
    wait_for(&n_running, 1);
    assert_int_equal(pthread_create(&ender, NULL, end, defer), 0);
    while (!defer_is_ending(defer))
        sched_yield();
    pthread_mutex_unlock(&gate);
    pthread_join(ender, NULL);
    assert_int_equal(job.again_error, -ESHUTDOWN);
    assert_int_equal(job.n_runs, 1);
}

/* -- turns -- */

/* One thread, held by the first job until all have come: which order they end in, by their letters.
 * What a job takes is in microseconds behind its letter. */
struct queue {
    pthread_mutex_t gate;
    atomic_int n_running, clock;
    struct defer *defer;
    int n;
    struct job jobs[64];
};

static void open_queue(struct queue *queue)
{
    *queue = (struct queue){.defer = make(1, 64)};
    pthread_mutex_init(&queue->gate, NULL);
    pthread_mutex_lock(&queue->gate);
}

static void push(struct queue *queue, char letter, int64_t takes_us)
{
    struct job *job = &queue->jobs[queue->n++];
    *job = (struct job){.gate = &queue->gate,
                        .n_running = &queue->n_running,
                        .clock = &queue->clock,
                        .uid = (uid_t)(letter - 'A'),
                        .takes_us = takes_us};
    assert_int_equal(defer_push(queue->defer, job), 0);
    if (queue->n == 1)
        wait_for(&queue->n_running, 1);
}

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

static void close_queue(struct queue *queue)
{
    pthread_mutex_unlock(&queue->gate);
    defer_free(queue->defer);
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

static void test_defer__what_is_run_again_is_charged_for_the_time_so_far(void **state)
{
    (void)state;
    struct queue queue;
    open_queue(&queue);
    push(&queue, 'A', 3000);
    queue.jobs[0].defer = queue.defer;
    queue.jobs[0].n_again = 2; /* three turns of 3 ms */
    for (int i = 0; i < 4; i++)
        push(&queue, 'B', 1000);
    push(&queue, 'A', 3000);
    /* A, BBB, A's other one (which waited longer than the first in its second turn), B, A, A. */
    expect_order(&queue, "BBBABA");
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

/* -- shares -- */

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

/* More users than the queue has places, long tasks and short ones, some again. */
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
        jobs[i] = (struct job){.defer = defer,
                               .uid = is_one_of_many ? (uid_t)(1000 + i)
                                                     : (uid_t)(nrand48(seed) % N_USERS),
                               .n_again = (int)(nrand48(seed) % 3),
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
        cmocka_unit_test(test_defer__runs_every_task_once),
        cmocka_unit_test(
            test_defer__refuses_what_the_queue_cannot_hold_and_answers_it_all_at_the_end),
        cmocka_unit_test(test_defer__answers_those_given_up_while_all_threads_wait),
        cmocka_unit_test(test_defer__what_is_run_again_lets_the_others_go_first),
        cmocka_unit_test(test_defer__what_is_to_run_again_is_told_of_the_end),
        cmocka_unit_test(test_defer__turns_go_round_by_user),
        cmocka_unit_test(test_defer__a_crowd_of_one_user_keeps_nobody_waiting),
        cmocka_unit_test(test_defer__turns_are_of_time),
        cmocka_unit_test(test_defer__what_is_run_again_is_charged_for_the_time_so_far),
        cmocka_unit_test(test_defer__who_asked_nothing_for_long_has_no_more_turns_than_others),
        cmocka_unit_test(test_defer__who_had_more_than_others_waits_for_them),
        cmocka_unit_test(test_defer__a_user_has_half_of_the_threads_at_most),
        cmocka_unit_test(test_defer__who_comes_later_leaves_threads_to_others_too),
        cmocka_unit_test(test_defer__long_tasks_are_few_and_others_pass_by),
        cmocka_unit_test(test_defer__a_full_queue_has_room_for_who_has_less),
        cmocka_unit_test(test_defer__answers_those_given_up_behind_their_users_half),
        cmocka_unit_test(test_defer__runs_all_of_many_users_within_their_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
