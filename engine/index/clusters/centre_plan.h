/* The plan of a change to a clustering that has centres (cluster_centres.h): the nodes that are
 * looked at again, with the centres they had and those they get. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CENTRE_PLAN_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CENTRE_PLAN_H

#include <string.h>

#include "engine/index/clusters/centre_cache.h"
#include "engine/index/clusters/cluster_intent.h"
#include "engine/index/tables/id_map.h"
#include "engine/index/clusters/neighbours.h"

struct spot {
    struct place node, had, has, best; /* its centre: stored, planned; the best that it may get */
    uint64_t cluster;                  /* stored; 0: none */
    uint64_t n_documents;              /* 0: not known */
    bool is_new, lost, has_best, queued, done;
};

struct centre_plan {
    const struct graph *graph;
    const struct sid_vector *leaving;
    uint64_t not_with;
    bool is_posted; /* who enters has its postings, beyond doubt */
    struct spot *spots;
    uint32_t n_spots, max_spots;
    struct id_map by_sid;
    uint32_t *heap; /* of spots that are queued, the first in order on top */
    uint32_t n_heap;
    uint32_t at; /* the spot that is looked at */
    int error;   /* of a callback that cannot return one */
};

void centre_plan_done(struct centre_plan *plan);

static inline bool place_before(const struct place *a, const struct place *b)
{
    return memcmp(a->order, b->order, ORDER_BYTES) < 0;
}

static inline bool place_equal(const struct place *a, const struct place *b)
{
    return memcmp(a->order, b->order, ORDER_BYTES) == 0;
}

/* Whether a document is taken not to be there. */
bool centre_plan_excludes(const struct centre_plan *plan, uint64_t sid);

/* The functions return 0, -ENOMEM, -EUCLEAN or a store error. */

/* A document of the graph comes: it is looked at, and, if it becomes a centre, its neighbours. */
int centre_plan_enters(struct centre_plan *plan, const struct place *node, uint64_t cluster);
/* The centre of a cluster is one no more: its members are looked at, or, where they are many, wait
 * from now on. */
int centre_plan_lose_members(struct centre_plan *plan, uint64_t cluster,
                             const struct place *centre);
/* Look at all, in order; then every spot that was looked at is done. */
int centre_plan_carry_out(struct centre_plan *plan);

/* What is to move, as moves of an intent. Gives out ids of clusters. */
int centre_plan_moves(const struct centre_plan *plan, struct cluster_intent *intent);

#endif
