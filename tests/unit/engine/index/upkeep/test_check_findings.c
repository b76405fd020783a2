/* Findings of a check: each is told, once, with its document, and with few reads. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/index_state.h"
#include "tests/lib/fixtures/check_fixture.h"
#include "tests/lib/share.h"
#include "tests/lib/fixtures/indexed_tree.h"
#include "tests/lib/stores/kv_fault.h"

static uint64_t calls_of_check(struct indexed_tree *f, uint64_t n_findings)
{
    const struct index_check_options options = {0};
    const struct kv_fault_plan no_fault = {0};
    struct index_check counts;
    struct kv *counting;
    uint64_t n_calls, n_writes;
    assert_int_equal(kv_fault_open(f->index->kv, &no_fault, &counting), 0);
    assert_int_equal(check_store(counting, 0.5, false, &options, &counts, NULL), 0);
    assert_int_equal(counts.findings, n_findings);
    kv_fault_counts(counting, &n_calls, &n_writes);
    kv_close(counting);
    return n_calls;
}

/* Whatever read of a check fails, it says so, or ends with the error: nothing is called right. */
static void test_check__no_read_that_fails_is_passed_over(void **state)
{
    static const int errors[] = {-EUCLEAN, -EIO, -ENOMEM};
    struct indexed_tree *f = *state;
    write_some(f);
    const uint64_t n_calls = calls_of_check(f, 0);
    for (uint64_t n = 1; n <= n_calls; n += failure_share())
        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
            const struct kv_fault_plan plan = {.fail_call = n, .fail_error = errors[i]};
            const struct index_check_options options = {.deep = i == 0,
                                                        .scratch = f->index->store_path};
            struct index_check counts = {0};
            struct kv *failing;
            assert_int_equal(kv_fault_open(f->index->kv, &plan, &failing), 0);
            int r = check_store(failing, 0.5, false, &options, &counts, NULL);
            kv_close(failing);
            if (errors[i] == -ENOMEM ? r != -ENOMEM : r != 0 || counts.findings == 0)
                fail_msg("call %llu, %s: %d, %llu wrong", (unsigned long long)n,
                         strerror(-errors[i]), r, (unsigned long long)counts.findings);
        }
}

/* What is missing and what is too many stand in one sum, of the same document: each is told. */
static void test_check__what_is_missing_does_not_hide_what_is_too_many(void **state)
{
    struct indexed_tree *f = *state;
    _cleanup_(record_done) struct record record = {0};
    const struct kv_slice nothing = {"", 0};
    uint8_t missing[64] = "", extra[64] = "";
    write_some(f);
    const uint64_t sid = document_of(f, "1-1", &record);
    for (unsigned table = TABLE_TIER_R; table <= TABLE_TIER_C; table++) {
        const size_t at = table == TABLE_TIER_R ? 0 : POSTINGS_TIER_R_KEYS;
        put_be64(missing, record.sketch.values[at]);
        put_be64(extra, record.sketch.values[at] + 1);
        put_be64(missing + 8, sid);
        put_be64(extra + 8, sid);
        write_row(f, table, (struct kv_slice){missing, 16}, NULL);
        write_row(f, table, (struct kv_slice){extra, 16}, &nothing);
        assert_int_equal(check_now(f, false).counts.findings, 2);
        write_row(f, table, (struct kv_slice){missing, 16}, &nothing);
        write_row(f, table, (struct kv_slice){extra, 16}, NULL);
    }
    record_class(&record, missing);
    put_be64(missing + CLASS_BYTES, sid);
    memcpy(extra, missing, sizeof(extra));
    extra[5] ^= 1;
    write_row(f, TABLE_CLASSES, (struct kv_slice){missing, CLASS_BYTES + 8}, NULL);
    write_row(f, TABLE_CLASSES, (struct kv_slice){extra, CLASS_BYTES + 8}, &nothing);
    assert_int_equal(check_now(f, false).counts.findings, 2);
    write_row(f, TABLE_CLASSES, (struct kv_slice){missing, CLASS_BYTES + 8}, &nothing);
    write_row(f, TABLE_CLASSES, (struct kv_slice){extra, CLASS_BYTES + 8}, NULL);

    uint8_t link[CATALOGUE_LINK_KEY_MAX], other[CATALOGUE_LINK_KEY_MAX];
    const struct file_key *root = backing_root_key(f->backing);
    const struct kv_slice key = {link, catalogue_link_key(&record.key, root, "1-1", link)};
    const struct kv_slice wrong = {other, catalogue_link_key(&record.key, root, "1-x", other)};
    write_row(f, TABLE_LINKS, key, NULL);
    write_row(f, TABLE_LINKS, wrong, &nothing);
    assert_int_equal(check_now(f, false).counts.findings, 2);
    write_row(f, TABLE_LINKS, key, &nothing);
    write_row(f, TABLE_LINKS, wrong, NULL);
    (void)assert_right(f, true);
}

