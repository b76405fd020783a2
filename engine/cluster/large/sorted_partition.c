/* A partition that fits into the room is read and sorted there. A larger one is read and sorted in
 * parts, each of which goes to the file as a run; a heap of the runs then gives the least record
 * again and again.
 *
 * Example with room for three records: 5 2 9 4 1 become the runs 2 5 9 and 1 4; the heap gives 1
 * (of the second run), 2 (of the first), 4, 5, 9, into a window that is returned when it is full.
 *
 * The room, while parts are sorted:  | runs, 1/8 | records | 16 bytes of spill_take() | scratch |
 * while they are merged:             | runs, 1/8 | a buffer a run | window |
 *
 * Cost: in the room one pass; else a write and a read more of each record, and log k comparisons
 * for k runs. When the runs are as many as have buffers of 4 KiB, they are merged to one. Left out:
 * longer runs by replacement selection, which compares record by record; sort_numbers() does not.
 */
#include "engine/cluster/large/sorted_partition.h"

#include <errno.h>

#include "base/sort_numbers.h"
#include "engine/cluster/large/large_array.h"

enum { LEAST_BUFFER_BYTES = 4096 };

struct sorted_run {
    uint64_t begin, at, end; /* in the file */
    uint8_t *buffer, *next, *until;
};

