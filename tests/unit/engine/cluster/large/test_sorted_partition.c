#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "engine/cluster/pairs/key_lists.h"
#include "tests/lib/scratch.h"
#include "tests/lib/trials.h"

enum { N = 1000000, N_PARTITIONS = 3, WHICH = 1 };

struct files {
    struct scratch_file spill, runs;
    struct scratch_use use; /* of runs */
};

static void open_files(const char *directory, struct files *ret_files)
{
    *ret_files = (struct files){0};
    assert_int_equal(scratch_file_open(directory, &ret_files->spill), 0);
    assert_int_equal(scratch_file_open(directory, &ret_files->runs), 0);
    ret_files->runs.use = &ret_files->use;
}

static void close_files(struct files *files)
{
    scratch_file_done(&files->spill);
    scratch_file_done(&files->runs);
}

/* All in one partition. */
static struct spill *spill_numbers(struct files *files, const uint64_t *numbers, size_t n)
{
    struct spill *spill;
    struct spill_writer writer;
    assert_int_equal(spill_new(&files->spill, 8, N_PARTITIONS, 64 << 10, 1 << 20, &spill), 0);
    assert_int_equal(spill_writer_init(spill, &writer), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(spill_add(&writer, WHICH, &numbers[i]), 0);
    assert_int_equal(spill_writer_flush(&writer), 0);
    spill_writer_done(&writer);
    return spill;
}

/* The same as qsort(3), in any room: all at once, in parts that are merged, and in so many that
 * they are merged more than once. Where it is not parts nothing is written, and the file system has
 * back what was. */
static void test_sorted_partition__is_the_partition_sorted_in_any_room(void **state)
{
    static uint64_t numbers[N], expected[N];
    const size_t rooms[] = {sorted_partition_bytes(&sorting_numbers, N), 2 << 20,
                            SORTED_LEAST_BYTES, SORTED_LEAST_BYTES};
    const size_t sizes[] = {N, N, N, 1000};
    uint64_t x = 3;
    for (unsigned i = 0; i < 4; i++) {
        struct files files;
        struct sorted_partition sorted;
        open_files(*state, &files);
        for (size_t j = 0; j < sizes[i]; j++)
            numbers[j] = expected[j] = mix64_next(&x) % (N / 2) << (j % 2 ? 40 : 0);
        qsort(expected, sizes[i], sizeof(uint64_t), trial_compare);
        _cleanup_(spill_free_p) struct spill *spill = spill_numbers(&files, numbers, sizes[i]);
        assert_int_equal(
            sorted_partition_init(&sorting_numbers, spill, &files.runs, rooms[i], &sorted), 0);
        for (uint32_t partition = 0; partition < N_PARTITIONS; partition++) {
            const void *records;
            size_t at = 0;
            sorted_partition_begin(&sorted, partition);
            for (int64_t n; (n = sorted_partition_next(&sorted, &records)) != 0; at += (size_t)n) {
                assert_true(n > 0 && at + (size_t)n <= sizes[i]);
                assert_memory_equal(records, expected + at, (size_t)n * sizeof(uint64_t));
            }
            assert_int_equal(at, partition == WHICH ? sizes[i] : 0);
        }
        const uint64_t once = (uint64_t)N * sizeof(uint64_t), written = files.runs.written_bytes;
        assert_true(i == 0 || i == 3 ? written == 0 : i == 1 ? written == once : written > once);
        assert_true(files.use.now_bytes <= written / 10);
        sorted_partition_done(&sorted);
        close_files(&files);
    }
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

/* Parts for which there is no room on the disk: an error, whoever asks. */
static void test_sorted_partition__tells_that_the_disk_is_full(void **state)
{
    static uint64_t numbers[N / 4];
    struct rlimit before, small = {1 << 20, 1 << 20};
    struct files files;
    struct sorted_partition sorted;
    const void *records;
    uint64_t x = 4;
    for (size_t i = 0; i < N / 4; i++)
        numbers[i] = mix64_next(&x);
    open_files(*state, &files);
    _cleanup_(spill_free_p) struct spill *spill = spill_numbers(&files, numbers, N / 4);
    assert_int_equal(
        sorted_partition_init(&sorting_numbers, spill, &files.runs, SORTED_LEAST_BYTES, &sorted),
        0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    sorted_partition_begin(&sorted, WHICH);
    assert_int_equal(sorted_partition_next(&sorted, &records), -EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    sorted_partition_done(&sorted);
    close_files(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted_partition__is_the_partition_sorted_in_any_room),
        cmocka_unit_test(test_key_lists__come_in_pieces_where_they_are_long),
        cmocka_unit_test(test_sorted_partition__tells_that_the_disk_is_full),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
