/* The memory is divided in sixteenths:
 *
 *                        candidates  filter  sort
 *   candidates in memory      4         4
 *   their writers             1
 *   places of the draws       7
 *   what tells the first      4
 *   lowest bytes                        4
 *   relations in memory                 4      4
 *   their writers                       1
 *   rooms to sort in                    1      4
 *
 * Whatever does not fit goes to scratch files; lowest bytes that do not are divided into segments.
 *
 * Example: 20 million nodes in 8 GiB. Two threads have the places of a draw, 160 MB each, in
 * memory; the lowest bytes are 1.6 GB of 2.1, so that one pass suffices; 268 million candidates
 * stay in memory and others are written and read once.
 *
 * Cost: near_find() says what a phase takes. Left out: sharing out what one phase leaves to
 * another.
 */
#include "engine/topic/near/near.h"

#include "base/clock.h"
#include "engine/cluster/large/parallel.h"
#include "engine/cluster/large/sorted_partition.h"
#include "engine/topic/near/candidates.h"
#include "engine/topic/near/pair_filter.h"

enum { MOST_PARTS = 1024, LEAST_SHIFT = 10, THREAD_LEAST_BYTES = 16 << 20 };

_Static_assert((uint64_t)SIGNATURES_MOST < (uint64_t)1 << RELATION_NODE_BITS, "");

uint64_t near_least_bytes(uint32_t n_nodes)
{
    return 2 * THREAD_LEAST_BYTES + 16 * (uint64_t)n_nodes;
}

struct finding {
    struct signatures *signatures;
    const struct near_options *options;
    struct near_totals *totals;
    uint64_t sixteenth_bytes;
    unsigned n_threads;
    struct draws draws;
    struct pair_parts parts;
    unsigned relation_shift;
    uint32_t n_relation_parts;
    struct scratch_file pair_file, relation_file;
    struct spill *pairs, *relations;
};

static void finding_done(struct finding *finding)
{
    spill_free(finding->pairs);
    spill_free(finding->relations);
    scratch_file_done(&finding->pair_file);
    scratch_file_done(&finding->relation_file);
}

/* -- the plan -- */

static unsigned shift_for(uint32_t n_nodes, uint32_t most_parts, uint32_t *ret_n_parts)
{
    unsigned shift = LEAST_SHIFT;
    while ((n_nodes - 1) >> shift >= most_parts)
        shift++;
    *ret_n_parts = ((n_nodes - 1) >> shift) + 1;
    return shift;
}

static void plan_parts(struct finding *finding)
{
    const uint32_t n = finding->signatures->n_nodes ? finding->signatures->n_nodes : 1;
    const uint64_t rows_bytes = 4 * finding->sixteenth_bytes, m = finding->options->n_compared;
    struct pair_parts *parts = &finding->parts;
    *parts = (struct pair_parts){.segment_nodes = n, .n_segments = 1};
    if (n * m > rows_bytes) {
        parts->segment_nodes = (uint32_t)(rows_bytes / 2 / m / SIGNATURES_BLOCK) * SIGNATURES_BLOCK;
        parts->n_segments = (n - 1) / parts->segment_nodes + 1;
    }
    uint32_t n_passes = parts->n_segments * (parts->n_segments + 1) / 2;
    parts->shift = shift_for(parts->segment_nodes,
                             n_passes < MOST_PARTS ? MOST_PARTS / n_passes : 1, &parts->n_each);
    finding->totals->n_passes = n_passes;
    finding->relation_shift = shift_for(n, MOST_PARTS, &finding->n_relation_parts);
}

static int plan(struct finding *finding)
{
    const struct near_options *options = finding->options;
    uint64_t most_threads = options->memory_bytes / THREAD_LEAST_BYTES;
    if (options->memory_bytes < near_least_bytes(finding->signatures->n_nodes))
        return -E2BIG;
    if (options->heads < 1 || options->n_compared < 1 || options->n_compared > BAG_SIGNATURES ||
        options->n_threads < 1)
        return -EINVAL;
    finding->sixteenth_bytes = options->memory_bytes / 16;
    finding->n_threads =
        options->n_threads < most_threads ? options->n_threads : (unsigned)most_threads;
    if (finding->n_threads > PARALLEL_MAX_THREADS)
        finding->n_threads = PARALLEL_MAX_THREADS;
    plan_parts(finding);
    return draws_init(options->n_draws, options->k, options->seed, &finding->draws);
}

/* -- phases -- */

