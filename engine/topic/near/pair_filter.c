/* The lowest bytes of two segments of nodes are in memory, as rows; the parts of pairs between them
 * are sorted, so that a pair that several draws found is compared once, and compared. Then come the
 * next two segments.
 *
 * Example: 35 million nodes and 80 bytes each are 2.8 GB. With 1 GB there are six segments of 6.25
 * million nodes, two of which are in memory at a time, and 21 passes: all pairs of segment 1, of 1
 * and 2, of 1 and 3, .. With 80 bytes for each there is one pass.
 *
 * Cost: two rows are looked up for each pair, of which the first is the same for many in a row;
 * the second is asked for eight pairs ahead, as it may be anywhere. Each row is read once for each
 * segment. The paper's passes have a part of all signatures in memory and count for each pair in a
 * file; here each pair is written once. Left out: ending a comparison early.
 */
#include "engine/topic/near/pair_filter.h"

#include "engine/cluster/large/large_array.h"
#include "engine/cluster/large/parallel.h"
#include "engine/cluster/large/sorted_partition.h"
#include "engine/topic/near/relations.h"

struct rows {
    uint8_t *bytes;
    size_t size_bytes;
    uint32_t first; /* node */
};

struct filtering {
    struct sorted_partition sorted;
    struct spill_writer relations;
    uint64_t n_different, n_kept;
};

struct run {
    const struct pair_filter *filter;
    struct scratch_file file; /* parts of partitions that do not fit into the room */
    struct rows a, b;         /* b: the same where both segments are */
    struct filtering threads[PARALLEL_MAX_THREADS];
    uint32_t next, end; /* partitions */
};

/* -- rows -- */

struct loading {
    const struct pair_filter *filter;
    struct rows *rows;
    uint32_t next, end; /* blocks */
};

static int load_block(const struct pair_filter *filter, uint32_t block, struct rows *rows)
{
    const uint32_t n = signatures_nodes(filter->signatures, block);
    const unsigned m = filter->n_compared;
    uint8_t *to = rows->bytes + (size_t)(block * SIGNATURES_BLOCK - rows->first) * m;
    uint8_t buffer[SIGNATURES_BLOCK];
    for (unsigned j = 0; j < m; j++) {
        const uint8_t *low;
        int r = signatures_low(filter->signatures, block, j, buffer, &low);
        if (r < 0)
            return r;
        for (uint32_t i = 0; i < n; i++)
            to[(size_t)i * m + j] = low[i];
    }
    return 0;
}

static int load_blocks(void *user, unsigned thread, const bool *stop)
{
    struct loading *loading = user;
    int r = 0;
    (void)thread;
    for (uint32_t i;
         r == 0 && !parallel_stopped(stop) && (i = parallel_next(&loading->next)) < loading->end;)
        r = load_block(loading->filter, i, loading->rows);
    return r;
}

static int load(const struct pair_filter *filter, uint32_t segment, struct rows *rows,
                double *cpu_s)
{
    const uint32_t n_blocks = filter->signatures->n_blocks;
    const uint64_t each = filter->parts->segment_nodes, first = segment * each,
                   end = (first + each + SIGNATURES_BLOCK - 1) / SIGNATURES_BLOCK;
    struct loading loading = {.filter = filter,
                              .rows = rows,
                              .next = (uint32_t)(first / SIGNATURES_BLOCK),
                              .end = end < n_blocks ? (uint32_t)end : n_blocks};
    rows->first = (uint32_t)first;
    return parallel_run(filter->n_threads, load_blocks, &loading, cpu_s);
}

/* -- comparing -- */

static const uint8_t *row_of(const struct run *run, const struct rows *rows, uint32_t node)
{
    return rows->bytes + (size_t)(node - rows->first) * run->filter->n_compared;
}

static int keep(const struct pair_filter *filter, struct filtering *thread, uint32_t u, uint32_t v,
                unsigned agreeing)
{
    uint64_t there = relation_of(u, v, agreeing), back = relation_of(v, u, agreeing);
    int r = spill_add(&thread->relations, u >> filter->relation_shift, &there);
    thread->n_kept++;
    return r < 0 ? r : spill_add(&thread->relations, v >> filter->relation_shift, &back);
}

