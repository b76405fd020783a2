/* Changes of clusters that insert, delete and recluster are made of. Each is some writes, and may
 * be done again where it was interrupted; what could be wrong meanwhile is marked dirty by the
 * caller. All return 0, -ENOMEM, -EUCLEAN or a store error. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_CHANGE_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_CHANGE_H

#include "engine/index/clusters/graph.h"

/* The id of a cluster of documents that are in none: that of one which dissolved around one of them
 * a short while ago, the smallest; else a fresh one. In the default clustering it is marked dirty.
 */
int cluster_new_id(const struct graph *graph, const struct number_vector *loners, uint64_t *ret_id);

/* Move documents from a cluster (0: none) into another (0: none); those that are no more are left
 * out. */
int cluster_move(const struct graph *graph, uint64_t from, uint64_t to,
                 const struct number_vector *sids);

/* All of a cluster becomes part of another, and its id leads there. */
int cluster_merge(const struct graph *graph, uint64_t from, uint64_t to);

/* A cluster has no document left: its id leads where most of them went; to: 0, nowhere, and what
 * led to it goes. */
int cluster_emptied(const struct graph *graph, uint64_t cluster, uint64_t to);

/* Give up clusters, each once, that have one document left or none, and what led to them: those are
 * no clusters. Others stay. */
int cluster_dissolve(const struct graph *graph, const uint64_t *clusters, size_t n);

#endif
