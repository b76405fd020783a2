/* The graph behind a clustering: its edges are not stored, they are found by asking the
 * postings and comparing full sketches. Nodes are classes, named by their first document, the only
 * one of a class that has postings. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_NEIGHBOURS_H
#define KINFS_ENGINE_INDEX_CLUSTERS_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/index/clusters/graph.h"
#include "engine/index/postings/short_lists.h"

/* Whether two documents are neighbours that would find each other by tier R: 1; 0, also where it is
 * by another way only; or an error. */
int neighbours_by_tier_r(const struct graph *graph, const struct min_sketch *a,
                         const struct min_sketch *b);

/* Whether the caller wants to know if a candidate, in cluster (0: none), is a neighbour. */
typedef bool (*neighbour_wanted_fn)(void *user, uint64_t sid, uint64_t cluster);
/* A neighbour. Returns 0 or an error, which ends the search. */
typedef int (*neighbour_found_fn)(void *user, uint64_t sid, uint64_t cluster,
                                  const struct record *record);

/* Find the neighbours of a document; itself is asked about like any other candidate.
 *
 * dead  gets candidates whose record is gone, when not NULL
 *
 * Returns 0, what found returned, -ENOMEM, -EUCLEAN or a store error. The committer's. One query of
 * the postings, and a read and a comparison for each wanted candidate. */
int neighbours_find(const struct graph *graph, const struct min_sketch *sketch,
                    neighbour_wanted_fn wanted, neighbour_found_fn found, void *user,
                    struct sid_vector *dead);

/* A list that was not read: all are in one cluster with a document, but for some strays. */
struct known_list {
    uint64_t fingerprint, by;
    uint64_t strays[SHORT_LISTS_STRAYS];
    size_t n_strays;
};

/* The posting lists of a document that were read, all of each, with who is in them; and those that
 * were not. */
struct lists_read {
    uint64_t fingerprints[POSTINGS_TIER_R_KEYS];
    struct sid_list list;
    struct known_list known[POSTINGS_TIER_R_KEYS];
    size_t n_fingerprints, n_known;
};
void lists_read_done(struct lists_read *read);

/* Find at least one neighbour in each cluster that has one, and all that are in none. wanted() must
 * say no for a cluster once a neighbour in it was found, and is also asked about clusters as such
 * (sid 0). ret_read gives, also on failure.
 *
 * Returns and costs as neighbours_find(), but for posting lists with a digest (long_lists.h) or of
 * one cluster (short_lists.h): of these a few documents are looked at, and the whole list only when
 * it has a cluster in which none of those is a neighbour. */
int neighbours_reach(const struct graph *graph, const struct min_sketch *sketch,
                     neighbour_wanted_fn wanted, neighbour_found_fn found, void *user,
                     struct sid_vector *dead, struct lists_read *ret_read);

/* What is known of these lists, once the document has joined those it belongs to. Its postings may
 * not have been noted yet. 0 or an error. */
int neighbours_learn(const struct graph *graph, uint64_t sid, const struct lists_read *read);

#endif
