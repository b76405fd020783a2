/* Functions that the neighbours*.c share. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_NEIGHBOURS_PRIVATE_H
#define KINFS_ENGINE_INDEX_CLUSTERS_NEIGHBOURS_PRIVATE_H

#include "engine/index/clusters/neighbours.h"

/* Compare a document with candidates, as far as they are wanted. */
int neighbours_compare(const struct graph *graph, const struct min_sketch *sketch,
                       const struct sid_list *candidates, neighbour_wanted_fn wanted,
                       neighbour_found_fn found, void *user, struct sid_vector *dead);
/* -- neighbours_learn.c -- */

/* Whether a document has it in tier R. */
bool neighbours_has_fingerprint(const struct min_sketch *sketch, uint64_t fingerprint);
/* Where the documents are that lists are known by. 0 or an error. */
int neighbours_clusters_of_known(const struct graph *graph, const struct lists_read *read,
                                 uint64_t clusters[POSTINGS_TIER_R_KEYS]);

/* -- neighbours_common.c -- */

/* The fingerprints by which the candidates of a document are found: those of common lists, and the
 * others. */
struct neighbour_keys {
    uint64_t plain[POSTINGS_TIER_R_KEYS], common[POSTINGS_TIER_R_KEYS];
    size_t n_plain, n_common;
};

/* Lists that were found to be long; those that have a digest or may get one remain. */
int neighbours_judge_long(const struct graph *graph, struct neighbour_keys *keys,
                          const size_t *lengths);
/* Compare with what stands in for the common lists of a document, of which n_other lists are not:
 * where they are few, documents of common lists themselves. */
int neighbours_compare_common(const struct graph *graph, const struct min_sketch *sketch,
                              const struct neighbour_keys *keys, size_t n_other,
                              neighbour_wanted_fn wanted, neighbour_found_fn found, void *user,
                              struct sid_vector *dead);

#endif
