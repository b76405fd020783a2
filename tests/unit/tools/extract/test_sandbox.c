/* What a confined program may not ask the kernel for, in whatever form it asks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/extract/landlock.h"
#include "tools/extract/own_tree.h"
#include "tools/extract/sandbox.h"

/* The half of an argument that the kernel does not look at where it takes an int. */
static const unsigned long upper_half = (unsigned long)((uint64_t)1 << 32);

struct call {
    const char *name;
    unsigned long arguments[3];
    int error; /* 0: it is allowed */
};

enum { A_PIPE = 100, SELF = 101 }; /* stand for what is not known before */
enum { FIRST_NEWER = 440 };        /* the call after faccessat2 */

static long make(const struct call *call, unsigned long upper, int pipe_fd)
{
    unsigned long a[3];
    for (unsigned i = 0; i < 3; i++)
        a[i] = call->arguments[i] == A_PIPE ? (unsigned long)pipe_fd
               : call->arguments[i] == SELF ? (unsigned long)getpid()
                                            : call->arguments[i];
    const unsigned chosen = strcmp(call->name, "prctl") == 0 ? 0 : 1;
    a[chosen] |= upper;
    return syscall(seccomp_syscall_resolve_name(call->name), a[0], a[1], a[2], 0, 0);
}

/* An older filter stands for another kernel: the calls from this number to that are refused. */
static void refuse_calls(unsigned first, unsigned last, unsigned error)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof(steps) / sizeof(steps[0]), .filter = steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        _exit(254);
}

static char **command; /* what is confined is a run of it */
static bool in_tree;   /* it may have a tree of its own; else Landlock is the only wall of paths */

/* A child that confines itself and makes the call. Returns 0 or its errno; -1: it is not confined.
 */
static int make_confined(const struct call *call, unsigned long upper)
{
    int status, pipe_fds[2];
    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct sandbox_limits limits = {.seconds = 60, .memory_mb = 1u << 30};
        const char *step;
        setpgid(0, 0);
        if (!in_tree)
            refuse_calls(SYS_unshare, SYS_unshare, EPERM);
        if (sandbox_enter(&limits, command, &step) < 0)
            _exit(255);
        long r = make(call, upper, pipe_fds[0]);
        _exit(r < 0 ? errno : 0);
    }
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
}

static void assert_answers(const struct call *calls, size_t n, unsigned long upper)
{
    for (size_t i = 0; i < n; i++) {
        if (seccomp_syscall_resolve_name(calls[i].name) < 0)
            continue; /* not of this architecture: of what is newer below, by numbers */
        int error = make_confined(&calls[i], upper);
        if (error != calls[i].error)
            fail_msg("%s(%#lx, %#lx, %#lx), upper half %#lx: %s", calls[i].name,
                     calls[i].arguments[0], calls[i].arguments[1], calls[i].arguments[2], upper,
                     error < 0 ? "not confined" : strerror(error));
    }
}

static void test_sandbox__the_upper_half_of_an_int_makes_no_difference(void **state)
{
    static const struct call calls[] = {
        {"fcntl", {A_PIPE, F_SETOWN, SELF}, EPERM},
        {"fcntl", {A_PIPE, F_SETOWN_EX, 0}, EPERM},
        {"fcntl", {A_PIPE, F_SETSIG, SIGKILL}, EPERM},
        {"fcntl", {A_PIPE, F_SETLK, 0}, EPERM},
        {"fcntl", {A_PIPE, F_SETLKW, 0}, EPERM},
        {"fcntl", {A_PIPE, F_OFD_SETLK, 0}, EPERM},
        {"fcntl", {A_PIPE, F_OFD_SETLKW, 0}, EPERM},
        {"fcntl", {A_PIPE, F_SETLEASE, F_RDLCK}, EPERM},
        {"fcntl", {A_PIPE, F_NOTIFY, 0}, EPERM},
        {"fcntl", {A_PIPE, F_SETPIPE_SZ, 4096}, EPERM},
        {"prctl", {PR_SET_PDEATHSIG, 0, 0}, EPERM},
        {"prctl", {PR_SET_CHILD_SUBREAPER, 1, 0}, EPERM},
        {"ustat", {1, 0, 0}, EPERM},
        {"open", {(uintptr_t) "/dev/null", O_WRONLY, 0}, EPERM},
        {"open", {(uintptr_t) "/dev/null", O_RDWR, 0}, EPERM},
        {"ioctl", {A_PIPE, FIONREAD, 0}, ENOTTY},
        {"ioctl", {A_PIPE, FIOASYNC, 0}, ENOTTY},
        {"fcntl", {A_PIPE, F_GETFD, 0}, 0},
        {"prctl", {PR_GET_DUMPABLE, 0, 0}, 0},
        {"open", {(uintptr_t) "/dev/null", O_RDONLY, 0}, 0},
    };
    (void)state;
    assert_answers(calls, sizeof(calls) / sizeof(calls[0]), 0);
    assert_answers(calls, sizeof(calls) / sizeof(calls[0]), upper_half);
}

