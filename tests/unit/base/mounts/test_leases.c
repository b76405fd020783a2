#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mounts/leases.h"
#include "base/mounts/mount_id.h"

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

/* The leases of what is open are believed, if its mount were of a type. */
static bool is_told_as(int fd, const char *type)
{
    struct mount_id mount;
    FILE *table = fopen(path, "w");
    assert_non_null(table);
    assert_int_equal(mount_id_find(fd, "", &mount), 0);
    fprintf(table, "%llu 21 0:40 / /b rw,nosuid shared:3 - %s none rw\n",
            (unsigned long long)mount.id, type);
    assert_int_equal(fclose(table), 0);
    return leases_are_told(fd, path);
}

static void test_leases__are_believed_of_a_type_that_is_what_it_says(void **state)
{
    (void)state;
    static const char *const others[] = {"9p",         "fuse.kinfs", "fuseblk",  "overlay",
                                         "ecryptfs",   "nfs4",       "virtiofs", "ext4",
                                         "tmpfs.more", "fuse.tmpfs", "xfs"};
    _cleanup_close_ int fd = memfd_create("leases", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(is_told_as(fd, "tmpfs")); /* as files in memory are */
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_false(is_told_as(fd, others[i]));
}

static void test_leases__are_not_believed_of_other_file_systems(void **state)
{
    (void)state;
    _cleanup_close_ int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_false(leases_are_told(fd, NULL));
    assert_false(is_told_as(fd, "tmpfs"));
    _cleanup_close_ int in_no_mount = memfd_create("leases", MFD_CLOEXEC);
    assert_true(in_no_mount >= 0);
    assert_false(leases_are_told(in_no_mount, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leases__are_believed_of_a_type_that_is_what_it_says),
        cmocka_unit_test(test_leases__are_not_believed_of_other_file_systems),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
