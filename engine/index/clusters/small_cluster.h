/* Small clusters, of their members alone: without the postings, which are anywhere on the disk. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_SMALL_CLUSTER_H
#define KINFS_ENGINE_INDEX_CLUSTERS_SMALL_CLUSTER_H

#include "engine/index/clusters/cluster_intent.h"
#include "engine/index/clusters/neighbours.h"

enum { SMALL_CLUSTER_MAX = 256 }; /* documents: a quarter of a MiB of records, 33,000 pairs */

/* What is left of a cluster of `size` documents without those that leave it: the parts that are to
 * be split off, in order of their smallest sids, are added to the split.
 *
 * Returns 1 when they are known; 0 when not (a cluster that is large, a rule by which others than
 * sharers of a tier R fingerprint are neighbours, or two documents of different parts that may find
 * each other otherwise); or an error. The committer's. One read of the members, one of their
 * records, and mostly a comparison for each; where it falls apart one for each two. */
int small_cluster_plan(const struct graph *graph, uint64_t size, struct cluster_split *split);

#endif
