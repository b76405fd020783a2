/* The run of a batch: the phases one after the other, each with its share of memory and threads,
 * and the accounts of what each took.
 *
 * Example of five documents in mode fast, of which 1 and 3 have the same text and 0, 1 and 4
 * resemble each other: the duplicates phase joins 1 and 3 and makes 1 the node of both; sort and
 * pairs compare the nodes 0, 1, 2 and 4 where they share keys and join 0, 1 and 4; the clusters
 * phase labels the documents 0 0 2 0 0.
 *
 * Cost: each phase reads its spill once and is linear in it; comparisons are bounded by the lists
 * (links.h). Left out: overlap between phases. Each would have to share its memory with the next,
 * and sorting more partitions at a time is the better use of it.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "engine/cluster/batch_state.h"
#include "engine/cluster/large/large_array.h"
#include "engine/cluster/pairs/links.h"
#include "engine/cluster/loose.h"
#include "engine/cluster/pairs/pair_counts.h"
#include "engine/cluster/large/parallel.h"

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

/* Each thread has a writer of pairs if they are kept. */
static size_t pairs_buffer(const struct batch_options *options)
{
    return options->pairs ? spill_least_buffer(sizeof(uint64_t), RESEMBLING_PARTITIONS) : 0;
}

static uint32_t most_held(const struct batch_options *options)
{
    return links_most_held(options->most_compared, options->n_heads);
}

int batch_check_phases(const struct batch *batch)
{
    const struct batch_options *options = &batch->options;
    struct budget_share share;
    if (options->mode != BATCH_BRODER1997)
        return budget_links(&batch->budget, 1,
                            links_thread_bytes(most_held(options), SKETCH_FILE_LONGEST_BYTES) +
                                pairs_buffer(options),
                            0, &share);
    int r = budget_expand(&batch->budget, pairs_expand_bytes(options->cap), 0, &share);
    return r < 0 ? r
                 : budget_merge(&batch->budget, pairs_merge_bytes(SKETCH_FILE_LONGEST_BYTES), 0,
                                &share);
}

/* The room of an average partition and a little more. Larger partitions are sorted in parts, by way
 * of the file. */
static uint64_t usual_room(uint64_t all_bytes, uint32_t n_partitions)
{
    uint64_t each = all_bytes / n_partitions;
    return each + each / 8 + SORTED_LEAST_BYTES;
}

static int collapse_duplicates(struct batch *batch)
{
    struct batch_begin begin = batch_begin_now(batch);
    struct budget_share share;
    double cpu_s = 0;
    uint64_t all_bytes = equivalence_partition_bytes(spill_count(batch->equivalences));
    int r =
        budget_duplicates(&batch->budget, usual_room(all_bytes, EQUIVALENCE_PARTITIONS), &share);
    if (r < 0)
        return r;
    const struct equivalence_joining joining = {
        .spill = batch->equivalences,
        .runs = &batch->scratch[SCRATCH_RUNS],
        .sets = &batch->sets,
        .marks = &batch->marks,
        .n_threads = share.n_threads,
        .room_bytes = share.room_bytes,
    };
    r = equivalence_join(&joining, &batch->totals.equivalence, &cpu_s);
    spill_end(batch->equivalences);
    scratch_file_give_back(&batch->scratch[SCRATCH_RUNS]);
    end_phase(batch, BATCH_DUPLICATES, &begin, cpu_s);
    return r;
}

static void show_progress(void *user, uint32_t done, uint32_t of)
{
    struct batch *batch = user;
    if (batch->options.progress)
        batch->options.progress(batch->options.user, BATCH_PAIRS, done, of);
}

/* Threads that compare wait for sketches that are not in memory, one page after the other. Three
 * threads a processor let a disk read as many pages at a time; more would share the processor's
 * cache. */
