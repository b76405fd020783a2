/* A component is all documents that are joined by resemblances. A component that hangs together is
 * a cluster of the default clustering. One that is loose is divided into clusters, its stars
 * (engine/cluster/stars.h), and stands as a whole in a clustering of its own, which is not shown
 * (CLUSTERING_DIVIDED): so an insert or a delete finds all of it. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_COMPONENTS_H
#define KINFS_ENGINE_INDEX_CLUSTERS_COMPONENTS_H

#include "engine/index/clusters/graph.h"
#include "engine/index/members/cluster_ids.h"

static inline bool component_is_divided(uint64_t component)
{
    return cluster_clustering(component) == CLUSTERING_DIVIDED;
}

/* The components of documents that are in these clusters of the default clustering (0: in none).
 * ret_components may be clusters. 0 or an error of membership_look_up(). */
int components_of(const struct graph *graph, const uint64_t *sids, const uint64_t *clusters,
                  size_t n, uint64_t *ret_components);

/* The number of its documents. 0 or an error of membership_known_size(). */
int component_size(const struct graph *graph, uint64_t component, uint64_t *ret_size);

#endif
