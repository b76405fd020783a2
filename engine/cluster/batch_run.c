/* The phases, one after the other, and what each took. */
#include <errno.h>

#include "base/clock.h"
#include "engine/cluster/batch_state.h"
#include "engine/cluster/links.h"
#include "engine/cluster/pair_counts.h"
#include "engine/cluster/parallel.h"

enum { THREADS_THAT_WAIT = 3 };

struct batch_begin batch_begin_now(const struct batch *batch)
{
    struct batch_begin begin = {.us = clock_now_us()};
    for (unsigned i = 0; i < N_SCRATCH_FILES; i++) {
        begin.read_bytes += batch->scratch[i].read_bytes;
        begin.written_bytes += batch->scratch[i].written_bytes;
    }
    return begin;
}

struct batch_cost batch_cost_since(const struct batch *batch, const struct batch_begin *begin,
                                   double cpu_s)
{
    struct batch_begin now = batch_begin_now(batch);
    return (struct batch_cost){
        .wall_s = (double)(now.us - begin->us) * 1e-6,
        .cpu_s = cpu_s,
        .read_bytes = now.read_bytes - begin->read_bytes,
        .written_bytes = now.written_bytes - begin->written_bytes,
    };
}

static void end_phase(struct batch *batch, enum batch_phase phase, const struct batch_begin *begin,
                      double cpu_s)
{
    batch->totals.cost[phase] = batch_cost_since(batch, begin, cpu_s);
}

static int collapse_duplicates(struct batch *batch)
{
    struct batch_begin begin = batch_begin_now(batch);
    double cpu_s = 0;
    int r = equivalence_join(batch->equivalences, batch->options.n_threads, &batch->sets,
                             &batch->marks, &batch->totals.equivalence, &cpu_s);
    spill_end(batch->equivalences);
    end_phase(batch, BATCH_DUPLICATES, &begin, cpu_s);
    return r;
}

static void show_progress(void *user, uint32_t done, uint32_t of)
{
    struct batch *batch = user;
    if (batch->options.progress)
        batch->options.progress(batch->options.user, BATCH_PAIRS, done, of);
}

/* Threads that compare wait for sketches that are not in memory, one page after the other: three a
 * processor have a disk read as many at a time. (More would share its cache.) Each has a partition
 * of keys in memory, for which there is 1/16 of it. */
static unsigned n_link_threads(const struct batch *batch)
{
    unsigned n = batch->options.n_threads, most = THREADS_THAT_WAIT * n;
    uint64_t partition_bytes = 24 * spill_count(batch->keys) / KEY_PARTITIONS + 1;
    uint64_t room = batch->rest_bytes / 16 / partition_bytes;
    if (!sketch_file_is_on_disk(&batch->sketches) || room <= n)
        return n;
    most = most < room ? most : (unsigned)room;
    return most < PARALLEL_MAX_THREADS ? most : PARALLEL_MAX_THREADS;
}

/* exact, fast: sorting and comparing, partition by partition. */
static int link_documents(struct batch *batch)
{
    const struct batch_options *options = &batch->options;
    struct batch_begin begin = batch_begin_now(batch);
    struct link_totals linked = {0};
    double cpu_s = 0;
    unsigned n_threads = n_link_threads(batch);
    const struct linking linking = {
        .keys = batch->keys,
        .sketches = options->mode == BATCH_SUPERSHINGLE ? NULL : &batch->sketches,
        .sets = &batch->sets,
        .nodes = batch->marks.node,
        .number_bits = batch->number_bits,
        .n_threads = n_threads,
        .threshold = options->threshold,
        .most_compared = options->most_compared,
        .n_representatives = options->n_representatives,
        .room_bytes = batch->rest_bytes / 16 / n_threads,
        .refused_bytes = batch->rest_bytes / 16, /* equivalences had it */
        .progress = show_progress,
        .user = batch,
        .stop = options->stop,
    };
    int r = links_join(&linking, &linked, &cpu_s);
    end_phase(batch, BATCH_PAIRS, &begin, cpu_s);
    struct batch_totals *totals = &batch->totals;
    struct batch_cost *sort = &totals->cost[BATCH_SORT], *pairs = &totals->cost[BATCH_PAIRS];
    double share = cpu_s > 0 ? linked.sort_cpu_s / cpu_s : 0;
    *sort = (struct batch_cost){.wall_s = pairs->wall_s * share, .cpu_s = linked.sort_cpu_s};
    pairs->wall_s -= sort->wall_s;
    pairs->cpu_s -= sort->cpu_s;
    totals->lists = linked.counts;
    return r;
}

