#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/unnamed_file.h"
#include "tests/lib/scratch.h"

static char dir[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/test_unnamed_file.XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(dir);
}

static void assert_unnamed(int fd)
{
    char read_back[5] = "";
    struct stat st;
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_nlink, 0);
    assert_int_equal(pwrite(fd, "text", 4, 8), 4);
    assert_int_equal(pread(fd, read_back, 4, 8), 4);
    assert_string_equal(read_back, "text");
    close(fd);
}

static void test_unnamed_file__leaves_no_name(void **state)
{
    (void)state;
    assert_unnamed(unnamed_file_make(dir));
    assert_int_equal(unnamed_file_make("/proc/self/none"), -ENOENT);
    assert_int_equal(unnamed_file_make("/dev/null"), -ENOTDIR);
    assert_int_equal(setenv("TMPDIR", dir, 1), 0);
    assert_unnamed(unnamed_file_make_temporary());
    assert_int_equal(setenv("TMPDIR", "/proc/self/none", 1), 0);
    assert_unnamed(unnamed_file_make_temporary());
    assert_int_equal(unsetenv("TMPDIR"), 0);
    assert_unnamed(unnamed_file_make_temporary());
}

/* Its server answers nothing, so that who asks it anything stays here. */
static void test_unnamed_file__another_user_s_mount_is_asked_nothing(void **state)
{
    (void)state;
    char options[96];
    if (!scratch_own_mounts())
        skip();
    _cleanup_close_ int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=54321,group_id=0,allow_other",
             device);
    if (device < 0 || mount("none", dir, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
        skip();
    const int r = unnamed_file_make(dir);
    assert_int_equal(setenv("TMPDIR", dir, 1), 0);
    const int temporary = unnamed_file_make_temporary();
    assert_int_equal(umount2(dir, MNT_DETACH), 0);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    assert_int_equal(r, -EXDEV);
    assert_unnamed(temporary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unnamed_file__leaves_no_name),
        cmocka_unit_test(test_unnamed_file__another_user_s_mount_is_asked_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
