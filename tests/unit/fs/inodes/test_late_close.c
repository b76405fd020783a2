#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/inodes/late_close.h"

enum { LONG_MS = 600000 };

static struct late_close *late;
static struct late_count none;

static bool has_no_threads;

/* Stands before the C library's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *user)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
            RTLD_NEXT, "pthread_create");
    return has_no_threads ? EAGAIN : real(thread, attributes, run, user);
}

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static bool is_shut;
static size_t n_standing;

/* Stands for the close of what somebody has made wait: what is not this process's user's. */
static int close_by_owner(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    {
        LOCKED(&gate_lock);
        n_standing++;
        pthread_cond_broadcast(&gate_changed);
        while (is_shut && st.st_uid != getuid())
            pthread_cond_wait(&gate_changed, &gate_lock);
        n_standing--;
    }
    return close(fd);
}

static void open_gate(void)
{
    LOCKED(&gate_lock);
    is_shut = false;
    pthread_cond_broadcast(&gate_changed);
}

static void await_standing(size_t n)
{
    LOCKED(&gate_lock);
    while (n_standing < n)
        pthread_cond_wait(&gate_changed, &gate_lock);
}

static int set_up(void **state)
{
    (void)state;
    is_shut = true;
    if (late_close_new(&late) < 0)
        return -1;
    late->close_fd = close_by_owner;
    return 0;
}

/* A pipe: who reads it sees its end when the other descriptor is closed. */
struct watched {
    int read_fd, given;
};

static struct watched give_of(uid_t owner, struct late_count count)
{
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    if (owner != getuid())
        assert_int_equal(fchown(fds[1], owner, (gid_t)-1), 0);
    late_close(late, fds[1], count);
    return (struct watched){.read_fd = fds[0], .given = fds[1]};
}

static struct watched give_one(void)
{
    return give_of(getuid(), none);
}

static void expect_end(const struct watched *watched)
{
    char byte;
    assert_int_equal(read(watched->read_fd, &byte, 1), 0); /* waits for it */
    close(watched->read_fd);
}

static void expect_open(const struct watched *watched)
{
    assert_int_not_equal(fcntl(watched->given, F_GETFD), -1);
}

static void skip_if_not_root(void)
{
    if (geteuid() != 0)
        skip();
}

static void test_late_close__closes_by_itself(void **state)
{
    (void)state;
    struct watched watched = give_one();
    expect_end(&watched);
    assert_int_equal(fcntl(watched.given, F_GETFD), -1);
    assert_int_equal(errno, EBADF);
    late_close_free(late, LONG_MS);
}

static bool is_sleeping(void)
{
    LOCKED(&late->lock);
    return late->sleeps;
}

static void test_late_close__is_woken(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct watched watched = give_one();
        expect_end(&watched);
        while (!is_sleeping())
            sched_yield();
    }
    late_close_free(late, LONG_MS);
}

static void test_late_close__counts_until_it_is_closed(void **state)
{
    enum { N = 200 };
    struct watched watched[N];
    struct user_room room;
    atomic_size_t n = N;
    (void)state;
    user_room_init(&room, 4 * N);
    for (int i = 0; i < N; i++) {
        assert_true(user_room_enter(&room, 0, 1));
        watched[i] = give_of(getuid(), (struct late_count){.n = &n, .room = &room});
    }
    for (int i = 0; i < N; i++)
        expect_end(&watched[i]);
    late_close_free(late, LONG_MS);
    assert_int_equal(n, 0);
    assert_int_equal(room.n_taken, 0);
    user_room_done(&room);
}

/* Of each owner but the last so many that all threads could stand in them. */
static void test_late_close__of_one_owner_keep_no_other_s(void **state)
{
    enum { N_OWNERS = LATE_CLOSE_THREADS - 1, N_EACH = LATE_CLOSE_THREADS + 1 };
    struct watched slow[N_OWNERS][N_EACH];
    atomic_size_t n_slow = 0;
    (void)state;
    skip_if_not_root();
    for (uid_t i = 0; i < N_OWNERS; i++)
        for (size_t k = 0; k < N_EACH; k++) {
            n_slow++;
            slow[i][k] = give_of(1000 + i, (struct late_count){.n = &n_slow});
        }
    await_standing(N_OWNERS);
    for (int i = 0; i < 3; i++) {
        struct watched watched = give_one();
        expect_end(&watched);
    }
    for (uid_t i = 0; i < N_OWNERS; i++)
        for (size_t k = 0; k < N_EACH; k++)
            expect_open(&slow[i][k]);
    assert_int_equal(n_slow, N_OWNERS * N_EACH);
    open_gate();
    for (uid_t i = 0; i < N_OWNERS; i++)
        for (size_t k = 0; k < N_EACH; k++)
            expect_end(&slow[i][k]);
    late_close_free(late, LONG_MS);
    assert_int_equal(n_slow, 0);
}

static void test_late_close__owners_take_turns_where_all_threads_stand(void **state)
{
    enum { N = 3 * LATE_CLOSE_THREADS };
    struct watched slow[N];
    (void)state;
    skip_if_not_root();
    for (uid_t i = 0; i < N; i++)
        slow[i] = give_of(1000 + i, none);
    await_standing(LATE_CLOSE_THREADS);
    open_gate();
    for (size_t i = 0; i < N; i++)
        expect_end(&slow[i]);
    late_close_free(late, LONG_MS);
}

/* What counted is gone by then. */
static void test_late_close__is_left_behind_at_the_end(void **state)
{
    struct watched slow[3];
    (void)state;
    skip_if_not_root();
    {
        atomic_size_t n = 3;
        for (size_t i = 0; i < 3; i++)
            slow[i] = give_of(1000, (struct late_count){.n = &n});
        await_standing(1);
        late_close_free(late, 0);
        assert_int_equal(n, 3);
        expect_open(&slow[0]);
        open_gate();
        for (size_t i = 0; i < 3; i++)
            expect_end(&slow[i]);
        assert_int_equal(n, 3);
    }
}

static void test_late_close__closes_at_once_without_a_thread(void **state)
{
    atomic_size_t n = 1;
    (void)state;
    has_no_threads = true;
    struct watched watched = give_of(getuid(), (struct late_count){.n = &n});
    has_no_threads = false;
    assert_int_equal(fcntl(watched.given, F_GETFD), -1);
    assert_int_equal(n, 0);
    expect_end(&watched);
    watched = give_one(); /* the next has one */
    expect_end(&watched);
    late_close_free(late, LONG_MS);
}

static void test_late_close__leaves_nothing_open(void **state)
{
    (void)state;
    struct watched watched[3];
    for (int i = 0; i < 3; i++)
        watched[i] = give_one();
    late_close_free(late, LONG_MS);
    /* Not by its number: what was closed meanwhile left it to a later pipe. */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fcntl(watched[i].read_fd, F_SETFL, O_NONBLOCK), 0);
        expect_end(&watched[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_late_close__closes_by_itself, set_up),
        cmocka_unit_test_setup(test_late_close__is_woken, set_up),
        cmocka_unit_test_setup(test_late_close__counts_until_it_is_closed, set_up),
        cmocka_unit_test_setup(test_late_close__of_one_owner_keep_no_other_s, set_up),
        cmocka_unit_test_setup(test_late_close__owners_take_turns_where_all_threads_stand, set_up),
        cmocka_unit_test_setup(test_late_close__is_left_behind_at_the_end, set_up),
        cmocka_unit_test_setup(test_late_close__closes_at_once_without_a_thread, set_up),
        cmocka_unit_test_setup(test_late_close__leaves_nothing_open, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
