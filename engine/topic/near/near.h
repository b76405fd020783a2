/* Which bags are near each other: of all nodes those pairs of which at least so many signatures
 * agree, as far as the draws find them, in bounded memory (Haveliwala, Gionis and Indyk 2000,
 * section 4).
 *
 * Three phases: the draws give candidate pairs (candidates.h); those whose lowest bytes agree too
 * seldom are dropped (pair_filter.h); the rest is sorted in both directions (relations.h). What is
 * found depends on the sketches and the options above `memory_bytes` alone: the same for any
 * memory, number of threads, and in any order of work.
 *
 * Nodes that agree in a draw are paired all with all. Where they are more than `heads`, as copies
 * of one page are, each is paired with the first `heads` of them alone: n nodes then make heads * n
 * pairs and not n^2 / 2. The centres, which are first nodes, are found all the same. What the first
 * draw has paired no other one pairs. So a node has heads * n_draws pairs at most, whoever made
 * the bags, and copies that come first heads * n in all.
 */
#ifndef KINFS_ENGINE_TOPIC_NEAR_NEAR_H
#define KINFS_ENGINE_TOPIC_NEAR_NEAR_H

#include "engine/topic/near/relations.h"
#include "engine/topic/near/signatures.h"

struct near_options {
    unsigned n_draws, k;     /* the paper: 125, 3 */
    uint64_t seed;           /* of the draws */
    unsigned heads;          /* 1 at least */
    unsigned n_compared;     /* signatures that are compared, of 80 or fewer; 1 at least */
    unsigned least_agreeing; /* of these: signatures_expected(0.2, 80) */

    uint64_t memory_bytes; /* near_least_bytes() at least; what the signatures take comes to it */
    unsigned n_threads;    /* at most; fewer where there is little memory */
    const char *scratch;   /* a directory; borrowed */
    const bool *stop;      /* set by any thread: the rest is left out, -ECANCELED; or NULL */
};

enum near_phase { NEAR_CANDIDATES, NEAR_FILTER, NEAR_SORT, NEAR_N_PHASES };

struct near_cost {
    double cpu_s, wall_s;
    uint64_t read_bytes, written_bytes; /* of scratch files */
};

struct near_totals {
    struct near_cost cost[NEAR_N_PHASES];
    uint64_t n_candidates; /* of all draws */
    uint64_t n_different;
    uint64_t n_kept;
    uint64_t n_shortened; /* places of a draw with more than `heads` nodes */
    uint32_t longest;     /* nodes at one place */
    uint32_t n_passes;    /* of the filter; 1 where a byte for each signature fits into memory */
};

/* Memory for so many nodes: 32 MiB, and 16 bytes a node. */
uint64_t near_least_bytes(uint32_t n_nodes);

/* Returns 0, -E2BIG for too little memory, -EINVAL for options out of their ranges, -ECANCELED,
 * -ENOMEM, an error of scratch_file_open(), scratch_file_write() or scratch_file_read(); ret_totals
 * then has the costs so far; ret_relations gives. One caller; takes as long as it takes. */
int near_find(struct signatures *signatures, const struct near_options *options,
              struct relations *ret_relations, struct near_totals *ret_totals);

#endif