static int share_links(const struct batch *batch, struct budget_share *ret_share)
{
    const struct batch_options *options = &batch->options;
    unsigned most = options->n_threads;
    if (sketch_file_is_on_disk(&batch->sketches))
        most = THREADS_THAT_WAIT * most;
    most = most < PARALLEL_MAX_THREADS ? most : PARALLEL_MAX_THREADS;
    uint64_t all_bytes = sorted_partition_bytes(&sorting_numbers, spill_count(batch->keys));
    return budget_links(
        &batch->budget, most,
        links_thread_bytes(most_held(options), sketch_file_longest_bytes(&batch->sketches)) +
            pairs_buffer(options),
        usual_room(all_bytes, KEY_PARTITIONS), ret_share);
}

/* The classes of one side alone are one set if sides are compared, and none of them is compared
 * with another of its set. The marks of several contents, which nobody asks for here, say which
 * classes are of both.
 */
static void join_sides(struct batch *batch)
{
    const uint8_t *sides = batch->options.sides;
    const uint32_t n = batch->options.n_documents, none = UINT32_MAX;
    uint64_t *both = batch->marks.mixed;
    uint32_t first[2] = {none, none};
    memset(both, 0, (n / 64 + 1) * sizeof(*both));
    for (uint32_t i = 0; i < n; i++)
        if (sides[i] != sides[batch->classes[i]])
            mark_set(both, batch->classes[i]);
    for (uint32_t i = 0; i < n; i++) {
        if (!mark_is_set(batch->marks.node, i) || mark_is_set(both, i))
            continue;
        uint32_t *of_side = &first[sides[i] == 2];
        *of_side = *of_side == none ? i : *of_side;
        union_find_join(&batch->sets, *of_side, i);
    }
}

/* Notes which documents are equal, before the sets become others. */
static int begin_pairs(struct batch *batch, const struct budget_share *share)
{
    const uint32_t n = batch->options.n_documents;
    batch->classes = large_array_new(n * sizeof(*batch->classes));
    if (!batch->classes)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        batch->classes[i] = union_find_root(&batch->sets, i);
    if (batch->options.sides)
        join_sides(batch);
    return spill_new(&batch->scratch[SCRATCH_PAIRS], sizeof(uint64_t), RESEMBLING_PARTITIONS,
                     pairs_buffer(&batch->options), share->all_bytes / 2, &batch->pairs);
}

int batch_each_pair(struct batch *batch, resembling_pair_fn take, void *user)
{
    struct budget_share share;
    if (!batch->pairs) /* equal documents alone were asked for */
        return 0;
    uint64_t all_bytes = sorted_partition_bytes(&sorting_numbers, spill_count(batch->pairs));
    int r = budget_merge(&batch->budget, 0, usual_room(all_bytes, RESEMBLING_PARTITIONS), &share);
    return r < 0
               ? r
               : resembling_pairs_each(batch->pairs, batch->number_bits,
                                       &batch->scratch[SCRATCH_RUNS], share.room_bytes, take, user);
}

/* All but broder1997: sorting and comparing, partition by partition. */
static int link_documents(struct batch *batch)
{
    const struct batch_options *options = &batch->options;
    struct batch_begin begin = batch_begin_now(batch);
    struct link_totals linked = {0};
    struct budget_share share;
    double cpu_s = 0;
    int r = share_links(batch, &share);
    if (r == 0 && options->pairs)
        r = begin_pairs(batch, &share);
    if (r < 0)
        return r;
    const struct linking linking = {
        .keys = batch->keys,
        .pairs = batch->pairs,
        .sketches = options->mode == BATCH_SUPERSHINGLE ? NULL : &batch->sketches,
        .sets = &batch->sets,
        .nodes = batch->marks.node,
        .number_bits = batch->number_bits,
        .n_threads = share.n_threads,
        .threshold = options->threshold,
        .containment = batch_asks_containment(batch) ? options->containment : 0,
        .most_compared = options->most_compared,
        .n_heads = options->n_heads,
        .most_held = most_held(options),
        .runs = &batch->scratch[SCRATCH_RUNS],
        .room_bytes = share.room_bytes,
        .sketch_bytes = share.sketch_bytes,
        .refused_bytes = options->pairs ? share.all_bytes / 2 : share.all_bytes,
        .progress = show_progress,
        .user = batch,
        .stop = options->stop,
    };
    r = links_join(&linking, &linked, &cpu_s);
    end_phase(batch, BATCH_PAIRS, &begin, cpu_s);
    struct batch_totals *totals = &batch->totals;
    struct batch_cost *sort = &totals->cost[BATCH_SORT], *pairs = &totals->cost[BATCH_PAIRS];
    double of_sorting = cpu_s > 0 ? linked.sort_cpu_s / cpu_s : 0;
    *sort = (struct batch_cost){.wall_s = pairs->wall_s * of_sorting, .cpu_s = linked.sort_cpu_s};
    pairs->wall_s -= sort->wall_s;
    pairs->cpu_s -= sort->cpu_s;
    totals->lists = linked.counts;
    return r;
}

