/* What a cluster falls into when nodes of it are taken out. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_PARTS_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_PARTS_H

#include "engine/index/clusters/neighbours.h"

struct cluster_parts;

/* without      documents that are taken not to be there, ascending; borrowed
 * in_clusters  n_in_clusters ids, borrowed: only nodes in these are looked at
 * Returns 0, -ENOMEM. */
int cluster_parts_new(const struct graph *graph, const struct sid_vector *without,
                      const uint64_t *in_clusters, size_t n_in_clusters,
                      struct cluster_parts **ret_parts);
void cluster_parts_free(struct cluster_parts *parts);
DEFINE_CLEANUP(struct cluster_parts *, cluster_parts_free);

/* A node to begin from; before the search. Returns 0, -ENOMEM. */
int cluster_parts_begin_from(struct cluster_parts *parts, uint64_t sid,
                             const struct record *record);

/* Look at the neighbours of the first beginning now; others may be begun from afterwards. */
int cluster_parts_widen(struct cluster_parts *parts);
/* Whether a node was found so far. */
bool cluster_parts_has(const struct cluster_parts *parts, uint64_t sid);

/* Search from all beginnings in turn until at most one part is not exhausted (with all: until none
 * is). Then there is one part for each group of beginnings that are connected.
 *
 * most  nodes whose neighbours are looked at; SIZE_MAX: no bound
 *
 * Returns how many parts there are, -E2BIG when that was not enough to know and the search may go
 * on, or an error. */
int cluster_parts_search(struct cluster_parts *parts, bool all, size_t most);

/* The parts, numbered from 0. The documents are those of all classes found so far
 * that are in the clustering; all of the part
 * when it is exhausted. Appends. */
bool cluster_parts_exhausted(const struct cluster_parts *parts, size_t part);
uint64_t cluster_parts_beginning(const struct cluster_parts *parts, size_t part);
int cluster_parts_documents(const struct cluster_parts *parts, size_t part,
                            struct sid_vector *sids);

#endif
