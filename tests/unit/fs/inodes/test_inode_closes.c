/* Descriptors that may be the last of removed inodes are closed by other threads, for as long as
 * that takes, and count until then. */
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
#include "fs/inodes/open_file.h"
#include "tests/lib/fixtures/inode_fixture.h"

enum { N = 100, KEPT = 8 };

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_opened = PTHREAD_COND_INITIALIZER;
static bool is_shut;

static int close_behind_gate(int fd)
{
    {
        LOCKED(&gate_lock);
        while (is_shut)
            pthread_cond_wait(&gate_opened, &gate_lock);
    }
    return close(fd);
}

static void shut_gate(void)
{
    is_shut = true;
    table.late->close_fd = close_behind_gate;
}

static void open_gate(void)
{
    LOCKED(&gate_lock);
    is_shut = false;
    pthread_cond_broadcast(&gate_opened);
}

static size_t n_late_and_pinned(void)
{
    return table.path_fds.n_late + table.path_fds.n_pinned;
}

static void expect_all_closed_soon(void)
{
    for (int i = 0; i < 10000 && n_late_and_pinned(); i++)
        usleep(1000);
    assert_int_equal(n_late_and_pinned(), 0);
}

static struct inode *make_directory(size_t no)
{
    char name[16];
    snprintf(name, sizeof(name), "%zu", no);
    assert_int_equal(mkdirat(backing_root_fd(backing), name, 0700), 0);
    return look_up(name);
}

static void remove_beside(size_t no)
{
    char name[16];
    snprintf(name, sizeof(name), "%zu", no);
    assert_int_equal(unlinkat(backing_root_fd(backing), name, AT_REMOVEDIR), 0);
}

/* Of a cache of so many a quarter more may wait to be closed. */
static void test_inode__who_looks_up_waits_for_no_close_of_what_was_removed(void **state)
{
    struct inode *inodes[N];
    (void)state;
    table.path_fds.n_max = KEPT;
    shut_gate();
    for (size_t i = 0; i < N; i++) {
        inodes[i] = make_directory(i);
        assert_true(table.path_fds.n_open <= KEPT + 1);
        assert_true(table.path_fds.n_open + table.path_fds.n_late <= KEPT + KEPT / 4 + 1);
        if (i < N / 2)
            remove_beside(i);
    }
    assert_int_equal(table.path_fds.n_late, KEPT / 4 + 1);
    for (size_t i = N / 2; i < N; i++)
        assert_int_equal(reach(inodes[i]), 0);
    for (size_t i = 0; i < N; i++)
        inode_forget(&table, inodes[i], 1);
    assert_int_equal(table.path_fds.n_open, 0);
    open_gate();
    expect_all_closed_soon();
}

static void test_inode__what_is_forgotten_is_pinned_until_it_is_closed(void **state)
{
    struct inode *inodes[N];
    char name[16];
    (void)state;
    table.path_fds.n_pinned_max = N / 2;
    for (size_t i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "%zu", i);
        inodes[i] = make_directory(i);
        remove_through(table.root, name, AT_REMOVEDIR);
    }
    shut_gate();
    assert_int_equal(table.path_fds.n_pinned, N / 2);
    for (size_t i = 0; i < N; i++)
        inode_forget(&table, inodes[i], 1);
    assert_int_equal(table.n_inodes, 0);
    assert_int_equal(table.path_fds.n_pinned, N / 2);
    open_gate();
    expect_all_closed_soon();
}

/* Where descriptors have run out those of what has a name are there at once, the others later. */
static void test_inode__what_has_a_name_is_shed_at_once(void **state)
{
    (void)state;
    table.path_fds.n_max = KEPT;
    struct inode *named = make_directory(0), *removed = make_directory(1);
    const int named_fd = named->path->fd.fd, removed_fd = removed->path->fd.fd;
    remove_beside(1);
    shut_gate();
    assert_true(inode_table_shed(&table));
    assert_int_equal(fcntl(named_fd, F_GETFD), -1);
    assert_int_not_equal(fcntl(removed_fd, F_GETFD), -1);
    assert_int_equal(table.path_fds.n_late, 1);
    assert_false(inode_table_shed(&table));
    open_gate();
    expect_all_closed_soon();
    assert_int_equal(fcntl(removed_fd, F_GETFD), -1);
    inode_forget(&table, named, 1);
    inode_forget(&table, removed, 1);
}

/* As the watch does, which looks at what others change. */
static void test_inode__what_is_returned_late_is_closed_by_another_thread(void **state)
{
    (void)state;
    make_files(1);
    struct inode *inode = look_up("0");
    struct inode_fd fd = INODE_FD_NONE;
    forget_descriptors();
    expect_all_closed_soon();
    assert_true(inode_borrow_fd(&table, inode, &fd) >= 0);
    const int number = fd.fd;
    assert_int_equal(unlinkat(backing_root_fd(backing), "0", 0), 0);
    shut_gate();
    inode_return_fd_late(&fd);
    inode_forget(&table, inode, 1);
    assert_int_not_equal(fcntl(number, F_GETFD), -1);
    assert_int_equal(table.path_fds.n_late, 1);
    open_gate();
    expect_all_closed_soon();
    assert_int_equal(fcntl(number, F_GETFD), -1);
}

