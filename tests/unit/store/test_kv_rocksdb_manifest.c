/* A manifest and what else a store says of itself has a copy, which is put back where it is
 * certain. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "tests/lib/stores/kv_fixture.h"
#include "tests/lib/stores/rocksdb_store.h"

static void test_kv_rocksdb__the_first_opening_for_writing_breaks_the_seal(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    struct kv *kv;
    make_sealed_store();
    options.read_only = true;
    assert_int_equal(kv_rocksdb_open(store_path, &options, &kv, NULL), 0);
    kv_close(kv);
    assert_true(file_exists("SEAL"));
    kv = open_here();
    assert_false(file_exists("SEAL"));
    kv_close(kv);
    assert_true(file_exists("SEAL"));
}

/* Bytes in the middle of a file. */
static void flip_bytes(const char *pattern)
{
    char name[64], path[160], byte;
    struct stat st;
    find_file(pattern, name);
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(pread(fd, &byte, 1, st.st_size / 2), 1);
    byte ^= 0x20;
    assert_int_equal(pwrite(fd, &byte, 1, st.st_size / 2), 1);
    close(fd);
}

static void cut_manifest(void)
{
    char name[64], path[160];
    find_file("MANIFEST-*", name);
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    assert_int_equal(truncate(path, 50), 0);
}

static void assert_has_all(void)
{
    struct kv *kv = open_here();
    assert_value(kv, T_FIXED, S("k"), S("v"));
    struct kv_page page = {0};
    assert_int_equal(kv_scan(kv, T_WHOLE, &(struct kv_range){0}, 5000, &page), 0);
    assert_int_equal(page.n_entries, 2000);
    kv_page_done(&page);
    kv_close(kv);
}

static void test_kv_rocksdb__what_a_sealed_store_says_of_itself_is_put_back(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    options.create = false;
    for (unsigned damage = 1; damage < 64; damage++) {
        if ((damage & 3) == 3 || (damage & 12) == 12 || (damage & 48) == 48)
            continue;
        make_sealed_store();
        assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
        if (damage & 1)
            lose_file("MANIFEST-*");
        else if (damage & 2)
            flip_bytes("MANIFEST-*");
        if (damage & 4)
            lose_file("CURRENT");
        else if (damage & 8)
            write_file("CURRENT", "MANIFEST-999999\n");
        if (damage & 16)
            lose_file("TABLES");
        else if (damage & 32)
            write_file("TABLES", "garbage");
        assert_true(kv_rocksdb_open(store_path, &options, &(struct kv *){NULL}, NULL) < 0);
        assert_int_equal(kv_rocksdb_restore(store_path, &options), 1);
        assert_has_all();
        assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
        remove_directory(store_path);
    }
    make_sealed_store();
    cut_manifest();
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 1);
    assert_has_all();

    struct kv *kv = open_here(); /* beside one that is not in use any more */
    write_file("MANIFEST-000001", "old");
    kv_close(kv);
    lose_file("MANIFEST-*");
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 1);
    assert_has_all();
}

/* A copy that is damaged itself, or of another moment, is none; nor are tables given a stamp that
 * is not theirs. After a crash there is no copy that counts. */
static void test_kv_rocksdb__what_is_not_certain_is_not_put_back(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    make_sealed_store();
    flip_bytes("SEAL.manifest");
    assert_has_all();
    flip_bytes("SEAL.manifest");
    lose_file("MANIFEST-*");
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
    remove_directory(store_path);

    make_store_with_data();
    lose_file("CURRENT");
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 1);
    assert_has_all();
    lose_file("SEAL");
    lose_file("MANIFEST-*");
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
    remove_directory(store_path);

    make_sealed_store();
    lose_file("TABLES");
    options.n_tables--;
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
    assert_false(file_exists("TABLES"));
    remove_directory(store_path);
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 0); /* there is none */
}

static bool is_one_file(const char *name, const char *other)
{
    struct stat a, b;
    char path[160], other_path[160];
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    snprintf(other_path, sizeof(other_path), "%s/%s", store_path, other);
    return stat(path, &a) == 0 && stat(other_path, &b) == 0 && a.st_ino == b.st_ino;
}

/* Every opening writes another manifest, and it is that one. A clean end takes the name away. */
static void test_kv_rocksdb__an_open_store_has_its_manifest_by_two_names(void **state)
{
    (void)state;
    char name[64], live[64], before[64] = "";
    for (unsigned i = 0; i < 3; i++) {
        struct kv *kv = open_here();
        find_file("MANIFEST-*", name);
        find_file("LIVE.*", live);
        assert_true(is_one_file(name, live));
        assert_string_equal(live + strlen("LIVE."), name);
        assert_string_not_equal(name, before);
        snprintf(before, sizeof(before), "%s", name);
        kv_close(kv);
        assert_false(file_exists(live));
    }
}

static void test_kv_rocksdb__a_manifest_lost_after_a_crash_is_put_back(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    options.create = false;
    for (unsigned tables_too = 0; tables_too < 2; tables_too++) {
        crash_with_data();
        lose_file("MANIFEST-*");
        if (tables_too)
            lose_file("TABLES");
        assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
        assert_int_equal(kv_rocksdb_restore(store_path, &options), 1);
        assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
        assert_has_all();
        remove_directory(store_path);
    }
    crash_with_data();
    crash_with_data(); /* the one of before leaves no name */
    lose_file("MANIFEST-*");
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 1);
    assert_has_all();
}

/* Only what CURRENT names is known to be the last one; and damage has both names. */
static void test_kv_rocksdb__after_a_crash_no_other_manifest_is_put_back(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    options.create = false;
    for (unsigned damage = 0; damage < 4; damage++) {
        crash_with_data();
        if (damage == 3)
            flip_bytes("MANIFEST-*");
        else
            lose_file("MANIFEST-*");
        if (damage == 0)
            lose_file("CURRENT");
        else if (damage == 1)
            write_file("CURRENT", "MANIFEST-999999\n");
        else if (damage == 2)
            lose_file("LIVE.*");
        assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
        remove_directory(store_path);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_kv_rocksdb__the_first_opening_for_writing_breaks_the_seal),
        CASE(test_kv_rocksdb__what_a_sealed_store_says_of_itself_is_put_back),
        CASE(test_kv_rocksdb__an_open_store_has_its_manifest_by_two_names),
        CASE(test_kv_rocksdb__a_manifest_lost_after_a_crash_is_put_back),
        CASE(test_kv_rocksdb__after_a_crash_no_other_manifest_is_put_back),
        CASE(test_kv_rocksdb__what_is_not_certain_is_not_put_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
