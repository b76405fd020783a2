#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mounts/judges.h"

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

/* How the mount 40 judges, of a type and with options, among others that judge otherwise. */
static enum judges judges_as(const char *type, const char *options, uint64_t f_type)
{
    FILE *table = fopen(path, "w");
    assert_non_null(table);
    fprintf(table,
            "4 21 0:4 / /a rw - virtiofs none rw\n"
            "40 21 0:40 / /b rw,nosuid shared:3 - %s none %s\n"
            "401 21 0:41 / /c rw - fuse none rw,allow_other,default_permissions\n",
            type, options);
    assert_int_equal(fclose(table), 0);
    return judges_of_mount(40, f_type, path);
}

static enum judges judges(const char *type, const char *options)
{
    return judges_as(type, options, 0);
}

static void test_judges__a_local_file_system_judges_by_mode(void **state)
{
    (void)state;
    const uint64_t types[] = {EXT4_SUPER_MAGIC,  XFS_SUPER_MAGIC,  BTRFS_SUPER_MAGIC,
                              TMPFS_MAGIC,       F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC,
                              SQUASHFS_MAGIC,    RAMFS_MAGIC,      EROFS_SUPER_MAGIC_V1,
                              ISOFS_SUPER_MAGIC, MSDOS_SUPER_MAGIC};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        assert_int_equal(judges_as("local", "rw", types[i]), JUDGES_BY_MODE);
}

static void test_judges__of_others_the_number_does_not_tell(void **state)
{
    (void)state;
    const uint64_t types[] = {0, FUSE_SUPER_MAGIC, NFS_SUPER_MAGIC, PROC_SUPER_MAGIC,
                              ECRYPTFS_SUPER_MAGIC};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        assert_int_equal(judges_as("local", "rw", types[i]), JUDGES_BY_OWNER);
}

/* Modes are not all that a server may judge by, whatever the kernel compares before. */
static void test_judges__fuse_that_lets_others_in_judges_them(void **state)
{
    (void)state;
    assert_int_equal(judges("fuse.x", "rw,user_id=0,default_permissions,allow_other,max_read=9"),
                     JUDGES_BY_CALLER);
    assert_int_equal(judges("fuse", "rw,allow_other,default_permissions"), JUDGES_BY_CALLER);
    assert_int_equal(judges("fuseblk", "allow_other,default_permissions"), JUDGES_BY_CALLER);
    assert_int_equal(judges("fuseblk.a", "default_permissions"), JUDGES_BY_OWNER);
    assert_int_equal(judges("fuse.x", "rw,user_id=0,group_id=0,allow_other"), JUDGES_BY_CALLER);
    assert_int_equal(judges("virtiofs", "rw"), JUDGES_BY_MODE);
    assert_int_equal(judges("fuse.virtiofs", "rw,allow_other"), JUDGES_BY_CALLER);
}

static void test_judges__fuse_for_its_owner_lets_nobody_else_in(void **state)
{
    (void)state;
    assert_int_equal(judges("fuse.x", "rw,user_id=0,default_permissions"), JUDGES_BY_OWNER);
    assert_int_equal(judges("fuse", ""), JUDGES_BY_OWNER);
}

static void test_judges__what_goes_by_fsuid_judges_by_itself(void **state)
{
    (void)state;
    assert_int_equal(judges("nfs4", "rw,vers=4.2,default_permissions,allow_other"),
                     JUDGES_BY_CALLER);
    assert_int_equal(judges("ceph", "rw,acl"), JUDGES_BY_CALLER);
    assert_int_equal(judges("zfs", "rw,xattr,noacl"), JUDGES_BY_CALLER);
    assert_int_equal(judges("zfs", "rw,xattr,posixacl"), JUDGES_BY_MODE);
}

static void test_judges__what_is_not_known_is_for_its_owner(void **state)
{
    (void)state;
    const char *const types[] = {"proc",     "sysfs",   "cgroup",   "cgroup2",
                                 "debugfs",  "tracefs", "configfs", "securityfs",
                                 "ecryptfs", "afs",     "fused",    "nfs5"};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        assert_int_equal(judges(types[i], "rw,default_permissions,allow_other"), JUDGES_BY_OWNER);
}

/* 9p passes on what its server says of its own. */
static void test_judges__the_name_of_a_type_counts_before_its_number(void **state)
{
    (void)state;
    assert_int_equal(judges_as("9p", "rw,access=client,trans=virtio", EXT4_SUPER_MAGIC),
                     JUDGES_BY_CALLER);
    assert_int_equal(judges_as("fuse.x", "rw,default_permissions", 0), JUDGES_BY_OWNER);
    assert_int_equal(judges_as("ext4", "rw", EXT4_SUPER_MAGIC), JUDGES_BY_MODE);
}

static void test_judges__of_what_is_not_in_the_table_the_number_tells(void **state)
{
    (void)state;
    judges("virtiofs", "rw");
    assert_int_equal(judges_of_mount(40, 0, path), JUDGES_BY_MODE);
    assert_int_equal(judges_of_mount(41, 0, path), JUDGES_BY_OWNER);
    assert_int_equal(judges_of_mount(41, EXT4_SUPER_MAGIC, path), JUDGES_BY_MODE);
    assert_int_equal(judges_of_mount(40, 0, "/nonexistent"), JUDGES_BY_OWNER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judges__a_local_file_system_judges_by_mode),
        cmocka_unit_test(test_judges__of_others_the_number_does_not_tell),
        cmocka_unit_test(test_judges__fuse_that_lets_others_in_judges_them),
        cmocka_unit_test(test_judges__fuse_for_its_owner_lets_nobody_else_in),
        cmocka_unit_test(test_judges__what_goes_by_fsuid_judges_by_itself),
        cmocka_unit_test(test_judges__what_is_not_known_is_for_its_owner),
        cmocka_unit_test(test_judges__the_name_of_a_type_counts_before_its_number),
        cmocka_unit_test(test_judges__of_what_is_not_in_the_table_the_number_tells),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
