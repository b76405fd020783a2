/* What the kernel was told of an inode. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>

#include "base/cleanup.h"
#include "tests/lib/fixtures/inode_fixture.h"

static void test_inode__the_kernel_is_known_to_be_told_until_the_file_changes(void **state)
{
    (void)state;
    make_files(1);
    struct inode *inode = look_up("0");
    struct stat st;
    assert_int_equal(fstatat(backing_root_fd(backing), "0", &st, 0), 0);
    inode_tell(&table, inode, &st);
    assert_true(inode_is_told(inode, &st));
    st.st_size++;
    assert_false(inode_is_told(inode, &st));
    st.st_size--;
    st.st_mtim.tv_nsec ^= 1;
    assert_false(inode_is_told(inode, &st));
    inode_forget(&table, inode, 1);
}

static void test_inode__a_reply_that_tells_of_a_change_may_be_under_way(void **state)
{
    (void)state;
    make_files(1);
    struct inode *inode = look_up("0");
    struct stat st;
    assert_int_equal(fstatat(backing_root_fd(backing), "0", &st, 0), 0);
    inode_tell(&table, inode, &st); /* the first: the kernel kept nothing before */
    assert_true(inode_is_surely_told(inode, &st));
    st.st_size++;
    st.st_ctim.tv_nsec ^= 1;
    assert_false(inode_is_surely_told(inode, &st));
    inode_tell(&table, inode, &st);
    assert_true(inode_is_told(inode, &st));
    assert_false(inode_is_surely_told(inode, &st));
    inode_note_closed(&table, inode, &st); /* written through the mount: the kernel knows */
    assert_true(inode_is_surely_told(inode, &st));
    st.st_ctim.tv_nsec ^= 1;
    assert_false(inode_is_surely_told(inode, &st));
    inode_tell_asking(inode, &st);
    assert_true(inode_is_surely_told(inode, &st));
    inode_tell(&table, inode, &st); /* the same again */
    assert_true(inode_is_surely_told(inode, &st));
    inode_forget(&table, inode, 1);
}

static void test_inode__what_a_reply_told_of_a_change_holds_until_anything_changes(void **state)
{
    (void)state;
    make_files(1);
    int dirfd = backing_root_fd(backing);
    struct inode *inode = look_up("0");
    struct stat st, now;
    assert_int_equal(fstatat(dirfd, "0", &st, 0), 0);
    assert_false(inode_is_changed_as(&table, inode, &st));
    inode_changed(&table, inode, &st);
    assert_true(inode_is_changed_as(&table, inode, &st));
    /* A mode seen to differ within one tick of a coarse clock; and what leaves a ctime only. */
    now = st;
    now.st_mode ^= S_IRGRP;
    assert_false(inode_is_changed_as(&table, inode, &now));
    do {
        assert_int_equal(fchmodat(dirfd, "0", st.st_mode & 07777, 0), 0);
        assert_int_equal(fstatat(dirfd, "0", &now, 0), 0);
    } while (now.st_ctim.tv_sec == st.st_ctim.tv_sec && now.st_ctim.tv_nsec == st.st_ctim.tv_nsec);
    assert_false(inode_is_changed_as(&table, inode, &now));
    inode_forget(&table, inode, 1);
}

/* The kernel asks about what it was told of only when it has the reply that told of it. */
static void test_inode__the_reply_that_made_it_has_arrived_when_another_is_told(void **state)
{
    (void)state;
    int dirfd = backing_root_fd(backing);
    _cleanup_close_ int fd = openat(dirfd, "made", O_CREAT | O_EXCL | O_WRONLY, 0600);
    struct inode *inode;
    struct stat st;
    assert_int_equal(inode_lookup_fd(&table, table.root, "made", fd, &inode, &st), 0);
    inode_tell(&table, inode, &st);
    assert_true(inode->changed_ms > 0);
    inode_tell(&table, inode, &st);
    assert_int_equal(inode->changed_ms, 0);
    /* Not so of a change of what is known: who asks may have asked before it. */
    inode_change_begin(&table, inode, NULL);
    for (int i = 0; i < 3; i++)
        inode_tell(&table, inode, &st);
    assert_true(inode->changed_ms > 0);
    inode_forget(&table, inode, 1);
}

static void test_inode__the_reply_that_made_it_may_be_late_for_another_name(void **state)
{
    (void)state;
    int dirfd = backing_root_fd(backing);
    assert_int_equal(mkdirat(dirfd, "directory", 0700), 0);
    struct inode *directory = look_up("directory"), *inode, *again;
    struct stat st;
    _cleanup_close_ int fd = openat(dirfd, "made", O_CREAT | O_EXCL | O_WRONLY, 0600);
    assert_int_equal(inode_lookup_fd(&table, table.root, "made", fd, &inode, &st), 0);
    inode_tell_entry(&table, inode, table.root, &st);
    inode_tell_entry(&table, inode, directory, &st);
    for (int i = 0; i < 3; i++)
        inode_tell(&table, inode, &st);
    assert_true(inode->changed_ms > 0);
    /* Known by another name before it was told to have been made. */
    assert_int_equal(inode_lookup_fd(&table, table.root, "made", fd, &again, &st), 0);
    assert_ptr_equal(inode, again);
    for (int i = 0; i < 3; i++)
        inode_tell_entry(&table, inode, table.root, &st);
    assert_true(inode->changed_ms > 0);
    inode_forget(&table, inode, 2);
    inode_forget(&table, directory, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_kernel_is_known_to_be_told_until_the_file_changes),
        TEST(a_reply_that_tells_of_a_change_may_be_under_way),
        TEST(what_a_reply_told_of_a_change_holds_until_anything_changes),
        TEST(the_reply_that_made_it_has_arrived_when_another_is_told),
        TEST(the_reply_that_made_it_may_be_late_for_another_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
