/* Changes by root of a user namespace: the child that makes them, and what it has. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/inodes/capable.h"

enum { CALLER = 3000000, N_IDS = 100, N_MORE = 400, N_FDS = 2048, N_THREADS = 8, N_ROUNDS = 100 };

static struct fuse_ctx caller;
static struct thread_rights_own own;
static char tree[64];
static int tree_fd;

static void write_map(const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", caller.pid, name);
    _cleanup_fclose_ FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fprintf(out, "0 %d %d", CALLER, N_IDS) > 0);
}

/* It waits in a namespace of its own, as in its system call, until it is killed. */
static int begin_caller(bool in_namespace)
{
    int told[2];
    assert_int_equal(pipe2(told, O_CLOEXEC), 0);
    caller = (struct fuse_ctx){.uid = CALLER, .gid = CALLER};
    caller.pid = fork();
    assert_true(caller.pid >= 0);
    if (caller.pid == 0) {
        bool may = !in_namespace ||
                   (setresgid(CALLER, CALLER, CALLER) == 0 &&
                    setresuid(CALLER, CALLER, CALLER) == 0 && unshare(CLONE_NEWUSER) == 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* which a change of user takes back */
        (void)!write(told[1], may ? "y" : "n", 1);
        for (;;)
            pause();
    }
    char answer = 0;
    assert_int_equal(read(told[0], &answer, 1), 1);
    close(told[0]);
    close(told[1]);
    if (in_namespace && answer == 'y') {
        write_map("uid_map");
        write_map("gid_map");
    }
    return answer == 'y' ? 0 : -1;
}

static void end_caller(void)
{
    kill(caller.pid, SIGKILL);
    assert_int_equal(waitpid(caller.pid, NULL, 0), caller.pid);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(tree, "/tmp/test_capable.XXXXXX");
    if (!mkdtemp(tree) || (tree_fd = open(tree, O_PATH | O_CLOEXEC)) < 0)
        return -1;
    return thread_rights_get(&own.rights);
}

static int tear_down(void **state)
{
    (void)state;
    char command[100];
    close(tree_fd);
    snprintf(command, sizeof(command), "rm -rf %s", tree);
    return system(command);
}

static void need_namespaces(void)
{
    if (geteuid() != 0)
        skip();
    if (begin_caller(true) < 0) {
        end_caller();
        skip();
    }
}

/* What a child has: the numbers, and of each what it is. */
struct seen {
    bool has[N_FDS];
    struct stat st[N_FDS];
    int flags[N_FDS];
    struct change_fds fds;
    bool has_ids;
};

static int look(const struct change_fds *fds, const void *what, const struct capable_ids *ids)
{
    struct seen *seen = *(struct seen *const *)what;
    seen->fds = *fds;
    seen->has_ids = ids != NULL;
    for (int fd = 0; fd < N_FDS; fd++) {
        seen->has[fd] = fstat(fd, &seen->st[fd]) == 0;
        seen->flags[fd] = fcntl(fd, F_GETFL);
    }
    return 7;
}

static size_t n_had(const struct seen *seen)
{
    size_t n = 0;
    for (int fd = 0; fd < N_FDS; fd++)
        n += seen->has[fd];
    return n;
}

static void assert_same(const struct seen *seen, int there, int here)
{
    struct stat st;
    assert_int_equal(fstat(here, &st), 0);
    assert_true(there >= 0 && seen->has[there]);
    assert_int_equal(seen->st[there].st_dev, st.st_dev);
    assert_int_equal(seen->st[there].st_ino, st.st_ino);
}

/* How many descriptors this process has of what one of them is of. */
static size_t n_of_same(int fd)
{
    struct stat wanted, st;
    size_t n = 0;
    assert_int_equal(fstat(fd, &wanted), 0);
    for (int i = 0; i < N_FDS; i++)
        n += fstat(i, &st) == 0 && st.st_dev == wanted.st_dev && st.st_ino == wanted.st_ino;
    return n;
}

static int change(const struct change_fds *fds, struct seen *seen)
{
    memset(seen, 0, sizeof(*seen));
    return capable_change(&caller, -EPERM, &own, fds, look, &seen);
}

static struct seen seen;

static void
test_capable__who_enters_a_namespace_has_the_descriptors_of_the_change_alone(void **state)
{
    (void)state;
    int more[N_MORE];
    need_namespaces();
    capable_begin();
    for (size_t i = 0; i < N_MORE; i++)
        more[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    _cleanup_close_ int file = openat(tree_fd, "file", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    assert_true(file > N_MORE);
    assert_int_equal(symlinkat("nowhere", tree_fd, "link"), 0);
    _cleanup_close_ int link = openat(tree_fd, "link", O_PATH | O_NOFOLLOW | O_CLOEXEC);

    /* Of a file that somebody has open to write, no more than its name gives. */
    struct change_fds fds = change_of(file);
    assert_int_equal(change(&fds, &seen), 7);
    assert_true(seen.has_ids);
    assert_same(&seen, seen.fds.fd, file);
    assert_true(seen.flags[seen.fds.fd] & O_PATH);
    assert_int_equal(seen.fds.other_fd, -1);
    assert_int_equal(n_had(&seen), 2); /* and its own namespace */

    fds = (struct change_fds){.fd = link, .other_fd = tree_fd};
    assert_int_equal(change(&fds, &seen), 7);
    assert_same(&seen, seen.fds.fd, link);
    assert_same(&seen, seen.fds.other_fd, tree_fd);
    assert_int_equal(n_had(&seen), 3);

    fds = (struct change_fds){.fd = file, .other_fd = -1, .is_open = true};
    assert_int_equal(change(&fds, &seen), 7);
    assert_same(&seen, seen.fds.fd, file);
    assert_int_equal(seen.flags[seen.fds.fd] & (O_PATH | O_ACCMODE), O_RDWR);
    assert_int_equal(n_had(&seen), 2);

    /* This process has what it had, and keeps nothing. */
    for (size_t i = 0; i < N_MORE; i++) {
        assert_true(fcntl(more[i], F_GETFD) >= 0);
        close(more[i]);
    }
    assert_int_equal(n_of_same(file), 1);
    assert_int_equal(n_of_same(link), 1);
    assert_int_equal(n_of_same(tree_fd), 1);
    capable_end();
    end_caller();
}

static void test_capable__without_descriptors_to_leave_with_no_namespace_is_entered(void **state)
{
    (void)state;
    need_namespaces();
    const struct change_fds fds = change_of(tree_fd);
    assert_int_equal(change(&fds, &seen), -EPERM);
    assert_int_equal(n_had(&seen), 0);
    end_caller();
}

static void test_capable__in_this_namespace_the_descriptors_are_shared(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(begin_caller(false), 0);
    caller.uid = caller.gid = 0; /* who has all capabilities */
    const struct change_fds fds = change_of(tree_fd);
    assert_int_equal(change(&fds, &seen), 7);
    assert_false(seen.has_ids);
    assert_int_equal(seen.fds.fd, tree_fd);
    assert_same(&seen, tree_fd, tree_fd);
    end_caller();
}

static int look_at_one(const struct change_fds *fds, const void *what,
                       const struct capable_ids *ids)
{
    struct stat *st = *(struct stat *const *)what;
    (void)ids;
    return fstat(fds->fd, st) < 0 ? -errno : 0;
}

static void *change_many(void *user)
{
    uintptr_t wrong = 0;
    struct stat st, wanted, *told = &st;
    char name[16];
    snprintf(name, sizeof(name), "%d", (int)(uintptr_t)user);
    _cleanup_close_ int fd = openat(tree_fd, name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    const struct change_fds fds = change_of(fd);
    wrong += fstat(fd, &wanted) < 0;
    for (int i = 0; i < N_ROUNDS; i++)
        wrong += capable_change(&caller, -EPERM, &own, &fds, look_at_one, &told) != 0 ||
                 st.st_ino != wanted.st_ino;
    return (void *)wrong;
}

static void test_capable__each_of_many_at_a_time_changes_its_own(void **state)
{
    (void)state;
    pthread_t threads[N_THREADS];
    need_namespaces();
    capable_begin();
    for (uintptr_t i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, change_many, (void *)i), 0);
    for (size_t i = 0; i < N_THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(n_of_same(tree_fd), 1);
    capable_end();
    end_caller();
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_capable__##name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_enters_a_namespace_has_the_descriptors_of_the_change_alone),
        TEST(without_descriptors_to_leave_with_no_namespace_is_entered),
        TEST(in_this_namespace_the_descriptors_are_shared),
        TEST(each_of_many_at_a_time_changes_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
