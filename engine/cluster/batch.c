/* The making of a batch, and the adding of documents. A document goes three ways at once: its
 * sketch to the sketch file, a record of its fingerprints to the spill of equivalences, and a
 * posting for each of its keys to the spill of keys. batch_run.c turns the spills into clusters.
 *
 * Example: in mode exact 24 postings are added, one for each of the smallest fingerprints; in mode
 * supershingle 71, one for each run of 14 among the smallest 84. Cost: 0.5 to 1 us a document, 8
 * bytes a posting; memory by budget.h. A batch that is resumed adds its kept sketches once more.
 * Left out: adding to a batch that has run. Its clusters would depend on what was decided before.
 */
#include "engine/cluster/batch.h"

#include <errno.h>

#include <xxhash.h>

#include "engine/cluster/batch_state.h"
#include "engine/cluster/pairs/key_lists.h"
#include "engine/cluster/large/large_array.h"
#include "engine/cluster/pairs/links_bounds.h"
#include "engine/cluster/pairs/pair_counts.h"
#include "engine/cluster/large/parallel.h"

enum {
    EXACT_KEYS = 24,
    EXACT_MOST_COMPARED = 16384,
    BRODER_CAP = 1000,
    SUPER_VALUES = 84, /* super_run.c: as the paper says it */
    SUPER_RUN = 14,
};

struct batch_writer {
    struct batch *batch;
    struct sketch_writer sketches;
    struct spill_writer equivalences, keys;
    uint64_t n_documents, n_empty;
    bool ended;
};

const char *batch_mode_name(enum batch_mode mode)
{
    static const char *const names[] = {"exact", "fast", "center", "broder1997", "supershingle"};
    return names[mode];
}

const char *batch_phase_name(enum batch_phase phase)
{
    static const char *const names[] = {"duplicates", "sort", "pairs", "merge", "clusters"};
    return names[phase];
}

uint64_t batch_least_memory(uint32_t n_documents)
{
    return budget_least(n_documents);
}

static uint32_t or_else(uint32_t given, uint32_t otherwise)
{
    return given ? given : otherwise;
}

