/* Large clusters whose documents nearly all resemble one of them, their *hub*: when another one
 * goes the rest still holds together, and nobody need be asked. Without that a delete or a rewrite
 * among N documents that resemble each other compares all N, to see what they are left with.
 *
 * What is remembered of a cluster vouches for this: each of its documents is a neighbour of the
 * hub, or a neighbour of one that is, and that one is known by name; or it came since, and is named
 * to be compared. It is made when the cluster has grown large, or, after a start, when the first
 * document leaves it, of one comparison with each, and kept true by what is told here. In memory,
 * of the clusters last asked for. The committer's.
 */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_HUBS_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_HUBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/index/tables/member.h"
#include "engine/index/tables/sid_vector.h"

struct cluster_hubs;
struct graph;
struct record;

/* from  size from which a cluster gets a hub (0: those that are not small, small_cluster.h).
 * Returns 0, -ENOMEM. */
int cluster_hubs_new(size_t from, struct cluster_hubs **ret_hubs);
void cluster_hubs_free(struct cluster_hubs *hubs); /* NULL allowed */

/* Whether what is left of a cluster of `size` documents when those of `leaving` (ascending) are
 * gone holds together.
 *
 * Returns 1; 0 when that is not known; or an error. A comparison for each document that came into
 * the cluster from another since the last time; the first time, and when the hub leaves, of all
 * documents. More than a repair does at once (cluster_repairs_at_once()) are left to it: then it is
 * noted, and 1 returned. */
int cluster_hubs_hold(const struct graph *graph, uint64_t cluster, uint64_t size,
                      const struct sid_vector *leaving);

/* What was left to a repair: whether there is any, and some of it, as many comparisons. Returns 1
 * when the cluster is found to hold together, 0 when that cannot be found so, -EINPROGRESS when
 * there is more to do, or an error. */
bool cluster_hubs_is_later(struct cluster_hubs *hubs, uint64_t cluster);
int cluster_hubs_step(const struct graph *graph, uint64_t cluster);
/* Another cluster, which falls apart perhaps, has come into it: what was left is no use. */
void cluster_hubs_give_up(struct cluster_hubs *hubs, uint64_t cluster);

/* A document has come into a cluster, where `by` (0: nobody) is its neighbour: it is compared while
 * its record is at hand. A cluster that has just become large gets its hub. Returns 0, -ENOMEM or a
 * store error. */
int cluster_hubs_came(const struct graph *graph, uint64_t cluster, uint64_t sid,
                      const struct record *record, uint64_t by);

/* What happens: documents move from a cluster (0: none) into another (0: none); anything may have
 * happened. */
void cluster_hubs_moved(struct cluster_hubs *hubs, uint64_t from, uint64_t to,
                        const struct member *members, size_t n_members);
void cluster_hubs_forget(struct cluster_hubs *hubs);

#endif
