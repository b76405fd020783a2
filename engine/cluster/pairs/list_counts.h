/* Counts of the lists of <shingle, document>, and of the pairs that they gave. */
#ifndef KINFS_ENGINE_CLUSTER_PAIRS_LIST_COUNTS_H
#define KINFS_ENGINE_CLUSTER_PAIRS_LIST_COUNTS_H

#include <stdint.h>

struct list_counts {
    uint64_t n_postings, n_lists; /* lists of two nodes or more */
    uint64_t longest_list;
    /* exact, fast */
    uint64_t n_shortened;  /* lists in which only the heads were compared with all */
    uint64_t n_candidates; /* pairs of different clusters; depend on chance where threads do */
    uint64_t n_compared;   /* candidates whose sketches were compared; filters refused the rest */
    /* broder1997 */
    uint64_t n_left_out;          /* lists longer than the cap */
    uint64_t n_postings_left_out; /* postings in these lists */
    uint64_t n_pairs, n_counted;  /* <ID, ID, 1>; <ID, ID, count> */
};

/* Counts one more list, of n nodes. */
static inline void list_counts_note(struct list_counts *counts, uint64_t n)
{
    counts->n_lists++;
    if (n > counts->longest_list)
        counts->longest_list = n;
}

static inline void list_counts_add(struct list_counts *sum, const struct list_counts *counts)
{
    sum->n_postings += counts->n_postings;
    sum->n_lists += counts->n_lists;
    sum->n_shortened += counts->n_shortened;
    sum->n_candidates += counts->n_candidates;
    sum->n_compared += counts->n_compared;
    sum->n_left_out += counts->n_left_out;
    sum->n_postings_left_out += counts->n_postings_left_out;
    sum->n_pairs += counts->n_pairs;
    sum->n_counted += counts->n_counted;
    if (counts->longest_list > sum->longest_list)
        sum->longest_list = counts->longest_list;
}

#endif
