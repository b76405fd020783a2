#include "tools/mount/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/mount/background.h"

static const int ending[] = {SIGTERM, SIGINT, SIGHUP};
static const int crashing[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGQUIT};

static void (*end_function)(void *user);
static void *end_user;
static const char *crash_line;

static void mask(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        sigaddset(&set, ending[i]);
    pthread_sigmask(how, &set, NULL);
}

static bool is_handled_as(int number, void (*handler)(int))
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == handler;
}

/* A thread that was interrupted between a call and a look at its errno finds it as it was. */
static void on_end(int number)
{
    (void)number;
    const int interrupted = errno;
    end_function(end_user);
    errno = interrupted;
}

static void on_crash(int number)
{
    const int interrupted = errno;
    background_log_crash(sigabbrev_np(number), crash_line);
    raise(number); /* blocked while this runs; then as if nothing had been there to handle it */
    errno = interrupted;
}

void signals_block(void)
{
    mask(SIG_BLOCK);
}

void signals_serve(void (*end)(void *user), void *user)
{
    const struct sigaction action = {.sa_handler = on_end}, ignore = {.sa_handler = SIG_IGN};
    end_function = end;
    end_user = user;
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        if (ending[i] != SIGHUP || !is_handled_as(SIGHUP, SIG_IGN))
            sigaction(ending[i], &action, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* EFBIG, where a limit could not be raised */
    mask(SIG_UNBLOCK);
}

void signals_tell_crashes(const char *line)
{
    const struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
    crash_line = line;
    for (size_t i = 0; i < sizeof(crashing) / sizeof(crashing[0]); i++)
        if (is_handled_as(crashing[i], SIG_DFL))
            sigaction(crashing[i], &action, NULL);
}
