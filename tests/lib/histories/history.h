/* A tree that changes at random under an index that follows it, in a process that is killed at any
 * moment and begun again; and then what has become of its clusters, by several ways.
 *
 * The processes are children: none of this may be called by one that has an index of its own, since
 * a fork(2) would have the store's threads in one of the two only.
 */
#ifndef KINFS_TESTS_LIB_HISTORIES_HISTORY_H
#define KINFS_TESTS_LIB_HISTORIES_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

struct history {
    char root[64]; /* scratch: the tree, what was moved out of it, the store */
    uint64_t seed;
    unsigned n_places; /* of documents in the tree; somewhat more than half are taken */
    struct history_shared *shared;
};

struct history_truth {
    uint64_t n_documents, n_clusters, n_clustered, largest;
    uint64_t n_pairs;   /* that resemble each other by the threshold, of all */
    uint64_t n_apart16; /* of them such as have none of their 16 smallest fingerprints in common */
    uint64_t n_apart24; /* none of 24 */
    uint64_t n_divided; /* components, of pairs with one of 16 in common, that are loose */
    bool same_as_all_pairs; /* the clusters are those of all pairs of sketches */
};

void history_begin(struct history *history, uint64_t seed, unsigned n_places);
void history_end(struct history *history); /* takes the scratch directory away */

/* How many operations have been done; one that a kill interrupted is done again. */
uint64_t history_n_done(const struct history *history);

/* Operations up to a number in all, in a child. Returns whether it ended as it should. */
bool history_live(struct history *history, uint64_t until);
/* The child is killed so many microseconds after the last of them, amid others or, at_end, when it
 * settles and closes the index. */
bool history_live_and_die(struct history *history, uint64_t until, bool at_end,
                          unsigned die_after_us);

/* Begin the index again, in a child, let it settle, and compare its clusters, as sets of documents,
 * with those
 *
 *   of an index made anew from the tree (which also has the same ids)
 *   of comparing all pairs of their sketches, where components of pairs that share one of 16
 *   fingerprints are divided if they are loose
 *   of engine/cluster from the files, mode fast
 *
 * And those of engine/cluster, mode exact, with components of pairs that share one of 24.
 * Returns whether all that must be equal is; if not, standard error has said what differs. */
bool history_check(struct history *history, struct history_truth *ret_truth);

#endif
