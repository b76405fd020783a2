/* kinfs-extract: runs a program on a document, which is standard input, confined (sandbox.h) and
 * for a bounded time; what the program writes is on standard output. One line on standard error
 * says why it failed. Run by the daemon, which then knows that nothing is left of it: all that the
 * program started is in one process group that it cannot leave, and is killed with it, at the end
 * of the program, of the time, or of the daemon.
 *
 *   kinfs-extract PARENT SECONDS MEMORY_MB PROGRAM [ARGUMENT...]
 *
 * Exit code 0: the program's; EXTRACT_CUT: the program said so; 1: it failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/extract/extract.h"
#include "tools/extract/own_user.h"
#include "tools/extract/sandbox.h"

enum { LAST_WORDS = 64 }; /* of the program, in the reason */

struct task {
    struct sandbox_limits limits;
    char **command;
    pid_t watcher;
    int complaints[2]; /* a pipe; the program's standard error */
};

/* -- the program's side -- */

_Noreturn static void fail(const char *what, int error)
{
    dprintf(STDERR_FILENO, "%s: %s", what, strerror(error));
    _exit(EXTRACT_CANNOT);
}

_Noreturn static void run(const struct task *task)
{
    const char *step;
    sigset_t none;
    setpgid(0, 0);
    dup2(task->complaints[1], STDERR_FILENO);
    /* A program that only this user may reach can be run all the same. */
    int program = open(task->command[0], O_PATH | O_CLOEXEC);
    if (program < 0)
        fail(task->command[0], errno);
    int r = sandbox_enter(&task->limits, task->command, &step);
    if (r < 0)
        fail(step, -r);
    if (getppid() != task->watcher) /* it has died before it could take this along */
        _exit(EXTRACT_CANNOT);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(task->command[0], task->command);
    if (errno == EACCES) {
        fcntl(program, F_SETFD, 0); /* an interpreter opens it once more */
        fexecve(program, task->command, environ);
    }
    fail(task->command[0], errno);
}

/* -- the watching side -- */

static void add_ns(struct timespec *time, long ns)
{
    time->tv_nsec += ns;
    if (time->tv_nsec >= 1000000000L) {
        time->tv_nsec -= 1000000000L;
        time->tv_sec++;
    } else if (time->tv_nsec < 0) {
        time->tv_nsec += 1000000000L;
        time->tv_sec--;
    }
}

/* The rest of the time; false: nothing. */
static bool time_left(const struct timespec *end, struct timespec *ret_left)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *ret_left = (struct timespec){end->tv_sec - now.tv_sec, end->tv_nsec};
    add_ns(ret_left, -now.tv_nsec);
    return ret_left->tv_sec >= 0;
}

/* Itself the program stays a zombie, so that its group keeps its number. */
static bool has_ended(pid_t program)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)program, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

/* Orphans of the program come here, as fast as it makes them. True: there was one that had ended,
 * or the program has. */
static bool bury_orphan(pid_t program)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid)
        return false;
    if (info.si_pid != program)
        waitpid(info.si_pid, NULL, 0);
    return true;
}

static const int ending_signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

/* Root may lack the right to end processes of another user, as in a service. So this one acts as
 * the program's user, and remains root's: root itself can end it, the program cannot. Where both
 * are the same ordinary user, seccomp alone holds off the program's signals. */
static void become_killer(pid_t program)
{
    int r = own_user_become(program, true);
    if (r < 0)
        fprintf(stderr, "another user: %s\n", strerror(-r));
}

/* The parent's death, from now on or just before. */
static bool follow_parent(pid_t parent)
{
    return prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent;
}

enum ending { ENDED, LATE, STOPPED };

static enum ending watch(pid_t program, const sigset_t *signals, unsigned seconds)
{
    struct timespec end, left;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    while (!has_ended(program)) {
        if (!time_left(&end, &left))
            return LATE;
        if (bury_orphan(program))
            left = (struct timespec){0};
        int signal = sigtimedwait(signals, NULL, &left);
        if (signal >= 0 && signal != SIGCHLD)
            return STOPPED;
    }
    return ENDED;
}

