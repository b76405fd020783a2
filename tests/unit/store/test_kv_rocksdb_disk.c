/* A store on a disk that is full, or read-only. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "tests/lib/scratch.h"
#include "tests/lib/stores/kv_fixture.h"
#include "tests/lib/stores/rocksdb_store.h"

/* Stands in front of the C library's. */
int statvfs(const char *path, struct statvfs *ret_fs)
{
    struct statfs fs;
    if (statfs(path, &fs) < 0)
        return -1;
    *ret_fs = (struct statvfs){.f_bsize = (unsigned long)fs.f_bsize,
                               .f_frsize = (unsigned long)fs.f_frsize,
                               .f_blocks = fs.f_blocks,
                               .f_bfree = fs.f_bfree,
                               .f_bavail = seems_roomy ? fs.f_blocks : fs.f_bavail};
    return 0;
}

/* Whether this process has its own table of mounts: what a failing test leaves mounted then goes
 * with it. */
static bool own_mounts;

/* Mounts a small file system over the parent of the store, or skips the test. */
static void mount_small(size_t size_mib)
{
    if (!own_mounts)
        skip();
    char options[32];
    snprintf(options, sizeof(options), "size=%zum", size_mib);
    if (mount("none", directory, "tmpfs", 0, options) < 0)
        skip();
}

static void fill(const char *name)
{
    char path[64], block[4096] = {0};
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    while (fwrite(block, sizeof(block), 1, file) == 1 && fflush(file) == 0)
        ;
    fclose(file);
}

static void test_kv_rocksdb__no_room_to_begin_is_said(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    mount_small(100);
    make_store_with_data();
    fill("filler");
    assert_refused(&options, -ENOSPC, "no room", store_path);
    snprintf(store_path, sizeof(store_path), "%s/other", directory);
    assert_refused(&options, -ENOSPC, "no room", store_path);
    snprintf(store_path, sizeof(store_path), "%s/store", directory);
    char filler[64];
    snprintf(filler, sizeof(filler), "%s/filler", directory);
    assert_int_equal(unlink(filler), 0);
    struct kv *kv = open_here();
    assert_value(kv, T_FIXED, S("k"), S("v"));
    kv_close(kv);
}

static void test_kv_rocksdb__a_read_only_file_system_is_said(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    mount_small(100);
    make_store_with_data();
    assert_int_equal(mount("none", directory, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    assert_refused(&options, -EROFS, "read-only", store_path);
    options.read_only = true;
    struct kv *kv = NULL;
    assert_int_equal(kv_rocksdb_open(store_path, &options, &kv, NULL), 0);
    assert_value(kv, T_FIXED, S("k"), S("v"));
    kv_close(kv);
}

static void assert_goes_on(struct kv *kv, uint64_t n)
{
    struct long_run run = {.n = 1000};
    assert_int_equal(kv_resume(kv), 0);
    assert_entries(kv, n);
    assert_int_equal(write_until_error(kv, &n, n + 200), 0);
    assert_entries(kv, n);
    assert_int_equal(kv_checkpoint(kv), 0);
    assert_int_equal(kv_bulk_load(kv, T_FIXED, long_run_next, &run), 0);
    kv_close(kv);
    kv = open_here();
    assert_entries(kv, n);
    kv_close(kv);
}

static void test_kv_rocksdb__after_a_full_disk_it_goes_on(void **state)
{
    (void)state;
    mount_small(200);
    struct kv *kv = open_here();
    uint64_t n = 0;
    assert_int_equal(write_until_error(kv, &n, 10000), -ENOSPC);
    assert_true(n > 500);
    fill("filler");
    assert_entries(kv, n); /* reading goes on */
    assert_int_equal(kv_resume(kv), -ENOSPC);
    assert_int_equal(write_until_error(kv, &n, n + 100), -ENOSPC);
    struct long_run run = {.n = 1000};
    assert_int_equal(kv_bulk_load(kv, T_FIXED, long_run_next, &run), -ENOSPC);
    assert_entries(kv, n);
    assert_int_equal(mount("none", directory, NULL, MS_REMOUNT, "size=800m"), 0);
    assert_goes_on(kv, n);
}

/* As when another process takes the room between the look at it and the write: RocksDB meets the
 * end of the disk, in its log or while it flushes, and must be opened again. */
static void test_kv_rocksdb__after_a_write_that_failed_it_goes_on(void **state)
{
    (void)state;
    mount_small(200);
    struct kv *kv = open_here();
    uint64_t n = 0;
    seems_roomy = true;
    assert_int_equal(write_until_error(kv, &n, 10000), -ENOSPC);
    assert_true(n > 500);
    assert_int_equal(write_until_error(kv, &n, n + 1), -ENOSPC);
    assert_int_equal(kv_checkpoint(kv), -ENOSPC);
    struct long_run run = {.n = 1000};
    assert_int_equal(kv_bulk_load(kv, T_FIXED, long_run_next, &run), -ENOSPC);
    assert_entries(kv, n);
    seems_roomy = false;
    assert_int_equal(kv_resume(kv), -ENOSPC);

    /* It cannot be opened for writing, but for reading. */
    assert_int_equal(mount("none", directory, NULL, MS_REMOUNT, "size=800m"), 0);
    char lock[96];
    snprintf(lock, sizeof(lock), "%s/LOCK", store_path);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(mkdir(lock, 0700), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kv_resume(kv), -EIO);
        assert_int_equal(write_until_error(kv, &n, n + 1), -EIO);
        assert_entries(kv, n);
    }
    assert_int_equal(rmdir(lock), 0);

    /* Nor for reading. */
    char current[33];
    read_current(current);
    write_file("CURRENT", "garbage");
    assert_int_equal(kv_resume(kv), -EUCLEAN);
    struct kv_buf value;
    struct kv_page page;
    struct kv_slice key = S("k");
    assert_int_equal(kv_get(kv, T_WHOLE, key, &value), -EUCLEAN);
    assert_int_equal(kv_multi_get(kv, T_WHOLE, &key, 1, &value), -EUCLEAN);
    assert_int_equal(kv_scan(kv, T_WHOLE, &(struct kv_range){0}, 1, &page), -EUCLEAN);
    assert_int_equal(kv_cas(kv, T_WHOLE, key, NULL, NULL), -EUCLEAN);
    assert_int_equal(put_one(kv, T_WHOLE, key, key), -EUCLEAN);
    strcat(current, "\n");
    write_file("CURRENT", current);
    assert_goes_on(kv, n);
}

/* Another process takes the room: what was acknowledged is in the log still. */
static void test_kv_rocksdb__an_end_on_a_full_disk_loses_nothing(void **state)
{
    (void)state;
    mount_small(200);
    struct kv *kv = open_here();
    uint64_t n = 0;
    assert_int_equal(write_until_error(kv, &n, 100), 0);
    seems_roomy = true;
    fill("filler");
    kv_close(kv);
    seems_roomy = false;
    assert_int_equal(mount("none", directory, NULL, MS_REMOUNT, "size=800m"), 0);
    kv = open_here();
    assert_goes_on(kv, n);
}

int main(void)
{
    /* Before there are threads: the back end's must see the same mounts. */
    own_mounts = scratch_own_mounts();
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_kv_rocksdb__no_room_to_begin_is_said),
        CASE(test_kv_rocksdb__a_read_only_file_system_is_said),
        CASE(test_kv_rocksdb__after_a_full_disk_it_goes_on),
        CASE(test_kv_rocksdb__after_a_write_that_failed_it_goes_on),
        CASE(test_kv_rocksdb__an_end_on_a_full_disk_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
