#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "engine/cluster/large/spill.h"
#include "tests/lib/scratch.h"
#include "tests/lib/trials.h"

enum { N_PARTITIONS = 16, N_EACH = 20000, N_WRITERS = 3 };

struct record {
    uint64_t number, check;
    uint32_t partition, reserved;
};

struct writing {
    struct spill *spill;
    unsigned writer;
};

static struct record record_of(uint64_t number)
{
    uint64_t x = number, check = mix64_next(&x);
    return (struct record){number, check, (uint32_t)(check % N_PARTITIONS), 0};
}

static void *write_records(void *user)
{
    const struct writing *writing = user;
    struct spill_writer writer;
    assert_int_equal(spill_writer_init(writing->spill, &writer), 0);
    for (uint64_t i = 0; i < N_EACH; i++) {
        struct record record = record_of(writing->writer * (uint64_t)N_EACH + i);
        assert_int_equal(spill_add(&writer, record.partition, &record), 0);
    }
    assert_int_equal(spill_writer_flush(&writer), 0);
    spill_writer_done(&writer);
    return NULL;
}

/* Returns how many, none of which was seen before. */
static size_t take_some(struct spill *spill, uint32_t partition, struct record *records,
                        size_t room, uint8_t *seen)
{
    int64_t n = spill_take(spill, partition, records, room);
    assert_true(n > 0);
    for (int64_t j = 0; j < n; j++) {
        struct record expected = record_of(records[j].number);
        assert_memory_equal(&records[j], &expected, sizeof(expected));
        assert_int_equal(expected.partition, partition);
        assert_int_equal(seen[expected.number]++, 0);
    }
    return (size_t)n;
}

/* All that several writers add is there once, in its partition: with all of it in memory, with all
 * of it in the file, and with some of it in both; read at once, or in pieces. */
static void test_spill__gives_back_all_records_by_partition(void **state)
{
    const size_t memories[] = {0, 300000, 1 << 30};
    for (unsigned i = 0; i < sizeof(memories) / sizeof(memories[0]); i++) {
        struct scratch_file file = {0};
        struct spill *spill;
        assert_int_equal(scratch_file_open(*state, &file), 0);
        assert_int_equal(
            spill_new(&file, sizeof(struct record), N_PARTITIONS, 64 << 10, memories[i], &spill),
            0);
        pthread_t threads[N_WRITERS];
        struct writing writings[N_WRITERS];
        for (unsigned j = 0; j < N_WRITERS; j++) {
            writings[j] = (struct writing){spill, j};
            assert_int_equal(pthread_create(&threads[j], NULL, write_records, &writings[j]), 0);
        }
        for (unsigned j = 0; j < N_WRITERS; j++)
            pthread_join(threads[j], NULL);

        static uint8_t seen[N_WRITERS * N_EACH];
        memset(seen, 0, sizeof(seen));
        assert_int_equal(spill_count(spill), N_WRITERS * N_EACH);
        for (uint32_t p = 0; p < N_PARTITIONS; p++) {
            size_t n = spill_partition_count(spill, p);
            size_t room = i == 1 ? SPILL_CHUNK_MAX_BYTES : n * sizeof(struct record);
            room += SPILL_BEHIND_BYTES;
            _cleanup_free_ struct record *records = malloc(room);
            for (size_t taken = 0; taken < n;)
                taken += take_some(spill, p, records, room, seen);
            assert_int_equal(spill_take(spill, p, records, room), 0);
            assert_int_equal(spill_partition_count(spill, p), 0);
        }
        assert_int_equal(file.written_bytes == 0, memories[i] == 1 << 30);
        assert_int_equal(file.written_bytes, file.read_bytes);
        spill_free(spill);
        scratch_file_done(&file);
    }
}

static void test_spill__tells_that_the_disk_is_full(void **state)
{
    struct scratch_file file = {0};
    struct spill *spill;
    struct spill_writer writer;
    struct rlimit before, small = {4096, 4096};
    assert_int_equal(scratch_file_open(*state, &file), 0);
    assert_int_equal(spill_new(&file, 8, N_PARTITIONS, 16 << 10, 0, &spill), 0);
    assert_int_equal(spill_writer_init(spill, &writer), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int r = 0;
    uint64_t n = 0;
    for (; r == 0 && n < 100000; n++)
        r = spill_add(&writer, (uint32_t)(n % N_PARTITIONS), &n);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(r, -EFBIG);
    spill_writer_done(&writer);
    spill_free(spill);
    scratch_file_done(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spill__gives_back_all_records_by_partition),
        cmocka_unit_test(test_spill__tells_that_the_disk_is_full),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