static void *sort_as_numbers(void *records, size_t n, void *scratch)
{
    sort_numbers(records, n, scratch);
    return records;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

const struct sorting sorting_numbers = {
    .record_bytes = 8,
    .scratch_bytes = 8,
    .most = SIZE_MAX,
    .sort = sort_as_numbers,
    .compare = compare_numbers,
};

int sorted_partition_init(const struct sorting *sorting, struct spill *spill,
                          struct scratch_file *file, size_t room_bytes,
                          struct sorted_partition *ret_sorted)
{
    size_t runs_bytes = room_bytes / 8 / 16 * 16,
           most_runs = runs_bytes / sizeof(struct sorted_run);
    size_t most_buffers = (room_bytes - runs_bytes) / LEAST_BUFFER_BYTES - 1; /* and the window */
    struct sorted_partition sorted = {
        .sorting = sorting,
        .spill = spill,
        .file = file,
        .room = large_array_new(room_bytes),
        .room_bytes = room_bytes,
        .most_runs = most_runs < most_buffers ? most_runs : most_buffers,
    };
    if (!sorted.room)
        return -ENOMEM;
    sorted.runs = (struct sorted_run *)sorted.room;
    *ret_sorted = sorted;
    return 0;
}

void sorted_partition_done(struct sorted_partition *sorted)
{
    large_array_free(sorted->room, sorted->room_bytes);
    *sorted = (struct sorted_partition){0};
}

void sorted_partition_begin(struct sorted_partition *sorted, uint32_t partition)
{
    sorted->partition = partition;
    sorted->n_runs = 0;
}

/* -- sorting -- */

/* Reads and sorts as many records as the room takes from `from` on. */
static int64_t take(struct sorted_partition *sorted, uint8_t *from, const void **ret_records)
{
    const struct sorting *sorting = sorted->sorting;
    size_t room = (size_t)(sorted->room + sorted->room_bytes - from) - SPILL_BEHIND_BYTES;
    size_t most = room / (sorting->record_bytes + sorting->scratch_bytes);
    most = most < sorting->most ? most : sorting->most;
    size_t size = most * sorting->record_bytes + SPILL_BEHIND_BYTES;
    int64_t n = spill_take(sorted->spill, sorted->partition, from, size);
    if (n > 0)
        *ret_records = sorting->sort(from, (size_t)n, from + size);
    return n;
}

static bool fits(const struct sorted_partition *sorted, uint64_t n)
{
    const struct sorting *sorting = sorted->sorting;
    return n <= sorting->most && sorted_partition_bytes(sorting, n) <= sorted->room_bytes;
}

/* -- merging -- */

static uint8_t *behind_runs(const struct sorted_partition *sorted)
{
    return sorted->room + sorted->room_bytes / 8 / 16 * 16;
}

static int fill(struct sorted_partition *sorted, struct sorted_run *run)
{
    size_t size = sorted->window_bytes;
    size = run->end - run->at < size ? run->end - run->at : size;
    int r = scratch_file_read(sorted->file, run->at, run->buffer, size);
    run->at += size;
    run->next = run->buffer;
    run->until = run->buffer + size;
    return r;
}

static void sift(const struct sorted_partition *sorted, size_t at)
{
    struct sorted_run *runs = sorted->runs, run = runs[at];
    int (*compare)(const void *, const void *) = sorted->sorting->compare;
    for (size_t child; (child = 2 * at + 1) < sorted->n_runs; at = child) {
        if (child + 1 < sorted->n_runs && compare(runs[child + 1].next, runs[child].next) < 0)
            child++;
        if (compare(run.next, runs[child].next) <= 0)
            break;
        runs[at] = runs[child];
    }
    runs[at] = run;
}

static int begin_merging(struct sorted_partition *sorted)
{
    uint8_t *at = behind_runs(sorted);
    size_t room = (size_t)(sorted->room + sorted->room_bytes - at) / (sorted->n_runs + 1);
    int r = 0;
    sorted->window_bytes = room / sorted->sorting->record_bytes * sorted->sorting->record_bytes;
    for (size_t i = 0; r == 0 && i < sorted->n_runs; i++, at += sorted->window_bytes) {
        sorted->runs[i].buffer = at;
        r = fill(sorted, &sorted->runs[i]);
    }
    sorted->window = at;
    for (size_t i = sorted->n_runs; r == 0 && i-- > 0;)
        sift(sorted, i);
    return r;
}

/* The least record has been taken: its run goes on to the next one, or is removed and its room in
 * the file given back. */
static int pass(struct sorted_partition *sorted)
{
    struct sorted_run *run = &sorted->runs[0];
    int r = 0;
    run->next += sorted->sorting->record_bytes;
    if (run->next == run->until && run->at < run->end) {
        r = fill(sorted, run);
    } else if (run->next == run->until) {
        scratch_file_give_back_part(sorted->file, run->begin, run->end - run->begin);
        *run = sorted->runs[--sorted->n_runs];
    }
    if (r == 0 && sorted->n_runs)
        sift(sorted, 0);
    return r;
}

/* Merges as many records as the window takes. Returns their number, 0 at the end. */
static int64_t merge(struct sorted_partition *sorted)
{
    size_t each = sorted->sorting->record_bytes, n = 0;
    for (; sorted->n_runs && n < sorted->window_bytes; n += each) {
        memcpy(sorted->window + n, sorted->runs[0].next, each);
        int r = pass(sorted);
        if (r < 0)
            return r;
    }
    return (int64_t)(n / each);
}

/* -- parts -- */

static int put(struct sorted_partition *sorted, const void *records, uint64_t at, uint64_t n)
{
    return scratch_file_write(sorted->file, at, records, n * sorted->sorting->record_bytes);
}

/* All runs are merged to one, as there are as many as can be merged at a time. */
static int merge_to_one(struct sorted_partition *sorted)
{
    struct sorted_run one = {0};
    int64_t n = 0;
    for (size_t i = 0; i < sorted->n_runs; i++)
        one.end += sorted->runs[i].end - sorted->runs[i].begin;
    one.begin = one.at = scratch_file_reserve(sorted->file, one.end);
    one.end += one.begin;
    uint64_t at = one.begin;
    int r = begin_merging(sorted);
    while (r == 0 && (n = merge(sorted)) > 0) {
        r = put(sorted, sorted->window, at, (uint64_t)n);
        at += (uint64_t)n * sorted->sorting->record_bytes;
    }
    sorted->runs[0] = one;
    sorted->n_runs = 1;
    return n < 0 ? (int)n : r;
}

static int sort_parts(struct sorted_partition *sorted)
{
    const void *records;
    int64_t n;
    int r = 0;
    while (r == 0 && (n = take(sorted, behind_runs(sorted), &records)) != 0) {
        if (n < 0)
            return (int)n;
        uint64_t size = (uint64_t)n * sorted->sorting->record_bytes;
        uint64_t begin = scratch_file_reserve(sorted->file, size);
        sorted->runs[sorted->n_runs++] = (struct sorted_run){begin, begin, begin + size, 0, 0, 0};
        r = put(sorted, records, begin, (uint64_t)n);
        if (r == 0 && sorted->n_runs == sorted->most_runs)
            r = merge_to_one(sorted);
    }
    return r < 0 ? r : begin_merging(sorted);
}

int64_t sorted_partition_next(struct sorted_partition *sorted, const void **ret_records)
{
    uint64_t n = spill_partition_count(sorted->spill, sorted->partition);
    if (n > 0 && fits(sorted, n))
        return take(sorted, sorted->room, ret_records);
    if (n > 0) {
        int r = sort_parts(sorted);
        if (r < 0)
            return r;
    }
    if (sorted->n_runs == 0)
        return 0;
    *ret_records = sorted->window;
    return merge(sorted);
}
