#include "engine/topic/bags/record_sort.h"

int record_sort_begin(struct record_sort *sort, const char *scratch, uint32_t n_partitions,
                      size_t buffer_bytes, size_t memory_bytes)
{
    sort->n_partitions = n_partitions;
    int r = scratch_file_open(scratch, &sort->file);
    if (r == 0)
        r = scratch_file_open(scratch, &sort->runs);
    if (r == 0)
        r = spill_new(&sort->file, sizeof(struct target_record), n_partitions, buffer_bytes,
                      memory_bytes, &sort->spill);
    return r < 0 ? r : spill_writer_init(sort->spill, &sort->writer);
}

void record_sort_done(struct record_sort *sort)
{
    sorted_partition_done(&sort->sorted);
    spill_writer_done(&sort->writer);
    spill_free(sort->spill);
    scratch_file_done(&sort->runs);
    scratch_file_done(&sort->file);
}

int record_sort_turn(struct record_sort *sort, size_t room_bytes)
{
    int r = spill_writer_flush(&sort->writer);
    spill_writer_done(&sort->writer);
    if (r == 0)
        r = sorted_partition_init(&target_records_sorting, sort->spill, &sort->runs, room_bytes,
                                  &sort->sorted);
    if (r == 0)
        sorted_partition_begin(&sort->sorted, 0);
    return r;
}

int record_sort_peek(struct record_sort *sort, int (*stopped)(void *user), void *user,
                     const struct target_record **ret_record)
{
    while (sort->at == sort->n_records) {
        const void *records;
        int64_t n = stopped(user);
        if (n == 0)
            n = sorted_partition_next(&sort->sorted, &records);
        if (n < 0)
            return (int)n;
        if (n == 0 && sort->partition == sort->n_partitions - 1)
            return 0;
        if (n == 0)
            sorted_partition_begin(&sort->sorted, ++sort->partition);
        sort->records = records;
        sort->n_records = n;
        sort->at = 0;
    }
    *ret_record = &sort->records[sort->at];
    return 1;
}