static int count_pairs(struct batch *batch)
{
    const struct batch_options *options = &batch->options;
    struct batch_begin begin = batch_begin_now(batch);
    _cleanup_(spill_free_p) struct spill *pairs = NULL;
    struct pair_totals paired = {0};
    uint64_t rest = batch->rest_bytes;
    int r = batch->kept ? batch_keep_duplicates(batch) : 0;
    if (r == 0)
        r = spill_new(&batch->scratch[SCRATCH_PAIRS], sizeof(uint64_t), PAIR_PARTITIONS,
                      rest / 8 / options->n_threads, rest / 8, &pairs);
    if (r < 0)
        return r;
    const struct pairing pairing = {
        .keys = batch->keys,
        .pairs = pairs,
        .counted = batch_kept_pairs(batch),
        .sizes = batch->v_sizes,
        .sketches = &batch->sketches,
        .sets = &batch->sets,
        .nodes = batch->marks.node,
        .number_bits = batch->number_bits,
        .n_threads = options->n_threads,
        .cap = options->cap,
        .threshold = options->threshold,
        .progress = show_progress,
        .user = batch,
        .stop = options->stop,
    };
    r = pairs_join(&pairing, &paired);
    if (r == 0 && parallel_told(options->stop))
        r = -ECANCELED; /* what there is of pairs is not to be kept */
    end_phase(batch, BATCH_PAIRS, &begin, paired.expand_cpu_s);
    struct batch_totals *totals = &batch->totals;
    double first_cpu_s = paired.sort_cpu_s + paired.expand_cpu_s;
    double share = first_cpu_s > 0 ? paired.sort_cpu_s / first_cpu_s : 0;
    totals->cost[BATCH_PAIRS].wall_s = paired.expand_wall_s * (1 - share);
    totals->cost[BATCH_SORT].wall_s = paired.expand_wall_s * share;
    totals->cost[BATCH_SORT].cpu_s = paired.sort_cpu_s;
    totals->cost[BATCH_MERGE].wall_s = paired.merge_wall_s;
    totals->cost[BATCH_MERGE].cpu_s = paired.merge_cpu_s;
    totals->lists = paired.counts;
    return r == 0 && batch->kept ? batch_keep_pairs(batch) : r;
}

/* Give each document the first of its cluster, and count the clusters. A cluster is of one content
 * when it is one node, whose class is. */
static int label(struct batch *batch)
{
    struct batch_begin begin = batch_begin_now(batch);
    double joining_s = 0;
    int r = batch->from == BATCH_CLUSTERS ? batch_join_kept_pairs(batch, &joining_s) : 0;
    if (r < 0)
        return r;
    double begin_s = parallel_cpu_s();
    struct batch_totals *totals = &batch->totals;
    uint32_t n = batch->options.n_documents, *cluster = batch->sets.parent;
    uint64_t *mixed = batch->marks.mixed;
    free(batch->v_sizes);
    batch->v_sizes = NULL;
    _cleanup_free_ uint32_t *sizes = calloc(n ? n : 1, sizeof(*sizes));
    if (!sizes)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t root = union_find_root(&batch->sets, i);
        cluster[i] = root; /* the smallest: it has been here already */
        sizes[root]++;
        if (root != i && mark_is_set(batch->marks.node, i))
            mark_set(mixed, root);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (sizes[i] < 2)
            continue;
        totals->n_clusters++;
        totals->n_clustered += sizes[i];
        totals->largest = sizes[i] > totals->largest ? sizes[i] : totals->largest;
        if (!mark_is_set(mixed, i)) {
            totals->n_identical_clusters++;
            totals->n_identical_clustered += sizes[i];
        }
    }
    end_phase(batch, BATCH_CLUSTERS, &begin, joining_s + parallel_cpu_s() - begin_s);
    return 0;
}

/* What only comparing takes: the room of files, and memory that the last phase is given. */
static void end_sketches(struct batch *batch)
{
    spill_end(batch->keys);
    sketch_file_done(&batch->sketches);
    scratch_file_give_back(&batch->scratch[SCRATCH_FILTERS]);
    if (!batch->kept)
        scratch_file_give_back(&batch->scratch[SCRATCH_SKETCHES]);
}

static int run_phases(struct batch *batch)
{
    int r = batch_keep_sketches(batch);
    if (r == 0)
        r = collapse_duplicates(batch);
    if (r == 0)
        r = batch->options.mode == BATCH_BRODER1997 ? count_pairs(batch) : link_documents(batch);
    end_sketches(batch);
    return r;
}

int batch_run(struct batch *batch)
{
    if (!batch->totals.load.wall_s)
        batch->totals.sketch_written_bytes = batch_begin_now(batch).written_bytes;
    int r = batch->from == BATCH_CLUSTERS ? 0 : run_phases(batch);
    if (r == 0)
        r = parallel_told(batch->options.stop) ? -ECANCELED : label(batch);
    batch->totals.scratch_bytes = batch->scratch_use.most_bytes;
    return r;
}
