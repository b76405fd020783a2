/* A document that comes into the clusters. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_INSERT_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_INSERT_H

#include "engine/index/clusters/graph.h"

struct coming {
    uint64_t sid;
    const struct record *record;
    uint64_t first;    /* of its class, in which it is; if itself its postings are there */
    uint64_t replaced; /* what it comes in place of, which goes next; 0: nothing */
    bool may_be_in;    /* it may have been inserted before, or in part */
};

/* Join it with its class, or its neighbours. Idempotent. Returns 0, -ENOMEM, -EUCLEAN or a store
 * error. */
int cluster_insert(const struct graph *graph, const struct coming *coming);

/* A document of a clustering that is made anew now and then takes the place of the one that it
 * replaces, if that has one. As above. */
int cluster_insert_in_place(const struct graph *graph, const struct coming *coming);

#endif
