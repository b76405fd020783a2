/* Inodes that are searched for while others look up, remove and rename. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/inodes/inode_path.h"
#include "tests/lib/fixtures/inode_fixture.h"

/* It is called when a directory is listed next, once. */
static void (*at_next_listing)(void);

/* Stands before the C library's. */
DIR *fdopendir(int fd)
{
    DIR *(*real)(int) = (DIR * (*)(int)) dlsym(RTLD_NEXT, "fdopendir");
    void (*call)(void) = at_next_listing;
    at_next_listing = NULL;
    if (call)
        call();
    return real(fd);
}

/* The file is in home, which is renamed x beside the mount. */
static struct inode *led_file, *led_home, *led_away;

static void see_led_file(struct inode *parent, const char *dir, const char *name)
{
    struct inode *seen = NULL;
    struct stat st;
    _cleanup_close_ int dirfd = openat(backing_root_fd(backing), dir, O_PATH | O_DIRECTORY);
    assert_int_equal(look_up_at(parent, dirfd, name, &seen, &st), 0);
    assert_ptr_equal(seen, led_file);
}

static void forget_where_it_was_last(void)
{
    int root = backing_root_fd(backing);
    assert_int_equal(unlinkat(root, "away/f", 0), 0);
    see_led_file(led_home, "x", "g"); /* the only name there is */
    inode_forget(&table, led_away, 1);
}

static void see_it_elsewhere(void)
{
    int root = backing_root_fd(backing);
    assert_int_equal(linkat(root, "x/f", root, "away/f", 0), 0);
    see_led_file(led_away, "away", "f");
    assert_int_equal(renameat(root, "x/f", root, "x/g"), 0);
    at_next_listing = forget_where_it_was_last;
}

/* Lookups do not wait for a search, and one may see the file in another directory, which then goes.
 */
static void test_inode__what_is_searched_for_is_in_the_directory_searched(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(1);
    assert_int_equal(mkdirat(root, "home", 0700), 0);
    assert_int_equal(mkdirat(root, "away", 0700), 0);
    assert_int_equal(renameat(root, "0", root, "home/f"), 0);
    led_away = look_up("away");
    led_home = look_up("home");
    led_file = look_up_in(led_home, "f");
    assert_int_equal(renameat(root, "home", root, "x"), 0);
    forget_descriptors();
    at_next_listing = see_it_elsewhere;
    assert_int_equal(reach(led_file), 0);
    assert_null(at_next_listing);
    assert_int_equal(table.n_inodes, 2);
    assert_ptr_equal(led_file->path->places->parent, led_home);
    assert_string_equal(led_file->path->places->name, "g");
    assert_null(led_file->path->places->next);
    inode_forget(&table, led_file, led_file->n_lookups);
    inode_forget(&table, led_home, 1);
    assert_int_equal(table.n_inodes, 0);
}

static void *remove_another(void *user)
{
    remove_through(table.root, "1", 0);
    return user;
}

static void remove_another_meanwhile(void)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, remove_another, NULL), 0);
    pthread_join(thread, NULL);
}

/* A directory may be as large as its owner likes. */
static void test_inode__others_remove_while_one_is_searched_for(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(2);
    struct inode *file = look_up("0");
    assert_int_equal(renameat(root, "0", root, "moved"), 0);
    forget_descriptors();
    at_next_listing = remove_another_meanwhile;
    assert_int_equal(reach(file), 0);
    assert_null(at_next_listing);
    assert_int_equal(faccessat(root, "1", F_OK, 0), -1);
    inode_forget(&table, file, 1);
    assert_int_equal(table.n_inodes, 0);
}

