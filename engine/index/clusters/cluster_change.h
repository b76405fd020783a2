/* Changes of the clusters, carried out from their stored intents: the same code does a change for
 * the first time and finishes one that was interrupted. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_CHANGE_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_CHANGE_H

#include "engine/index/clusters/cluster_intent.h"
#include "engine/index/clusters/neighbours.h"

/* Documents that are found to belong together: the clusters they are in, each once, and those in
 * none. */
struct joining {
    struct sid_vector clusters, loners;
};
void joining_done(struct joining *joining);
int joining_add(struct joining *joining, uint64_t sid, uint64_t cluster); /* 0, -ENOMEM */

/* Make one cluster of them, of the graph's clustering. Nothing is written when they are one
 * already. */
int cluster_change_join(const struct graph *graph, const struct joining *joining);

/* The id of a cluster of documents that are in none: that of one which dissolved around one of them
 * a short while ago, the smallest; else a fresh one. 0, -ENOMEM, -EUCLEAN or a store error. */
int cluster_change_new_id(const struct graph *graph, const struct sid_vector *loners,
                          uint64_t *ret_id);

/* Give up clusters that have one document left, or none, and what led to them: those are no
 * clusters; but others may have come, then they stay. Each once, at most MEMBERS_AT_ONCE. 0,
 * -ENOMEM, -EUCLEAN or a store error. */
int cluster_change_dissolve(const struct graph *graph, const uint64_t *clusters, size_t n);

/* Move documents from a cluster (0: none) into another (0: none); those that are no more are left
 * out. Idempotent. */
int cluster_change_move(const struct graph *graph, uint64_t from, uint64_t to,
                        const struct sid_vector *sids);

/* What follows finds the clusterings that an intent is about among a graph and those after it. */

/* Store an intent, carry it out, and remove it. */
int cluster_change_carry_out(const struct graph *first, struct cluster_intent *intent);

/* Carry out a stored intent, and remove it. */
int cluster_change_finish(const struct graph *first, struct cluster_intent *intent);

#endif
