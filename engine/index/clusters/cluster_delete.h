/* Documents out of everything, several at once: what they leave behind is looked at once for all
 * that leave a cluster together, since rm -r takes whole families away. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_DELETE_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_DELETE_H

#include "engine/index/clusters/cluster_intent.h"
#include "engine/index/clusters/neighbours.h"

/* Take documents out of everything, their records last, and split their clusters where they held
 * them together. A document that is gone already may be among them.
 *
 * first          of all graphs: they leave each clustering, with one intent
 * sids, records  n of them, borrowed; each sid once, with its own record
 *
 * Returns 0, -ENOMEM, -EUCLEAN or a store error; then it can be repeated.
 *
 * Cost: for a document whose cluster goes with it, or that has a twin, or whose cluster has a hub
 * (cluster_hubs.h), its rows. Else one query of the postings and a comparison with each neighbour,
 * as long as at least as many documents leave a cluster as are badly connected in its rest; at
 * worst that for each document. */
int cluster_delete(const struct graph *first, const uint64_t *sids,
                   const struct record *const *records, size_t n);

#endif
