/* The experiment of Haveliwala, Gionis and Indyk 2000 with a planted link graph: pages link to
 * three times as many targets, with words around each link; the words of all links to a target are
 * its bag. Streamed through all phases; of the pages nothing is kept. */
#ifndef KINFS_TESTS_BENCH_TOPICS_RUN_H
#define KINFS_TESTS_BENCH_TOPICS_RUN_H

#include "engine/topic/near/near.h"
#include "tests/bench/topics_sample.h"

enum topics_phase {
    TOPICS_BAGS,      /* words of pages, drawn and not read, to buckets of targets */
    TOPICS_SORT_BAGS, /* buckets sorted; fragments collapsed, sum 100 */
    TOPICS_SIGNATURES,
    TOPICS_CANDIDATES, /* the paper's pairs */
    TOPICS_FILTER,
    TOPICS_SORT,
    TOPICS_CENTER,
    TOPICS_N_PHASES
};

struct topics_options {
    uint32_t n_pages;
    uint64_t seed, memory_bytes;
    unsigned n_threads, n_draws, k, heads;
    double threshold;
    const char *scratch;
};

struct topics_result {
    struct near_cost cost[TOPICS_N_PHASES];
    struct near_totals near;
    uint32_t n_targets, n_nodes; /* nodes: targets of enough links, which are clustered */
    uint64_t n_words, n_centres, n_clustered, n_right; /* right: of their centre's topic */
    uint64_t signature_bytes;
    double all_wall_s;
    /* Of a sample, pairs by exact similarity, and how many were found. */
    uint64_t pairs[SAMPLE_SIMILARITIES], found[SAMPLE_SIMILARITIES];
    uint64_t digest; /* equal for equal centres */
};

/* Returns 0, -E2BIG for less memory than near_least_bytes() and 8 bytes a target and 64 MiB, an
 * error of near_find() or of scratch files. */
int topics_run(const struct topics_options *options, struct topics_result *ret_result);

#endif