/* Closes the listing of a directory that is there or not, whose closes its owner may make slow. */
/* The reader of events would wait for one that is being freed. */
static void test_inode__what_is_open_is_borrowed_and_nothing_opened(void **state)
{
    struct inode_fd fd = INODE_FD_NONE, held = INODE_FD_NONE;
    (void)state;
    make_files(1);
    struct inode *file = look_up("0"), *directory = make_directory(1);
    forget_descriptors();
    expect_all_closed_soon();
    assert_int_equal(inode_borrow_open(&table, file, &fd), -ESTALE);
    assert_int_equal(inode_borrow_open(&table, directory, &fd), -ESTALE);
    assert_int_equal(table.path_fds.n_open, 0);
    assert_true(inode_borrow_open(&table, table.root, &fd) >= 0);
    inode_return_fd_late(&fd);
    assert_true(inode_borrow_fd(&table, directory, &held) >= 0);
    assert_int_equal(inode_borrow_open(&table, directory, &fd), held.fd);
    inode_return_fd_late(&fd);
    inode_return_fd(&held);
    inode_forget(&table, file, 1);
    inode_forget(&table, directory, 1);
}

static void expect_closed(const char *name, bool removed, uid_t payer, bool is_last, bool at_once)
{
    assert_int_equal(mkdirat(backing_root_fd(backing), name, 0700), 0);
    const int fd = openat(backing_root_fd(backing), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    if (removed)
        assert_int_equal(unlinkat(backing_root_fd(backing), name, AT_REMOVEDIR), 0);
    assert_true(user_room_enter(&table.descriptors, payer, 1));
    shut_gate();
    inode_close_paid(&table, fd, payer, is_last);
    assert_int_equal(fcntl(fd, F_GETFD) == -1, at_once);
    open_gate();
    for (int i = 0; i < 10000 && fcntl(fd, F_GETFD) != -1; i++)
        usleep(1000);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    if (!removed)
        assert_int_equal(unlinkat(backing_root_fd(backing), name, AT_REMOVEDIR), 0);
}

/* So nobody's room for descriptors waits for what another makes slow, where no thread would. */
static void test_inode__what_may_be_the_last_of_a_removed_directory_is_paid_for(void **state)
{
    (void)state;
    const uid_t owner = geteuid(), other = owner + 1;
    expect_closed("a", false, owner, true, true);
    expect_closed("b", false, other, false, true);
    expect_closed("c", true, other, false, true);
    expect_closed("d", true, owner, false, false);
    expect_closed("e", true, other, true, false);
}

/* Neither the watch nor the end of the mount waits for the owner of a file that another has open.
 */
static void test_inode__anothers_removed_file_is_closed_by_another_thread(void **state)
{
    const uid_t payer = geteuid() + 1;
    (void)state;
    make_files(1);
    const int fd = openat(backing_root_fd(backing), "0", O_RDONLY | O_CLOEXEC);
    struct open_file *file = malloc(sizeof(*file));
    assert_true(fd >= 0 && file);
    *file = (struct open_file){.fd = fd, .payer = payer, .table = &table, .n_refs = 1};
    assert_true(user_room_enter(&table.descriptors, payer, 1));
    assert_int_equal(unlinkat(backing_root_fd(backing), "0", 0), 0);
    shut_gate();
    open_file_unref_late(file);
    assert_int_not_equal(fcntl(fd, F_GETFD), -1);
    open_gate();
    for (int i = 0; i < 10000 && fcntl(fd, F_GETFD) != -1; i++)
        usleep(1000);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static bool has_room(uid_t payer)
{
    size_t n_most = table.descriptors.n_max / 2;
    if (!user_room_enter(&table.descriptors, payer, n_most))
        return false;
    user_room_leave(&table.descriptors, payer, n_most);
    return true;
}

/* Any number of listings may be closed while one that was removed takes its time. */
static void test_inode__what_is_held_for_a_listing_has_a_bound_when_it_is_closed(void **state)
{
    enum { MANY = 1000 };
    const uid_t payer = geteuid() + 1;
    struct inode_fd fd = INODE_FD_NONE;
    (void)state;
    struct inode *named = make_directory(0), *removed = make_directory(1);
    table.path_fds.n_max = KEPT;
    forget_descriptors();
    expect_all_closed_soon();
    shut_gate();
    assert_true(has_room(payer));
    for (size_t i = 0; i < 2; i++) {
        struct inode *inode = i ? removed : named;
        assert_true(inode_borrow_fd(&table, inode, &fd) >= 0);
        const int number = fd.fd;
        assert_true(user_room_enter(&table.descriptors, payer, 1));
        if (i)
            remove_beside(1);
        atomic_fetch_add(&table.path_fds.n_late, MANY);
        inode_return_fd_paid(&table, &fd, payer);
        atomic_fetch_sub(&table.path_fds.n_late, MANY);
        assert_int_equal(fcntl(number, F_GETFD) == -1, !i);
        assert_int_equal(table.path_fds.n_late, i);
        assert_int_equal(has_room(payer), !i);
    }
    open_gate();
    expect_all_closed_soon();
    for (int i = 0; i < 10000 && !has_room(payer); i++)
        usleep(1000);
    assert_true(has_room(payer));
    /* One that the cache keeps is not paid for. */
    assert_true(inode_borrow_fd(&table, named, &fd) >= 0);
    assert_true(user_room_enter(&table.descriptors, payer, 1));
    inode_return_fd_paid(&table, &fd, payer);
    assert_int_equal(table.path_fds.n_open, 1);
    assert_true(has_room(payer));
    inode_forget(&table, named, 1);
    inode_forget(&table, removed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_looks_up_waits_for_no_close_of_what_was_removed),
        TEST(what_is_forgotten_is_pinned_until_it_is_closed),
        TEST(what_has_a_name_is_shed_at_once),
        TEST(what_is_returned_late_is_closed_by_another_thread),
        TEST(what_may_be_the_last_of_a_removed_directory_is_paid_for),
        TEST(what_is_open_is_borrowed_and_nothing_opened),
        TEST(anothers_removed_file_is_closed_by_another_thread),
        TEST(what_is_held_for_a_listing_has_a_bound_when_it_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
