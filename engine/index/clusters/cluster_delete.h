/* Documents that leave the clusters, and the store. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_DELETE_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_DELETE_H

#include "engine/index/clusters/graph.h"

/* Delete documents, whose records are still there and go with them. Idempotent; when it fails it is
 * repeated, or cluster_delete_again() does it. first: of the default clustering, and through it
 * all. Returns 0, -ENOMEM, -EUCLEAN or a store error. */
int cluster_delete(const struct graph *first, const uint64_t *sids,
                   const struct record *const *records, size_t n);

/* After a crash or a failure, postings being there: finish the deletes that intents tell of.
 * *ret_n: how many intents there are of them. */
int cluster_delete_again(const struct graph *first, size_t *ret_n);

#endif
