/* Clusters of many documents at once, in bounded memory: the paper's experiment.
 *
 *   phase        what                                             Broder et al. 1997
 *   (sketch)     the caller makes document sketches and adds them  section 4, phase 1
 *   duplicates   equal documents become one node                   section 5.2
 *   sort         lists of <shingle, document>                      phase 2
 *   pairs        pairs of documents that share fingerprints        phase 3
 *   clusters     union-find; equal documents are put back          phase 4
 *
 * A batch knows nothing of stores, file systems or processes. Data that does not fit into the
 * memory it is given goes to files without names in a directory it is given. The clusters depend on
 * documents and their numbers, policy, mode and threshold alone: not on the memory, the threads, or
 * the order of adding.
 */
#ifndef KINFS_ENGINE_CLUSTER_BATCH_H
#define KINFS_ENGINE_CLUSTER_BATCH_H

#include <stdint.h>

#include "base/cleanup.h"
#include "engine/cluster/pairs/equivalence.h"
#include "engine/cluster/pairs/list_counts.h"
#include "engine/cluster/pairs/resembling_pairs.h"
#include "engine/cluster/loose.h"
#include "engine/sketch/documents/document_sketch.h"

struct batch;

enum batch_mode {
    /* Two documents are compared when they have one of their n_keys smallest fingerprints in
     * common; two of estimated resemblance r have none with probability (1-r)^n_keys, 6e-8 at 0.5.
     * But for that the clusters are those of comparing all pairs of sketches, as long as no
     * fingerprint is in more than most_compared documents (list_counts.n_shortened counts those
     * that are). */
    BATCH_EXACT,
    /* The clusters that kinfs means: as exact, but where more than most_compared (1,000) documents
     * have a fingerprint, each of them is compared with n_heads only, the first ones by
     * number; and components that hang together loosely are divided into stars (loose.h). Linear in
     * postings. */
    BATCH_FAST,
    /* As fast, but all components are divided into stars, the largest documents being the first
     * centres (loose.h). */
    BATCH_CENTER,
    /* All values of V are keys; pairs are counted; fingerprints of more than 1,000 documents are
     * left out. */
    BATCH_BRODER1997,
    /* Documents that share a super shingle, which is a run of 14 of the 84 smallest fingerprints,
     * are of one cluster: no sketches are compared, no threshold, there is no third phase (section
     * 5.3). For documents that are nearly the same. */
    BATCH_SUPERSHINGLE,
    BATCH_N_MODES,
};

const char *batch_mode_name(enum batch_mode mode); /* "exact", "fast", "center", .. */

enum batch_phase {
    BATCH_DUPLICATES,
    BATCH_SORT, /* of exact and fast it is done as the pairs are: its wall time is its share */
    BATCH_PAIRS,
    BATCH_MERGE, /* broder1997: sorting and counting pairs, union-find; 0 elsewhere */
    BATCH_CLUSTERS,
    BATCH_N_PHASES,
};

const char *batch_phase_name(enum batch_phase phase);

struct batch_options {
    const char *scratch;   /* directory for what does not fit; borrowed during batch_new() */
    const char *keep;      /* directory in which sketches remain for batch_resume(), and of
                              broder1997 the counted pairs; made when missing; NULL: none. Borrowed
                              as that. */
    uint64_t memory_bytes; /* all that is allocated, and what batch_least_memory() says at least */
    unsigned n_threads;    /* 1 to 64; at most: a phase has fewer where memory is for fewer */
    enum batch_mode mode;
    double threshold;       /* of resemblance, above 0, at most 1: equal documents alone */
    uint32_t n_documents;   /* they are numbered from 0; at most 2^32 - 1 */
    uint32_t n_keys;        /* 0: 24, of fast and center 16 */
    uint32_t most_compared; /* 0: 16,384, of fast and center 1,000; more takes more memory than the
                               least */
    uint32_t n_heads;       /* 0: 64 */
    uint32_t cap;           /* broder1997: 0: 1,000 */
    bool whole;             /* fast: loose components stay as they are */
    bool loose_only;        /* fast: they stay as they are, and all else is in no cluster */
    double containment; /* fast, whole: joined are also two of which one is contained in the other
                           by so much, and which have a value of V in common; 0: no matter; 1: none,
                           as equal documents alone are of one content */
    bool pairs; /* fast, whole: equal documents alone are joined, and all pairs of the others that
                   are compared and reach the threshold are kept for batch_each_pair() */
    /* With pairs: by document 1 or 2, as the pairs are of one of each; NULL: any. Borrowed until
     * the batch has run; of those that are not added no matter */
    const uint8_t *sides;
    uint16_t *resemblances; /* of each document to the first of its cluster, as sketches say it, in
                               1/10,000, of which all are 1 alone; written by batch_run(), of
                               zeroes before; borrowed until then, and its memory is the caller's.
                               NULL: not wanted. Not of a batch that is resumed */
    /* By the thread that runs, now and then; or NULL. */
    void (*progress)(void *user, enum batch_phase phase, uint32_t done, uint32_t of);
    void *user;
    const bool *stop; /* the batch is cancelled when this becomes true: read while it runs, by
                         atomic operations; or NULL */
};

