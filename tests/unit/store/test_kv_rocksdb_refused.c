/* Opening is refused with words where there is no store, another one, or somebody else's files; a
 * making that was interrupted goes on. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>

#include "tests/lib/stores/kv_fixture.h"
#include "tests/lib/stores/rocksdb_store.h"

static void test_kv_rocksdb__no_store_is_said(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    options.create = false;
    assert_refused(&options, -ENOENT, "no store", store_path);
    assert_int_not_equal(access(store_path, F_OK), 0);
    assert_int_equal(mkdir(store_path, 0700), 0);
    assert_refused(&options, -ENOENT, "no store", store_path);
    options.create = options.read_only = true;
    assert_refused(&options, -ENOENT, "no store", store_path);
    options.shown_path = "what the user said";
    assert_refused(&options, -ENOENT, "no store", "what the user said");
    options = fixture_options();
    snprintf(store_path, sizeof(store_path), "%s/missing/store", directory);
    assert_refused(&options, -ENOENT, "directory above", store_path);
}

static void test_kv_rocksdb__other_tables_are_refused_and_left_alone(void **state)
{
    (void)state;
    static const struct kv_table fewer[] = {{.name = "whole"}, {.name = "fixed"}};
    static const struct kv_table more[] = {
        {.name = "whole"},
        {.name = "fixed", .partition = KV_PARTITION_FIXED, .partition_bytes = 2},
        {.name = "prefixed", .partition = KV_PARTITION_PREFIXED},
        {.name = "new"}};
    static const struct kv_table otherwise[] = {
        {.name = "whole"},
        {.name = "fixed", .partition = KV_PARTITION_FIXED, .partition_bytes = 3},
        {.name = "prefixed", .partition = KV_PARTITION_PREFIXED}};
    struct kv *kv = open_here();
    put_one(kv, T_WHOLE, S("k"), S("v"));
    kv_close(kv);
    const struct kv_options cases[] = {
        {.tables = fewer, .n_tables = N_OF(fewer), .create = true},
        {.tables = more, .n_tables = N_OF(more), .create = true},
        {.tables = more, .n_tables = N_OF(more), .read_only = true},
        {.tables = otherwise, .n_tables = N_OF(otherwise)},
    };
    for (size_t i = 0; i < N_OF(cases); i++)
        assert_refused(&cases[i], -EPROTO, "version", store_path);
    kv = open_here();
    assert_table(kv, T_WHOLE, "k=v ");
    kv_close(kv);
}

static void test_kv_rocksdb__somebody_elses_directory_is_left_alone(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    assert_int_equal(mkdir(store_path, 0755), 0);
    write_file("letter.txt", "Dear all");
    assert_refused(&options, -ENOTEMPTY, store_path, "empty");
    assert_false(file_exists("CURRENT"));
    snprintf(store_path, sizeof(store_path), "%s/store/letter.txt", directory);
    assert_refused(&options, -ENOTDIR, store_path, "directory");
}

static void test_kv_rocksdb__an_interrupted_making_goes_on(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    kv_close(open_here());
    char tables[96], unfinished[96];
    snprintf(tables, sizeof(tables), "%s/TABLES", store_path);
    snprintf(unfinished, sizeof(unfinished), "%s/TABLES.new", store_path);
    assert_int_equal(rename(tables, unfinished), 0);
    options.create = false;
    assert_refused(&options, -ENOENT, "no store", store_path);
    struct kv *kv = open_here();
    assert_int_equal(put_one(kv, T_PREFIXED, S("k"), S("v")), 0);
    kv_close(kv);
    assert_true(file_exists("TABLES"));
    assert_false(file_exists("TABLES.new"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_kv_rocksdb__no_store_is_said),
        CASE(test_kv_rocksdb__other_tables_are_refused_and_left_alone),
        CASE(test_kv_rocksdb__somebody_elses_directory_is_left_alone),
        CASE(test_kv_rocksdb__an_interrupted_making_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
