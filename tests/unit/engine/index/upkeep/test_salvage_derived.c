/* What derives from sound tables is mended alone. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include "engine/index/upkeep/check.h"
#include "engine/index/upkeep/derived_tables.h"
#include "engine/index/index_state.h"
#include "engine/index/members/membership.h"
#include "engine/index/tables/sid.h"
#include "tests/lib/share.h"
#include "tests/lib/fixtures/indexed_tree.h"
#include "tests/lib/stores/kv_fault.h"
#include "tests/lib/stores/kv_memory.h"
#include "tests/lib/fixtures/salvage_fixture.h"

/* Nothing else is made anew, and ids that lead to clusters still do. */
static void test_salvage__what_derives_from_sound_tables_is_mended_alone(void **state)
{
    struct fixture *f = *state;
    const uint64_t sid = give_a_late_sid(f);
    for (unsigned table = TABLE_TIER_R; table <= TABLE_CLUSTER_OF; table++) {
        damage_table(f, table, table % 2 ? HALF_LOST : LOST);
        assert_noticed(f, schema_tables[table].name);
        repair(f, schema_tables[table].name, true);
        assert_int_equal(outcome, INDEX_MENDING_DERIVED);
        assert_true(checked.findings > 0 && *found);
        assert_string_equal(stages, "checking;copying;deriving postings;checking what was made;");
        assert_int_equal(last_sid(f), sid);
        assert_int_equal(sketched, 0);
    }
    for (unsigned table = TABLE_TIER_R; table <= TABLE_MEMBERS; table++) /* together */
        damage_table(f, table, LOST);
    repair(f, "all but the documents' clusters", true);
    assert_int_equal(last_sid(f), sid);
}

static int told_nothing(void *user, const char *table, uint64_t n_rows)
{
    (void)user, (void)table, (void)n_rows;
    return 0;
}

/* Copies with a fault in the old database or in the new one; gives the calls of either. */
static int copy_with_faults(struct kv *old, unsigned wrong, const struct kv_fault_plan *read_plan,
                            const struct kv_fault_plan *write_plan, uint64_t ret_calls[2])
{
    const struct kv_options options = {
        .tables = schema_tables, .n_tables = SCHEMA_N_TABLES, .create = true};
    struct kv *memory, *failing_old, *failing_copy;
    uint64_t n_writes;
    assert_int_equal(kv_memory_open(&options, &memory), 0);
    assert_int_equal(kv_fault_open(old, read_plan, &failing_old), 0);
    assert_int_equal(kv_fault_open(memory, write_plan, &failing_copy), 0);
    int r = derived_tables_copy(failing_old, failing_copy, wrong, told_nothing, NULL);
    kv_fault_counts(failing_old, &ret_calls[0], &n_writes);
    kv_fault_counts(failing_copy, &ret_calls[1], &n_writes);
    kv_close(failing_old);
    kv_close(failing_copy);
    kv_close(memory);
    return r;
}

/* None of them is passed over: but what cannot be read of members and of the documents' clusters,
 * which are there twice. */
static void test_salvage__a_copy_that_fails_says_so(void **state)
{
    static const unsigned wrongs[] = {1u << TABLE_TIER_R, 1u << TABLE_MEMBERS};
    static const int errors[] = {-EIO, -EUCLEAN, -ENOSPC};
    const struct kv_fault_plan none = {0};
    struct fixture *f = *state;
    struct kv *old = open_rows(f);
    for (size_t i = 0; i < 2; i++) {
        uint64_t n_calls[2], calls[2], n_passed = 0;
        assert_int_equal(copy_with_faults(old, wrongs[i], &none, &none, n_calls), 0);
        for (size_t k = 0; k < sizeof(errors) / sizeof(errors[0]); k++) {
            for (uint64_t n = 1; n <= n_calls[0]; n += failure_share()) {
                const struct kv_fault_plan plan = {.fail_call = n, .fail_error = errors[k]};
                int r = copy_with_faults(old, wrongs[i], &plan, &none, calls);
                assert_true(r == errors[k] || r == 0);
                n_passed += r == 0;
            }
            for (uint64_t n = 1; n <= n_calls[1]; n += failure_share()) {
                const struct kv_fault_plan plan = {.fail_call = n, .fail_error = errors[k]};
                assert_int_equal(copy_with_faults(old, wrongs[i], &none, &plan, calls), errors[k]);
            }
        }
        /* Of each of the two tables, and of the former ids, for two of the errors. */
        assert_in_range(n_passed, 0, i == 0 ? 0 : 2 * 4);
    }
    kv_close(old);
}

static int one_posting(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    static const uint8_t key[16] = {1};
    unsigned *n_left = user;
    *ret_entry = (struct kv_entry){.key = {key, sizeof(key)}, .value = {"", 0}};
    *ret_delete = false;
    return *n_left > 0 ? (int)(*n_left)-- : 0;
}

