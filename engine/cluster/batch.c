#include "engine/cluster/batch.h"

#include <errno.h>

#include "base/clock.h"
#include "engine/cluster/key_lists.h"
#include "engine/cluster/links.h"
#include "engine/cluster/pair_counts.h"
#include "engine/cluster/parallel.h"
#include "engine/cluster/sketch_file.h"

enum {
    EXACT_KEYS = 24,
    FAST_KEYS = 16,
    EXACT_MOST_COMPARED = 16384,
    EXACT_REPRESENTATIVES = 64,
    FAST_REPRESENTATIVES = 16,
    BRODER_CAP = 1000,
    DOCUMENT_BYTES = 17, /* parent 4, place of the sketch 8, |V| or size of cluster 4, marks 1/4 */
    LEAST_BYTES = 16 << 20,
};

struct batch {
    struct batch_options options;
    uint64_t policy_id, modulus_below;
    unsigned number_bits;
    uint64_t rest_bytes; /* of memory, beside what is there for each document */
    struct scratch_file sketch_scratch, spill_scratch;
    struct sketch_file sketches;
    struct spill *equivalences, *keys;
    struct union_find sets;
    struct equivalence_marks marks;
    uint32_t *v_sizes; /* broder1997 */
    struct batch_totals totals;
};

struct batch_writer {
    struct batch *batch;
    struct sketch_writer sketches;
    struct spill_writer equivalences, keys;
    uint64_t n_documents, n_empty; /* since the last flush */
};

const char *batch_mode_name(enum batch_mode mode)
{
    static const char *const names[] = {"exact", "fast", "broder1997"};
    return names[mode];
}

const char *batch_phase_name(enum batch_phase phase)
{
    static const char *const names[] = {"duplicates", "sort", "pairs", "merge", "clusters"};
    return names[phase];
}

uint64_t batch_least_memory(uint32_t n_documents)
{
    return (uint64_t)DOCUMENT_BYTES * n_documents + LEAST_BYTES;
}

static uint32_t or_else(uint32_t given, uint32_t otherwise)
{
    return given ? given : otherwise;
}

static void set_defaults(struct batch_options *options)
{
    bool fast = options->mode == BATCH_FAST;
    options->n_keys = or_else(options->n_keys, fast ? FAST_KEYS : EXACT_KEYS);
    options->n_representatives =
        or_else(options->n_representatives, fast ? FAST_REPRESENTATIVES : EXACT_REPRESENTATIVES);
    options->most_compared = fast ? 0 : or_else(options->most_compared, EXACT_MOST_COMPARED);
    options->cap = or_else(options->cap, BRODER_CAP);
    options->scratch = NULL;
}

static int check(const struct policy *policy, const struct batch_options *options)
{
    if (policy_validate(policy) < 0 || (unsigned)options->mode >= BATCH_N_MODES ||
        options->n_threads < 1 || options->n_threads > PARALLEL_MAX_THREADS ||
        !(options->threshold > 0 && options->threshold <= 1))
        return -EINVAL;
    return options->memory_bytes < batch_least_memory(options->n_documents) ? -E2BIG : 0;
}

/* What is there for each document. */
static int make_arrays(struct batch *batch, const struct policy *policy)
{
    uint32_t n = batch->options.n_documents;
    size_t n_words = n / 64 + 1;
    int r = union_find_init(&batch->sets, n);
    if (r == 0)
        r = sketch_file_init(&batch->sketch_scratch, policy, n, batch->rest_bytes / 4,
                             &batch->sketches);
    if (r < 0)
        return r;
    batch->marks.node = calloc(n_words, sizeof(uint64_t));
    batch->marks.mixed = calloc(n_words, sizeof(uint64_t));
    if (batch->options.mode == BATCH_BRODER1997)
        batch->v_sizes = calloc(n ? n : 1, sizeof(uint32_t));
    bool has_all = batch->marks.node && batch->marks.mixed &&
                   (batch->v_sizes || batch->options.mode != BATCH_BRODER1997);
    return has_all ? 0 : -ENOMEM;
}

int batch_new(const struct policy *policy, const struct batch_options *options,
              struct batch **ret_batch)
{
    int r = check(policy, options);
    if (r < 0)
        return r;
    _cleanup_(batch_free_p) struct batch *batch = calloc(1, sizeof(*batch));
    if (!batch)
        return -ENOMEM;
    batch->options = *options;
    set_defaults(&batch->options);
    batch->policy_id = policy_id(policy);
    batch->modulus_below = (uint64_t)(((unsigned __int128)1 << 64) / policy->m);
    batch->number_bits = key_number_bits(options->n_documents);
    uint64_t each = (uint64_t)DOCUMENT_BYTES * options->n_documents;
    batch->rest_bytes = options->memory_bytes - each;
    r = scratch_file_open(options->scratch, &batch->sketch_scratch);
    if (r == 0)
        r = scratch_file_open(options->scratch, &batch->spill_scratch);
    if (r == 0)
        r = make_arrays(batch, policy);
    uint64_t rest = batch->rest_bytes, buffers = rest / 8 / options->n_threads;
    if (r == 0)
        r = spill_new(&batch->spill_scratch, sizeof(struct equivalence_record),
                      EQUIVALENCE_PARTITIONS, buffers / 4, rest / 8, &batch->equivalences);
    if (r == 0)
        r = spill_new(&batch->spill_scratch, sizeof(uint64_t), KEY_PARTITIONS, buffers / 4 * 3,
                      rest / 4, &batch->keys);
    if (r < 0)
        return r;
    *ret_batch = TAKE_PTR(batch);
    return 0;
}

