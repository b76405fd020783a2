#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "tools/questions/mounts.h"

static int read_text(const char *text, struct mounts *ret_mounts)
{
    char path[] = "/tmp/kinfs-test.XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    int r = mounts_read(path, ret_mounts);
    unlink(path);
    return r;
}

static void test_mounts__the_kernels_lines_are_understood(void **state)
{
    (void)state;
    _cleanup_(mounts_done) struct mounts mounts = {0};
    assert_int_equal(
        read_text("21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
                  "40 21 0:50 / /mnt/my\\040doc rw,nosuid shared:7 master:2 - fuse.kinfs "
                  "/srv/a\\134b rw,user_id=0\n"
                  "41 21 0:50 /sub /else rw - fuse.kinfs /srv rw\n"
                  "42 21 0:51 / /else rw - tmpfs none rw\n",
                  &mounts),
        0);
    assert_int_equal(mounts.n_mounts, 4);
    assert_int_equal(mounts.mounts[1].id, 40);
    assert_string_equal(mounts.mounts[1].point, "/mnt/my doc");
    assert_string_equal(mounts.mounts[1].source, "/srv/a\\b");
    assert_true(mount_is_kinfs(&mounts.mounts[1]));
    assert_false(mount_is_kinfs(&mounts.mounts[0]));
    assert_string_equal(mounts.mounts[2].root, "/sub");
    assert_int_equal(mounts.mounts[1].device, makedev(0, 50));
    assert_int_equal(mounts.mounts[1].device, mounts.mounts[2].device);
    /* the uppermost of two */
    assert_string_equal(mounts_at(&mounts, "/else")->type, "tmpfs");
    assert_null(mounts_at(&mounts, "/nothing"));
}

static void test_mounts__another_users_is_not_trusted(void **state)
{
    (void)state;
    _cleanup_(mounts_done) struct mounts mounts = {0};
    char text[1024];
    const unsigned own = geteuid(), other = own + 1;
    snprintf(text, sizeof(text),
             "40 21 0:50 / /own rw shared:7 - fuse.kinfs /srv rw,user_id=%u,group_id=0\n"
             "41 21 0:51 / /root rw - fuse.kinfs /srv rw,user_id=0,allow_other\n"
             "42 21 0:52 / /other rw - fuse.kinfs /srv rw,user_id=%u,user_id=%u\n"
             "43 21 0:53 / /silent rw - fuse.kinfs /srv rw\n"
             "44 21 0:54 / /named\\040-\\040fuse.kinfs rw - fuse /srv,user_id=0 rw,user_id=%u\n"
             "45 21 0:55 / /disk rw - ext4 /srv rw,user_id=%u\n",
             own, own, other, other, own);
    assert_int_equal(read_text(text, &mounts), 0);
    static const bool expected[] = {true, true, false, false, false, false};
    assert_int_equal(mounts.n_mounts, 6);
    for (size_t i = 0; i < mounts.n_mounts; i++)
        assert_int_equal(mount_is_trusted(&mounts.mounts[i]), expected[i]);
    assert_false(mount_is_trusted(NULL));
    assert_int_equal(mounts.mounts[2].user, other);
}

static void test_mounts__other_files_are_refused(void **state)
{
    (void)state;
    struct mounts mounts;
    assert_int_equal(read_text("one two\n", &mounts), -EINVAL);
    assert_int_equal(read_text("1 2 3:4 / /x rw no separator\n", &mounts), -EINVAL);
    assert_int_equal(read_text("1 2 here / /x rw - tmpfs none rw\n", &mounts), -EINVAL);
    assert_int_equal(mounts_read("/nonexistent", &mounts), -ENOENT);
}

static void test_mounts__the_root_directory_is_in_a_mount(void **state)
{
    (void)state;
    _cleanup_(mounts_done) struct mounts mounts = {0};
    const struct mount *mount = NULL;
    assert_int_equal(mounts_read(NULL, &mounts), 0);
    _cleanup_close_ int fd = open("/", O_PATH | O_CLOEXEC);
    int r = mounts_of_open(&mounts, fd, &mount);
    if (r == -ENOENT) {       /* a changed root whose mount is not in the table */
        mounts_done(&mounts); /* skip() returns to nobody */
        skip();
    }
    assert_int_equal(r, 0);
    assert_string_equal(mount->point, "/");
}

static void test_mounts__within_goes_by_components(void **state)
{
    (void)state;
    const char *rest = NULL;
    assert_true(path_within("/a/b/c", "/a/b", &rest));
    assert_string_equal(rest, "c");
    assert_true(path_within("/a/b", "/a/b", &rest));
    assert_string_equal(rest, "");
    assert_true(path_within("/a/b", "/", &rest));
    assert_string_equal(rest, "a/b");
    assert_true(path_within("/", "/", &rest));
    assert_false(path_within("/a/bc", "/a/b", &rest));
    assert_false(path_within("/a", "/a/b", &rest));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mounts__the_kernels_lines_are_understood),
        cmocka_unit_test(test_mounts__another_users_is_not_trusted),
        cmocka_unit_test(test_mounts__other_files_are_refused),
        cmocka_unit_test(test_mounts__the_root_directory_is_in_a_mount),
        cmocka_unit_test(test_mounts__within_goes_by_components),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