static void test_sandbox__queues_and_semaphores_of_others_are_out_of_reach(void **state)
{
    static const char *const names[] = {"semget",
                                        "semop",
                                        "semtimedop",
                                        "semctl",
                                        "msgget",
                                        "msgsnd",
                                        "msgrcv",
                                        "msgctl",
                                        "vmsplice",
                                        "splice",
                                        "tee",
                                        "memfd_create",
                                        "shmget",
                                        "shmat",
                                        "shmctl",
                                        "mq_open",
                                        "mq_unlink",
                                        "mq_timedsend",
                                        "mq_timedreceive",
                                        "mq_notify",
                                        "mq_getsetattr",
                                        "syslog",
                                        "add_key",
                                        "request_key",
                                        "keyctl",
                                        "inotify_init",
                                        "inotify_init1",
                                        "inotify_add_watch",
                                        "fanotify_init",
                                        "fanotify_mark"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct call call = {names[i], {~0UL, 0, 0}, EPERM};
        assert_answers(&call, 1, 0);
    }
}

/* Those that not all machines have are passed over where they are none. */
static void test_sandbox__files_are_changed_by_no_call_of_any_width(void **state)
{
    static const char *const names[] = {
        "utime",    "utimes",     "futimesat", "utimensat",   "utimensat_time64", "chown",
        "lchown",   "fchown",     "chown32",   "lchown32",    "fchown32",         "fchownat",
        "truncate", "truncate64", "ftruncate", "ftruncate64", "semtimedop_time64"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct call call = {names[i], {~0UL, 0, 0}, EPERM};
        assert_answers(&call, 1, 0);
    }
}

#define OPENED(path, error)                                                                        \
    {                                                                                              \
        "openat", {(unsigned long)AT_FDCWD, (uintptr_t)(path), O_RDONLY | O_NOCTTY}, error         \
    }

static void test_sandbox__what_makes_something_by_being_opened_is_not_opened(void **state)
{
    static const struct call calls[] = {OPENED("/dev/ptmx", EACCES),
                                        OPENED("/dev/../dev/ptmx", EACCES),
                                        OPENED("/proc/self/root/dev/ptmx", EACCES),
                                        OPENED("/dev/null", 0),
                                        OPENED("/dev/zero", 0),
                                        OPENED("/dev/urandom", 0),
                                        OPENED("/proc/self/status", 0),
                                        OPENED("/etc/passwd", 0),
                                        OPENED("/proc/self/fd/0", 0),
                                        OPENED("/dev/stdin", 0)};
    (void)state;
    if (landlock_version() < 1 || access("/dev/ptmx", F_OK) < 0 || access("/dev/stdin", F_OK) < 0)
        skip();
    /* A document that is where nothing is read otherwise. */
    int document = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0644), saved = dup(0);
    if (document < 0)
        skip();
    assert_int_equal(fchmod(document, 0644), 0);
    assert_int_equal(dup2(document, STDIN_FILENO), STDIN_FILENO);
    assert_answers(calls, sizeof(calls) / sizeof(calls[0]), 0);
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
    close(document);
}

static void make_readable(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, 0644), 0);
    close(fd);
}

/* Who watches 16 files of one's own sees a hexadecimal digit in which of them is opened: a file
 * that all may read, or one of a process's own in /proc. */
