/* The postings a crash took away: those of documents past the last flush, and of those whose
 * intents (intents.h) say that they were posted late. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_POSTINGS_REPLAY_H
#define KINFS_ENGINE_INDEX_CLUSTERS_POSTINGS_REPLAY_H

#include <stdint.h>

#include "engine/index/clusters/graph.h"

/* last_sid  the last document whose postings are in the store; becomes the last one there is
 * Returns 0, -ENOMEM, -EUCLEAN or a store error. One pass over the records after last_sid. */
int postings_replay(const struct graph *graph, uint64_t *last_sid);

#endif