/* Kills and buries all there is; returns what became of the program. Again until nothing is left:
 * one that starts others without end was seen to outlive the first time. As long as one is in the
 * group, its number is nobody else's. For one that no signal ends this process alone waits: the
 * daemon leaves it. */
static int end_group(pid_t program)
{
    static const struct timespec soon = {.tv_nsec = 50 * 1000 * 1000};
    sigset_t child;
    int status = 0, of_program = 0;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        pid_t pid;
        kill(-program, SIGKILL);
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            if (pid == program)
                of_program = status;
        if (pid < 0 && errno == ECHILD)
            return of_program;
        sigtimedwait(&child, NULL, &soon);
    }
}

/* The last line that the program had to say, in a form that can be shown. */
static void read_last_words(int fd, char ret_words[LAST_WORDS])
{
    static char all[1 << 16];
    ssize_t n = read(fd, all, sizeof(all) - 1);
    if (n < 0)
        n = 0;
    while (n > 0 && (all[n - 1] == '\n' || all[n - 1] == ' '))
        n--;
    all[n] = '\0';
    const char *line = strrchr(all, '\n');
    snprintf(ret_words, LAST_WORDS, "%.*s", LAST_WORDS - 1, line ? line + 1 : all);
    for (char *c = ret_words; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
}

static int tell(const struct task *task, enum ending ending, int status)
{
    char words[LAST_WORDS];
    read_last_words(task->complaints[0], words);
    const char *separator = *words ? ": " : "";
    if (ending == STOPPED)
        fputs("stopped", stderr);
    else if (ending == LATE || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
        fprintf(stderr, "took longer than %u s", task->limits.seconds);
    else if (WIFSIGNALED(status))
        fprintf(stderr, "killed by signal %d (%s)%s%s", WTERMSIG(status),
                strsignal(WTERMSIG(status)), separator, words);
    else if (WEXITSTATUS(status) == EXTRACT_CANNOT)
        fprintf(stderr, "cannot be run%s%s", separator, words);
    else if (WEXITSTATUS(status) == EXTRACT_CUT)
        return EXTRACT_CUT;
    else if (WEXITSTATUS(status) != 0)
        fprintf(stderr, "exit code %d%s%s", WEXITSTATUS(status), separator, words);
    else
        return 0;
    fputc('\n', stderr);
    return 1;
}

static unsigned parse_count(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*end || n == 0 || n > 1u << 30) {
        fprintf(stderr, "%s: not a number\n", text);
        exit(1);
    }
    return (unsigned)n;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fputs("usage: kinfs-extract PARENT SECONDS MEMORY_MB PROGRAM [ARGUMENT...]\n", stderr);
        return 1;
    }
    const pid_t parent = (pid_t)parse_count(argv[1]);
    struct task task = {{parse_count(argv[2]), parse_count(argv[3])}, argv + 4, getpid(), {-1, -1}};
    sigset_t all, signals;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++)
        sigaddset(&signals, ending_signals[i]);
    sigaddset(&signals, SIGCHLD);
    if (!follow_parent(parent))
        return 1;
    close_range(3, ~0U, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (pipe2(task.complaints, O_CLOEXEC | O_NONBLOCK) < 0) {
        perror("pipe");
        return 1;
    }
    pid_t program = fork();
    if (program < 0) {
        perror("fork");
        return 1;
    }
    if (program == 0)
        run(&task);
    setpgid(program, program); /* whoever comes first */
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(task.complaints[1]);
    become_killer(program);
    /* Another user takes it away. */
    enum ending ending =
        !follow_parent(parent) ? STOPPED : watch(program, &signals, task.limits.seconds);
    int status = end_group(program);
    return tell(&task, ending, status);
}
