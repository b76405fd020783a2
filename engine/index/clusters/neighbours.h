/* The neighbours of a document: those that resemble it among its candidates. Two documents are
 * candidates of each other where they share one of their 16 smallest fingerprints; in a long list
 * (long_lists.h) one of the two must be a head of it.
 *
 * So the candidates of a document that come before it are found in its posting lists: all that are
 * before it in a short one, and the heads before it in a long one. Those that come after
 * it find it in the same way; whoever asks for each document of a set in turn has all pairs once.
 *
 * Cost: a look at each of some thousand candidates at most (16 lists of 1,000), a comparison for
 * those that are wanted and that the 64-byte filters let pass. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_NEIGHBOURS_H
#define KINFS_ENGINE_INDEX_CLUSTERS_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/index/clusters/graph.h"

/* Documents that were met while one is looked at; emptied in no time. */
struct seen_sids;
int seen_sids_new(struct seen_sids **ret_seen); /* 0, -ENOMEM */
void seen_sids_free(struct seen_sids *seen);

/* The candidates of a document that come before it: appended, each once. Its postings are there.
 *
 * grown  gets the fingerprints of lists that have become long and are not known to be; or NULL
 *
 * Returns 0, -ENOMEM, -EUCLEAN or a store error. */
int neighbours_candidates(const struct graph *graph, uint64_t sid, const struct min_sketch *sketch,
                          struct number_vector *candidates, struct number_vector *grown);

/* One of two documents is a candidate of the other: 1, 0 or an error. */
int neighbours_are_candidates(const struct graph *graph, uint64_t sid_a, const struct min_sketch *a,
                              uint64_t sid_b, const struct min_sketch *b);

/* The caller says which candidates matter to it as neighbours; asked again for each that is left
 * when others were found. Sets ret_wanted[i]. 0 or an error, which ends the search. */
typedef int (*neighbours_wanted_fn)(void *user, const uint64_t *sids, size_t n, bool *ret_wanted);
/* A neighbour. 0 or an error, likewise. */
typedef int (*neighbour_found_fn)(void *user, uint64_t sid);

/* Compare a document with candidates, as far as they are wanted. Returns 0, what a function
 * returned, -ENOMEM, -EUCLEAN or a store error. */
int neighbours_compare(const struct graph *graph, const struct min_sketch *sketch,
                       const struct number_vector *candidates, neighbours_wanted_fn wanted,
                       neighbour_found_fn found, void *user);

#endif