void batch_free(struct batch *batch)
{
    if (!batch)
        return;
    spill_free(batch->equivalences);
    spill_free(batch->keys);
    sketch_file_done(&batch->sketches);
    union_find_done(&batch->sets);
    free(batch->marks.node);
    free(batch->marks.mixed);
    free(batch->v_sizes);
    scratch_file_done(&batch->sketch_scratch);
    scratch_file_done(&batch->spill_scratch);
    free(batch);
}

/* -- adding -- */

int batch_writer_new(struct batch *batch, struct batch_writer **ret_writer)
{
    _cleanup_(batch_writer_free_p) struct batch_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return -ENOMEM;
    writer->batch = batch;
    int r = sketch_writer_init(&batch->sketches, &writer->sketches);
    if (r == 0)
        r = spill_writer_init(batch->equivalences, &writer->equivalences);
    if (r == 0)
        r = spill_writer_init(batch->keys, &writer->keys);
    if (r < 0)
        return r;
    *ret_writer = TAKE_PTR(writer);
    return 0;
}

void batch_writer_free(struct batch_writer *writer)
{
    if (!writer)
        return;
    sketch_writer_done(&writer->sketches);
    spill_writer_done(&writer->equivalences);
    spill_writer_done(&writer->keys);
    free(writer);
}

static int add_keys(struct batch_writer *writer, uint32_t number, const struct min_sketch *sketch)
{
    struct batch *batch = writer->batch;
    uint32_t n = sketch->n_values;
    if (batch->options.mode == BATCH_BRODER1997) {
        n = min_sketch_n_v(sketch);
        batch->v_sizes[number] = pair_size(n, sketch->v_below != batch->modulus_below);
    } else if (n > batch->options.n_keys) {
        n = batch->options.n_keys;
    }
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < n; i++)
        r = key_add(&writer->keys, batch->number_bits, sketch->values[i], number);
    return r;
}

int batch_writer_add(struct batch_writer *writer, uint32_t number,
                     const struct document_sketch *sketch)
{
    struct batch *batch = writer->batch;
    if (number >= batch->options.n_documents)
        return -EINVAL;
    if (sketch->sketch.policy_id != batch->policy_id)
        return -EPROTO;
    writer->n_documents++;
    if (sketch->sketch.n_values == 0) {
        writer->n_empty++;
        return 0;
    }
    int r = equivalence_add(&writer->equivalences, number, sketch);
    if (r == 0)
        r = sketch_writer_add(&writer->sketches, number, &sketch->sketch);
    if (r == 0)
        r = add_keys(writer, number, &sketch->sketch);
    return r;
}

int batch_writer_flush(struct batch_writer *writer)
{
    struct batch_totals *totals = &writer->batch->totals;
    int r = sketch_writer_flush(&writer->sketches);
    if (r == 0)
        r = spill_writer_flush(&writer->equivalences);
    if (r == 0)
        r = spill_writer_flush(&writer->keys);
    if (r < 0)
        return r;
    __atomic_fetch_add(&totals->n_documents, writer->n_documents, __ATOMIC_RELAXED);
    __atomic_fetch_add(&totals->n_empty, writer->n_empty, __ATOMIC_RELAXED);
    writer->n_documents = writer->n_empty = 0;
    return 0;
}

/* -- phases -- */

struct begin {
    int64_t us;
    uint64_t read_bytes, written_bytes;
};

static struct begin begin_now(const struct batch *batch)
{
    return (struct begin){clock_now_us(),
                          batch->sketch_scratch.read_bytes + batch->spill_scratch.read_bytes,
                          batch->sketch_scratch.written_bytes + batch->spill_scratch.written_bytes};
}

static void end_phase(struct batch *batch, enum batch_phase phase, const struct begin *begin,
                      double cpu_s)
{
    struct begin now = begin_now(batch);
    batch->totals.cost[phase] = (struct batch_cost){
        .wall_s = (double)(now.us - begin->us) * 1e-6,
        .cpu_s = cpu_s,
        .read_bytes = now.read_bytes - begin->read_bytes,
        .written_bytes = now.written_bytes - begin->written_bytes,
    };
}

