/* Small clusters, of their members alone: without the postings, which are anywhere on the disk. */
#ifndef KINFS_ENGINE_INDEX_SMALL_CLUSTER_H
#define KINFS_ENGINE_INDEX_SMALL_CLUSTER_H

#include "engine/index/neighbours.h"

enum { SMALL_CLUSTER_MAX = 256 }; /* documents: a quarter of a MiB of records, 33,000 pairs */

/* Whether what is left of a cluster of `size` documents when those of `leaving` are gone holds
 * together.
 *
 * Returns 1; 0 when it does not or when that is not known (a cluster that is large, or of a rule by
 * which others than sharers of a tier R fingerprint are neighbours); or an error. The committer's.
 * One read of the members, one of their records, and mostly a comparison for each. */
int small_cluster_holds(const struct graph *graph, uint64_t cluster, uint64_t size,
                        const struct sid_vector *leaving);

#endif
