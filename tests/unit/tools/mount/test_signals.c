#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "tools/mount/background.h"
#include "tools/mount/signals.h"

enum { FAILED = 1 }; /* exit code of a child that saw something wrong */

/* What a signal does is the process's: each is tried in one of its own. Returns what wait(2) says.
 */
static int in_child(void (*function)(const char *log), const char *log)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        function(log);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void expect(bool holds)
{
    if (!holds)
        _exit(FAILED);
}

static void count_and_fail(void *user)
{
    volatile sig_atomic_t *n = user;
    *n = *n + 1;
    errno = EIO;
}

static void end_by_each(const char *log)
{
    (void)log;
    static const int ending[] = {SIGTERM, SIGINT, SIGHUP};
    volatile sig_atomic_t n = 0;
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        signal(ending[i], SIG_DFL);
    signals_block();
    raise(SIGTERM);
    expect(n == 0);
    errno = ENOENT;
    signals_serve(count_and_fail, (void *)&n); /* what came before comes now */
    expect(n == 1);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
        errno = ENOENT;
        raise(ending[i]);
        expect(n == (int)i + 2 && errno == ENOENT);
    }
}

static void test_signals__to_end_calls_and_leaves_errno(void **state)
{
    (void)state;
    assert_int_equal(in_child(end_by_each, NULL), 0);
}

static void hang_up_ignored(const char *log)
{
    (void)log;
    volatile sig_atomic_t n = 0;
    signal(SIGHUP, SIG_IGN);
    signals_block();
    signals_serve(count_and_fail, (void *)&n);
    raise(SIGHUP);
    expect(n == 0);
    raise(SIGINT);
    expect(n == 1);
}

static void test_signals__hup_stays_ignored(void **state)
{
    (void)state;
    assert_int_equal(in_child(hang_up_ignored, NULL), 0);
}

static void crash_as_it_is(const char *log)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    expect(background_open_log(log, false, NULL) == 0);
    signals_tell_crashes("do something");
    raise(SIGQUIT);
}

static void crash_handled_before(const char *log)
{
    signal(SIGQUIT, SIG_IGN);
    crash_as_it_is(log);
}

/* Whoever runs the tests may ignore signals: shells do so for what they start in the background. */
static void crash(const char *log)
{
    signal(SIGQUIT, SIG_DFL);
    crash_as_it_is(log);
}

static void test_signals__a_crash_is_told_and_kills(void **state)
{
    (void)state;
    char log[] = "/tmp/kinfs-test.XXXXXX", text[200] = "";
    _cleanup_close_ int fd = mkstemp(log);
    assert_true(fd >= 0);
    assert_int_equal(in_child(crash_handled_before, log), 0);
    assert_int_equal(read(fd, text, sizeof(text)), 0);
    int status = in_child(crash, log);
    ssize_t n = read(fd, text, sizeof(text) - 1);
    unlink(log);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGQUIT);
    assert_true(n > 0);
    const char *colon = strstr(text, "]: ");
    assert_non_null(colon);
    assert_string_equal(colon, "]: error: ended by SIGQUIT; do something\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals__to_end_calls_and_leaves_errno),
        cmocka_unit_test(test_signals__hup_stays_ignored),
        cmocka_unit_test(test_signals__a_crash_is_told_and_kills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
