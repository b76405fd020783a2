/* The directory of a store: whose it is, who has it, and the exchange of databases under faults. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/index/index.h"
#include "engine/index/store_directory.h"
#include "tests/lib/scratch.h"

/* These take the place of the C library's in this program, and fail when told to. */
static int exchange_error, rename_error, rename_fails_after, sync_error;

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    if (exchange_error) {
        errno = exchange_error;
        return -1;
    }
    return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    if (rename_error && rename_fails_after-- == 0) {
        errno = rename_error;
        return -1;
    }
    return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

int fdatasync(int fd)
{
    if (sync_error) {
        errno = sync_error;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

static char root[64], tree[80], store[80];
static int tree_fd;

static int setup(void **state)
{
    (void)state;
    exchange_error = rename_error = rename_fails_after = sync_error = 0;
    scratch_make(root);
    snprintf(tree, sizeof(tree), "%s/tree", root);
    snprintf(store, sizeof(store), "%s/store", root);
    assert_int_equal(mkdir(tree, 0755), 0);
    tree_fd = open(tree, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(tree_fd >= 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close(tree_fd);
    scratch_remove(root);
    return 0;
}

static void assert_file(const char *path, const char *expected)
{
    char content[256] = "";
    FILE *in = fopen(path, "r");
    if (!in)
        fail_msg("%s: %s", path, strerror(errno));
    size_t n = fread(content, 1, sizeof(content) - 1, in);
    content[n] = '\0';
    fclose(in);
    assert_string_equal(content, expected);
}

static bool exists(const char *name)
{
    return access(scratch_path(store, "%s", name), F_OK) == 0;
}

static void assert_refused(const char *path, bool create, int code, const char *advice)
{
    char *error = NULL;
    int fd = -1;
    assert_int_equal(store_directory_take(path, tree, tree_fd, create, &fd, NULL, &error), code);
    assert_int_equal(fd, -1);
    assert_non_null(error);
    assert_non_null(strstr(error, path));
    assert_non_null(strstr(error, advice));
    assert_null(strchr(error, '\n'));
    free(error);
}

static int take(void)
{
    char *error = NULL;
    int fd = -1;
    if (store_directory_take(store, tree, tree_fd, true, &fd, NULL, &error) < 0)
        fail_msg("%s", error);
    return fd;
}

static void test_store_directory__somebody_elses_is_left_as_it_is(void **state)
{
    (void)state;
    static const char *const names[] = {"policy", "holder",     "control", "lock",
                                        "letter", "db.new/one", "db/one",  "db.old/one"};
    enum { N = sizeof(names) / sizeof(names[0]) };
    for (unsigned set = 1; set < 1u << N; set++) {
        assert_int_equal(mkdir(store, 0755), 0);
        for (unsigned i = 0; i < N; i++) {
            if (!(set >> i & 1))
                continue;
            if (i >= 5)
                mkdir(scratch_path(store, "%.*s", (int)strcspn(names[i], "/"), names[i]), 0755);
            scratch_write(scratch_path(store, "%s", names[i]), "precious");
        }
        assert_refused(store, true, -ENOTEMPTY, "empty or a new directory");
        assert_refused(store, false, -ENOTEMPTY, "empty or a new directory");
        for (unsigned i = 0; i < N; i++) {
            if (set >> i & 1)
                assert_file(scratch_path(store, "%s", names[i]), "precious");
            else
                assert_false(exists(names[i]));
        }
        scratch_remove(store);
    }
}

static void test_store_directory__the_tree_is_no_store(void **state)
{
    (void)state;
    const char *inside = scratch_path(tree, "inside"), *new = scratch_path(tree, "new");
    assert_refused(tree, true, -EINVAL, "new directory");
    assert_int_equal(mkdir(inside, 0755), 0);
    assert_refused(inside, true, -EINVAL, "does not exist yet");
    assert_int_equal(rmdir(inside), 0); /* still empty */
    for (int again = 0; again < 2; again++) {
        int fd = -1;
        assert_int_equal(store_directory_take(new, tree, tree_fd, true, &fd, NULL, NULL), 0);
        close(fd);
    }
}

static void test_store_directory__one_process_has_it(void **state)
{
    (void)state;
    assert_refused(store, false, -ENOENT, "--store");
    int fd = take();
    assert_refused(store, true, -EBUSY, "in use");
    assert_refused(store, false, -EBUSY, "in use");
    close(fd);
    close(take());
}

/* Who can open it could lock it. */
static void test_store_directory__its_lock_is_taken_from_others(void **state)
{
    (void)state;
    struct stat st;
    close(take());
    assert_int_equal(chmod(store, 0755), 0);
    assert_int_equal(chmod(scratch_path(store, "lock"), 0644), 0);
    close(take());
    assert_int_equal(stat(scratch_path(store, "lock"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void make_databases(const char *first, const char *second)
{
    const char *const names[] = {first, second};
    mkdir(store, 0700);
    for (int i = 0; i < 2; i++) {
        if (!names[i])
            continue;
        assert_int_equal(mkdir(scratch_path(store, "%s", names[i]), 0700), 0);
        scratch_write(scratch_path(store, "%s/TABLES", names[i]), names[i]);
    }
}

static void test_store_directory__an_exchange_puts_the_new_in_place(void **state)
{
    (void)state;
    static const int errors[] = {0, EINVAL, ENOSYS, EOPNOTSUPP};
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        exchange_error = errors[i];
        make_databases(STORE_DB, STORE_DB_NEW);
        assert_int_equal(store_directory_exchange(store), 0);
        assert_file(scratch_path(store, "db/TABLES"), STORE_DB_NEW);
        assert_false(exists(STORE_DB_NEW) || exists(STORE_DB_OLD));
        scratch_remove(store);
    }
    exchange_error = 0;
    make_databases(NULL, STORE_DB_NEW); /* the old one is lost */
    assert_int_equal(store_directory_exchange(store), 0);
    assert_file(scratch_path(store, "db/TABLES"), STORE_DB_NEW);
}

static void test_store_directory__an_exchange_that_fails_leaves_the_old(void **state)
{
    (void)state;
    static const struct {
        int exchange_error, rename_error, rename_fails_after, expected;
    } cases[] = {
        {EIO, 0, 0, -EIO}, {ENOSPC, 0, 0, -ENOSPC}, {EINVAL, EIO, 0, -EIO}, {EINVAL, EIO, 1, -EIO}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        exchange_error = cases[i].exchange_error;
        rename_error = cases[i].rename_error;
        rename_fails_after = cases[i].rename_fails_after;
        make_databases(STORE_DB, STORE_DB_NEW);
        assert_int_equal(store_directory_exchange(store), cases[i].expected);
        assert_file(scratch_path(store, "db/TABLES"), STORE_DB);
        scratch_remove(store);
    }
    exchange_error = 0;
    make_databases(STORE_DB, NULL); /* another took the new one away */
    assert_int_equal(store_directory_exchange(store), -ENOENT);
    assert_file(scratch_path(store, "db/TABLES"), STORE_DB);
}

static void test_store_directory__what_a_rebuild_left_is_cleaned_up(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *expected;
    } cases[] = {{STORE_DB, STORE_DB_NEW, STORE_DB},
                 {STORE_DB, STORE_DB_OLD, STORE_DB},
                 {STORE_DB_OLD, STORE_DB_NEW, STORE_DB_OLD}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make_databases(cases[i].first, cases[i].second);
        close(take());
        assert_file(scratch_path(store, "db/TABLES"), cases[i].expected);
        assert_false(exists(STORE_DB_NEW) || exists(STORE_DB_OLD));
        scratch_remove(store);
    }
}

static void test_store_directory__another_directory_in_a_database_is_left_alone(void **state)
{
    (void)state;
    static const char *const places[] = {"db.old/sub", "db.new/sub", "db.old/lost+found",
                                         "db.new/runs/sub"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        make_databases(STORE_DB, places[i][3] == 'o' ? STORE_DB_OLD : STORE_DB_NEW);
        const char *place = scratch_path(store, "%s", places[i]);
        mkdir(scratch_path(store, "%.*s/runs", 6, places[i]), 0700);
        scratch_write(scratch_path(store, "%.*s/runs/1.sst", 6, places[i]), "run");
        assert_int_equal(mkdir(place, 0700), 0);
        scratch_write(scratch_path(place, "%s", "file"), "precious");
        assert_refused(store, true, -EPERM, "is a directory, and should be a file; remove it");
        assert_file(scratch_path(place, "%s", "file"), "precious");
        assert_file(scratch_path(store, "%.*s/runs/1.sst", 6, places[i]), "run");
        scratch_remove(place);
        close(take());
        assert_false(exists(STORE_DB_NEW) || exists(STORE_DB_OLD));
        scratch_remove(store);
    }
}

/* It came to be while the directory was taken. */
static void test_store_directory__an_exchange_leaves_another_directory_alone(void **state)
{
    (void)state;
    static const int errors[] = {0, EINVAL};
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        exchange_error = errors[i];
        make_databases(STORE_DB, STORE_DB_NEW);
        assert_int_equal(mkdir(scratch_path(store, "db/sub"), 0700), 0);
        scratch_write(scratch_path(store, "db/sub/file"), "precious");
        assert_int_equal(store_directory_exchange(store), 0);
        assert_file(scratch_path(store, "db/TABLES"), STORE_DB_NEW);
        assert_file(scratch_path(store, "%s/sub/file", errors[i] ? STORE_DB_OLD : STORE_DB_NEW),
                    "precious");
        scratch_remove(store);
    }
}

/* -- a rebuild -- */

static struct index_options options;

static int open_now(void)
{
    struct index *index = NULL;
    char *error = NULL;
    int r = index_open(&options, &index, &error);
    free(error);
    index_close(index, 0);
    return r;
}

static void open_beside(void *user, const struct index_status *status)
{
    (void)status;
    ++*(int *)user;
    assert_int_equal(open_now(), -EBUSY);
    char *error = NULL;
    assert_int_equal(index_rebuild(&options, NULL, NULL, &error), -EBUSY);
    free(error);
}

static void break_the_disk(void *user, const struct index_status *status)
{
    (void)user;
    if (!status->scanning)
        sync_error = EIO;
}

static void make_store(void)
{
    assert_int_equal(backing_open(tree, &options.backing), 0);
    options = (struct index_options){
        .backing = options.backing, .source = tree, .store_path = store, .create = true};
    scratch_write(scratch_path(tree, "a"), "one two three four five six");
    assert_int_equal(open_now(), 0);
}

static void test_store_directory__nobody_gets_in_beside_a_rebuild(void **state)
{
    (void)state;
    int n_calls = 0;
    make_store();
    assert_int_equal(index_rebuild(&options, open_beside, &n_calls, NULL), 0);
    assert_true(n_calls >= 2);
    assert_int_equal(open_now(), 0);
    backing_close(options.backing);
}

static void test_store_directory__a_rebuild_that_cannot_be_synced_is_none(void **state)
{
    (void)state;
    struct stat before, after;
    make_store();
    assert_int_equal(stat(scratch_path(store, STORE_DB), &before), 0);
    assert_true(index_rebuild(&options, break_the_disk, NULL, NULL) < 0);
    sync_error = 0;
    assert_int_equal(stat(scratch_path(store, STORE_DB), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_false(exists(STORE_DB_NEW));
    assert_int_equal(open_now(), 0);
    backing_close(options.backing);
}

static void test_store_directory__a_damaged_stamp_is_rebuilt(void **state)
{
    (void)state;
    make_store();
    for (int lost = 0; lost < 2; lost++) {
        const char *stamp = scratch_path(store, "db/TABLES");
        if (lost)
            assert_int_equal(unlink(stamp), 0);
        else
            scratch_write(stamp, "");
        assert_int_equal(open_now(), -EUCLEAN);
        assert_int_equal(index_rebuild(&options, NULL, NULL, NULL), 0);
        assert_int_equal(open_now(), 0);
    }
    /* Not damage: what a later version made. */
    scratch_write(scratch_path(store, "db/TABLES"), "kinfs store 2\nmeta somehow\n");
    assert_int_equal(open_now(), -EPROTO);
    assert_int_equal(index_rebuild(&options, NULL, NULL, NULL), -EPROTO);
    assert_file(scratch_path(store, "db/TABLES"), "kinfs store 2\nmeta somehow\n");
    backing_close(options.backing);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_store_directory__##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(somebody_elses_is_left_as_it_is),
        TEST(the_tree_is_no_store),
        TEST(one_process_has_it),
        TEST(its_lock_is_taken_from_others),
        TEST(an_exchange_puts_the_new_in_place),
        TEST(an_exchange_that_fails_leaves_the_old),
        TEST(what_a_rebuild_left_is_cleaned_up),
        TEST(another_directory_in_a_database_is_left_alone),
        TEST(an_exchange_leaves_another_directory_alone),
        TEST(nobody_gets_in_beside_a_rebuild),
        TEST(a_rebuild_that_cannot_be_synced_is_none),
        TEST(a_damaged_stamp_is_rebuilt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
