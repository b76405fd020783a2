#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/callers/thread_groups.h"

enum { MANY = 30000 };

static pid_t own_thread(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* Whether they are those that the thread says it has. */
static bool is_told_right(void)
{
    static gid_t own[65536];
    gid_t *groups = NULL;
    size_t n_groups = 0;
    int n_own = getgroups(65536, own);
    bool right = thread_groups(own_thread(), geteuid(), getegid(), &groups, &n_groups) == 0 &&
                 n_own >= 0 && n_groups == (size_t)n_own &&
                 memcmp(groups, own, n_groups * sizeof(*own)) == 0;
    free(groups);
    return right;
}

static void test_thread_groups__a_thread_has_those_it_was_given(void **state)
{
    (void)state;
    static gid_t many[MANY];
    assert_true(is_told_right());
    if (geteuid() != 0)
        skip();
    pid_t pid = fork();
    if (pid == 0) {
        for (gid_t i = 0; i < MANY; i++)
            many[i] = 100000 + 7 * i;
        bool right = setgroups(MANY, many) == 0 && is_told_right() && setgroups(1, many) == 0 &&
                     is_told_right() && setgroups(0, many) == 0 && is_told_right();
        _exit(!right);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_thread_groups__a_name_says_nothing_of_groups(void **state)
{
    (void)state;
    char name[16];
    prctl(PR_GET_NAME, name);
    prctl(PR_SET_NAME, "\nGroups:\t1 2\n");
    assert_true(is_told_right());
    prctl(PR_SET_NAME, "Groups:\t1 2 ");
    assert_true(is_told_right());
    prctl(PR_SET_NAME, name);
}

static void test_thread_groups__of_who_is_gone_nothing_is_known(void **state)
{
    (void)state;
    gid_t *groups = NULL;
    size_t n_groups;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(thread_groups(pid, geteuid(), getegid(), &groups, &n_groups), -EACCES);
    assert_int_equal(thread_groups(0, geteuid(), getegid(), &groups, &n_groups), -EACCES);
    assert_null(groups);
    uid_t uid;
    assert_int_equal(thread_real_uid(pid, &uid), -EACCES);
    assert_int_equal(thread_real_uid(0, &uid), -EACCES);
}

static void test_thread_groups__who_began_a_set_uid_program_is_its_real_user(void **state)
{
    (void)state;
    enum { REAL_UID = 5 };
    uid_t uid;
    assert_int_equal(thread_real_uid(own_thread(), &uid), 0);
    assert_int_equal(uid, getuid());
    if (geteuid() != 0)
        skip();
    pid_t pid = fork();
    if (pid == 0) {
        bool right = setresuid(REAL_UID, 0, 0) == 0 && prctl(PR_SET_NAME, "Uid:\t7") == 0 &&
                     thread_real_uid(own_thread(), &uid) == 0 && uid == REAL_UID;
        _exit(!right);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int ask_as(uid_t uid, gid_t gid)
{
    gid_t *groups = NULL;
    size_t n_groups;
    int r = thread_groups(own_thread(), uid, gid, &groups, &n_groups);
    free(groups);
    return r;
}

/* Comes first: what is known of /proc is remembered. */
static void test_thread_groups__of_numbers_of_another_namespace_nothing_is_known(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    pid_t parent = fork();
    if (parent == 0) {
        int ends[2], status;
        pid_t pid;
        if (pipe(ends) < 0 || unshare(CLONE_NEWPID) < 0 || (pid = fork()) < 0)
            _exit(1);
        if (pid == 0) {
            bool right = read(ends[0], &pid, sizeof(pid)) == sizeof(pid) &&
                         thread_check_ids(pid, geteuid(), getegid()) == -EACCES;
            _exit(!right);
        }
        bool right = write(ends[1], &pid, sizeof(pid)) == sizeof(pid) &&
                     waitpid(pid, &status, 0) == pid && status == 0;
        _exit(!right);
    }
    int status;
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_int_equal(status, 0);
}

/* A number may be another thread's by now. */
static void test_thread_groups__of_who_has_other_ids_nothing_is_known(void **state)
{
    (void)state;
    enum { REAL_UID = 5, UID, REAL_GID, GID };
    assert_int_equal(ask_as(geteuid(), getegid()), 0);
    assert_int_equal(ask_as(geteuid() + 1, getegid()), -EACCES);
    assert_int_equal(ask_as(geteuid(), getegid() + 1), -EACCES);
    if (geteuid() != 0)
        skip();
    pid_t pid = fork();
    if (pid == 0) {
        bool right = setresgid(REAL_GID, GID, GID) == 0 && setresuid(REAL_UID, UID, UID) == 0 &&
                     ask_as(UID, GID) == 0 && ask_as(REAL_UID, REAL_GID) == 0 &&
                     ask_as(UID, REAL_GID) == -EACCES && ask_as(REAL_UID, GID) == -EACCES &&
                     thread_check_ids(own_thread(), UID, GID) == 0 &&
                     thread_check_ids(own_thread(), REAL_UID, REAL_GID) == -EACCES;
        _exit(!right);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Asks a worker of a ring to read from a pipe, where it waits. Returns the ring, or -1. */
static int begin_worker(int pipe_fd)
{
    static char byte;
    struct io_uring_params params = {0};
    int ring = (int)syscall(SYS_io_uring_setup, 1, &params);
    if (ring < 0)
        return -1;
    char *queue = mmap(NULL, params.sq_off.array + sizeof(uint32_t), PROT_READ | PROT_WRITE,
                       MAP_SHARED, ring, IORING_OFF_SQ_RING);
    struct io_uring_sqe *request =
        mmap(NULL, sizeof(*request), PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    assert_true(queue != MAP_FAILED && request != MAP_FAILED);
    *request = (struct io_uring_sqe){.opcode = IORING_OP_READ,
                                     .flags = IOSQE_ASYNC,
                                     .fd = pipe_fd,
                                     .addr = (uintptr_t)&byte,
                                     .len = 1};
    *(uint32_t *)(void *)(queue + params.sq_off.array) = 0;
    __atomic_store_n((uint32_t *)(void *)(queue + params.sq_off.tail), 1, __ATOMIC_RELEASE);
    assert_int_equal(syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0), 1);
    return ring;
}

/* Threads of this process other than the one that runs; 0: none yet. */
static pid_t other_thread(void)
{
    pid_t found = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *entry; (entry = readdir(tasks));)
        if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != own_thread())
            found = atoi(entry->d_name);
    closedir(tasks);
    return found;
}

/* It has the groups that its process had when it was begun, and may act for who has fewer. */
static void test_thread_groups__of_a_worker_of_io_uring_nothing_is_known(void **state)
{
    (void)state;
    gid_t *groups = NULL;
    size_t n_groups;
    pid_t worker;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int ring = begin_worker(ends[0]);
    if (ring < 0)
        skip();
    while (!(worker = other_thread()))
        usleep(1000);
    assert_int_equal(thread_groups(worker, geteuid(), getegid(), &groups, &n_groups), -EACCES);
    assert_null(groups);
    assert_true(is_told_right());
    assert_int_equal(write(ends[1], "", 1), 1);
    close(ring);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thread_groups__of_numbers_of_another_namespace_nothing_is_known),
        cmocka_unit_test(test_thread_groups__a_thread_has_those_it_was_given),
        cmocka_unit_test(test_thread_groups__a_name_says_nothing_of_groups),
        cmocka_unit_test(test_thread_groups__of_who_is_gone_nothing_is_known),
        cmocka_unit_test(test_thread_groups__of_who_has_other_ids_nothing_is_known),
        cmocka_unit_test(test_thread_groups__who_began_a_set_uid_program_is_its_real_user),
        cmocka_unit_test(test_thread_groups__of_a_worker_of_io_uring_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
