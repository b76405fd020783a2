/* What cluster_hubs.c and cluster_hubs_far.c share. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_HUBS_PRIVATE_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_HUBS_PRIVATE_H

#include <stdbool.h>

#include "engine/index/clusters/cluster_hubs.h"
#include "engine/index/clusters/neighbours.h"

enum {
    FAR_MAX = 64, /* documents of one that do not resemble its hub */
    COMPARED_AT_ONCE = 64,
};

/* Not a neighbour of the hub, but of one that is. */
struct far {
    uint64_t sid, by; /* by 0: to be found */
};

struct hub {
    uint64_t sid;          /* 0: there is none, */
    uint64_t refused_size; /* which was found at this size */
    uint64_t used;         /* when, counted */
    struct sid_vector new_sids;
    struct far far[FAR_MAX];
    size_t n_far;
    size_t n_tried, at; /* while it is looked for: as the hub; of the members */
    bool is_later;      /* what is left to compare is left to cluster_hubs_step() */
};

/* Find for each far one that stays whom it hangs on, where that is not known or leaves. Returns 1,
 * 0 when one is not known to be connected, or an error. */
int cluster_hubs_connect_far(const struct graph *graph, uint64_t cluster, struct hub *hub,
                             const struct record *of_hub, const struct sid_vector *leaving);

#endif
