#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/niceness.h"

static struct niceness niceness;

struct thread {
    pthread_t thread;
    pid_t id;
    sem_t joined, may_leave;
};

static void *run(void *user)
{
    struct thread *thread = user;
    thread->id = gettid();
    niceness_join(&niceness);
    sem_post(&thread->joined);
    sem_wait(&thread->may_leave);
    niceness_leave(&niceness);
    return NULL;
}

static void begin(struct thread *thread)
{
    sem_init(&thread->joined, 0, 0);
    sem_init(&thread->may_leave, 0, 0);
    assert_int_equal(pthread_create(&thread->thread, NULL, run, thread), 0);
    sem_wait(&thread->joined);
}

static void end(struct thread *thread)
{
    sem_post(&thread->may_leave);
    pthread_join(thread->thread, NULL);
    sem_destroy(&thread->joined);
    sem_destroy(&thread->may_leave);
}

/* As the kernel tells it to everybody, and not to who has set it. */
static int nice_of(const struct thread *thread)
{
    char path[64], stat[1024] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread->id);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(stat, 1, sizeof(stat) - 1, file) > 0);
    fclose(file);
    char *at = strrchr(stat, ')') + 1; /* behind it is field 3; 19 is wanted */
    for (int field = 3; field <= 19; field++)
        at = strchr(at, ' ') + 1;
    return atoi(at);
}

/* Whether this user may: also root may not everywhere. */
static bool may_come_back(void)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(setpriority(PRIO_PROCESS, 0, 19) < 0 || setpriority(PRIO_PROCESS, 0, 10) < 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_niceness__threads_stand_back_but_while_somebody_waits(void **state)
{
    (void)state;
    struct thread early, late;
    const bool comes_back = may_come_back();
    const int unwaited = comes_back ? 19 : 10;
    niceness_init(&niceness);
    begin(&early);
    assert_int_equal(nice_of(&early), unwaited);

    niceness_wait_begin(&niceness);
    assert_int_equal(nice_of(&early), 10);
    begin(&late);
    assert_int_equal(nice_of(&late), 10);
    niceness_wait_begin(&niceness);
    niceness_wait_end(&niceness);
    assert_int_equal(nice_of(&early), 10); /* the first still waits */
    niceness_wait_end(&niceness);
    assert_int_equal(nice_of(&early), unwaited);
    assert_int_equal(nice_of(&late), unwaited);

    end(&early);
    niceness_wait_begin(&niceness); /* whose number may be another's by now */
    assert_int_equal(niceness.n_threads, comes_back ? 1 : 0);
    assert_int_equal(nice_of(&late), 10);
    niceness_wait_end(&niceness);
    end(&late);
    niceness_done(&niceness);
}

static void test_niceness__one_thread_too_many_stays(void **state)
{
    (void)state;
    struct thread threads[NICENESS_MAX_THREADS + 1];
    niceness_init(&niceness);
    for (size_t i = 0; i <= NICENESS_MAX_THREADS; i++)
        begin(&threads[i]);
    assert_int_equal(nice_of(&threads[NICENESS_MAX_THREADS]), 10);
    niceness_wait_begin(&niceness);
    for (size_t i = 0; i <= NICENESS_MAX_THREADS; i++)
        assert_int_equal(nice_of(&threads[i]), 10);
    niceness_wait_end(&niceness);
    for (size_t i = 0; i <= NICENESS_MAX_THREADS; i++)
        end(&threads[i]);
    niceness_done(&niceness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_niceness__threads_stand_back_but_while_somebody_waits),
        cmocka_unit_test(test_niceness__one_thread_too_many_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