/* A file that only has postings is lost, or damaged in its middle. */
static void test_salvage__a_lost_file_of_postings_is_mended_from_the_others(void **state)
{
    struct fixture *f = *state;
    const uint64_t sid = give_a_late_sid(f);
    for (unsigned lost = 0; lost < 2; lost++) {
        char path[PATH_MAX];
        struct kv *kv = open_rows(f);
        assert_int_equal(kv_bulk_load(kv, TABLE_TIER_R, one_posting, &(unsigned){1}), 0);
        kv_close(kv);
        find_loaded(f, path);
        if (lost) {
            assert_int_equal(unlink(path), 0);
        } else {
            int fd = open(path, O_WRONLY);
            assert_int_equal(pwrite(fd, "garbage", 7, 3), 7);
            close(fd);
        }
        assert_noticed(f, "a file of postings");
        repair(f, "a file of postings", true);
        assert_int_equal(last_sid(f), sid);
        assert_int_equal(sketched, 0);
    }
}

/* A cluster of two documents, an id that became it, and one document whose rows are half lost on
 * either side: each side has what the other lacks. */
static void test_salvage__members_come_from_either_side(void **state)
{
    struct fixture *f = *state;
    struct kv *kv;
    uint64_t id, size, to;
    const uint64_t sid = give_a_late_sid(f);
    open_index(f);
    struct file_key key = indexed_tree_key(&f->tree, "1-0");
    struct file_row row;
    assert_int_equal(catalogue_get_file(f->tree.index->kv, &key, &row), 0);
    assert_int_equal(living_clusters_of(f->tree.index->clusters, row.sid, &id, &size), 0);
    const uint64_t alias = id + 900000;
    assert_int_equal(living_clusters_keep_alias(f->tree.index->clusters, alias, id), 0);
    close_index(f);
    damage_table(f, TABLE_CLUSTER_OF, HALF_LOST);
    kv = open_rows(f);
    struct kv_page members = {0};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    assert_int_equal(kv_scan(kv, TABLE_MEMBERS, &(struct kv_range){0}, 1000, &members), 0);
    for (size_t i = 0; i < members.n_entries; i++) {
        const struct kv_slice member = members.entries[i].key;
        _cleanup_(kv_buf_done) struct kv_buf of = {0};
        if (member.size_bytes <= 16) /* sizes and former ids */
            continue;
        const struct kv_slice owner = {(const char *)member.data + member.size_bytes - 8, 8};
        if (kv_get(kv, TABLE_CLUSTER_OF, owner, &of) == 0)
            kv_batch_delete(batch, TABLE_MEMBERS, member);
    }
    assert_true(kv_batch_count(batch) > 0);
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_page_done(&members);
    kv_close(kv);
    repair(f, "each side half lost", true);
    assert_int_equal(last_sid(f), sid);
    open_index(f);
    assert_int_equal(living_clusters_alias(f->tree.index->clusters, alias, &to), 0);
    assert_int_equal(to, id);
}

/* Both sides agree on what is not so: clusters are made anew, from sketches that are sound. */
static void test_salvage__what_both_sides_have_wrong_is_not_kept(void **state)
{
    struct fixture *f = *state;
    struct membership membership;
    struct member member;
    struct file_row row;
    uint64_t from, to, size;
    const uint64_t sid = give_a_late_sid(f);
    open_index(f);
    struct living_clusters *clusters = f->tree.index->clusters;
    const struct file_key key = indexed_tree_key(&f->tree, "1-1"),
                          other = indexed_tree_key(&f->tree, "0-1");
    assert_int_equal(catalogue_get_file(f->tree.index->kv, &other, &row), 0);
    assert_int_equal(living_clusters_of(clusters, row.sid, &to, &size), 0);
    assert_int_equal(catalogue_get_file(f->tree.index->kv, &key, &row), 0);
    assert_int_equal(living_clusters_of(clusters, row.sid, &from, &size), 0);
    const uint64_t sids[] = {row.sid};
    const struct record *known;
    assert_int_equal(records_borrow(f->tree.index->records, sids, 1, &known), 0);
    member_init(&member, row.sid, known);
    records_return(f->tree.index->records, &known, 1);
    assert_int_equal(membership_init(&membership, f->tree.index->kv, 0), 0);
    assert_int_equal(membership_move(&membership, from, to, &member, 1), 0);
    membership_done(&membership, false);
    close_index(f);
    damage_table(f, TABLE_TIER_C, HALF_LOST);
    damage_table(f, TABLE_TIER_R, HALF_LOST);
    repair(f, "a document in another's cluster", true);
    assert_int_equal(outcome, INDEX_MENDING_ANEW);
    assert_true(last_sid(f) < sid);
    assert_int_equal(sketched, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_salvage__what_derives_from_sound_tables_is_mended_alone),
        CASE(test_salvage__a_lost_file_of_postings_is_mended_from_the_others),
        CASE(test_salvage__a_copy_that_fails_says_so),
        CASE(test_salvage__members_come_from_either_side),
        CASE(test_salvage__what_both_sides_have_wrong_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