static void set_defaults(struct batch_options *options)
{
    bool fast = options->mode == BATCH_FAST || options->mode == BATCH_CENTER;
    options->n_keys = or_else(options->n_keys, fast ? LINKS_KEYS : EXACT_KEYS);
    options->n_heads = or_else(options->n_heads, LINKS_HEADS);
    options->most_compared =
        or_else(options->most_compared, fast ? LINKS_MOST_COMPARED : EXACT_MOST_COMPARED);
    options->cap = or_else(options->cap, BRODER_CAP);
    if (options->most_compared > options->n_documents) /* no list is longer */
        options->most_compared = options->n_documents;
    if (options->cap > options->n_documents)
        options->cap = options->n_documents;
    options->scratch = options->keep = NULL;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int check(const struct policy *policy, const struct batch_options *options)
{
    if (policy_validate(policy) < 0 || (unsigned)options->mode >= BATCH_N_MODES ||
        options->n_threads < 1 || options->n_threads > PARALLEL_MAX_THREADS ||
        !(options->threshold > 0 && options->threshold <= 1) ||
        !(options->containment >= 0 && options->containment <= 1) ||
        (options->containment > 0 && (options->mode != BATCH_FAST || !options->whole)) ||
        (options->pairs && (options->mode != BATCH_FAST || !options->whole ||
                            options->containment > 0 || options->keep)))
        return -EINVAL;
    return options->pairs && options->n_documents > RESEMBLING_MOST_DOCUMENTS ? -E2BIG : 0;
}

/* The sketch file. Every mode but super shingles compares some of the sketches; only those that
 * compare by sketches alone (exact, fast and center) have filters. */
static int make_sketches(struct batch *batch)
{
    enum batch_mode mode = batch->options.mode;
    bool compares = mode == BATCH_EXACT || mode == BATCH_FAST || mode == BATCH_CENTER;
    uint32_t n = batch->options.n_documents;
    uint64_t room = batch->budget.sketch_bytes;
    uint64_t filters = least_of(room, (uint64_t)n * sizeof(struct overlap_filter));
    if (!compares)
        filters = 0;
    return sketch_file_init(&batch->scratch[SCRATCH_SKETCHES],
                            compares ? &batch->scratch[SCRATCH_FILTERS] : NULL, &batch->policy, n,
                            batch->kept, room - filters, filters, &batch->sketches);
}

/* The arrays that have an entry for each document. */
static int make_arrays(struct batch *batch)
{
    uint32_t n = batch->options.n_documents;
    size_t n_words = n / 64 + 1;
    int r = union_find_init(&batch->sets, n);
    if (r < 0)
        return r;
    batch->marks.node = calloc(n_words, sizeof(uint64_t));
    batch->marks.mixed = calloc(n_words, sizeof(uint64_t));
    return batch->marks.node && batch->marks.mixed ? 0 : -ENOMEM;
}

static int make_phases(struct batch *batch)
{
    const struct budget *budget = &batch->budget;
    uint32_t n = batch->options.n_documents;
    int r = make_sketches(batch);
    if (r == 0)
        r = spill_new(&batch->scratch[SCRATCH_EQUIVALENCES], sizeof(struct equivalence_record),
                      EQUIVALENCE_PARTITIONS, budget->equivalence_buffer_bytes,
                      budget->equivalence_bytes, &batch->equivalences);
    if (r == 0)
        r = spill_new(&batch->scratch[SCRATCH_KEYS], sizeof(uint64_t), KEY_PARTITIONS,
                      budget->key_buffer_bytes, budget->key_bytes, &batch->keys);
    if (r == 0 && batch->options.mode == BATCH_BRODER1997) {
        batch->v_sizes = large_array_new(n * sizeof(uint32_t));
        r = batch->v_sizes ? 0 : -ENOMEM;
    }
    return r;
}

/* A batch with its files and its arrays, but with nothing for the phases yet. */
static int begin(const struct policy *policy, const struct batch_options *options,
                 struct batch *batch)
{
    int r = check(policy, options);
    if (r < 0)
        return r;
    batch->options = *options;
    set_defaults(&batch->options);
    batch->policy = *policy;
    batch->policy_id = policy_id(policy);
    batch->modulus_below = (uint64_t)(((unsigned __int128)1 << 64) / policy->m);
    batch->number_bits = key_number_bits(options->n_documents);
    r = budget_make(options->memory_bytes, options->n_documents, options->n_threads,
                    &batch->budget);
    if (r == 0)
        r = batch_check_phases(batch);
    for (unsigned i = 0; r == 0 && i < N_SCRATCH_FILES; i++) {
        if (i != SCRATCH_SKETCHES || !batch->kept)
            r = scratch_file_open(options->scratch, &batch->scratch[i]);
        batch->scratch[i].use = &batch->scratch_use;
    }
    return r < 0 ? r : make_arrays(batch);
}

int batch_new(const struct policy *policy, const struct batch_options *options,
              struct batch **ret_batch)
{
    _cleanup_(batch_free_p) struct batch *batch = calloc(1, sizeof(*batch));
    if (!batch)
        return -ENOMEM;
    int r = check(policy, options);
    if (r == 0 && options->memory_bytes < budget_least(options->n_documents))
        r = -E2BIG; /* before anything in options->keep is touched */
    if (r == 0 && options->keep)
        r = kept_open(options->keep, true, &batch->scratch[SCRATCH_SKETCHES], &batch->kept);
    if (r == 0)
        r = begin(policy, options, batch);
    if (r == 0)
        r = make_phases(batch);
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
    spill_free(batch->pairs);
    sketch_file_done(&batch->sketches);
    union_find_done(&batch->sets);
    kept_free(batch->kept);
    free(batch->marks.node);
    free(batch->marks.mixed);
    large_array_free(batch->v_sizes, batch->options.n_documents * sizeof(uint32_t));
    large_array_free(batch->classes, batch->options.n_documents * sizeof(uint32_t));
    for (unsigned i = 0; i < N_SCRATCH_FILES; i++)
        scratch_file_done(&batch->scratch[i]);
    free(batch);
}

/* -- adding -- */

unsigned batch_n_writers(const struct batch *batch)
{
    return batch->budget.n_writers;
}

int batch_writer_new(struct batch *batch, struct batch_writer **ret_writer)
{
    _cleanup_(batch_writer_free_p) struct batch_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return -ENOMEM;
    writer->batch = batch;
    if (__atomic_fetch_add(&batch->n_writers, 1, __ATOMIC_RELAXED) >= batch->budget.n_writers)
        return -EBUSY;
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

static void end_writer(struct batch_writer *writer)
{
    if (writer->ended)
        return;
    sketch_writer_done(&writer->sketches);
    spill_writer_done(&writer->equivalences);
    spill_writer_done(&writer->keys);
    __atomic_fetch_sub(&writer->batch->n_writers, 1, __ATOMIC_RELAXED);
    writer->ended = true;
}

void batch_writer_free(struct batch_writer *writer)
{
    if (!writer)
        return;
    end_writer(writer);
    free(writer);
}

static int add_super_shingles(struct batch_writer *writer, uint32_t number,
                              const struct min_sketch *sketch)
{
    uint32_t n = sketch->n_values < SUPER_VALUES ? sketch->n_values : SUPER_VALUES;
    uint32_t in_run = n < SUPER_RUN ? n : SUPER_RUN;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i + in_run <= n; i++)
        r = key_add(&writer->keys, writer->batch->number_bits,
                    XXH3_64bits(sketch->values + i, in_run * sizeof(uint64_t)), number);
    return r;
}

static int add_keys(struct batch_writer *writer, uint32_t number, const struct min_sketch *sketch)
{
    struct batch *batch = writer->batch;
    uint32_t n = sketch->n_values;
    if (batch->options.mode == BATCH_SUPERSHINGLE)
        return add_super_shingles(writer, number, sketch);
    if (batch->options.mode == BATCH_BRODER1997) {
        n = min_sketch_n_v(sketch);
        batch->v_sizes[number] = pair_size(n, sketch->v_below != batch->modulus_below);
    } else if (n > batch->options.n_keys) {
        n = batch->options.n_keys;
        if (batch_asks_containment(batch) && n < min_sketch_n_v(sketch))
            n = min_sketch_n_v(sketch);
    }
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < n; i++)
        r = key_add(&writer->keys, batch->number_bits, sketch->values[i], number);
    return r;
}