/* fast: components that hang together loosely become stars; center: all. */
static int divide_loose(struct batch *batch)
{
    const struct batch_options *options = &batch->options;
    struct batch_begin begin = batch_begin_now(batch);
    struct budget_share share;
    double cpu_s = 0;
    int r = share_links(batch, &share);
    if (r < 0)
        return r;
    const struct loose_dividing dividing = {
        .sketches = &batch->sketches,
        .sets = &batch->sets,
        .nodes = batch->marks.node,
        .center = options->mode == BATCH_CENTER,
        .loose_only = options->loose_only,
        .n_keys = options->n_keys,
        .threshold = options->threshold,
        .n_threads = share.n_threads,
        .sketch_bytes = share.sketch_bytes / 8 * 8,
        .stop = options->stop,
    };
    r = loose_divide(&dividing, &batch->totals.loose, &cpu_s);
    end_phase(batch, BATCH_CLUSTERS, &begin, cpu_s);
    return r;
}

static int share_merging(const struct batch *batch, const struct spill *pairs,
                         struct pairing *pairing)
{
    struct budget_share share;
    uint64_t all_bytes = sorted_partition_bytes(&sorting_numbers, spill_count(pairs));
    int r =
        budget_merge(&batch->budget, pairs_merge_bytes(sketch_file_longest_bytes(&batch->sketches)),
                     usual_room(all_bytes, PAIR_PARTITIONS), &share);
    if (r < 0)
        return r;
    pairing->n_threads = share.n_threads;
    pairing->room_bytes = share.room_bytes;
    return 0;
}

static int count_pairs(struct batch *batch)
{
    const struct batch_options *options = &batch->options;
    struct batch_begin begin = batch_begin_now(batch);
    _cleanup_(spill_free_p) struct spill *pairs = NULL;
    struct pair_totals paired = {0};
    struct budget_share share;
    uint64_t all_bytes = sorted_partition_bytes(&sorting_numbers, spill_count(batch->keys));
    int r = batch->kept ? batch_keep_duplicates(batch) : 0;
    if (r == 0)
        r = budget_expand(&batch->budget, pairs_expand_bytes(options->cap),
                          usual_room(all_bytes, KEY_PARTITIONS), &share);
    if (r == 0)
        r = spill_new(&batch->scratch[SCRATCH_PAIRS], sizeof(uint64_t), PAIR_PARTITIONS,
                      share.buffer_bytes, share.all_bytes, &pairs);
    if (r < 0)
        return r;
    struct pairing pairing = {
        .keys = batch->keys,
        .pairs = pairs,
        .counted = batch_kept_pairs(batch),
        .sizes = batch->v_sizes,
        .sketches = &batch->sketches,
        .sets = &batch->sets,
        .nodes = batch->marks.node,
        .number_bits = batch->number_bits,
        .n_threads = share.n_threads,
        .room_bytes = share.room_bytes,
        .runs = &batch->scratch[SCRATCH_RUNS],
        .cap = options->cap,
        .threshold = options->threshold,
        .progress = show_progress,
        .user = batch,
        .stop = options->stop,
    };
    r = pairs_expand(&pairing, &paired);
    spill_end(batch->keys);
    if (r == 0)
        r = share_merging(batch, pairs, &pairing);
    if (r == 0)
        r = pairs_merge(&pairing, &paired);
    if (r == 0 && parallel_told(options->stop))
        r = -ECANCELED; /* the pairs are not complete and must not be kept */
    end_phase(batch, BATCH_PAIRS, &begin, paired.expand_cpu_s);
    struct batch_totals *totals = &batch->totals;
    double first_cpu_s = paired.sort_cpu_s + paired.expand_cpu_s;
    double of_sorting = first_cpu_s > 0 ? paired.sort_cpu_s / first_cpu_s : 0;
    totals->cost[BATCH_PAIRS].wall_s = paired.expand_wall_s * (1 - of_sorting);
    totals->cost[BATCH_SORT].wall_s = paired.expand_wall_s * of_sorting;
    totals->cost[BATCH_SORT].cpu_s = paired.sort_cpu_s;
    totals->cost[BATCH_MERGE].wall_s = paired.merge_wall_s;
    totals->cost[BATCH_MERGE].cpu_s = paired.merge_cpu_s;
    totals->lists = paired.counts;
    return r == 0 && batch->kept ? batch_keep_pairs(batch) : r;
}

