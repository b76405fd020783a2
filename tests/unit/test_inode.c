#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/inode.h"

enum { N_FILES = 3000, N_THREADS = 4, N_ROUNDS = 20000 };

static char dir[64];
static struct backing *backing;
static struct inode_table table;

static void make_files(size_t n_files)
{
    char name[16];
    for (size_t i = 0; i < n_files; i++) {
        snprintf(name, sizeof(name), "%zu", i);
        close(openat(backing_root_fd(backing), name, O_CREAT | O_WRONLY, 0600));
    }
}

static struct inode *look_up(const char *name)
{
    struct inode *inode = NULL;
    struct stat st;
    assert_int_equal(inode_lookup(&table, backing_root_fd(backing), name, &inode, &st), 0);
    assert_int_equal(inode->ino, st.st_ino);
    return inode;
}

static int set_up(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/test_inode.XXXXXX");
    if (!mkdtemp(dir) || backing_open(dir, &backing) < 0)
        return -1;
    return inode_table_init(&table, backing);
}

static int tear_down(void **state)
{
    (void)state;
    char command[100];
    inode_table_done(&table);
    backing_close(backing);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

static void test_inode__all_names_of_a_file_are_one_inode(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(2);
    assert_int_equal(linkat(root, "0", root, "other", 0), 0);
    struct inode *a = look_up("0"), *b = look_up("other"), *c = look_up("1");
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_int_equal(a->n_lookups, 2);
    assert_int_equal(table.n_inodes, 2);
    inode_forget(&table, a, 1);
    assert_int_equal(table.n_inodes, 2);
    inode_forget(&table, a, 1);
    inode_forget(&table, c, 1);
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__the_root_is_never_forgotten(void **state)
{
    (void)state;
    inode_forget(&table, table.root, 1000);
    struct inode_fd fd = INODE_FD_NONE;
    assert_true(inode_borrow_fd(&table, table.root, &fd) >= 0);
    inode_return_fd(&fd);
}

static void test_inode__it_is_reached_after_a_rename_and_not_after_the_last_unlink(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(1);
    struct inode *inode = look_up("0");
    assert_int_equal(renameat(root, "0", root, "elsewhere"), 0);
    struct stat st;
    struct inode_fd fd = INODE_FD_NONE;
    assert_true(inode_borrow_fd(&table, inode, &fd) >= 0);
    assert_int_equal(fstat(fd.fd, &st), 0);
    assert_int_equal(st.st_ino, inode->ino);
    inode_return_fd(&fd);
    assert_int_equal(fd.fd, -1);
    _cleanup_close_ int own = inode_open(&table, inode, O_RDWR);
    assert_true(own >= 0);

    close_p(&own);
    own = -1;
    assert_int_equal(unlinkat(root, "elsewhere", 0), 0);
    if (backing_has_handles(backing))
        assert_int_equal(inode_borrow_fd(&table, inode, &fd), -ESTALE);
    inode_forget(&table, inode, 1);
}

static void test_inode__the_kernel_is_known_to_be_told_until_the_file_changes(void **state)
{
    (void)state;
    make_files(1);
    struct inode *inode = look_up("0");
    struct stat st;
    assert_int_equal(fstatat(backing_root_fd(backing), "0", &st, 0), 0);
    inode_tell(&table, inode, &st);
    assert_true(inode_is_told(&table, inode, &st));
    st.st_size++;
    assert_false(inode_is_told(&table, inode, &st));
    st.st_size--;
    st.st_mtim.tv_nsec ^= 1;
    assert_false(inode_is_told(&table, inode, &st));
    inode_forget(&table, inode, 1);
}

static void *look_up_and_forget(void *user)
{
    unsigned seed = (unsigned)(uintptr_t)user;
    char name[16];
    uintptr_t wrong = 0;
    for (int i = 0; i < N_ROUNDS; i++) {
        struct inode *inode;
        struct stat st;
        /* Few names, so that a lookup often meets the last forget of the same inode. */
        snprintf(name, sizeof(name), "%d", rand_r(&seed) % 3);
        if (inode_lookup(&table, backing_root_fd(backing), name, &inode, &st) < 0) {
            wrong++;
            continue;
        }
        wrong += inode->ino != st.st_ino;
        inode_forget(&table, inode, 1);
    }
    return (void *)wrong;
}

static void test_inode__threads_that_look_up_and_forget_leave_nothing(void **state)
{
    (void)state;
    pthread_t threads[N_THREADS];
    make_files(3);
    for (uintptr_t i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_up_and_forget, (void *)(i + 1)), 0);
    for (size_t i = 0; i < N_THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__many_are_found_again_and_take_no_descriptors(void **state)
{
    (void)state;
    static struct inode *inodes[N_FILES];
    char name[16];
    make_files(N_FILES);
    for (size_t i = 0; i < N_FILES; i++) {
        snprintf(name, sizeof(name), "%zu", i);
        inodes[i] = look_up(name);
    }
    assert_int_equal(table.n_inodes, N_FILES);
    if (backing_has_handles(backing)) {
        _cleanup_close_ int lowest = open("/dev/null", O_RDONLY);
        assert_true(lowest < 100);
    }
    for (size_t i = 0; i < N_FILES; i++) {
        snprintf(name, sizeof(name), "%zu", i);
        assert_ptr_equal(look_up(name), inodes[i]);
        inode_forget(&table, inodes[i], 2);
    }
    assert_int_equal(table.n_inodes, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_inode__##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(all_names_of_a_file_are_one_inode),
        TEST(the_root_is_never_forgotten),
        TEST(it_is_reached_after_a_rename_and_not_after_the_last_unlink),
        TEST(the_kernel_is_known_to_be_told_until_the_file_changes),
        TEST(threads_that_look_up_and_forget_leave_nothing),
        TEST(many_are_found_again_and_take_no_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
