/* The state of a batch, shared by batch.c, batch_run.c, batch_firsts.c and batch_keep.c. */
#ifndef KINFS_ENGINE_CLUSTER_BATCH_STATE_H
#define KINFS_ENGINE_CLUSTER_BATCH_STATE_H

#include "engine/cluster/batch.h"
#include "engine/cluster/budget.h"
#include "engine/cluster/pairs/pair_file.h"
#include "engine/cluster/pairs/sketch_file.h"

enum {
    SCRATCH_SKETCHES,
    SCRATCH_FILTERS,
    SCRATCH_EQUIVALENCES,
    SCRATCH_KEYS,
    SCRATCH_PAIRS, /* broder1997: pairs that are not counted yet; or those that resemble each other
                    */
    SCRATCH_RUNS,  /* sorted parts of partitions */
    N_SCRATCH_FILES,
};

struct batch {
    struct batch_options options; /* scratch and keep: NULL after batch_new() */
    struct policy policy;
    uint64_t policy_id, modulus_below;
    unsigned number_bits;
    struct budget budget;
    unsigned n_writers; /* writers there are now; by atomic operations */
    struct scratch_file scratch[N_SCRATCH_FILES];
    struct scratch_use scratch_use; /* of all of them */
    struct sketch_file sketches;
    struct spill *equivalences, *keys;
    struct spill *pairs; /* of options->pairs, once it has run */
    uint32_t *classes;   /* of these: the first document of the class of each */
    struct union_find sets;
    struct equivalence_marks marks;
    uint32_t *v_sizes; /* broder1997 */
    struct batch_totals totals;
    struct kept *kept;     /* NULL: nothing remains */
    enum batch_phase from; /* BATCH_DUPLICATES or BATCH_CLUSTERS */
};

static inline bool batch_asks_containment(const struct batch *batch)
{
    return batch->options.containment > 0 && batch->options.containment < 1;
}

/* Equal documents alone are of a cluster: which they are their fingerprints say, and no sample. */
static inline bool batch_joins_equal(const struct batch *batch)
{
    return batch->options.threshold >= 1 && batch->options.mode != BATCH_SUPERSHINGLE &&
           !batch_asks_containment(batch);
}

/* -- batch_run.c -- */

/* Returns 0 when the budget is enough for the phases to come, however long a sketch is, else
 * -E2BIG. */
int batch_check_phases(const struct batch *batch);

struct batch_begin {
    int64_t us;
    uint64_t read_bytes, written_bytes;
};
struct batch_begin batch_begin_now(const struct batch *batch);
struct batch_cost batch_cost_since(const struct batch *batch, const struct batch_begin *begin,
                                   double cpu_s);

/* -- batch_firsts.c -- */

/* Fills options.resemblances, before the sketches end. Returns 0 or an error of reading. */
int batch_compare_with_firsts(struct batch *batch);

/* -- batch_keep.c -- */

/* Opens a directory in which the results of phases remain. fresh: the batch is a new one, and old
 * results are removed. Returns 0, -EBUSY (another batch has it), -ENOTEMPTY (it is not a batch's),
 * -ENOENT (not fresh, and nothing there) or an errno of open(2). */
int kept_open(const char *directory, bool fresh, struct scratch_file *ret_sketches,
              struct kept **ret_kept);
void kept_free(struct kept *kept); /* NULL allowed */
DEFINE_CLEANUP(struct kept *, kept_free);

/* Reads from a directory that is not fresh the policy, the number of documents and the totals of
 * adding. */
int kept_read(struct kept *kept, struct policy *ret_policy, uint32_t *ret_n_documents,
              struct batch_totals *ret_totals);

/* Returns 0 when the file of sketches, after kept_read(), is as long as it was, else -EUCLEAN. The
 * checksums of blocks do not tell that one is missing. */
int kept_check_sketches(const struct kept *kept, const struct scratch_file *sketches);

int batch_keep_sketches(struct batch *batch);            /* all documents have been added */
int batch_keep_duplicates(struct batch *batch);          /* broder1997: sets and marks are these */
struct pair_file *batch_kept_pairs(struct batch *batch); /* where pairs go; NULL: nowhere */
int batch_keep_pairs(struct batch *batch);               /* they are complete */
int batch_load_duplicates(struct batch *batch);
/* Joins the documents of each kept pair that reaches the threshold. */
int batch_join_kept_pairs(struct batch *batch, double *cpu_s);

#endif
