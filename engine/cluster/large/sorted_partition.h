/* The records of one partition of a spill in ascending order, in a room of a given size. Records
 * that do not fit into it, as those of a shingle that a tenth of all documents have, are sorted in
 * parts, which go to a scratch file and are merged as they are read. */
#ifndef KINFS_ENGINE_CLUSTER_LARGE_SORTED_PARTITION_H
#define KINFS_ENGINE_CLUSTER_LARGE_SORTED_PARTITION_H

#include "engine/cluster/large/spill.h"

struct sorting {
    size_t record_bytes;  /* a multiple of 8 */
    size_t scratch_bytes; /* more memory for each record while it is sorted; a multiple of 8, too */
    size_t most;          /* records at a time */
    /* Sorts n records. scratch: n times scratch_bytes. Returns the array that has the result:
     * records, or the beginning of scratch. */
    void *(*sort)(void *records, size_t n, void *scratch);
    int (*compare)(const void *a, const void *b); /* as sort has them */
};

extern const struct sorting sorting_numbers; /* of 8 bytes, by sort_numbers() */

enum { SORTED_LEAST_BYTES = 256 << 10 };

/* The state of one thread, which reads one partition after the other. */
struct sorted_partition {
    const struct sorting *sorting;
    struct spill *spill;
    struct scratch_file *file;
    uint8_t *room;
    size_t room_bytes;
    uint32_t partition;
    struct sorted_run *runs; /* in the room; while they are merged a heap, by the next record */
    size_t n_runs, most_runs;
    uint8_t *window; /* merged records; as long as each run's buffer */
    size_t window_bytes;
};

/* spill, file  borrowed; file: of several threads, and of nothing else
 * room_bytes   SORTED_LEAST_BYTES at least; taken as it is used
 * Returns 0, -ENOMEM. */
int sorted_partition_init(const struct sorting *sorting, struct spill *spill,
                          struct scratch_file *file, size_t room_bytes,
                          struct sorted_partition *ret_sorted);
void sorted_partition_done(struct sorted_partition *sorted); /* of zeroes, too */

/* Begins another partition in place of the one before; each may be read once. */
void sorted_partition_begin(struct sorted_partition *sorted, uint32_t partition);
/* The next records, which are valid until the next call. Returns their number, 0 when there are
 * none left, an error of scratch_file_read() or scratch_file_write(). */
int64_t sorted_partition_next(struct sorted_partition *sorted, const void **ret_records);

/* Begins a partition and hands out its records one by one, until take returns another value than 0.
 * Returns that, 0 or an error of sorted_partition_next(). */
static inline int sorted_partition_each(struct sorted_partition *sorted, uint32_t partition,
                                        int (*take)(void *user, const void *record), void *user)
{
    const void *records;
    int64_t n = 0;
    int r = 0;
    sorted_partition_begin(sorted, partition);
    while (r == 0 && (n = sorted_partition_next(sorted, &records)) > 0)
        for (int64_t i = 0; r == 0 && i < n; i++)
            r = take(user, (const uint8_t *)records + (size_t)i * sorted->sorting->record_bytes);
    return r == 0 ? (int)n : r;
}

/* The room in which so many records are sorted without the file. */
static inline uint64_t sorted_partition_bytes(const struct sorting *sorting, uint64_t n_records)
{
    return n_records * (sorting->record_bytes + sorting->scratch_bytes) + SPILL_BEHIND_BYTES;
}

#endif