static int find_candidates(struct finding *finding, struct near_cost *cost)
{
    const uint64_t sixteenth = finding->sixteenth_bytes;
    const struct pair_parts *parts = &finding->parts;
    struct candidate_totals totals = {0};
    int r = scratch_file_open(finding->options->scratch, &finding->pair_file);
    if (r == 0)
        r = spill_new(&finding->pair_file, sizeof(uint64_t),
                      finding->totals->n_passes * parts->n_each, sixteenth / finding->n_threads,
                      4 * sixteenth, &finding->pairs);
    if (r < 0)
        return r;
    struct candidate_search search = {.signatures = finding->signatures,
                                      .draws = &finding->draws,
                                      .heads = finding->options->heads,
                                      .parts = parts,
                                      .pairs = finding->pairs,
                                      .scratch = finding->options->scratch,
                                      .thread_bytes = 7 * sixteenth / finding->n_threads,
                                      .n_threads = finding->n_threads,
                                      .stop = finding->options->stop};
    r = candidates_find(&search, &totals, &cost->cpu_s);
    finding->totals->n_candidates = totals.n_candidates;
    finding->totals->n_shortened = totals.n_shortened;
    finding->totals->longest = totals.longest;
    cost->read_bytes += totals.read_bytes;
    cost->written_bytes += totals.written_bytes + finding->pair_file.written_bytes;
    return r;
}

static int filter_pairs(struct finding *finding, struct near_cost *cost)
{
    const uint64_t sixteenth = finding->sixteenth_bytes;
    struct pair_filter_totals totals = {0};
    int r = scratch_file_open(finding->options->scratch, &finding->relation_file);
    if (r == 0)
        r = spill_new(&finding->relation_file, sizeof(uint64_t), finding->n_relation_parts,
                      sixteenth / finding->n_threads, 4 * sixteenth, &finding->relations);
    if (r < 0)
        return r;
    struct pair_filter filter = {.signatures = finding->signatures,
                                 .parts = &finding->parts,
                                 .pairs = finding->pairs,
                                 .relations = finding->relations,
                                 .relation_shift = finding->relation_shift,
                                 .n_compared = finding->options->n_compared,
                                 .least_agreeing = finding->options->least_agreeing,
                                 .scratch = finding->options->scratch,
                                 .room_bytes = sixteenth / finding->n_threads,
                                 .n_threads = finding->n_threads,
                                 .stop = finding->options->stop};
    r = pair_filter_run(&filter, &totals, &cost->cpu_s);
    finding->totals->n_different = totals.n_different;
    finding->totals->n_kept = totals.n_kept;
    cost->read_bytes += totals.read_bytes + finding->pair_file.read_bytes;
    cost->written_bytes += totals.written_bytes + finding->relation_file.written_bytes;
    spill_end(finding->pairs);
    return r;
}

static int sort_relations(struct finding *finding, struct relations *ret_relations,
                          struct near_cost *cost)
{
    struct relations_sorting sorting = {.spill = finding->relations,
                                        .n_partitions = finding->n_relation_parts,
                                        .scratch = finding->options->scratch,
                                        .room_bytes =
                                            4 * finding->sixteenth_bytes / finding->n_threads,
                                        .n_threads = finding->n_threads,
                                        .stop = finding->options->stop};
    int r = relations_sort(&sorting, ret_relations, &cost->cpu_s, &cost->read_bytes,
                           &cost->written_bytes);
    cost->read_bytes += finding->relation_file.read_bytes;
    return r;
}

static int run_phase(struct finding *finding, enum near_phase phase,
                     struct relations *ret_relations)
{
    struct near_cost *cost = &finding->totals->cost[phase];
    const int64_t begin_us = clock_now_us();
    const uint64_t read_before = finding->signatures->file.read_bytes;
    int r = phase == NEAR_CANDIDATES ? find_candidates(finding, cost)
            : phase == NEAR_FILTER   ? filter_pairs(finding, cost)
                                     : sort_relations(finding, ret_relations, cost);
    cost->read_bytes += finding->signatures->file.read_bytes - read_before;
    cost->wall_s = (double)(clock_now_us() - begin_us) * 1e-6;
    return r == 0 && phase != NEAR_SORT && parallel_told(finding->options->stop) ? -ECANCELED : r;
}

int near_find(struct signatures *signatures, const struct near_options *options,
              struct relations *ret_relations, struct near_totals *ret_totals)
{
    _cleanup_(finding_done) struct finding finding = {
        .signatures = signatures, .options = options, .totals = ret_totals};
    *ret_totals = (struct near_totals){0};
    int r = plan(&finding);
    for (enum near_phase phase = 0; r == 0 && phase < NEAR_N_PHASES; phase++)
        r = run_phase(&finding, phase, ret_relations);
    return r;
}
