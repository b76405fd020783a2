/* Large clusters of which a document went, and of which it would take too long to see at once
 * whether they still hold together: that is found out piece by piece, behind all other work. Until
 * then the documents stay together, and it is known that they may not belong so.
 *
 * TABLE_INTENTS
 *
 *   key    "repair" | cluster 8 (big endian)
 *   value  empty
 *
 * All clusters of a clustering that have such a row are taken together: what comes out does not
 * depend on how far an interrupted repair had come, nor on what changed meanwhile. What is split
 * off has a row of its own before it gets its first document.
 */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_REPAIR_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_REPAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/index/tables/member.h"

struct cluster_repairs;
struct graph;

/* Returns 0, -ENOMEM; ret_repairs gives. */
int cluster_repairs_new(struct cluster_repairs **ret_repairs);
void cluster_repairs_free(struct cluster_repairs *repairs); /* NULL allowed */

/* For tests. at_once: nodes that a delete looks at by itself; a_step: documents that one step of a
 * repair looks at, or moves. */
void cluster_repairs_set_bounds(struct cluster_repairs *repairs, size_t at_once, size_t a_step);
size_t cluster_repairs_at_once(const struct cluster_repairs *repairs);

/* -- the committer's; return 0, -ENOMEM or a store error -- */

/* What earlier processes have left to do. */
int cluster_repairs_load(struct cluster_repairs *repairs, const struct graph *graph);
/* Documents that a failure, or an earlier process, left in two clusters each, or on their way into
 * none: before they change. One listing of what is to be repaired, and a look at each. */
int cluster_repairs_recover(struct cluster_repairs *repairs, const struct graph *first);

/* A cluster may not hold together any more. */
int cluster_repairs_note(const struct graph *graph, uint64_t cluster);
/* Documents left a cluster, or came into it: if it is being repaired, that begins anew. */
void cluster_repairs_changed(const struct graph *graph, uint64_t cluster);
/* A cluster became part of another, or is about to: that is to be repaired in its place. */
int cluster_repairs_joined(const struct graph *graph, uint64_t from, uint64_t to);

/* Some milliseconds of a repair. Returns 1 when there is more to do, 0 when nothing is left, or an
 * error, after which it begins anew. */
int cluster_repairs_step(const struct graph *first);

/* -- anyone's -- */

bool cluster_repairs_has(struct cluster_repairs *repairs, uint64_t cluster);
size_t cluster_repairs_count(struct cluster_repairs *repairs);

#endif
