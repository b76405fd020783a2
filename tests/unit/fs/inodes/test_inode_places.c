/* Inodes are reached wherever their names are moved. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/inodes/inode_path.h"
#include "tests/lib/fixtures/inode_fixture.h"

static void test_inode__it_is_reached_after_a_rename_and_not_after_the_last_unlink(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(1);
    struct inode *inode = look_up("0");
    forget_descriptors();
    assert_int_equal(renameat(root, "0", root, "elsewhere"), 0);
    assert_int_equal(reach(inode), 0);
    _cleanup_close_ int own = inode_open(&table, inode, O_RDWR);
    assert_true(own >= 0);

    close_p(&own);
    own = -1;
    /* Not through a descriptor either that is still there: it would be of no use to anybody. */
    assert_int_equal(unlinkat(root, "elsewhere", 0), 0);
    assert_int_equal(reach(inode), -ESTALE);
    assert_int_equal(reach(inode), -ESTALE);
    inode_forget(&table, inode, 1);
}

static void test_inode__names_that_change_through_the_mount_are_followed(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(1);
    assert_int_equal(mkdirat(root, "a", 0700), 0);
    assert_int_equal(mkdirat(root, "a/b", 0700), 0);
    assert_int_equal(mkdirat(root, "c", 0700), 0);
    assert_int_equal(mkdirat(root, "e", 0700), 0);
    assert_int_equal(linkat(root, "0", root, "a/b/f", 0), 0);
    struct inode *a = look_up("a"), *b = look_up_in(a, "b"), *c = look_up("c"), *e = look_up("e");
    struct inode *f = look_up_in(b, "f");
    assert_ptr_equal(look_up("0"), f);
    /* The kernel forgets directories before what is in them. */
    inode_forget(&table, b, 1);
    forget_descriptors();
    assert_int_equal(reach(f), 0);

    remove_through(table.root, "0", 0); /* the name seen last */
    rename_through(table.root, "a", c, "moved", 0);
    forget_descriptors();
    assert_int_equal(reach(f), 0);
    rename_through(c, "moved", table.root, "e", RENAME_EXCHANGE);
    forget_descriptors();
    assert_int_equal(reach(f), 0);
    forget_descriptors();
    assert_int_equal(reach(e), 0);
    rename_through(a, "b", table.root, "b", RENAME_NOREPLACE);
    forget_descriptors();
    assert_int_equal(reach(f), 0);

    inode_forget(&table, f, 2);
    inode_forget(&table, a, 1);
    inode_forget(&table, c, 1);
    inode_forget(&table, e, 1);
    assert_int_equal(table.n_inodes, 0);
}

static char told[32];

static int tell_path(void *user, const struct file_key *key, char **ret_path)
{
    (void)user;
    (void)key;
    *ret_path = strdup(told);
    return 0;
}

