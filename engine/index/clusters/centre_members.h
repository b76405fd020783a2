/* The nodes of a cluster that has a centre (cluster_centres.h), in their order. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CENTRE_MEMBERS_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CENTRE_MEMBERS_H

#include "engine/index/clusters/centre_cache.h"
#include "engine/index/clusters/neighbours.h"

struct centre_node {
    struct place place;
    uint64_t n_documents; /* of its class in the clustering */
};

enum { CENTRE_NODES_AT_ONCE = 128 };

/* Some nodes that stand behind an order (NULL: all), at most CENTRE_NODES_AT_ONCE, also those that
 * wait (cluster_repairs_waits()). Returns how many, 0 when there are none, -ENOMEM, -EUCLEAN or a
 * store error. A scan of as many rows. */
int centre_members_after(const struct graph *graph, uint64_t cluster, const uint8_t *order,
                         struct centre_node *ret_nodes);

/* The stored centre of a cluster; without a sid when it is not there any more. 0 or an error. Two
 * reads of the store, mostly none. */
int centre_members_centre(const struct graph *graph, uint64_t cluster, struct place *ret_centre);

#endif