struct batch_cost {
    double wall_s, cpu_s;               /* cpu_s: of all threads */
    uint64_t read_bytes, written_bytes; /* of scratch files */
};

struct batch_totals {
    struct batch_cost load; /* of batch_resume(): reading sketches that are kept */
    struct batch_cost cost[BATCH_N_PHASES];
    uint64_t sketch_written_bytes; /* of scratch files, while documents were added */
    uint64_t scratch_bytes;        /* most that scratch files took, all together */
    uint64_t n_documents, n_empty; /* added; of them those without a shingle */
    struct equivalence_counts equivalence;
    struct list_counts lists;
    struct loose_counts loose;        /* fast, center */
    uint64_t n_clusters, n_clustered; /* of two documents or more; documents in them */
    uint64_t n_identical_clusters, n_identical_clustered; /* of them those of one content */
    uint64_t largest;
};

/* The least memory for so many documents: 17 bytes each, and 16 MiB. Whatever they are like, and in
 * all phases, no more than options->memory_bytes is taken (budget.h); the names of documents are
 * the caller's, who gives the rest. */
uint64_t batch_least_memory(uint32_t n_documents);

/* The number of documents that a kept directory has sketches of, and their policy. Returns 0 or as
 * batch_resume(). */
int batch_kept_documents(const char *keep, struct policy *ret_policy, uint32_t *ret_n_documents);

/* policy   whose sketches will be added; borrowed during the call
 * options  borrowed during the call, but for progress and user
 * Returns 0; -EINVAL for an option out of range; -E2BIG for too little memory, or with pairs too
 * many documents; -ENOMEM;
 * an error of scratch_file_open(); for options->keep -ENOTEMPTY (it is not a batch's directory),
 * -EPERM (it or a file in it is not the effective user's own, base/files/trust.h) and -EBUSY
 * (another batch has it). ret_batch gives. */
int batch_new(const struct policy *policy, const struct batch_options *options,
              struct batch **ret_batch);
void batch_free(struct batch *batch);
DEFINE_CLEANUP(struct batch *, batch_free);

/* Makes a batch from the results that an earlier one has kept in options->keep, to be run without
 * adding anything.
 *
 * options  but for n_documents, which is as it was; any mode and threshold
 * from     where to begin, or before that with the nearest phase for which there is what it takes,
 *          batch_begins_with(): BATCH_CLUSTERS with the counted pairs, by another threshold, which
 *          takes the last phase only (section 6.1), where there are any of broder1997 with this
 *          cap, and the threshold is below 1; else BATCH_DUPLICATES, with the sketches, as sorted
 *          lists and pairs that are not counted are not kept
 *
 * Returns as batch_new(), and -ENOENT (that is not there), -EBUSY (another batch has the
 * directory), -EUCLEAN (damaged), an error of reading. Reads all sketches. */
int batch_resume(const struct batch_options *options, enum batch_phase from,
                 struct batch **ret_batch);

enum batch_phase batch_begins_with(const struct batch *batch);

/* The number of writers there may be at a time: options->n_threads, or fewer where memory is for
 * fewer. */
unsigned batch_n_writers(const struct batch *batch);

/* A writer belongs to one thread. */
struct batch_writer;
/* Returns 0, -ENOMEM, -EBUSY (there are as many as there may be). */
int batch_writer_new(struct batch *batch, struct batch_writer **ret_writer);
/* Add a document, each number once, in any order; numbers never added resemble nothing. Returns 0,
 * -EPROTO for a sketch of another policy, -EINVAL for a number out of range, -ENOMEM, -ENOSPC,
 * -EIO. 0.5 to 1 us. */
int batch_writer_add(struct batch_writer *writer, uint32_t number,
                     const struct document_sketch *sketch);
/* The last call but freeing, before batch_run(): its memory is for that. Returns 0 or as adding
 * does. */
int batch_writer_flush(struct batch_writer *writer);
void batch_writer_free(struct batch_writer *writer); /* before batch_free() */
DEFINE_CLEANUP(struct batch_writer *, batch_writer_free);

/* All phases, once, after all writers were flushed. Blocks; threads of its own. Returns 0, -EBUSY
 * (a writer was not), -ENOMEM,
 * -ENOSPC, -EIO; -ECANCELED soon after *options->stop; after batch_resume() -EUCLEAN, too. */
int batch_run(struct batch *batch);

/* Hands out, after batch_run() of a batch of options->pairs, the pairs of documents that are the
 * first of their cluster, which is of equal documents: as resembling_pairs_each() has them. Once.
 */
int batch_each_pair(struct batch *batch, resembling_pair_fn take, void *user);

/* The clusters after batch_run(): for each document the smallest number of its cluster, its own
 * when it resembles nothing. Valid until batch_free(). */
const uint32_t *batch_clusters(const struct batch *batch);
const struct batch_totals *batch_totals(const struct batch *batch);

#endif
