#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "base/files/fd_read.h"
#include "base/files/fd_whole.h"

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

static void test_fd_read__a_whole_file_ends_where_it_ended_first(void **state)
{
    (void)state;
    struct fd_whole whole;
    char bytes[8] = "";
    int fd = memfd_create("file", MFD_CLOEXEC);
    assert_int_equal(write(fd, "abcdef", 6), 6); /* and the offset is behind them */
    assert_int_equal(fd_whole_begin(&whole, fd), 0);
    assert_int_equal(fd_whole_read(&whole, bytes, 4), 4);
    assert_int_equal(write(fd, "more", 4), 4);
    assert_int_equal(fd_whole_read(&whole, bytes + 4, 4), 2);
    assert_string_equal(bytes, "abcdef");
    assert_int_equal(fd_whole_read(&whole, bytes, 4), 0);
    assert_int_equal(fd_whole_begin(&whole, fd), 0);
    assert_int_equal(ftruncate(fd, 3), 0);
    assert_int_equal(fd_whole_read(&whole, bytes, 8), 3);
    assert_int_equal(fd_whole_read(&whole, bytes, 8), 0);
    close(fd);
    assert_int_equal(fd_whole_read(&whole, bytes, 8), -EBADF);
    assert_int_equal(fd_whole_begin(&whole, fd), -EBADF);
}

/* Its size is 0. */
static void test_fd_read__a_file_that_tells_no_size_is_read(void **state)
{
    (void)state;
    struct fd_whole whole;
    char bytes[16];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    assert_int_equal(fd_whole_begin(&whole, fd), 0);
    assert_int_equal(fd_whole_read(&whole, bytes, sizeof(bytes)), sizeof(bytes));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fd_read__a_signal_does_not_end_it),
        cmocka_unit_test(test_fd_read__a_whole_file_ends_where_it_ended_first),
        cmocka_unit_test(test_fd_read__a_file_that_tells_no_size_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
