/* Damage to the files of a store is told, and never an answer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "tests/lib/stores/kv_fixture.h"
#include "tests/lib/stores/rocksdb_store.h"

static void test_kv_rocksdb__a_file_cut_short_after_a_clean_end_is_damage(void **state)
{
    (void)state;
    static const char *const patterns[] = {"MANIFEST-*", "*.log", "*.sst", "CURRENT"};
    struct kv_options options = fixture_options();
    for (size_t i = 0; i < N_OF(patterns); i++) {
        for (int percent = 0; percent < 100; percent += 33) {
            char name[64], path[160];
            struct stat st;
            make_sealed_store();
            find_file(patterns[i], name);
            snprintf(path, sizeof(path), "%s/%s", store_path, name);
            assert_int_equal(stat(path, &st), 0);
            assert_int_equal(truncate(path, st.st_size * percent / 100), 0);
            assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
            options.read_only = true;
            assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
            options.read_only = false;
            remove_directory(store_path);
        }
    }
}

static void test_kv_rocksdb__garbage_in_current_is_damage(void **state)
{
    (void)state;
    static const char *const contents[] = {"", "garbage", "MANIFEST-999999\n", "\n"};
    struct kv_options options = fixture_options();
    for (size_t i = 0; i < N_OF(contents); i++) {
        make_store_with_data();
        write_file("CURRENT", contents[i]);
        assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
        options.read_only = true;
        assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
        options.read_only = false;
        remove_directory(store_path);
    }
}

static void test_kv_rocksdb__a_missing_current_is_damage_and_no_reason_to_begin_anew(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    make_store_with_data();
    char path[96];
    snprintf(path, sizeof(path), "%s/CURRENT", store_path);
    assert_int_equal(unlink(path), 0);
    assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
    assert_false(file_exists("CURRENT"));
}

static void flip_byte(const char *name, off_t at)
{
    char path[96];
    uint8_t byte;
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    _cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0x40;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

static void test_kv_rocksdb__a_flipped_bit_in_the_manifest_is_damage(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    for (off_t at = 0; at < 64; at += 13) {
        char manifest[33];
        make_store_with_data();
        read_current(manifest);
        flip_byte(manifest, at);
        assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
        remove_directory(store_path);
    }
}

static void test_kv_rocksdb__a_flipped_bit_in_data_is_an_error_and_no_answer(void **state)
{
    (void)state;
    make_store_with_data();
    char name[64];
    find_file("*.sst", name);
    for (off_t at = 100; at < 1000000; at += 4096)
        flip_byte(name, at);
    struct kv *kv = open_here();
    int n_damaged = 0;
    for (uint64_t i = 0; i < 2000; i += 10) {
        uint8_t key[8];
        put_be64(key, i);
        _cleanup_(kv_buf_done) struct kv_buf value = {0};
        int r = kv_get(kv, T_WHOLE, (struct kv_slice){key, 8}, &value);
        assert_true(r == 0 || r == -EUCLEAN);
        if (r == 0)
            assert_int_equal(get_be64(value.data), ((i + 1) * 1024) * 0x9e3779b97f4a7c15u);
        n_damaged += r == -EUCLEAN;
    }
    assert_true(n_damaged > 0);
    struct kv_page page = {0};
    assert_int_equal(kv_scan(kv, T_WHOLE, &(struct kv_range){0}, 2000, &page), -EUCLEAN);
    assert_null(page.entries);
    assert_value(kv, T_FIXED, S("k"), S("v"));
    kv_close(kv);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_kv_rocksdb__garbage_in_current_is_damage),
        CASE(test_kv_rocksdb__a_missing_current_is_damage_and_no_reason_to_begin_anew),
        CASE(test_kv_rocksdb__a_file_cut_short_after_a_clean_end_is_damage),
        CASE(test_kv_rocksdb__a_flipped_bit_in_the_manifest_is_damage),
        CASE(test_kv_rocksdb__a_flipped_bit_in_data_is_an_error_and_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