static void test_inode__what_moved_beside_the_mount_is_found(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(2);
    assert_int_equal(mkdirat(root, "a", 0700), 0);
    assert_int_equal(mkdirat(root, "a/b", 0700), 0);
    assert_int_equal(renameat(root, "0", root, "a/b/f"), 0);
    struct inode *a = look_up("a"), *b = look_up_in(a, "b"), *f = look_up_in(b, "f");

    /* In the same directories. */
    assert_int_equal(renameat(root, "a", root, "x"), 0);
    assert_int_equal(renameat(root, "x/b", root, "x/y"), 0);
    assert_int_equal(renameat(root, "x/y/f", root, "x/y/g"), 0);
    forget_descriptors();
    assert_int_equal(reach(f), 0);

    /* By another name it was seen under. */
    assert_int_equal(linkat(root, "x/y/g", root, "link", 0), 0);
    assert_ptr_equal(look_up("link"), f);
    assert_int_equal(unlinkat(root, "link", 0), 0);
    forget_descriptors();
    assert_int_equal(reach(f), 0);

    /* Elsewhere, as the index says; something else has the name. */
    assert_int_equal(renameat(root, "x/y", root, "z"), 0);
    assert_int_equal(mkdirat(root, "x/y", 0700), 0);
    forget_descriptors();
    const int expected = f->by_name ? -ESTALE : 0;
    assert_int_equal(reach(f), expected);
    table.find_path = tell_path;
    strcpy(told, "z");
    assert_int_equal(reach(f), 0);
    forget_descriptors();
    strcpy(told, "1"); /* what is told is another file */
    assert_int_equal(reach(f), expected);
    strcpy(told, "/");
    assert_int_equal(reach(f), expected);

    /* Back again. */
    assert_int_equal(unlinkat(root, "x/y", AT_REMOVEDIR), 0);
    assert_int_equal(renameat(root, "z", root, "x/b"), 0);
    assert_int_equal(reach(f), 0);
    inode_forget(&table, f, 2);
    inode_forget(&table, b, 1);
    inode_forget(&table, a, 1);
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__directories_moved_into_each_other_make_no_circle(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    assert_int_equal(mkdirat(root, "a", 0700), 0);
    assert_int_equal(mkdirat(root, "a/b", 0700), 0);
    struct inode *a = look_up("a"), *b = look_up_in(a, "b");
    assert_int_equal(renameat(root, "a/b", root, "b"), 0);
    assert_int_equal(renameat(root, "a", root, "b/a"), 0);
    assert_ptr_equal(look_up_in(b, "a"), a); /* b's place is in a still */
    forget_descriptors();
    const int expected = a->by_name ? -ELOOP : 0;
    assert_int_equal(reach(a), expected);
    assert_ptr_equal(look_up("b"), b);
    forget_descriptors();
    assert_int_equal(reach(a), 0);
    inode_forget(&table, a, 2);
    inode_forget(&table, b, 2);
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__one_deeper_than_any_path_is_reached_and_forgotten(void **state)
{
    (void)state;
    enum { DEPTH = 3000 };
    static struct inode *inodes[DEPTH];
    struct inode *parent = table.root;
    for (size_t i = 0; i < DEPTH; i++) {
        struct inode_fd dir = INODE_FD_NONE;
        assert_true(inode_borrow_fd(&table, parent, &dir) >= 0);
        assert_int_equal(mkdirat(dir.fd, "d", 0700), 0);
        inode_return_fd(&dir);
        parent = inodes[i] = look_up_in(parent, "d");
    }
    forget_descriptors();
    assert_int_equal(reach(parent), 0);
    for (size_t i = 0; i < DEPTH; i++)
        inode_forget(&table, inodes[i], 1);
    assert_int_equal(table.n_inodes, 0);
}

/* Directories that take each other's place while what is in them is reached. */
static void *exchange(void *user)
{
    (void)user;
    uintptr_t wrong = 0;
    for (int i = 0; i < N_ROUNDS / 10; i++) {
        struct inode_change change;
        int root = backing_root_fd(backing);
        inode_rename_begin(&table, root, "a", root, "b", &change);
        int r = renameat2(root, "a", root, "b", RENAME_EXCHANGE);
        inode_rename_end(&table, &change, table.root, "a", table.root, "b", RENAME_EXCHANGE,
                         r == 0);
        wrong += r != 0;
        if (i % 16 == 0)
            inode_table_shed(&table);
    }
    return (void *)wrong;
}

static void *reach_files(void *user)
{
    struct inode *const *files = user;
    uintptr_t wrong = 0;
    for (int i = 0; i < N_ROUNDS / 10; i++) {
        struct inode_fd fd = INODE_FD_NONE;
        wrong += inode_borrow_fd(&table, files[i % 2], &fd) < 0;
        inode_return_fd(&fd);
        inode_table_shed(&table);
    }
    return (void *)wrong;
}

static void test_inode__threads_reach_what_others_rename(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(2);
    assert_int_equal(mkdirat(root, "a", 0700), 0);
    assert_int_equal(mkdirat(root, "b", 0700), 0);
    assert_int_equal(renameat(root, "0", root, "a/f"), 0);
    assert_int_equal(renameat(root, "1", root, "b/g"), 0);
    struct inode *dirs[2] = {look_up("a"), look_up("b")};
    struct inode *files[2] = {look_up_in(dirs[0], "f"), look_up_in(dirs[1], "g")};
    pthread_t threads[3];
    assert_int_equal(pthread_create(&threads[0], NULL, exchange, NULL), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, reach_files, files), 0);
    assert_int_equal(pthread_create(&threads[2], NULL, reach_files, files), 0);
    for (size_t i = 0; i < 3; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    for (size_t i = 0; i < 2; i++) {
        inode_forget(&table, files[i], 1);
        inode_forget(&table, dirs[i], 1);
    }
    assert_int_equal(table.n_inodes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_reached_after_a_rename_and_not_after_the_last_unlink),
        TEST(names_that_change_through_the_mount_are_followed),
        TEST(what_moved_beside_the_mount_is_found),
        TEST(directories_moved_into_each_other_make_no_circle),
        TEST(one_deeper_than_any_path_is_reached_and_forgotten),
        TEST(threads_reach_what_others_rename),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