/* To know of which document a posting is missing, no record is looked up for each of its others. */
static void test_check__what_is_missing_costs_few_reads(void **state)
{
    enum { WALKS = 2, LOOK_UP = 1, PATH = 4 };
    struct indexed_tree *f = *state;
    _cleanup_(record_done) struct record record = {0};
    uint8_t key[16];
    write_some(f);
    const uint64_t before = calls_of_check(f, 0);
    put_be64(key + 8, document_of(f, "1-1", &record));
    put_be64(key, record.sketch.values[3]);
    write_row(f, TABLE_TIER_R, (struct kv_slice){key, 16}, NULL);
    assert_in_range(calls_of_check(f, 1), before, before + WALKS + LOOK_UP + PATH);
}

/* Each document is told of once, with what it lacks, whether few are looked up or the table is
 * walked through. */
static void test_check__very_many_that_are_missing_are_counted(void **state)
{
    struct indexed_tree *f = *state;
    write_some(f);
    for (unsigned table = TABLE_TIER_R; table <= TABLE_TIER_C; table++) {
        _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, table);
        uint64_t sids[16];
        size_t n_sids = 0;
        assert_false(rows.more);
        assert_true(rows.n_entries > (table == TABLE_TIER_R ? 64 : 0)); /* of both ways */
        for (size_t step = 1; step <= rows.n_entries; step *= 2) {
            n_sids = 0;
            for (size_t i = 0; i < rows.n_entries; i += step) {
                const uint64_t sid = get_be64((const uint8_t *)rows.entries[i].key.data + 8);
                size_t known = 0;
                while (known < n_sids && sids[known] != sid)
                    known++;
                sids[known] = sid;
                n_sids += known == n_sids;
                assert_true(n_sids < 16);
                write_row(f, table, rows.entries[i].key, NULL);
            }
            assert_int_equal(check_now(f, false).counts.findings, n_sids);
            for (size_t i = 0; i < rows.n_entries; i += step)
                write_row(f, table, rows.entries[i].key, &rows.entries[i].value);
        }
    }
    (void)assert_right(f, true);
}

/* The finding says of which document it is. */
static void test_check__a_finding_names_the_document(void **state)
{
    struct indexed_tree *f = *state;
    _cleanup_(record_done) struct record record = {0};
    uint8_t key[16];
    write_some(f);
    put_be64(key + 8, document_of(f, "sub/1-0", &record));
    put_be64(key, record.sketch.values[3]);
    write_row(f, TABLE_TIER_R, (struct kv_slice){key, 16}, NULL);
    struct report report = check_now(f, false);
    assert_int_equal(report.counts.findings, 1);
    assert_string_equal(report.path, "sub/1-0");
    assert_non_null(strstr(report.first, "tier_r: lacks 1 of its 16 postings"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_check__no_read_that_fails_is_passed_over),
        CASE(test_check__what_is_missing_does_not_hide_what_is_too_many),
        CASE(test_check__what_is_missing_costs_few_reads),
        CASE(test_check__very_many_that_are_missing_are_counted),
        CASE(test_check__a_finding_names_the_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