static int collapse_duplicates(struct batch *batch)
{
    struct begin begin = begin_now(batch);
    double cpu_s = 0;
    int r = equivalence_join(batch->equivalences, batch->options.n_threads, &batch->sets,
                             &batch->marks, &batch->totals.equivalence, &cpu_s);
    end_phase(batch, BATCH_DUPLICATES, &begin, cpu_s);
    return r;
}

static void show_progress(void *user, uint32_t done, uint32_t of)
{
    struct batch *batch = user;
    if (batch->options.progress)
        batch->options.progress(batch->options.user, BATCH_PAIRS, done, of);
}

/* exact, fast: sorting and comparing, partition by partition. */
static int link_documents(struct batch *batch)
{
    const struct batch_options *options = &batch->options;
    struct begin begin = begin_now(batch);
    struct link_counts counts = {0};
    double cpu_s = 0;
    const struct linking linking = {
        .keys = batch->keys,
        .sketches = &batch->sketches,
        .sets = &batch->sets,
        .nodes = batch->marks.node,
        .number_bits = batch->number_bits,
        .n_threads = options->n_threads,
        .threshold = options->threshold,
        .most_compared = options->most_compared,
        .n_representatives = options->n_representatives,
        .room_bytes = batch->rest_bytes / 8 / options->n_threads,
        .progress = show_progress,
        .user = batch,
    };
    int r = links_join(&linking, &counts, &cpu_s);
    end_phase(batch, BATCH_PAIRS, &begin, cpu_s);
    struct batch_totals *totals = &batch->totals;
    struct batch_cost *sort = &totals->cost[BATCH_SORT], *pairs = &totals->cost[BATCH_PAIRS];
    double share = cpu_s > 0 ? counts.sort_cpu_s / cpu_s : 0;
    *sort = (struct batch_cost){.wall_s = pairs->wall_s * share, .cpu_s = counts.sort_cpu_s};
    pairs->wall_s -= sort->wall_s;
    pairs->cpu_s -= sort->cpu_s;
    totals->n_postings = counts.n_postings;
    totals->n_lists = counts.n_lists;
    totals->longest_list = counts.longest;
    totals->n_shortened = counts.n_shortened;
    totals->n_candidates = counts.n_candidates;
    totals->n_compared = counts.n_compared;
    return r;
}

static int count_pairs(struct batch *batch)
{
    const struct batch_options *options = &batch->options;
    struct begin begin = begin_now(batch);
    _cleanup_(spill_free_p) struct spill *pairs = NULL;
    struct pair_totals counts = {0};
    uint64_t rest = batch->rest_bytes;
    int r = spill_new(&batch->spill_scratch, sizeof(uint64_t), PAIR_PARTITIONS,
                      rest / 8 / options->n_threads, rest / 8, &pairs);
    if (r < 0)
        return r;
    const struct pairing pairing = {
        .keys = batch->keys,
        .pairs = pairs,
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
    };
    r = pairs_join(&pairing, &counts);
    end_phase(batch, BATCH_PAIRS, &begin, counts.expand_cpu_s);
    struct batch_totals *totals = &batch->totals;
    double first_cpu_s = counts.sort_cpu_s + counts.expand_cpu_s;
    double share = first_cpu_s > 0 ? counts.sort_cpu_s / first_cpu_s : 0;
    totals->cost[BATCH_PAIRS].wall_s = counts.expand_wall_s * (1 - share);
    totals->cost[BATCH_SORT].wall_s = counts.expand_wall_s * share;
    totals->cost[BATCH_SORT].cpu_s = counts.sort_cpu_s;
    totals->cost[BATCH_MERGE].wall_s = counts.merge_wall_s;
    totals->cost[BATCH_MERGE].cpu_s = counts.merge_cpu_s;
    totals->n_postings = counts.n_postings;
    totals->n_lists = counts.n_lists;
    totals->longest_list = counts.longest;
    totals->n_left_out = counts.n_left_out;
    totals->n_postings_left_out = counts.n_postings_left_out;
    totals->n_pairs = counts.n_pairs;
    totals->n_counted = counts.n_counted;
    return r;
}

/* Give each document the first of its cluster, and count the clusters. A cluster is of one content
 * when it is one node, whose class is. */
static int label(struct batch *batch)
{
    struct begin begin = begin_now(batch);
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
    end_phase(batch, BATCH_CLUSTERS, &begin, parallel_cpu_s() - begin_s);
    return 0;
}

int batch_run(struct batch *batch)
{
    batch->totals.sketch_written_bytes = begin_now(batch).written_bytes;
    int r = collapse_duplicates(batch);
    if (r == 0)
        r = batch->options.mode == BATCH_BRODER1997 ? count_pairs(batch) : link_documents(batch);
    if (r == 0)
        r = label(batch);
    batch->totals.scratch_bytes = begin_now(batch).written_bytes;
    return r;
}

const uint32_t *batch_clusters(const struct batch *batch)
{
    return batch->sets.parent;
}

const struct batch_totals *batch_totals(const struct batch *batch)
{
    return &batch->totals;
}