/* Labels each document with the first one of its cluster, and counts the clusters. A cluster is of
 * one content when it is a single node whose class is of one content. */
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
    large_array_free(batch->v_sizes, n * sizeof(*batch->v_sizes));
    batch->v_sizes = NULL;
    uint32_t *sizes = large_array_new(n * sizeof(*sizes));
    if (!sizes)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t root = union_find_root(&batch->sets, i);
        cluster[i] = root; /* the root is the smallest member and has its label already */
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
    large_array_free(sizes, n * sizeof(*sizes));
    const struct batch_cost dividing = totals->cost[BATCH_CLUSTERS];
    end_phase(batch, BATCH_CLUSTERS, &begin,
              dividing.cpu_s + joining_s + parallel_cpu_s() - begin_s);
    totals->cost[BATCH_CLUSTERS].wall_s += dividing.wall_s;
    totals->cost[BATCH_CLUSTERS].read_bytes += dividing.read_bytes;
    return 0;
}

/* Gives back what only the comparing phases need: the room of files, and memory that the last phase
 * uses. */
static void end_sketches(struct batch *batch)
{
    spill_end(batch->keys);
    sketch_file_done(&batch->sketches);
    scratch_file_give_back(&batch->scratch[SCRATCH_RUNS]);
    scratch_file_give_back(&batch->scratch[SCRATCH_FILTERS]);
    if (!batch->kept)
        scratch_file_give_back(&batch->scratch[SCRATCH_SKETCHES]);
}

static int run_phases(struct batch *batch)
{
    int r = batch_keep_sketches(batch);
    if (r == 0)
        r = collapse_duplicates(batch);
    if (r == 0 && !batch_joins_equal(batch))
        r = batch->options.mode == BATCH_BRODER1997 ? count_pairs(batch) : link_documents(batch);
    const bool divides = batch->options.mode == BATCH_CENTER ||
                         (batch->options.mode == BATCH_FAST && !batch->options.whole);
    if (r == 0 && !batch_joins_equal(batch) && divides)
        r = divide_loose(batch);
    if (r == 0 && batch->options.resemblances)
        r = batch_compare_with_firsts(batch);
    end_sketches(batch);
    return r;
}

int batch_run(struct batch *batch)
{
    if (batch->n_writers)
        return -EBUSY; /* their memory is the phases' */
    if (!batch->totals.load.wall_s)
        batch->totals.sketch_written_bytes = batch_begin_now(batch).written_bytes;
    int r = batch->from == BATCH_CLUSTERS ? 0 : run_phases(batch);
    if (r == 0)
        r = parallel_told(batch->options.stop) ? -ECANCELED : batch->pairs ? 0 : label(batch);
    batch->totals.scratch_bytes = batch->scratch_use.most_bytes;
    return r;
}
