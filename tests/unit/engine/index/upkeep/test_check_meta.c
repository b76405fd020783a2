/* Checking what a store says of itself, and of what it has yet to do. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "engine/index/upkeep/check.h"
#include "engine/index/index_state.h"
#include "tests/lib/fixtures/check_fixture.h"
#include "tests/lib/fixtures/indexed_tree.h"

/* Each row of what the store says of itself, and one that it does not know. */
static void test_check__what_a_store_says_of_itself_is_checked(void **state)
{
    static const uint8_t garbage[80] = {0xa5, 0x5a};
    static const char *const unknown[] = {"next_clusters", "clustering.64", "clustering", "remade",
                                          "cluster_counts.01"};
    static const struct {
        const char *name, *value;
        size_t size_bytes;
    } wrong[] = {{"schema", "\0\0\0\0\0\0\0\5", 8},
                 {"schema", "\0\0\0\0\0\0\0\1", 8},
                 {"document_counts", "\0\0\0\0\0\0\0\12\0\0\0\0\0\0\0\0", 16},
                 {"cluster_counts", "\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\13", 16},
                 {"cluster_counts.7", "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2", 16},
                 {"sid_end", "\377\377\377\377\377\377\377\377", 8},
                 {"derived_sid", "bad", 3},
                 {"derived_sid", "\377\377\377\377\377\377\377\377", 8},
                 {"sid_end", "\200\0\0\0\0\0\0\0", 8},
                 {"sid_end", "\0\200\0\0\0\0\0\1", 8},
                 {"derived_sid", "\0\0\1\0\0\0\0\0", 8},
                 {"next_cluster", "\377\377\377\377\377\377\377\360", 8},
                 {"next_cluster", "\1\0\0\0\0\0\0\1", 8},
                 {"next_cluster.7", "\0\0\0\0\0\0\0\4", 8},
                 {"next_cluster.7", "\7\200\0\0\0\0\0\1", 8},
                 {"next_cluster.5", "garbage", 7},
                 {"largest_modulus", "\0\0\0\1\0\0\0\0", 8},
                 {"remade.9", "\1\2", 2}};
    struct indexed_tree *f = *state;
    open_with_clusterings(f);
    write_some(f);
    _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, TABLE_META);
    for (size_t i = 0; i < rows.n_entries; i++) {
        const struct kv_entry *row = &rows.entries[i];
        char what[96];
        if (row->key.size_bytes == 16 && memcmp(row->key.data, "postings_flushed", 16) == 0)
            continue; /* written before each check */
        snprintf(what, sizeof(what), "meta '%.*s'", (int)row->key.size_bytes,
                 (const char *)row->key.data);
        write_row(f, TABLE_META, row->key, &(struct kv_slice){"", 0});
        assert_found(f, what);
        write_row(f, TABLE_META, row->key, &(struct kv_slice){garbage, sizeof(garbage)});
        if (strcmp(what, "meta 'source'") != 0) /* any text may be a path */
            assert_found(f, what);
        write_row(f, TABLE_META, row->key, &row->value);
    }
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        const struct kv_slice key = {unknown[i], strlen(unknown[i])};
        write_row(f, TABLE_META, key, &(struct kv_slice){garbage, 8});
        assert_found(f, unknown[i]);
        write_row(f, TABLE_META, key, NULL);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct kv_slice key = {wrong[i].name, strlen(wrong[i].name)};
        _cleanup_(kv_buf_done) struct kv_buf before = {0};
        int r = kv_get(f->index->kv, TABLE_META, key, &before);
        const struct kv_slice value = kv_buf_slice(&before);
        write_row(f, TABLE_META, key, &(struct kv_slice){wrong[i].value, wrong[i].size_bytes});
        assert_found(f, wrong[i].name);
        write_row(f, TABLE_META, key, r == 0 ? &value : NULL);
    }
    (void)assert_right(f, true);
}

/* The work is that of the rows there are, not of the numbers in them. */
static void test_check__numbers_in_a_store_take_no_time(void **state)
{
    static const struct kv_slice sid_end = {"sid_end", 7}, far = {"\0\0\20\0\0\0\0\0", 8};
    struct indexed_tree *f = *state;
    write_some(f);
    write_row(f, TABLE_META, sid_end, &(struct kv_slice){"\0\200\0\0\0\0\0\0", 8});
    (void)assert_right(f, true);
    _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, TABLE_RECORDS);
    write_row(f, TABLE_RECORDS, far, &rows.entries[0].value);
    struct report report = check_now(f, false);
    assert_int_equal(report.counts.records, rows.n_entries + 1);
    assert_true(report.counts.findings > 0);
}

static void test_check__intents_that_are_none_are_found(void **state)
{
    static const char *const keys[] = {"cluster",
                                       "cluster2",
                                       "posted",
                                       "posted1234567",
                                       "repair",
                                       "removed",
                                       "removed\20",
                                       "moved",
                                       "moved\20garbage",
                                       "unknown",
                                       "posted\377\377\377\377\377\377\377\377",
                                       "repair\200\1\1\1\1\1\1\1",
                                       "moved\14twelve bytes\14twelve bytes..",
                                       "moved\14twelve bytes\14twelve bytesa/b"};
    struct indexed_tree *f = *state;
    write_some(f);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct kv_slice key = {keys[i], strlen(keys[i])};
        struct index_check counts;
        write_row(f, TABLE_INTENTS, key, &(struct kv_slice){"garbage", 7});
        /* The index itself would stop at some of them. */
        assert_int_equal(check_store(f->index->kv, INDEX_CLUSTER_THRESHOLD, false,
                                     &(struct index_check_options){0}, &counts, NULL),
                         0);
        if (counts.findings == 0)
            fail_msg("not found: %s", keys[i]);
        write_row(f, TABLE_INTENTS, key, NULL);
    }
    (void)assert_right(f, false);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_check__what_a_store_says_of_itself_is_checked),
        CASE(test_check__numbers_in_a_store_take_no_time),
        CASE(test_check__intents_that_are_none_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
