/* Inodes: looked up, counted and forgotten. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/lib/fixtures/inode_fixture.h"

/* Closings under the table's lock, which one thread alone takes then; and others, those by the
 * threads that close late among them. */
static atomic_size_t n_closed, n_closed_locked;
static pthread_t main_thread;

/* Stands before the C library's. */
int close(int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");
    bool is_locked = false;
    if (pthread_equal(pthread_self(), main_thread)) {
        is_locked = pthread_mutex_trylock(&table.lock) != 0;
        if (!is_locked)
            pthread_mutex_unlock(&table.lock);
    }
    n_closed_locked += is_locked;
    n_closed += !is_locked;
    return real(fd);
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

static void *look_up_and_forget(void *user)
{
    unsigned seed = (unsigned)(uintptr_t)user;
    char name[16];
    uintptr_t wrong = 0;
    for (int i = 0; i < N_ROUNDS; i++) {
        struct inode *inode;
        struct stat st;
        struct inode_fd fd = INODE_FD_NONE;
        /* Few names, so that a lookup often meets the last forget of the same inode. */
        snprintf(name, sizeof(name), "%d", rand_r(&seed) % 3);
        if (look_up_at(table.root, backing_root_fd(backing), name, &inode, &st) < 0) {
            wrong++;
            continue;
        }
        wrong += inode->ino != st.st_ino;
        wrong += inode_borrow_fd(&table, inode, &fd) < 0 || fstat(fd.fd, &st) < 0 ||
                 inode->ino != st.st_ino;
        inode_return_fd(&fd);
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
    _cleanup_close_ int lowest = open("/dev/null", O_RDONLY);
    assert_true(lowest < 100);
    for (size_t i = 0; i < N_FILES; i++) {
        snprintf(name, sizeof(name), "%zu", i);
        assert_ptr_equal(look_up(name), inodes[i]);
        inode_forget(&table, inodes[i], 2);
    }
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__descriptors_are_closed_without_the_lock(void **state)
{
    enum { N = 200 };
    (void)state;
    struct inode *inodes[N];
    char name[16];
    n_closed_locked = 0;
    main_thread = pthread_self();
    for (size_t i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "%zu", i);
        assert_int_equal(mkdirat(backing_root_fd(backing), name, 0700), 0);
        /* All stay open at first; then there is no room for any more. */
        table.path_fds.n_max = i < N - 1 ? N : 2;
        n_closed = 0;
        inodes[i] = look_up(name);
    }
    while (table.path_fds.n_open > 2)
        assert_int_equal(reach(inodes[0]), 0);
    assert_true(n_closed >= N - 2);
    table.path_fds.n_max = N;
    for (size_t i = 0; i < N; i++)
        assert_int_equal(reach(inodes[i]), 0);
    assert_int_equal(table.path_fds.n_open, N);
    n_closed = 0;
    assert_true(inode_table_shed(&table));
    assert_int_equal(table.path_fds.n_open, 0);
    assert_true(n_closed >= N);
    assert_false(inode_table_shed(&table));
    assert_int_equal(n_closed_locked, 0);
    for (size_t i = 0; i < N; i++)
        inode_forget(&table, inodes[i], 1);
}

static size_t longest_chain(size_t *ret_n_all)
{
    size_t longest = 0;
    *ret_n_all = 0;
    for (size_t i = 0; i < table.n_buckets; i++) {
        size_t n = 0;
        for (const struct inode *inode = table.buckets[i]; inode; inode = inode->next)
            n++;
        longest = n > longest ? n : longest;
        *ret_n_all += n;
    }
    return longest;
}

static void assert_newest(struct inode *wanted, const struct file_key *key)
{
    struct inode *inode = inode_get(&table, key);
    assert_ptr_equal(inode, wanted);
    if (inode)
        inode_unref(&table, inode);
}

/* As a number that is used again and again beside the mount, while the kernel knows what had it
 * before: each is of another owner and time than the next. */
static void test_inode__those_that_had_a_key_before_are_in_nobodys_way(void **state)
{
    (void)state;
    static struct inode *inodes[N_FILES];
    struct inode **all;
    uid_t owner = 0;
    int64_t born_ns = 0;
    size_t n;
    make_files(1);
    for (size_t i = 0; i < N_FILES; i++) {
        inodes[i] = look_up("0");
        assert_int_equal(inodes[i]->n_lookups, 1);
        assert_ptr_equal(look_up("0"), inodes[i]);
        assert_newest(inodes[i], &inodes[i]->key);
        owner = inodes[i]->owner;
        born_ns = inodes[i]->born_ns;
        inodes[i]->owner += 1 + (uid_t)i;
        inodes[i]->born_ns += 1 + (int64_t)i;
    }
    const struct file_key key = inodes[0]->key;
    assert_int_equal(table.n_inodes, N_FILES);
    assert_true(table.n_buckets >= N_FILES);
    assert_true(longest_chain(&n) < 20);
    assert_int_equal(n, N_FILES);
    assert_int_equal(inode_get_all(&table, &all, &n), 0);
    assert_int_equal(n, N_FILES);
    for (size_t i = 0; i < n; i++) {
        assert_true(file_key_equal(&all[i]->key, &key));
        inode_unref(&table, all[i]);
    }
    free(all);

    /* Whichever goes first: the others stay, and are found as before. */
    for (size_t i = 1; i < N_FILES; i += 2) {
        assert_newest(inodes[N_FILES - 1], &key);
        inode_forget(&table, inodes[N_FILES - 1 - i], 2);
    }
    inode_forget(&table, inodes[N_FILES - 1], 2);
    assert_newest(NULL, &key);
    struct inode *newest = look_up("0");
    assert_newest(newest, &key);
    for (size_t i = 1; i < N_FILES - 1; i += 2) {
        inodes[i]->owner = owner;
        inodes[i]->born_ns = born_ns;
        assert_int_equal(reach(inodes[i]), 0);
        inode_forget(&table, inodes[i], 2);
        assert_newest(newest, &key);
    }
    inode_forget(&table, newest, 1);
    assert_int_equal(table.n_inodes, 0);
    assert_int_equal(longest_chain(&n), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_names_of_a_file_are_one_inode),
        TEST(the_root_is_never_forgotten),
        TEST(threads_that_look_up_and_forget_leave_nothing),
        TEST(many_are_found_again_and_take_no_descriptors),
        TEST(descriptors_are_closed_without_the_lock),
        TEST(those_that_had_a_key_before_are_in_nobodys_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
