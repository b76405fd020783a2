/* The parts of a run, and what they share. Documents come and go between its steps:
 *
 *   torn       a cluster or component that the run has seen in two states: a document of it was
 *              gathered twice, with another one each time; not all of a component was gathered; or
 *              it was marked dirty since the run began. Example: d is gathered with cluster 7; a
 *              document comes by which 7 becomes part of 8; 8 is gathered with d. 7 and 8 are torn.
 *   void       the result for a cluster that is torn or has changed since it was gathered, and for
 *              all that hangs together with it: nothing of it moves, and it is dirty for the next
 *              run. Example: 7 was gathered as b c, then a comes into it. b and c stay where they
 *              are, and so does cluster 9, of which a document resembles c.
 *
 * Where runs before had something void, too, the documents of what is void move but for those that
 * are not where they were gathered. All ids that they come into stay dirty, as do those they were
 * in, so the next run has all of them in its scope, wherever they are. Example: a version comes
 * into a chain of 10,000 every second; the stars are those of the 10,000, and each version stands
 * with its first neighbour. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_RECLUSTER_PRIVATE_H
#define KINFS_ENGINE_INDEX_CLUSTERS_RECLUSTER_PRIVATE_H

#include "engine/cluster/large/union_find.h"
#include "engine/index/clusters/division.h"
#include "engine/index/clusters/recluster.h"
#include "engine/index/clusters/move_plan.h"
#include "engine/index/tables/id_map.h"

enum { RECLUSTER_VOID = UINT32_MAX };

enum recluster_phase {
    RECLUSTER_NOT_BEGUN,
    RECLUSTER_GATHERING,
    RECLUSTER_LINKING,
    RECLUSTER_DIVIDING,
    RECLUSTER_MOVING,
};

struct scope_document {
    uint64_t sid, cluster; /* 0: in none */
    uint64_t divided;      /* the component, where it is divided; else 0 */
    uint64_t order;        /* of a node: stars_order() */
    uint32_t rank;         /* among the members of the cluster */
    uint32_t first;        /* the place of the first of its class */
    bool is_node;          /* which has shingles */
};

struct recluster {
    struct scope_document *documents; /* by sid, once all are gathered */
    size_t n, room;
    struct number_vector dirty, lists; /* components, and lists, that are */
    struct number_vector queue;    /* of the scope, in the order they are gathered: clusters, and
                                   components that are divided */
    struct id_map queued;          /* the place of each in it */
    struct number_vector sizes;    /* of those that are gathered: the number of documents */
    struct kv_buf cursor;          /* where to go on in the next of them */
    size_t n_gathered;             /* of that one */
    struct number_vector torn;     /* ids */
    struct id_map places, classes; /* of sids; of classes: the place of the first */
    struct union_find sets;
    size_t at_list, at; /* how far it has come */
    uint64_t up_to;     /* the last mark that was made before it began */
    enum recluster_phase phase;
    struct division division;
    uint32_t *numbers;              /* by place: in `plan`, or RECLUSTER_VOID */
    struct move_plan plan, divided; /* of what moves: clusters, components */
    bool *has_moved, *is_void;      /* by place; has_moved: it is not where it was gathered */
    struct number_vector void_queued, others; /* void_queued: they stay dirty; others: dirty only
                                              while documents move, but for those that are void */
    size_t n_divided_moves;    /* of all in `divided`: those that leave come last, after the plan */
    bool disturbed;            /* documents came or went since it began */
    uint64_t until, at_sid;    /* over all documents up to one, gathered up to another; 0: not */
    struct number_vector gone; /* since it began over all documents; sids */
    unsigned n_void;           /* runs, one after the other */
};

/* Each returns 0, -ENOMEM, -EUCLEAN or a store error. */

/* recluster_gather.c: a cluster or component comes into the scope; some documents of the next;
 * of all documents; those of a list. */
int recluster_queue(struct recluster *run, uint64_t id);
int recluster_gather_some(struct recluster *run, const struct graph *graph);
int recluster_gather_range(struct recluster *run, const struct graph *graph);
int recluster_gather_list(struct recluster *run, const struct graph *graph, uint64_t fingerprint);

/* recluster_link.c: all are gathered; some are linked; all are linked. */
int recluster_begin_linking(struct recluster *run);
int recluster_link_some(struct recluster *run, const struct graph *graph);
int recluster_begin_dividing(struct recluster *run, const struct graph *graph);

/* recluster_void.c: finds has_moved, is_void and void_queued. Returns 1 where there is any that is
 * void, 0 or an error. */
int recluster_find_void(struct recluster *run, const struct graph *graph);

/* recluster_move.c: all are divided; some move. The latter returns 1 when there is more to do, 0 at
 * the end. */
int recluster_begin_moving(struct recluster *run, const struct graph *graph);
int recluster_move_some(struct recluster *run, const struct graph *graph);

#endif
