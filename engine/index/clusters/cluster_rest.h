/* What a cluster falls into when documents leave it. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_REST_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_REST_H

#include "engine/index/clusters/cluster_intent.h"
#include "engine/index/clusters/neighbours.h"

/* Add to a split what split->leaving, none of which has a twin that stays, leave behind of its
 * cluster: the larger part keeps the id, the others get theirs. Where it would take too long it is
 * left to a repair (cluster_repair.h), and nothing is added. Changes nothing else.
 *
 * Returns 0, -ENOMEM, -EUCLEAN or a store error. Small clusters by their members (small_cluster.h),
 * large ones by their hub (cluster_hubs.h); else one query of the postings and a comparison with
 * each neighbour, as long as at least as many documents leave as are badly connected in the rest;
 * at worst that for each document that leaves. The committer's. */
int cluster_rest_plan(const struct graph *graph, struct cluster_split *split);

#endif
