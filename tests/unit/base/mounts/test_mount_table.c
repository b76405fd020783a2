#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/mounts/mount_table.h"

static char path[] = "/tmp/kinfs-test.XXXXXX";

static int setup(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_text(const char *text)
{
    _cleanup_close_ int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void open_text(const char *text, struct mount_table *ret_table)
{
    write_text(text);
    assert_int_equal(mount_table_open(ret_table, path), 0);
}

static void test_mount_table__fields_are_told_apart(void **state)
{
    (void)state;
    _cleanup_(mount_table_done) struct mount_table table = {0};
    struct mount_row row;
    open_text("40 21 8:50 /sub /mnt rw,nosuid - fuse.kinfs /srv rw,user_id=7\n", &table);
    assert_int_equal(mount_table_next(&table, &row), 1);
    assert_int_equal(row.id, 40);
    assert_int_equal(row.parent_id, 21);
    assert_int_equal(row.device, makedev(8, 50));
    assert_string_equal(row.root, "/sub");
    assert_string_equal(row.point, "/mnt");
    assert_string_equal(row.flags, "rw,nosuid");
    assert_string_equal(row.type, "fuse.kinfs");
    assert_string_equal(row.source, "/srv");
    assert_string_equal(row.options, "rw,user_id=7");
    assert_int_equal(mount_table_next(&table, &row), 0);
}

static void test_mount_table__optional_fields_are_passed_over(void **state)
{
    (void)state;
    _cleanup_(mount_table_done) struct mount_table table = {0};
    struct mount_row row;
    open_text("1 0 8:1 / / rw - ext4 none rw\n"
              "2 1 8:1 / / rw shared:1 - ext4 one rw\n"
              "3 2 8:1 / / rw shared:1 master:2 propagate_from:3 unbindable - ext4 four rw\n",
              &table);
    static const char *const sources[] = {"none", "one", "four"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(mount_table_next(&table, &row), 1);
        assert_int_equal(row.id, i + 1);
        assert_string_equal(row.flags, "rw");
        assert_string_equal(row.type, "ext4");
        assert_string_equal(row.source, sources[i]);
        assert_string_equal(row.options, "rw");
    }
}

/* A mount point may hold what stands before a type. */
static void test_mount_table__names_are_unescaped(void **state)
{
    (void)state;
    _cleanup_(mount_table_done) struct mount_table table = {0};
    struct mount_row row;
    open_text("1 0 0:1 /a\\011b /x\\040-\\040fuse\\012y rw - tmpfs c\\134040d\\043 rw\n"
              "2 1 0:1 / /\\377\\4a0\\40 rw - tmpfs \\ rw\n",
              &table);
    assert_int_equal(mount_table_next(&table, &row), 1);
    assert_string_equal(row.root, "/a\tb");
    assert_string_equal(row.point, "/x - fuse\ny");
    assert_string_equal(row.type, "tmpfs");
    assert_string_equal(row.source, "c\\040d#");
    /* three digits of at most 377, or the backslash is one */
    assert_int_equal(mount_table_next(&table, &row), 1);
    assert_string_equal(row.point, "/\377\\4a0\\40");
    assert_string_equal(row.source, "\\");
}

static void test_mount_table__a_mount_is_found(void **state)
{
    (void)state;
    _cleanup_(mount_table_done) struct mount_table found = {0}, none = {0};
    struct mount_row row = {0};
    write_text("1 0 0:1 / / rw - tmpfs a rw\n"
               "12 1 0:2 / /b rw - tmpfs b rw\n"
               "2 1 0:3 / /c rw - tmpfs c rw");
    assert_int_equal(mount_table_find(&found, path, 2, &row), 0);
    assert_string_equal(row.source, "c");
    assert_int_equal(mount_table_find(&none, path, 3, &row), -ENOENT);
    assert_int_equal(row.id, 2);
}

static void test_mount_table__other_files_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"\n", "one two\n", "1 2 3:4 / /x rw no separator\n",
                                        "1 2 here / /x rw - tmpfs none rw\n",
                                        "1 2 3:4 / /x rw - tmpfs\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        _cleanup_(mount_table_done) struct mount_table table = {0};
        struct mount_row row;
        write_text(texts[i]);
        assert_int_equal(mount_table_find(&table, path, 9, &row), -EINVAL);
    }
    _cleanup_(mount_table_done) struct mount_table directory, none;
    assert_int_equal(mount_table_find(&none, "/nonexistent", 1, NULL), -ENOENT);
    assert_int_equal(mount_table_open(&directory, "/"), 0);
    assert_int_equal(mount_table_next(&directory, &(struct mount_row){0}), -EISDIR);
}

static void test_mount_table__the_kernels_own_is_read(void **state)
{
    (void)state;
    _cleanup_(mount_table_done) struct mount_table table = {0};
    struct mount_row row;
    int r;
    assert_int_equal(mount_table_open(&table, NULL), 0);
    while ((r = mount_table_next(&table, &row)) > 0)
        assert_int_equal(row.point[0], '/');
    assert_int_equal(r, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mount_table__fields_are_told_apart),
        cmocka_unit_test(test_mount_table__optional_fields_are_passed_over),
        cmocka_unit_test(test_mount_table__names_are_unescaped),
        cmocka_unit_test(test_mount_table__a_mount_is_found),
        cmocka_unit_test(test_mount_table__other_files_are_refused),
        cmocka_unit_test(test_mount_table__the_kernels_own_is_read),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