/* The records of a document for the phases: all but its sketch. */
static int add_document(void *user, uint32_t number, const struct document_sketch *sketch)
{
    struct batch_writer *writer = user;
    bool joins_equal = batch_joins_equal(writer->batch);
    /* In mode fast a node is a text, as in the index. */
    int r = equivalence_add(&writer->equivalences, number, sketch,
                            joins_equal || writer->batch->options.mode == BATCH_FAST);
    return r < 0 || joins_equal ? r : add_keys(writer, number, &sketch->sketch);
}

int batch_writer_add(struct batch_writer *writer, uint32_t number,
                     const struct document_sketch *sketch)
{
    struct batch *batch = writer->batch;
    if (number >= batch->options.n_documents || writer->ended)
        return -EINVAL;
    if (sketch->sketch.policy_id != batch->policy_id)
        return -EPROTO;
    writer->n_documents++;
    bool compares = batch->options.mode != BATCH_SUPERSHINGLE || batch->options.resemblances;
    bool needs_sketch = batch->kept || (compares && sketch->sketch.n_values > 0);
    writer->n_empty += sketch->sketch.n_values == 0;
    int r = needs_sketch ? sketch_writer_add(&writer->sketches, number, sketch) : 0;
    return r < 0 ? r : add_document(writer, number, sketch);
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
    end_writer(writer);
    return 0;
}

/* -- resuming -- */

struct loading {
    struct batch *batch;
    uint32_t next, n_blocks;
};

static int load_blocks(void *user, unsigned thread, const bool *stop)
{
    struct loading *loading = user;
    _cleanup_(batch_writer_free_p) struct batch_writer *writer = NULL;
    (void)thread;
    int r = batch_writer_new(loading->batch, &writer);
    for (uint32_t i; r == 0 && !parallel_stopped(stop) &&
                     (i = parallel_next(&loading->next)) < loading->n_blocks;)
        r = sketch_writer_load(&writer->sketches, i, add_document, writer);
    return r < 0 ? r : batch_writer_flush(writer);
}

static int load_sketches(struct batch *batch)
{
    struct batch_begin begin = batch_begin_now(batch);
    struct loading loading = {
        .batch = batch,
        .n_blocks = (uint32_t)sketch_file_n_blocks(batch->scratch[SCRATCH_SKETCHES].size_bytes),
    };
    double cpu_s = 0;
    int r = make_phases(batch);
    if (r == 0)
        r = parallel_run(batch->budget.n_writers, load_blocks, &loading, &cpu_s);
    batch->totals.load = batch_cost_since(batch, &begin, cpu_s);
    return r;
}

int batch_resume(const struct batch_options *options, enum batch_phase from,
                 struct batch **ret_batch)
{
    struct policy policy;
    struct batch_options as_it_was = *options;
    _cleanup_(batch_free_p) struct batch *batch = calloc(1, sizeof(*batch));
    if (!batch)
        return -ENOMEM;
    if ((unsigned)from >= BATCH_N_PHASES)
        return -EINVAL;
    int r = kept_open(options->keep, false, &batch->scratch[SCRATCH_SKETCHES], &batch->kept);
    if (r == 0)
        r = kept_read(batch->kept, &policy, &as_it_was.n_documents, &batch->totals);
    if (r == 0)
        r = begin(&policy, &as_it_was, batch);
    bool has_pairs =
        from == BATCH_CLUSTERS && options->mode == BATCH_BRODER1997 && options->threshold < 1;
    if (r == 0 && has_pairs) {
        r = batch_load_duplicates(batch);
        has_pairs = r != -ENOENT;
        r = has_pairs ? r : 0;
    }
    batch->from = has_pairs ? BATCH_CLUSTERS : BATCH_DUPLICATES;
    if (r == 0 && !has_pairs)
        r = kept_check_sketches(batch->kept, &batch->scratch[SCRATCH_SKETCHES]);
    if (r == 0 && !has_pairs)
        r = load_sketches(batch);
    if (r < 0)
        return r;
    *ret_batch = TAKE_PTR(batch);
    return 0;
}

enum batch_phase batch_begins_with(const struct batch *batch)
{
    return batch->from;
}

int batch_kept_documents(const char *keep, struct policy *ret_policy, uint32_t *ret_n_documents)
{
    struct batch_totals totals;
    _cleanup_(scratch_file_done) struct scratch_file sketches = {0};
    _cleanup_(kept_free_p) struct kept *kept = NULL;
    int r = kept_open(keep, false, &sketches, &kept);
    return r < 0 ? r : kept_read(kept, ret_policy, ret_n_documents, &totals);
}

const uint32_t *batch_clusters(const struct batch *batch)
{
    return batch->classes ? batch->classes : batch->sets.parent;
}

const struct batch_totals *batch_totals(const struct batch *batch)
{
    return &batch->totals;
}
