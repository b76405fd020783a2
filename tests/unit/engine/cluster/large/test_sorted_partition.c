#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "engine/cluster/large/sorted_partition.h"
#include "tests/lib/trials.h"
#include "tests/unit/engine/cluster/spilled_numbers.h"

enum { N = 1000000 };

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
        cmocka_unit_test(test_sorted_partition__tells_that_the_disk_is_full),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
