/* Inodes without a name are reached by a descriptor that is kept. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/inodes/inode_path.h"
#include "tests/lib/fixtures/inode_fixture.h"

/* A thread of its own does it (fs/inodes/late_close.h). */
static bool is_closed_soon(int fd)
{
    for (int i = 0; i < 10000; i++) {
        if (fcntl(fd, F_GETFD) < 0)
            return true;
        usleep(1000);
    }
    return false;
}

static bool are_unpinned_soon(void)
{
    for (int i = 0; i < 10000 && table.path_fds.n_pinned; i++)
        usleep(1000);
    return !table.path_fds.n_pinned;
}

static void test_inode__what_lost_its_last_name_is_reached_until_it_is_forgotten(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(1);
    assert_int_equal(mkdirat(root, "d", 0700), 0);
    assert_int_equal(linkat(root, "0", root, "other", 0), 0);
    struct inode *file = look_up("0"), *dir = look_up("d");
    remove_through(table.root, "0", 0);
    forget_descriptors();
    if (!file->by_name)
        assert_int_equal(file->path->fd.fd, -1); /* it has another name */
    look_up("other");
    remove_through(table.root, "other", 0);
    remove_through(table.root, "d", AT_REMOVEDIR);
    forget_descriptors();
    assert_int_equal(reach(file), 0);
    assert_int_equal(reach(dir), 0);
    int file_fd = file->path->fd.fd, dir_fd = dir->path->fd.fd;
    inode_forget(&table, file, 2);
    inode_forget(&table, dir, 1);
    assert_true(is_closed_soon(file_fd));
    assert_true(is_closed_soon(dir_fd));
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__what_was_replaced_by_a_rename_is_reached(void **state)
{
    (void)state;
    make_files(2);
    struct inode *a = look_up("0"), *b = look_up("1");
    rename_through(table.root, "0", table.root, "1", 0);
    forget_descriptors();
    assert_int_equal(reach(a), 0);
    assert_int_equal(reach(b), 0);
    inode_forget(&table, b, 1);
    assert_ptr_equal(look_up("1"), a);
    inode_forget(&table, a, 2);
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__a_file_made_without_a_name_is_pinned_until_it_has_one(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    _cleanup_close_ int fd = openat(root, ".", O_TMPFILE | O_RDWR, 0600);
    if (fd < 0)
        skip();
    struct inode *inode;
    struct stat st;
    assert_int_equal(inode_lookup_fd(&table, NULL, NULL, fd, &inode, &st), 0);
    inode_pin(&table, inode, fd);
    forget_descriptors();
    assert_int_equal(reach(inode), 0);
    assert_true(inode->path->fd.pinned);
    assert_int_equal(linkat(AT_FDCWD, proc_path_of(fd).text, root, "name", AT_SYMLINK_FOLLOW), 0);
    inode_path_linked(&table, inode);
    assert_ptr_equal(look_up("name"), inode);
    assert_false(inode->path->fd.pinned);
    forget_descriptors();
    assert_int_equal(reach(inode), 0);
    inode_forget(&table, inode, 2);
}

static void test_inode__no_more_are_pinned_than_may_be(void **state)
{
    (void)state;
    make_files(2);
    table.path_fds.n_pinned_max = 1;
    struct inode *a = look_up("0"), *b = look_up("1");
    remove_through(table.root, "0", 0);
    remove_through(table.root, "1", 0);
    forget_descriptors();
    assert_int_equal(table.path_fds.n_pinned, 1);
    assert_int_equal(reach(a), 0);
    assert_int_equal(reach(b), -ESTALE);
    inode_forget(&table, a, 1);
    inode_forget(&table, b, 1);
    assert_true(are_unpinned_soon());
    assert_int_equal(table.n_inodes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_lost_its_last_name_is_reached_until_it_is_forgotten),
        TEST(what_was_replaced_by_a_rename_is_reached),
        TEST(a_file_made_without_a_name_is_pinned_until_it_has_one),
        TEST(no_more_are_pinned_than_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
