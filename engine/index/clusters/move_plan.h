/* The moves that make stored clusters those that were found: who moves where, which cluster keeps
 * which id, and which become part of others. Clustering anew plans those of what is dirty
 * (recluster_move.c), a named clustering those of all its documents (named/remaking.h), and a check
 * compares by a plan that is not carried out. A plan is made by any thread from rows as they were
 * at some moment, and carried out by the committer, which looks again where a document is; so
 * documents may come and go in between.
 *
 * Memory: 52 bytes for each document, 24 more while it is made for each that is in a cluster.
 */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_MOVE_PLAN_H
#define KINFS_ENGINE_INDEX_CLUSTERS_MOVE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/index/tables/number_vector.h"
#include "store/kv.h"

struct graph;

/* A document that changes its cluster; group: MOVE_PLAN_ALONE, or of those it comes to. */
#define MOVE_PLAN_ALONE UINT32_MAX
enum { MOVE_PLAN_STEP_MAX = 256 };
struct planned_move {
    uint32_t number, group;
};
/* A cluster that becomes part of another: its id leads there. */
struct planned_join {
    uint64_t cluster;
    uint32_t group;
    uint32_t n_left; /* of its documents that will be of the group, those that are moved with it */
};

struct move_plan {
    size_t a_step;             /* documents moved at once, MOVE_PLAN_STEP_MAX at most */
    struct number_vector sids; /* ascending; a document's number is its place */
    uint32_t *groups;          /* by number: the smallest of its group, its own when it is alone */
    uint64_t *ids;             /* by the smallest number of a group: its cluster; 0: none yet */
    struct planned_move *moves;
    size_t n_moves, moved;
    struct planned_join *joins;
    size_t n_joins, joined;
};

/* A plan is completed from the rows of a clustering; a_step, sids and groups are the caller's to
 * fill before. Reads all its rows of TABLE_MEMBERS, asking now and then whether to stop. Returns 0,
 * -ESHUTDOWN (stopped), -ENOMEM, -EUCLEAN or a store error. */
int move_plan_make(struct move_plan *plan, struct kv *kv, unsigned number, const bool *stop);
/* The same from what the caller knows: by number the cluster a document is in (0: none), and its
 * rank among the members. Returns 0 or -ENOMEM. */
int move_plan_decide(struct move_plan *plan, const uint64_t *clusters, const uint32_t *ranks);
void move_plan_done(struct move_plan *plan);

/* Some documents of it, or a cluster; some milliseconds. What is on its way was marked dirty before
 * the first step. Returns 1 when there is more to do, 0 when all is done, -ENOMEM or a store error,
 * after which a plan is made anew: what was done counts. The committer's. */
int move_plan_step(struct move_plan *plan, const struct graph *graph);

#endif
