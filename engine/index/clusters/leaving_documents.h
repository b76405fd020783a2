/* Documents on their way out of everything but the names of their files: postings, class, clusters,
 * record, as an intent says. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_LEAVING_DOCUMENTS_H
#define KINFS_ENGINE_INDEX_CLUSTERS_LEAVING_DOCUMENTS_H

#include "engine/index/clusters/cluster_intent.h"
#include "engine/index/clusters/neighbours.h"

/* Remove those of the first split that are still there, by the intent's own knowledge of them or by
 * what the store has, and note in the splits what their clusters have left. Idempotent: it may be
 * interrupted anywhere and done again; a record goes after all that is found by it.
 *
 * Returns 0, -ENOMEM, -EUCLEAN or a store error. For some 64 at once one look at their clusters and
 * four writes; besides a read of the record and of the class of each that is not known. */
int leaving_documents_remove(const struct graph *first, struct cluster_intent *intent);

#endif
