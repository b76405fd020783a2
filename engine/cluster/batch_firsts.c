/* The resemblance of each document to the first of its cluster, by their sketches, while these are
 * still there.
 *
 * Cost: two sketches a document are read, of which that of the first is read again for each. Left
 * out: pairs by the order of their sketches in the file; those of a cluster are mostly near each
 * other. */
#include <errno.h>

#include "base/ratio.h"
#include "engine/cluster/batch_state.h"
#include "engine/cluster/large/parallel.h"

enum { RESEMBLANCE_OF_ONE = 10000, DOCUMENTS_AT_ONCE = 4096 };

struct comparing {
    struct batch *batch;
    size_t room_bytes; /* of a sketch */
    uint32_t next;     /* DOCUMENTS_AT_ONCE of them */
};

/* Equal documents without a shingle have no sketches. */
static int compare_with(struct batch *batch, uint32_t i, uint32_t first, void *rooms[2])
{
    struct min_sketch a, b;
    struct estimate estimate = {.value = 1};
    int r = sketch_file_read(&batch->sketches, first, rooms[0], &a);
    if (r == 0)
        r = sketch_file_read(&batch->sketches, i, rooms[1], &b);
    if (r == 0)
        r = min_sketch_resemblance(&a, &b, &estimate);
    if (r == 0 || r == -ENOENT)
        batch->options.resemblances[i] =
            (uint16_t)(ratio_shown(estimate.value) * RESEMBLANCE_OF_ONE + 0.5);
    return r == -ENOENT ? 0 : r;
}

static int compare_some(void *user, unsigned thread, const bool *stop)
{
    struct comparing *comparing = user;
    struct batch *batch = comparing->batch;
    const uint32_t n = batch->options.n_documents;
    _cleanup_free_ void *a = malloc(comparing->room_bytes + 1),
                        *b = malloc(comparing->room_bytes + 1);
    int r = a && b ? 0 : -ENOMEM;
    (void)thread;
    while (r == 0 && !parallel_stopped(stop) && !parallel_told(batch->options.stop)) {
        uint64_t i = (uint64_t)DOCUMENTS_AT_ONCE * parallel_next(&comparing->next);
        uint64_t until = i + DOCUMENTS_AT_ONCE < n ? i + DOCUMENTS_AT_ONCE : n;
        if (i >= n)
            break;
        for (; r == 0 && i < until; i++) {
            uint32_t first = union_find_root(&batch->sets, (uint32_t)i);
            if (first == i)
                batch->options.resemblances[i] = RESEMBLANCE_OF_ONE;
            else
                r = compare_with(batch, (uint32_t)i, first, (void *[2]){a, b});
        }
    }
    return r;
}

int batch_compare_with_firsts(struct batch *batch)
{
    struct batch_begin begin = batch_begin_now(batch);
    struct batch_cost *cost = &batch->totals.cost[BATCH_CLUSTERS];
    const size_t room_bytes = sketch_file_longest_bytes(&batch->sketches);
    struct comparing comparing = {.batch = batch, .room_bytes = room_bytes};
    struct budget_share share;
    double cpu_s = 0;
    int r = budget_duplicates(&batch->budget, 2 * room_bytes, &share);
    if (r == 0)
        r = parallel_run(share.n_threads, compare_some, &comparing, &cpu_s);
    struct batch_cost took = batch_cost_since(batch, &begin, cpu_s);
    cost->wall_s += took.wall_s;
    cost->cpu_s += took.cpu_s;
    cost->read_bytes += took.read_bytes;
    return r;
}
