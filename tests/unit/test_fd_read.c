#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/time.h>

#include "base/fd_read.h"

static int pipe_fds[2];
static volatile sig_atomic_t n_signals;

/* The second one brings what is waited for. */
static void ring(int signal)
{
    (void)signal;
    if (++n_signals == 2)
        (void)!write(pipe_fds[1], "x", 1);
}

static void test_fd_read__a_signal_does_not_end_it(void **state)
{
    const struct itimerval often = {{0, 10000}, {0, 10000}}, never = {0};
    struct sigaction action = {.sa_handler = ring}, before; /* without SA_RESTART */
    char byte = 0;
    (void)state;
    assert_int_equal(pipe(pipe_fds), 0);
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    assert_int_equal(fd_read(pipe_fds[0], &byte, 1), 1);
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_int_equal(byte, 'x');
    assert_true(n_signals >= 2);
    close(pipe_fds[1]);
    assert_int_equal(fd_read(pipe_fds[0], &byte, 1), 0);
    close(pipe_fds[0]);
    assert_int_equal(fd_read(pipe_fds[0], &byte, 1), -EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fd_read__a_signal_does_not_end_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
