/* The loose components of a scope that is clustered anew, divided into stars
 * (engine/cluster/stars.h), in steps. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_DIVISION_H
#define KINFS_ENGINE_INDEX_CLUSTERS_DIVISION_H

#include "engine/index/clusters/graph.h"
#include "engine/index/clusters/looseness.h"

/* The first document of a class that has shingles. */
struct division_node {
    uint64_t sid, order; /* stars_order() */
    uint32_t place, set; /* of the document in the scope; of its component */
};

enum { DIVISION_WHOLE = UINT32_MAX };

/* A component of STARS_LOOSE_LEAST nodes or more that is not loose. */
struct division_whole {
    uint32_t set;
    struct looseness_fact fact; /* but for the cluster and its documents */
};

struct division {
    struct division_node *nodes; /* by set, order, sid */
    size_t n_nodes;
    uint32_t *centres; /* by place of a node: that of its centre, or DIVISION_WHOLE */
    struct division_whole *whole;
    size_t n_whole, whole_room;
    size_t begin, end, at; /* the component that is looked at, and how far; in nodes */
    struct looseness_fact fact;
    struct stars *stars; /* not NULL: it is loose */
};

/* nodes is taken. places: of the scope. 0 or -ENOMEM; ended by division_done() in any case. */
int division_begin(struct division *division, struct division_node *nodes, size_t n_nodes,
                   size_t places);
/* Some nodes. Returns 1 when there is more to do, 0 at its end, -ENOMEM, -EUCLEAN or a store error.
 * A document that is gone meanwhile counts for nothing. */
int division_step(struct division *division, const struct graph *graph);
void division_done(struct division *division);

#endif
