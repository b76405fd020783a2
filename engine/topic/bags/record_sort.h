/* Records of targets and words on their way through scratch files: added in any order, each to a
 * partition, and read back sorted, one partition after the other. One thread. */
#ifndef KINFS_ENGINE_TOPIC_BAGS_RECORD_SORT_H
#define KINFS_ENGINE_TOPIC_BAGS_RECORD_SORT_H

#include "engine/topic/bags/target_records.h"

/* Zero-initialised; ends with record_sort_done(). */
struct record_sort {
    struct scratch_file file, runs;
    struct spill *spill;
    struct spill_writer writer;
    struct sorted_partition sorted;
    uint32_t partition, n_partitions; /* partition: that is read */
    const struct target_record *records;
    int64_t n_records, at;
};

/* scratch       a directory, for files without names
 * buffer_bytes  of the writer; memory_bytes: for records (spill.h)
 * Returns 0, -ENOMEM, an error of scratch_file_open(). */
int record_sort_begin(struct record_sort *sort, const char *scratch, uint32_t n_partitions,
                      size_t buffer_bytes, size_t memory_bytes);
void record_sort_done(struct record_sort *sort);

/* Returns 0, an error of scratch_file_write(). */
static inline int record_sort_add(struct record_sort *sort, uint32_t partition,
                                  const struct target_record *record)
{
    return spill_add(&sort->writer, partition, record);
}

/* All were added. room_bytes: as of sorted_partition_init(). Returns 0, -ENOMEM or an error of
 * scratch_file_write(). */
int record_sort_turn(struct record_sort *sort, size_t room_bytes);
/* stopped: asked now and then; what it returns but 0 ends it. Returns 1 with the next record, which
 * is so until record_sort_pass(), 0 behind the last, or an error. */
int record_sort_peek(struct record_sort *sort, int (*stopped)(void *user), void *user,
                     const struct target_record **ret_record);
static inline void record_sort_pass(struct record_sort *sort)
{
    sort->at++;
}

#endif
