/* The past in a database that is made anew, which the tree does not make again: what documents
 * were, and since when they are known. */
#ifndef KINFS_ENGINE_INDEX_UPKEEP_KEPT_PAST_H
#define KINFS_ENGINE_INDEX_UPKEEP_KEPT_PAST_H

#include "engine/index/index_state.h"

/* How long the old one keeps it, as of index_options.keep_lost_s. */
uint64_t kept_past_seconds(struct kv *old);

/* Before anything is noted in the fresh one, as far as the old one can be read. What cannot be
 * compared any more, as it is of another policy, is left out, and the log says how much. 0, -ENOMEM
 * or a store error. */
int kept_past_take(struct index *fresh, struct kv *old);
/* When all documents are in it. 0, -ENOMEM or a store error. A look-up for each document. */
int kept_past_take_births(struct index *fresh, struct kv *old);

#endif
