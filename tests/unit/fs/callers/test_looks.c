/* Nobody waits longer than a question may, and no owner has all threads. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/callers/looks.h"
#include "tests/lib/scratch.h"

enum { N_MAX = 8, SHORT_US = 20000, LONG_US = 100000000 };

struct world {
    char path[64];
    int dir_fd[3]; /* of different owners, where root tests */
    struct looks *looks;
    sem_t gate, freed;
    bool frees_slowly;     /* what has run */
    sem_t closing, closed; /* then */
};

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    scratch_make(world->path);
    int root_fd = open(world->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 3; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        mkdirat(root_fd, name, 0755);
        world->dir_fd[i] = openat(root_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (geteuid() == 0 && fchown(world->dir_fd[i], 54321 + (uid_t)i, 0) < 0)
            return -1;
    }
    close(root_fd);
    sem_init(&world->gate, 0, 0);
    sem_init(&world->freed, 0, 0);
    sem_init(&world->closing, 0, 0);
    sem_init(&world->closed, 0, 0);
    *state = world;
    return looks_new(N_MAX, &world->looks);
}

static int tear_down(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < N_MAX; i++) /* where a test has failed, some wait there */
        sem_post(&world->gate);
    sem_post(&world->closed);
    looks_free(world->looks);
    for (int i = 0; i < 3; i++)
        close(world->dir_fd[i]);
    scratch_remove(world->path);
    sem_destroy(&world->gate);
    sem_destroy(&world->freed);
    sem_destroy(&world->closing);
    sem_destroy(&world->closed);
    free(world);
    return 0;
}

struct stuck {
    struct look look;
    struct world *world;
    bool has_run;
};

static void wait_for_gate(struct look *look)
{
    struct stuck *stuck = (struct stuck *)look;
    sem_wait(&stuck->world->gate);
    stuck->has_run = true;
}

static void free_stuck(struct look *look)
{
    struct stuck *stuck = (struct stuck *)look;
    if (stuck->world->frees_slowly && stuck->has_run) {
        sem_post(&stuck->world->closing);
        sem_wait(&stuck->world->closed);
    }
    sem_post(&stuck->world->freed);
    free(stuck);
}

/* Asks for what comes back when the gate is opened. */
static int ask(struct world *world, int directory, int64_t left_us)
{
    struct looking looking = {.looks = world->looks, .left_us = left_us};
    struct stuck *stuck = calloc(1, sizeof(*stuck));
    *stuck = (struct stuck){.look = {.work = wait_for_gate, .free = free_stuck}, .world = world};
    int r = looks_do(&looking, world->dir_fd[directory], &stuck->look);
    assert_true(r == -EAGAIN || looking.left_us < left_us);
    if (r == 0)
        free_stuck(&stuck->look);
    return r;
}

static void await_freed(struct world *world, int n)
{
    for (int i = 0; i < n; i++)
        sem_wait(&world->freed);
}

static void open_gate(struct world *world, int n)
{
    for (int i = 0; i < n; i++)
        sem_post(&world->gate);
}

static int count_freed(struct world *world)
{
    int n;
    sem_getvalue(&world->freed, &n);
    return n;
}

/* One that a thread has, and that does not come back. On a busy machine the asker may have gone
 * before a thread took it: such a look is freed by then. */
static void ask_in_vain(struct world *world, int directory)
{
    do
        assert_int_equal(ask(world, directory, SHORT_US), -ETIMEDOUT);
    while (sem_trywait(&world->freed) == 0);
}

static void test_looks__what_does_not_come_back_is_given_up(void **state)
{
    struct world *world = *state;
    ask_in_vain(world, 0);
    assert_int_equal(count_freed(world), 0);
    open_gate(world, 1);
    await_freed(world, 1);
    open_gate(world, 1);
    assert_int_equal(ask(world, 0, LONG_US), 0);
    await_freed(world, 1);
}

static void test_looks__an_owner_has_as_many_threads_as_are_left(void **state)
{
    struct world *world = *state;
    if (geteuid() != 0)
        skip(); /* nobody else can give directories away */
    const int n_left[] = {N_MAX / 2, N_MAX / 4, N_MAX / 8};
    for (int owner = 0; owner < 2; owner++) {
        for (int i = 0; i < n_left[owner]; i++)
            ask_in_vain(world, owner);
        assert_int_equal(ask(world, owner, LONG_US), -EAGAIN);
        await_freed(world, 1); /* what was refused, at once */
    }
    struct looking looking = {.looks = world->looks, .left_us = LONG_US};
    assert_int_equal(looks_open(&looking, world->dir_fd[2], "another's", 0), -ENOENT);
    open_gate(world, n_left[0] + n_left[1]);
    await_freed(world, n_left[0] + n_left[1]);
    open_gate(world, 1);
    int r;
    while ((r = ask(world, 0, LONG_US)) == -EAGAIN) /* what was freed has a thread a moment more */
        await_freed(world, 1);
    assert_int_equal(r, 0);
    await_freed(world, 1);
}

static void do_nothing(struct look *look)
{
    (void)look;
}

/* What nobody waits for is done when its owner has a thread again; what is open of it has a bound.
 */