static void assert_files_of_others_are_not_opened(int error)
{
    static const char *const roots[] = {"/tmp", "/var/tmp", "/dev/shm"};
    char others[sizeof(roots) / sizeof(roots[0])][64], programs[64], beside[96], process[64];
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        snprintf(others[i], sizeof(others[i]), "%s/test_sandbox.%d", roots[i], getpid());
        make_readable(others[i]);
        const struct call call = OPENED(others[i], error);
        assert_answers(&call, 1, 0);
    }
    snprintf(process, sizeof(process), "/proc/%d/stat", getpid());
    const struct call of_process[] = {OPENED(process, EACCES), OPENED("/proc/self/stat", 0),
                                      OPENED("/proc/meminfo", 0)};
    assert_answers(of_process, sizeof(of_process) / sizeof(of_process[0]), 0);
    /* What is beside a program is its own, but not in a directory where all can put something. */
    snprintf(programs, sizeof(programs), "/tmp/test_sandbox.%d.programs", getpid());
    snprintf(beside, sizeof(beside), "%s/beside", programs);
    assert_int_equal(mkdir(programs, 0755), 0);
    assert_int_equal(chmod(programs, 0755), 0);
    make_readable(beside);
    char program[128], root[] = "/", root_program[] = "/program";
    snprintf(program, sizeof(program), "%s/program", programs);
    char *of_programs[] = {program, NULL}, *of_others[] = {others[0], others[1], NULL},
         *of_root[] = {root_program, root, NULL};
    const struct {
        char **command;
        const char *path;
        int error;
    } named[] = {{of_programs, beside, 0},      {of_programs, others[0], error},
                 {of_others, others[0], 0},     {of_others, others[1], 0},
                 {of_others, others[2], error}, {of_others, beside, error},
                 {of_root, others[0], error}};
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        const struct call call = OPENED(named[i].path, named[i].error);
        command = named[i].command;
        assert_answers(&call, 1, 0);
    }
    command = NULL;
    unlink(beside);
    rmdir(programs);
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
        unlink(others[i]);
}

static void test_sandbox__files_of_others_are_not_opened_however_readable(void **state)
{
    (void)state;
    if (landlock_version() < 1)
        skip();
    assert_files_of_others_are_not_opened(EACCES);
    in_tree = own_tree_is_to_be_had();
    if (in_tree)
        assert_files_of_others_are_not_opened(ENOENT);
    in_tree = false;
}

/* Who watches directories of one's own is told when one is opened to be listed. */
static void test_sandbox__directories_of_others_are_not_listed(void **state)
{
    static const struct {
        const char *path;
        int error;
    } directories[] = {{"/", EACCES},     {"/tmp", EACCES}, {"/var", EACCES}, {"/proc", EACCES},
                       {"/dev", EACCES},  {"/usr", 0},      {"/etc", 0},      {"/usr/lib", 0},
                       {"/proc/self", 0}, {"/bin", 0}};
    (void)state;
    if (landlock_version() < 1)
        skip();
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        const struct call call = {
            "openat",
            {(unsigned long)AT_FDCWD, (uintptr_t)directories[i].path, O_RDONLY | O_DIRECTORY},
            directories[i].error};
        assert_answers(&call, 1, 0);
    }
}

/* setxattrat (463), removexattrat (466), open_tree_attr (467) and file_setattr (469) among them,
 * and numbers that no kernel has yet. */
static void test_sandbox__calls_newer_than_the_rules_do_not_exist(void **state)
{
    struct {
        long call;
        int error;
    } * answered;
    int status;
    (void)state;
    answered =
        mmap(NULL, sizeof(*answered), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(answered, MAP_FAILED);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct sandbox_limits limits = {.seconds = 60, .memory_mb = 1u << 30};
        const char *step;
        setpgid(0, 0);
        refuse_calls(FIRST_NEWER, UINT32_MAX, EXDEV); /* it has all calls: what reaches it */
        if (sandbox_enter(&limits, command, &step) < 0)
            _exit(255);
        for (answered->call = FIRST_NEWER; answered->call < 4096; answered->call++)
            if (syscall(answered->call, -1, NULL, 0, 0, 0, 0) >= 0 || errno != ENOSYS) {
                answered->error = errno;
                _exit(1);
            }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("status %#x: call %ld: %s", (unsigned)status, answered->call,
                 strerror(answered->error));
    munmap(answered, sizeof(*answered));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sandbox__the_upper_half_of_an_int_makes_no_difference),
        cmocka_unit_test(test_sandbox__files_are_changed_by_no_call_of_any_width),
        cmocka_unit_test(test_sandbox__what_makes_something_by_being_opened_is_not_opened),
        cmocka_unit_test(test_sandbox__files_of_others_are_not_opened_however_readable),
        cmocka_unit_test(test_sandbox__directories_of_others_are_not_listed),
        cmocka_unit_test(test_sandbox__calls_newer_than_the_rules_do_not_exist),
        cmocka_unit_test(test_sandbox__queues_and_semaphores_of_others_are_out_of_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
