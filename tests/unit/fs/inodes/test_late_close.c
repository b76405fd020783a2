#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/inodes/late_close.h"

static struct late_close late;

static int set_up(void **state)
{
    (void)state;
    late_close_init(&late);
    return 0;
}

/* A pipe: who reads it sees its end when the other descriptor is closed. */
struct watched {
    int read_fd, given;
};

static struct watched give_one(void)
{
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    late_close(&late, fds[1]);
    return (struct watched){.read_fd = fds[0], .given = fds[1]};
}

static void expect_end(struct watched *watched)
{
    char byte;
    assert_int_equal(read(watched->read_fd, &byte, 1), 0); /* waits for it */
    close(watched->read_fd);
}

static void test_late_close__closes_by_itself(void **state)
{
    (void)state;
    struct watched watched = give_one();
    expect_end(&watched);
    assert_int_equal(fcntl(watched.given, F_GETFD), -1);
    assert_int_equal(errno, EBADF);
    late_close_done(&late);
}

static bool is_sleeping(void)
{
    LOCKED(&late.lock);
    return late.sleeps;
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
    late_close_done(&late);
}

static void test_late_close__takes_more_than_there_is_room_for(void **state)
{
    enum { N = 4 * LATE_CLOSE_ROOM };
    struct watched watched[N];
    (void)state;
    for (int i = 0; i < N; i++)
        watched[i] = give_one();
    for (int i = 0; i < N; i++)
        expect_end(&watched[i]);
    late_close_done(&late);
}

static void test_late_close__closes_at_once_without_room(void **state)
{
    (void)state;
    late.n_fds = LATE_CLOSE_ROOM; /* no thread looks at them */
    struct watched watched = give_one();
    assert_int_equal(fcntl(watched.given, F_GETFD), -1);
    assert_false(late.started);
    expect_end(&watched);
    late.n_fds = 0;
    late_close_done(&late);
}

static void test_late_close__leaves_nothing_open(void **state)
{
    (void)state;
    struct watched watched[3];
    for (int i = 0; i < 3; i++)
        watched[i] = give_one();
    late_close_done(&late);
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
        cmocka_unit_test_setup(test_late_close__takes_more_than_there_is_room_for, set_up),
        cmocka_unit_test_setup(test_late_close__closes_at_once_without_room, set_up),
        cmocka_unit_test_setup(test_late_close__leaves_nothing_open, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
