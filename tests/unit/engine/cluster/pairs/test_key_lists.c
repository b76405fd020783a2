#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "engine/cluster/pairs/key_lists.h"
#include "tests/unit/engine/cluster/spilled_numbers.h"

/* As many bits as tell the documents apart and no more: what they leave is the fingerprint's. */
static void test_key_lists__numbers_have_the_bits_they_need(void **state)
{
    (void)state;
    for (unsigned bits = 12; bits < 32; bits++) {
        uint32_t most = (uint32_t)1 << bits;
        assert_int_equal(key_number_bits(most), bits);
        assert_int_equal(key_number_bits(most - 1), bits);
        assert_int_equal(key_number_bits(most + 1), bits + 1);
    }
    assert_int_equal(key_number_bits(UINT32_MAX), 32);
}

/* A list that is longer than its room comes in pieces, each behind the first of it; others do not.
 */
static void test_key_lists__come_in_pieces_where_they_are_long(void **state)
{
    enum { LONG = 50000, SHORT = 7, ROOM = 1000, KEPT = 16, BITS = 20 };
    static uint64_t numbers[LONG + 2 * SHORT + 1], nodes[LONG];
    struct files files;
    struct sorted_partition sorted;
    struct key_partition partition;
    size_t n = 0;
    memset(nodes, 0x55, sizeof(nodes)); /* every other document */
    for (unsigned i = 0; i < LONG; i++)
        numbers[n++] = (uint64_t)2 << BITS | (LONG - 1 - i);
    for (unsigned i = 0; i < SHORT; i++) {
        numbers[n++] = (uint64_t)1 << BITS | i * 10;
        numbers[n++] = (uint64_t)3 << BITS | 6; /* the same again */
    }
    numbers[n++] = (uint64_t)4 << BITS | 8;
    open_files(*state, &files);
    _cleanup_(spill_free_p) struct spill *spill = spill_numbers(&files, numbers, n);
    assert_int_equal(
        sorted_partition_init(&sorting_numbers, spill, &files.runs, SORTED_LEAST_BYTES, &sorted),
        0);
    assert_int_equal(key_partition_init(&sorted, BITS, ROOM, KEPT, &partition), 0);
    assert_int_equal(key_partition_begin(&partition, WHICH), 0);

    assert_int_equal(key_partition_next(&partition, nodes), SHORT);
    assert_false(partition.more);
    for (unsigned i = 0; i < SHORT; i++)
        assert_int_equal(partition.list[i], i * 10);
    uint32_t next = 0;
    do {
        int64_t got = key_partition_next(&partition, nodes);
        size_t from = next > 0 ? KEPT : 0;
        assert_in_range(got, from + 1, ROOM);
        for (size_t i = 0; i < from; i++)
            assert_int_equal(partition.list[i], 2 * i);
        for (size_t i = from; i < (size_t)got; i++, next += 2)
            assert_int_equal(partition.list[i], next);
        assert_int_equal(partition.n_documents, next / 2);
    } while (partition.more);
    assert_int_equal(next, LONG);
    assert_int_equal(key_partition_next(&partition, nodes), 0);
    key_partition_done(&partition);
    close_files(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_lists__numbers_have_the_bits_they_need),
        cmocka_unit_test(test_key_lists__come_in_pieces_where_they_are_long),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
