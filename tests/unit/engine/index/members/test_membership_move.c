/* All documents of a cluster move into another. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "engine/index/members/membership.h"
#include "engine/index/tables/schema.h"
#include "store/kv_backend.h"
#include "tests/lib/stores/kv_memory.h"

enum { N = 1000, FROM = 7, TO = 8 };

/* Rows of FROM that are gone, and how often a scan passed one: those behind its beginning, which is
 * the beginning of the cluster or right behind a row. */
static const struct kv_ops *inner;
static uint64_t gone[N];
static size_t n_gone, n_passed;

/* The place by which the rows are in order. */
static uint64_t place_of(struct kv_slice key)
{
    return key.size_bytes > 16 ? get_be64((const uint8_t *)key.data + 8) : 0;
}

static bool is_of(struct kv_slice key)
{
    return key.size_bytes > 8 && get_be64(key.data) == FROM;
}

static int scan(struct kv *kv, unsigned table, const struct kv_range *ranges, size_t n_ranges,
                size_t limit, struct kv_page *ret_pages)
{
    for (size_t i = 0; table == TABLE_MEMBERS && n_ranges == 1 && i < n_gone; i++)
        n_passed += is_of(ranges[0].from) && gone[i] > place_of(ranges[0].from);
    return inner->multi_scan(kv, table, ranges, n_ranges, limit, ret_pages);
}

static int apply(struct kv *kv, const struct kv_batch *batch)
{
    for (size_t i = 0; i < kv_batch_count(batch); i++) {
        const struct kv_batch_op op = kv_batch_op(batch, i);
        if (op.table == TABLE_MEMBERS && op.is_delete && is_of(op.key))
            gone[n_gone++] = place_of(op.key);
    }
    return inner->apply(kv, batch);
}

static void test_membership_move__rows_that_are_gone_are_not_passed_again(void **state)
{
    const struct kv_options options = {
        .tables = schema_tables, .n_tables = SCHEMA_N_TABLES, .create = true};
    struct membership membership;
    struct member members[N] = {0};
    struct kv_ops ops;
    struct kv *kv;
    uint64_t size, cluster;
    (void)state;

    assert_int_equal(kv_memory_open(&options, &kv), 0);
    assert_int_equal(membership_init(&membership, kv, 0), 0);
    for (unsigned i = 0; i < N; i++) {
        members[i] = (struct member){.sid = 1 + i,
                                     .rank_bytes = 8 + FINGERPRINT_BYTES + 1 + FILE_KEY_MAX_BYTES};
        put_be64(members[i].rank, 1 + i);
    }
    assert_int_equal(membership_move(&membership, 0, FROM, members, N), 0);
    inner = kv->ops;
    ops = *inner;
    ops.multi_scan = scan;
    ops.apply = apply;
    kv->ops = &ops;
    assert_int_equal(membership_move_all(&membership, FROM, TO), 0);
    assert_int_equal(n_gone, N);
    assert_int_equal(n_passed, 0);
    kv->ops = inner;
    assert_int_equal(membership_size(&membership, FROM, &size), 0);
    assert_int_equal(size, 0);
    assert_int_equal(membership_size(&membership, TO, &size), 0);
    assert_int_equal(size, N);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(membership_cluster_of(&membership, members[i].sid, &cluster), 0);
        assert_int_equal(cluster, TO);
    }
    membership_done(&membership, true);
    kv_close(kv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_membership_move__rows_that_are_gone_are_not_passed_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
