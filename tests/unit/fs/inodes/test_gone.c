#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "fs/inodes/inode.h"

enum { THREAD = 1000, OTHER = 1001, MANY = 2000, USER = 1, STRANGER = 2 };

static struct gone gone;
static struct late_close *late;
static struct inode inodes[GONE_MARKS + 1];

static int set_up(void **state)
{
    (void)state;
    if (late_close_new(&late) < 0)
        return -1;
    gone_init(&gone, late);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gone_done(&gone);
    late_close_free(late, 10000);
    gone_ask(0, USER);
    return 0;
}

static bool is_back(const struct inode *inode)
{
    gone_ask(THREAD, USER);
    return gone_is_back(&gone, inode);
}

static bool is_back_for(const char *name, const struct inode *inode)
{
    gone_ask(THREAD, USER);
    gone_ask_name(name);
    return gone_is_back(&gone, inode);
}

static void tell(pid_t thread, const struct inode *inode)
{
    gone_ask(thread, USER);
    gone_tell(&gone, inode);
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* Another thread does it (fs/inodes/late_close.h). */
static bool is_closed_soon(int fd)
{
    for (int i = 0; i < 10000 && is_open(fd); i++)
        usleep(1000);
    return !is_open(fd);
}

static void test_gone__who_was_told_comes_back_once(void **state)
{
    (void)state;
    assert_false(is_back(&inodes[0]));
    tell(THREAD, &inodes[0]);
    assert_false(is_back(&inodes[1]));
    assert_true(is_back(&inodes[0]));
    assert_true(gone_is_back(&gone, &inodes[0])); /* the same request */
    assert_false(is_back(&inodes[0]));
    tell(THREAD, &inodes[0]);
    assert_true(is_back(&inodes[0]));
}

static void test_gone__nobody_else_comes_back_with_him(void **state)
{
    (void)state;
    tell(OTHER, &inodes[0]);
    assert_false(is_back(&inodes[0]));
    gone_ask(OTHER, STRANGER); /* its number is another's thread by now */
    assert_false(gone_is_back(&gone, &inodes[0]));
    tell(0, &inodes[1]); /* nobody who could come back */
    gone_ask(0, USER);
    assert_false(gone_is_back(&gone, &inodes[1]));
    assert_int_equal(gone.n_marks, 1);
}

static void test_gone__a_call_looks_up_two_names_and_does_one_thing(void **state)
{
    (void)state;
    tell(THREAD, &inodes[0]);
    assert_true(is_back_for("a", &inodes[0]));
    assert_true(is_back_for("b", &inodes[0]));
    assert_true(is_back(&inodes[0]));
    assert_false(is_back_for("c", &inodes[0]));
    tell(THREAD, &inodes[0]);
    assert_true(is_back_for("a", &inodes[0]));
    assert_false(is_back_for("a", &inodes[0])); /* another call */
    tell(THREAD, &inodes[0]);
    assert_true(is_back_for("a", &inodes[0]));
    assert_true(is_back_for("b", &inodes[0]));
    assert_false(is_back_for("c", &inodes[0]));
}

static void test_gone__what_he_finds_then_is_kept_for_him(void **state)
{
    (void)state;
    int first = open("/", O_PATH), second = open("/", O_PATH), kept = first, other = second;
    gone_ask(THREAD, USER);
    gone_found(&gone, &inodes[1], &kept);
    assert_int_equal(kept, first); /* nobody was told of anything */
    tell(THREAD, &inodes[0]);
    gone_ask(OTHER, USER);
    gone_found(&gone, &inodes[1], &kept);
    assert_int_equal(kept, first);
    gone_ask(THREAD, USER);
    gone_found(&gone, &inodes[1], &kept);
    assert_int_equal(kept, -1);
    gone_found(&gone, &inodes[2], &other); /* the last one */
    assert_true(is_closed_soon(first));
    assert_int_equal(gone_take(&gone, &inodes[1]), -1);
    assert_true(gone_is_back(&gone, &inodes[2]));
    assert_int_equal(gone_take(&gone, &inodes[2]), second);
    assert_true(gone_is_back(&gone, &inodes[2])); /* by another descriptor */
    assert_int_equal(gone_take(&gone, &inodes[2]), -1);
    gone_over(&gone);
    assert_false(gone_is_back(&gone, &inodes[2]));
    assert_int_equal(gone.n_marks, 0);
    close(second);
}

static void test_gone__of_what_is_freed_nothing_is_kept(void **state)
{
    (void)state;
    int fd = open("/", O_PATH), kept = fd;
    tell(THREAD, &inodes[0]);
    gone_found(&gone, &inodes[1], &kept);
    gone_forget(&gone, &inodes[2]);
    assert_true(is_open(fd));
    gone_forget(&gone, &inodes[1]);
    assert_true(is_closed_soon(fd));
    assert_false(gone_is_back(&gone, &inodes[1])); /* another at the same address */
    assert_int_equal(gone_take(&gone, &inodes[1]), -1);
    gone_forget(&gone, &inodes[0]);
    assert_false(is_back(&inodes[0]));
}

static void test_gone__of_too_many_that_are_to_be_closed_nothing_is_kept(void **state)
{
    (void)state;
    int fd = open("/", O_PATH), kept = fd;
    tell(THREAD, &inodes[0]);
    atomic_fetch_add(&gone.n_late, GONE_MARKS);
    gone_found(&gone, &inodes[1], &kept);
    assert_int_equal(kept, fd);
    atomic_fetch_sub(&gone.n_late, GONE_MARKS);
    gone_found(&gone, &inodes[1], &kept);
    assert_int_equal(kept, -1);
    gone_over(&gone);
    assert_true(is_closed_soon(fd));
}

static void test_gone__too_many_at_once_forget_the_oldest(void **state)
{
    (void)state;
    int fd = open("/", O_PATH), kept = fd;
    tell(THREAD, &inodes[0]);
    gone_found(&gone, &inodes[1], &kept);
    gone.marks[0].told_ms--; /* the oldest */
    for (pid_t i = 1; i <= GONE_MARKS; i++)
        tell(THREAD + i, &inodes[i]);
    assert_int_equal(gone.n_marks, GONE_MARKS);
    assert_true(is_closed_soon(fd));
    assert_false(is_back(&inodes[0]));
    gone_ask(THREAD + GONE_MARKS, USER);
    assert_true(gone_is_back(&gone, &inodes[GONE_MARKS]));
}

static void test_gone__who_has_many_at_once_forgets_nobody_elses(void **state)
{
    (void)state;
    tell(THREAD, &inodes[0]);
    gone.marks[0].told_ms--; /* the oldest */
    for (pid_t i = 0; i < 2 * GONE_MARKS; i++) {
        gone_ask(MANY + i, STRANGER);
        gone_tell(&gone, &inodes[1]);
    }
    assert_int_equal(gone.n_marks, GONE_MARKS);
    tell(OTHER, &inodes[2]);
    assert_true(is_back(&inodes[0]));
    gone_ask(OTHER, USER);
    assert_true(gone_is_back(&gone, &inodes[2]));
}

static void test_gone__old_marks_end_whoever_asks(void **state)
{
    enum { LONG_MS = 10000 };
    (void)state;
    int fd = open("/", O_PATH), kept = fd;
    tell(THREAD, &inodes[0]);
    gone_found(&gone, &inodes[1], &kept);
    gone.marks[0].told_ms -= LONG_MS;
    gone_ask(OTHER, USER);
    assert_false(gone_is_back(&gone, &inodes[0]));
    assert_true(is_closed_soon(fd));
    assert_int_equal(gone.n_marks, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_gone__##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(who_was_told_comes_back_once),
        TEST(nobody_else_comes_back_with_him),
        TEST(a_call_looks_up_two_names_and_does_one_thing),
        TEST(what_he_finds_then_is_kept_for_him),
        TEST(of_what_is_freed_nothing_is_kept),
        TEST(of_too_many_that_are_to_be_closed_nothing_is_kept),
        TEST(too_many_at_once_forget_the_oldest),
        TEST(who_has_many_at_once_forgets_nobody_elses),
        TEST(old_marks_end_whoever_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