/* A file system below may take as long as it likes to rename something. */
static void test_inode__what_is_being_renamed_is_reached_as_is_what_has_to_be_found(void **state)
{
    (void)state;
    struct inode_change change;
    int root = backing_root_fd(backing);
    make_files(2);
    assert_int_equal(mkdirat(root, "a", 0700), 0);
    assert_int_equal(mkdirat(root, "b", 0700), 0);
    assert_int_equal(linkat(root, "1", root, "a/f", 0), 0);
    struct inode *lost = look_up("0"), *a = look_up("a"), *b = look_up("b");
    struct inode *f = look_up_in(a, "f");
    assert_ptr_equal(look_up("1"), f);
    assert_ptr_equal(look_up_in(a, "f"), f); /* the place that is tried first */
    assert_int_equal(renameat(root, "0", root, "moved"), 0);
    forget_descriptors();

    struct inode_fd to = INODE_FD_NONE;
    assert_true(inode_borrow_fd(&table, b, &to) >= 0);
    inode_rename_begin(&table, root, "a", to.fd, "c", &change);
    assert_int_equal(reach(lost), 0);
    assert_int_equal(reach(f), 0);
    assert_int_equal(renameat(root, "a", to.fd, "c"), 0);
    inode_table_shed(&table);
    assert_int_equal(reach(lost), 0);
    assert_int_equal(reach(a), 0);
    assert_int_equal(reach(f), 0);
    inode_rename_end(&table, &change, table.root, "a", b, "c", 0, true);
    inode_return_fd(&to);
    assert_int_equal(unlinkat(root, "1", 0), 0); /* it is left only where a was moved to */
    forget_descriptors();
    assert_int_equal(reach(f), 0);

    inode_forget(&table, f, 3);
    inode_forget(&table, a, 1);
    inode_forget(&table, b, 1);
    inode_forget(&table, lost, 1);
    assert_int_equal(table.n_inodes, 0);
}

static struct inode_change led_change;

static void begin_to_rename_led_file(void)
{
    int root = backing_root_fd(backing);
    _cleanup_close_ int from = openat(root, "home", O_PATH), to = openat(root, "away", O_PATH);
    assert_int_equal(renameat(from, "g", from, "f"), 0); /* the name that was tried in vain */
    inode_rename_begin(&table, from, "f", to, "f", &led_change);
    assert_int_equal(renameat(from, "f", to, "f"), 0);
}

static void end_to_rename_led_file(void)
{
    inode_rename_end(&table, &led_change, led_home, "f", led_away, "f", 0, true);
    inode_table_shed(&table);
}

static void rename_led_file(void)
{
    begin_to_rename_led_file();
    end_to_rename_led_file();
}

static void reach_led_file_while(void (*renamed)(void))
{
    int root = backing_root_fd(backing);
    make_files(1);
    assert_int_equal(renameat(root, "0", root, "home/f"), 0);
    led_file = look_up_in(led_home, "f");
    assert_int_equal(renameat(root, "home/f", root, "home/g"), 0);
    forget_descriptors();
    at_next_listing = renamed;
    assert_int_equal(reach(led_file), 0);
    assert_null(at_next_listing);
}

/* The search comes too late, and the new place is not taken for wrong. */
static void test_inode__what_is_renamed_while_it_is_searched_for_is_reached(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    assert_int_equal(mkdirat(root, "home", 0700), 0);
    assert_int_equal(mkdirat(root, "away", 0700), 0);
    led_away = look_up("away");
    led_home = look_up("home");
    reach_led_file_while(rename_led_file);
    inode_forget(&table, led_file, 1);
    reach_led_file_while(begin_to_rename_led_file);
    end_to_rename_led_file();
    inode_forget(&table, led_file, 1);
    inode_forget(&table, led_home, 1);
    inode_forget(&table, led_away, 1);
    assert_int_equal(table.n_inodes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_inode__what_is_searched_for_is_in_the_directory_searched, set_up_by_name,
            tear_down),
        cmocka_unit_test_setup_teardown(test_inode__others_remove_while_one_is_searched_for,
                                        set_up_by_name, tear_down),
        TEST(what_is_being_renamed_is_reached_as_is_what_has_to_be_found),
        cmocka_unit_test_setup_teardown(
            test_inode__what_is_renamed_while_it_is_searched_for_is_reached, set_up_by_name,
            tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
