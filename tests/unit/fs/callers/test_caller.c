#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/callers/caller.h"

/* No account of the system: a number is all an identity is. */
enum { USER = 54321, GROUP = 54322, OTHER_GROUP = 54323 };

struct tree {
    char path[64];
    int fd;
    struct backing *backing;
};

static void make_file(int fd, const char *name, uid_t uid, gid_t gid, mode_t mode)
{
    _cleanup_close_ int file = openat(fd, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(fchown(file, uid, gid), 0);
    assert_int_equal(fchmod(file, mode), 0);
}

static int set_up(void **state)
{
    static struct tree tree;
    strcpy(tree.path, "/tmp/test_caller.XXXXXX");
    if (!mkdtemp(tree.path))
        return -1;
    tree.fd = open(tree.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *state = &tree;
    if (backing_open(tree.path, &tree.backing) < 0)
        return -1;
    if (geteuid() != 0)
        return 0;
    fchmod(tree.fd, 0755);
    make_file(tree.fd, "everyones", 0, 0, 0644);
    make_file(tree.fd, "roots", 0, 0, 0600);
    make_file(tree.fd, "users", USER, 0, 0400);
    make_file(tree.fd, "groups", 0, GROUP, 0640);
    make_file(tree.fd, "other-groups", 0, OTHER_GROUP, 0640);
    mkdirat(tree.fd, "closed", 0700);
    make_file(tree.fd, "closed/everyones", 0, 0, 0644);
    mkdirat(tree.fd, "blind", 0700);
    fchmodat(tree.fd, "blind", 0711, 0);
    make_file(tree.fd, "blind/everyones", 0, 0, 0644);
    make_file(tree.fd, "blind/roots", 0, 0, 0600);
    symlinkat("roots", tree.fd, "link");
    return tree.fd < 0;
}

static int tear_down(void **state)
{
    struct tree *tree = *state;
    const char *names[] = {"everyones",       "roots",        "users",
                           "groups",          "other-groups", "closed/everyones",
                           "blind/everyones", "blind/roots",  "link"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unlinkat(tree->fd, names[i], 0);
    unlinkat(tree->fd, "closed", AT_REMOVEDIR);
    unlinkat(tree->fd, "blind", AT_REMOVEDIR);
    close(tree->fd);
    backing_close(tree->backing);
    return rmdir(tree->path);
}

static enum index_right right_to_read(struct caller *caller, const char *path,
                                      const struct file_key *key)
{
    struct listed_way way = {0};
    enum index_right right = caller_may_read(caller, &way, path, key);
    listed_way_done(&way);
    return right;
}

/* Whether the caller may read what a path means now. */
static bool may_read(struct caller *caller, const char *path)
{
    struct file_key key = {0};
    (void)backing_key_at(caller->backing, backing_root_fd(caller->backing), path, &key);
    return right_to_read(caller, path, &key) == INDEX_ALLOWED;
}

static void test_caller__sees_what_the_kernel_lets_that_user_read(void **state)
{
    if (geteuid() != 0)
        skip(); /* nobody else can become another user */
    struct tree *tree = *state;
    struct caller caller;
    const gid_t groups[] = {OTHER_GROUP};
    assert_int_equal(caller_init(&caller, tree->backing, USER, GROUP, groups, 1), 0);
    assert_true(may_read(&caller, "everyones"));
    assert_true(may_read(&caller, "users"));
    assert_true(may_read(&caller, "groups"));
    assert_true(may_read(&caller, "other-groups"));
    assert_false(may_read(&caller, "roots"));
    assert_false(may_read(&caller, "closed/everyones"));
    assert_false(may_read(&caller, "missing"));
    /* Not what has the name of another: a document may have been moved out of sight. */
    struct file_key roots;
    assert_int_equal(backing_key_at(tree->backing, tree->fd, "roots", &roots), 0);
    assert_int_equal(right_to_read(&caller, "everyones", &roots), INDEX_NAME_REFUSED);
    assert_int_equal(caller_open_readable(&caller, "closed/everyones"), -EACCES);
    assert_int_equal(caller_open_readable(&caller, "roots"), -EACCES);
    assert_int_equal(caller_open_readable(&caller, "missing"), -ENOENT);
    assert_int_equal(caller_open_readable(&caller, ".."), -EXDEV);
    assert_int_equal(caller_open_readable(&caller, "/etc/passwd"), -EXDEV);
    assert_int_equal(caller_access(&caller, tree->fd, "closed/everyones", R_OK), -EACCES);
    assert_int_equal(caller_access(&caller, tree->fd, "missing", R_OK), -ENOENT);
    assert_int_equal(caller_access(&caller, tree->fd, "", R_OK | X_OK), 0);
    caller_done(&caller);

    assert_int_equal(caller_init(&caller, tree->backing, USER, USER, NULL, 0), 0);
    assert_false(may_read(&caller, "groups"));
    assert_false(may_read(&caller, "other-groups"));
    assert_true(may_read(&caller, "users"));
    caller_done(&caller);
}

static bool sees_of_the_user_alone(struct tree *tree)
{
    struct caller caller;
    if (caller_init(&caller, tree->backing, USER, GROUP, NULL, 0) < 0)
        return false;
    bool right = may_read(&caller, "users") && !may_read(&caller, "roots") &&
                 caller_access(&caller, tree->fd, "roots", R_OK) == -EACCES &&
                 caller_open_readable(&caller, "closed/everyones") == -EACCES;
    caller_done(&caller);
    return right;
}

static void test_caller__has_no_capability_where_a_change_of_user_leaves_them(void **state)
{
    if (geteuid() != 0)
        skip();
    pid_t pid = fork();
    if (pid == 0)
        _exit(prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) < 0 ||
              !sees_of_the_user_alone(*state));
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* A document is asked about by a name, which need not be one that can be listed. */
static void test_caller__may_ask_about_what_can_be_reached_and_read(void **state)
{
    if (geteuid() != 0)
        skip(); /* nobody else can become another user */
    static const struct {
        const char *path;
        enum index_right may_read, may_ask;
    } paths[] = {{"everyones", INDEX_ALLOWED, INDEX_ALLOWED},
                 {"roots", INDEX_FILE_REFUSED, INDEX_FILE_REFUSED},
                 {"blind/everyones", INDEX_DIRECTORY_REFUSED, INDEX_ALLOWED},
                 {"blind/roots", INDEX_DIRECTORY_REFUSED, INDEX_FILE_REFUSED},
                 {"closed/everyones", INDEX_DIRECTORY_REFUSED, INDEX_DIRECTORY_REFUSED},
                 {"missing", INDEX_NAME_REFUSED, INDEX_NAME_REFUSED}};
    struct tree *tree = *state;
    struct caller caller;
    struct file_key roots;
    assert_int_equal(caller_init(&caller, tree->backing, USER, GROUP, NULL, 0), 0);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct file_key key = {0};
        (void)backing_key_at(tree->backing, tree->fd, paths[i].path, &key);
        assert_int_equal(right_to_read(&caller, paths[i].path, &key), paths[i].may_read);
        assert_int_equal(caller_may_ask(&caller, paths[i].path, &key), paths[i].may_ask);
        /* By the file alone, wherever it is. */
        _cleanup_close_ int fd = openat(tree->fd, paths[i].path, O_PATH | O_CLOEXEC);
        if (fd >= 0)
            assert_int_equal(caller_may_open(&caller, fd), !strstr(paths[i].path, "roots"));
    }
    assert_int_equal(backing_key_at(tree->backing, tree->fd, "roots", &roots), 0);
    assert_int_equal(caller_may_ask(&caller, "everyones", &roots), INDEX_NAME_REFUSED);
    caller_done(&caller);
}

static void test_caller__checks_a_directory_held_without_being_open(void **state)
{
    if (geteuid() != 0)
        skip();
    struct tree *tree = *state;
    _cleanup_close_ int closed = openat(tree->fd, "closed", O_PATH | O_CLOEXEC);
    struct caller caller;
    assert_int_equal(caller_init(&caller, tree->backing, USER, GROUP, NULL, 0), 0);
    assert_int_equal(caller_access(&caller, closed, "", X_OK), -EACCES);
    caller_done(&caller);
    assert_int_equal(caller_init(&caller, tree->backing, 0, 0, NULL, 0), 0);
    assert_int_equal(caller_access(&caller, closed, "", X_OK), 0);
    caller_done(&caller);
}

static void *look_as_user(void *user)
{
    struct tree *tree = user;
    struct caller caller;
    const gid_t groups[] = {OTHER_GROUP};
    bool *saw = calloc(1, sizeof(*saw));
    if (caller_init(&caller, tree->backing, USER, GROUP, groups, 1) == 0) {
        for (int i = 0; i < 2000; i++)
            *saw |= may_read(&caller, "roots");
        caller_done(&caller);
    }
    return saw;
}

static void test_caller__leaves_thread_and_process_as_they_were(void **state)
{
    if (geteuid() != 0)
        skip();
    struct tree *tree = *state;
    const int n_groups = getgroups(0, NULL);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, look_as_user, tree), 0);
    struct caller self;
    assert_int_equal(caller_init(&self, tree->backing, 0, 0, NULL, 0), 0);
    for (int i = 0; i < 2000; i++) { /* while the other thread switches */
        _cleanup_close_ int fd = openat(tree->fd, "roots", O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(caller_access(&self, tree->fd, "users", R_OK), 0);
    }
    caller_done(&self);
    void *saw;
    pthread_join(other, &saw);
    assert_false(*(bool *)saw);
    free(saw);

    struct caller caller;
    assert_int_equal(caller_init(&caller, tree->backing, USER, GROUP, NULL, 0), 0);
    assert_false(may_read(&caller, "roots"));
    caller_done(&caller);
    assert_int_equal(setfsuid((uid_t)-1), 0);
    assert_int_equal(setfsgid((gid_t)-1), getegid());
    assert_int_equal(getgroups(0, NULL), n_groups);
    /* The rights that pass modes by are back: this file's mode lets only USER read. */
    _cleanup_close_ int fd = openat(tree->fd, "users", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
}

static void test_caller__numbers_tell_identities_apart(void **state)
{
    (void)state;
    enum { N = 6 };
    const gid_t groups[] = {GROUP, OTHER_GROUP};
    const struct caller callers[N] = {
        {.all = true},
        {.uid = USER, .gid = GROUP},
        {.uid = USER, .gid = OTHER_GROUP},
        {.uid = USER + 1, .gid = GROUP},
        {.uid = USER, .gid = GROUP, .groups = (gid_t *)groups, .n_groups = 1},
        {.uid = USER, .gid = GROUP, .groups = (gid_t *)groups, .n_groups = 2},
    };
    static struct caller_numbers numbers;
    caller_numbers_init(&numbers);
    uint64_t first[N];
    for (size_t i = 0; i < N; i++)
        first[i] = caller_number(&numbers, &callers[i]);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            assert_int_equal(caller_number(&numbers, &callers[i]) == first[j], i == j);
    /* Who is forgotten for others is never taken for one of them. */
    for (uid_t i = 0; i < 3 * CALLERS_REMEMBERED; i++) {
        uint64_t number = caller_number(&numbers, &(struct caller){.uid = USER + 10 + i});
        for (size_t j = 0; j < N; j++)
            assert_int_not_equal(number, first[j]);
    }
    assert_int_not_equal(caller_number(&numbers, &callers[1]), first[1]);
    caller_numbers_done(&numbers);
}

static void test_caller__a_user_of_many_identities_has_none_of_another_forgotten(void **state)
{
    (void)state;
    static struct caller_numbers numbers;
    caller_numbers_init(&numbers);
    const struct caller other = {.uid = USER + 1, .gid = GROUP};
    const uint64_t number = caller_number(&numbers, &other);
    for (gid_t i = 0; i < 3 * CALLERS_REMEMBERED; i++)
        (void)caller_number(&numbers, &(struct caller){.uid = USER, .gid = i});
    assert_int_equal(caller_number(&numbers, &other), number);
    caller_numbers_done(&numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_caller__sees_what_the_kernel_lets_that_user_read),
        cmocka_unit_test(test_caller__has_no_capability_where_a_change_of_user_leaves_them),
        cmocka_unit_test(test_caller__may_ask_about_what_can_be_reached_and_read),
        cmocka_unit_test(test_caller__checks_a_directory_held_without_being_open),
        cmocka_unit_test(test_caller__leaves_thread_and_process_as_they_were),
        cmocka_unit_test(test_caller__numbers_tell_identities_apart),
        cmocka_unit_test(test_caller__a_user_of_many_identities_has_none_of_another_forgotten),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