static int compare(const struct run *run, struct filtering *thread, const uint64_t *pairs,
                   int64_t n, uint64_t *last)
{
    enum { AHEAD = 8 };
    const struct pair_filter *filter = run->filter;
    int r = 0;
    for (int64_t i = 0; r == 0 && i < n; i++) {
        if (i + AHEAD < n) {
            const uint8_t *row = row_of(run, &run->b, (uint32_t)pairs[i + AHEAD]);
            __builtin_prefetch(row);
            __builtin_prefetch(row + filter->n_compared - 1);
        }
        if (pairs[i] == *last)
            continue;
        *last = pairs[i];
        thread->n_different++;
        uint32_t u = (uint32_t)(pairs[i] >> 32), v = (uint32_t)pairs[i];
        unsigned agreeing = signatures_agreeing(row_of(run, &run->a, u), row_of(run, &run->b, v),
                                                filter->n_compared);
        if (agreeing >= filter->least_agreeing)
            r = keep(filter, thread, u, v, agreeing);
    }
    return r;
}

static int filter_partitions(void *user, unsigned number, const bool *stop)
{
    struct run *run = user;
    struct filtering *thread = &run->threads[number];
    int r = 0;
    for (uint32_t i; r == 0 && !parallel_stopped(stop) && !parallel_told(run->filter->stop) &&
                     (i = parallel_next(&run->next)) < run->end;) {
        const void *pairs;
        uint64_t last = 0; /* no pair: u < v */
        int64_t n = 0;
        sorted_partition_begin(&thread->sorted, i);
        while (r == 0 && (n = sorted_partition_next(&thread->sorted, &pairs)) > 0)
            r = compare(run, thread, pairs, n, &last);
        r = n < 0 ? (int)n : r;
    }
    return r;
}

/* -- segments -- */

static int filter_segments(struct run *run, double *cpu_s)
{
    const struct pair_filter *filter = run->filter;
    const struct pair_parts *parts = filter->parts;
    struct rows other = run->b;
    int r = 0;
    for (uint32_t a = 0; r == 0 && a < parts->n_segments; a++) {
        r = load(filter, a, &run->a, cpu_s);
        for (uint32_t b = a; r == 0 && b < parts->n_segments && !parallel_told(filter->stop); b++) {
            if (b > a)
                r = load(filter, b, &other, cpu_s);
            run->b = b > a ? other : run->a;
            run->next = pair_parts_of(parts, a, b);
            run->end = run->next + parts->n_each;
            if (r == 0)
                r = parallel_run(filter->n_threads, filter_partitions, run, cpu_s);
        }
    }
    run->b = other;
    return r;
}

static int rows_init(const struct pair_filter *filter, struct rows *ret_rows)
{
    ret_rows->size_bytes = (size_t)filter->parts->segment_nodes * filter->n_compared;
    ret_rows->bytes = large_array_new(ret_rows->size_bytes);
    return ret_rows->bytes ? 0 : -ENOMEM;
}

static int run_init(struct run *run)
{
    const struct pair_filter *filter = run->filter;
    int r = scratch_file_open(filter->scratch, &run->file);
    if (r == 0)
        r = rows_init(filter, &run->a);
    if (r == 0 && filter->parts->n_segments > 1)
        r = rows_init(filter, &run->b);
    for (unsigned i = 0; r == 0 && i < filter->n_threads; i++) {
        r = sorted_partition_init(&sorting_numbers, filter->pairs, &run->file, filter->room_bytes,
                                  &run->threads[i].sorted);
        if (r == 0)
            r = spill_writer_init(filter->relations, &run->threads[i].relations);
    }
    return r;
}

static void run_done(struct run *run)
{
    for (unsigned i = 0; i < run->filter->n_threads; i++) {
        sorted_partition_done(&run->threads[i].sorted);
        spill_writer_done(&run->threads[i].relations);
    }
    large_array_free(run->a.bytes, run->a.size_bytes);
    large_array_free(run->b.bytes, run->b.size_bytes);
    scratch_file_done(&run->file);
}

int pair_filter_run(const struct pair_filter *filter, struct pair_filter_totals *ret_totals,
                    double *cpu_s)
{
    _cleanup_(run_done) struct run run = {.filter = filter};
    *ret_totals = (struct pair_filter_totals){0};
    int r = run_init(&run);
    if (r == 0)
        r = filter_segments(&run, cpu_s);
    for (unsigned i = 0; r == 0 && i < filter->n_threads; i++) {
        r = spill_writer_flush(&run.threads[i].relations);
        ret_totals->n_different += run.threads[i].n_different;
        ret_totals->n_kept += run.threads[i].n_kept;
    }
    ret_totals->read_bytes = run.file.read_bytes;
    ret_totals->written_bytes = run.file.written_bytes;
    return r;
}
