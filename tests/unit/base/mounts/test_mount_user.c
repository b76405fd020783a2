/* Whose a mount is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/mounts/mount_user.h"

static void test_mount_user__is_what_the_kernel_wrote_last(void **state)
{
    (void)state;
    uid_t uid = 7;
    assert_int_equal(mount_user_of_options("fuse.kinfs", "rw,user_id=1000,group_id=5\n", &uid), 0);
    assert_int_equal(uid, 1000);
    assert_int_equal(mount_user_of_options("fuse", "rw,context=a,user_id=0,user_id=54322", &uid),
                     0);
    assert_int_equal(uid, 54322);
    assert_int_equal(mount_user_of_options("fuseblk", "rw,user_id=0", &uid), 0);
    assert_int_equal(mount_user_of_options("fuseblk.a", "rw,user_id=7", &uid), 0);
    assert_int_equal(uid, 7);
    assert_int_equal(mount_user_of_options("fusectl", "rw,user_id=7", &uid), 0);
    assert_int_equal(uid, 0);
    uid = 7;
    assert_int_equal(mount_user_of_options("ext4", "rw,user_id=9", &uid), 0);
    assert_int_equal(uid, 0);
    static const char *const none[] = {
        "",           "rw",         "rw,user_id=",        "user_id=-1",
        "user_id=1x", "xuser_id=1", "user_id=4294967295", "user_id=99999999999"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_int_equal(mount_user_of_options("fuse.kinfs", none[i], &uid), -ENOENT);
    assert_int_equal(mount_user_of_id(UINT64_MAX, &uid), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mount_user__is_what_the_kernel_wrote_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