static void test_looks__that_are_left_wait_up_to_a_bound(void **state)
{
    struct world *world = *state;
    struct stat st;
    assert_int_equal(fstat(world->dir_fd[0], &st), 0);
    for (int i = 0; i < N_MAX / 2; i++)
        ask_in_vain(world, 0);
    for (int i = 0; i <= LOOKS_LEFT_MAX; i++) {
        struct stuck *stuck = calloc(1, sizeof(*stuck));
        *stuck = (struct stuck){.look = {.work = do_nothing, .free = free_stuck}, .world = world};
        assert_int_equal(count_freed(world), 0);
        looks_leave(world->looks, st.st_uid, &stuck->look);
    }
    await_freed(world, 1);
    assert_int_equal(count_freed(world), 0);
    open_gate(world, N_MAX / 2);
    await_freed(world, N_MAX / 2 + LOOKS_LEFT_MAX);
}

/* Who removes what a look has open makes its last close as long as a large file takes. */
static void test_looks__who_frees_what_was_given_up_keeps_nobody(void **state)
{
    struct world *world = *state;
    struct looking looking = {.looks = world->looks, .left_us = LONG_US};
    world->frees_slowly = true;
    ask_in_vain(world, 0);
    open_gate(world, 1);
    sem_wait(&world->closing);
    assert_int_equal(looks_open(&looking, world->dir_fd[1], "another's", 0), -ENOENT);
}

static void test_looks__without_time_what_is_known_is_found(void **state)
{
    struct world *world = *state;
    struct looking looking = {.looks = world->looks};
    close(openat(world->dir_fd[0], "known", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    _cleanup_close_ int fd = looks_open(&looking, world->dir_fd[0], "known", 0);
    assert_true(fd >= 0);
    assert_int_equal(looks_open(&looking, world->dir_fd[0], "unknown", 0), -EAGAIN);
    assert_int_equal(looks_open_path(&looking, world->dir_fd[0], "known/x"), -ENOTDIR);
    assert_int_equal(looks_open(NULL, world->dir_fd[0], "unknown", 0), -ENOENT);
}

static void *look_often(void *user)
{
    struct world *world = user;
    struct looking looking = {.looks = world->looks, .left_us = LONG_US};
    for (int i = 0; i < 1000; i++) {
        char path[64];
        snprintf(path, sizeof(path), "x/%p.%d", (void *)&looking, i);
        assert_int_equal(looks_open_path(&looking, world->dir_fd[0], path), -ENOENT);
    }
    return NULL;
}

static void test_looks__each_has_its_own(void **state)
{
    struct world *world = *state;
    pthread_t threads[N_MAX / 2];
    mkdirat(world->dir_fd[0], "x", 0755);
    for (int i = 0; i < N_MAX / 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_often, world), 0);
    for (int i = 0; i < N_MAX / 2; i++)
        pthread_join(threads[i], NULL);
}

static void test_looks__lead_nowhere_else(void **state)
{
    struct world *world = *state;
    struct looking with = {.looks = world->looks, .left_us = LONG_US};
    symlinkat("/etc", world->dir_fd[0], "link");
    for (int i = 0; i < 2; i++) {
        struct looking *looking = i ? &with : NULL;
        assert_int_equal(looks_open_path(looking, world->dir_fd[0], "link/passwd"), -ELOOP);
        assert_int_equal(looks_open_path(looking, world->dir_fd[0], "../b"), -EXDEV);
        assert_int_equal(looks_open_path(looking, world->dir_fd[0], "/etc"), -EXDEV);
        _cleanup_close_ int proc = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        assert_int_equal(looks_open_path(looking, proc, "proc/self"), -EXDEV);
    }
}

struct entry { /* of getdents64(2) */
    uint64_t ino;
    int64_t next;
    unsigned short n_bytes;
    unsigned char type;
    char name[];
};

/* What is between a name and the next entry is not told. */
static void assert_same_entries(const char *a, const char *b, int n)
{
    const struct entry *x, *y;
    for (int at = 0; at < n; at += x->n_bytes) {
        x = (const struct entry *)(a + at);
        y = (const struct entry *)(b + at);
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->n_bytes, y->n_bytes);
    }
}

static void test_looks__list_from_where_they_are_told(void **state)
{
    struct world *world = *state;
    struct looking looking = {.looks = world->looks, .left_us = LONG_US};
    _Alignas(struct entry) char all[4096], rest[4096];
    for (int i = 0; i < 10; i++) {
        const char name[] = {(char)('0' + i), '\0'};
        mkdirat(world->dir_fd[1], name, 0755);
    }
    int n = looks_list(&looking, world->dir_fd[1], -1, all, sizeof(all));
    assert_true(n > 0);
    assert_int_equal(looks_list(&looking, world->dir_fd[1], -1, rest, sizeof(rest)), 0);
    const struct entry *first = (struct entry *)all;
    int n_rest = looks_list(&looking, world->dir_fd[1], first->next, rest, sizeof(rest));
    assert_int_equal(n_rest, n - first->n_bytes);
    assert_same_entries(rest, all + first->n_bytes, n_rest);
    looking.left_us = 0;
    assert_int_equal(looks_list(&looking, world->dir_fd[1], 0, rest, sizeof(rest)), -EAGAIN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_looks__##name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_does_not_come_back_is_given_up),
        TEST(an_owner_has_as_many_threads_as_are_left),
        TEST(that_are_left_wait_up_to_a_bound),
        TEST(who_frees_what_was_given_up_keeps_nobody),
        TEST(without_time_what_is_known_is_found),
        TEST(each_has_its_own),
        TEST(lead_nowhere_else),
        TEST(list_from_where_they_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
