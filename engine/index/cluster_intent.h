/* What the committer is about to change in the clusters, stored before the first write and removed
 * after the last, so that it can be finished after a crash or a failing store. There is one at a
 * time; a *promoted* document has a row besides (see below).
 *
 * TABLE_INTENTS
 *
 *   key    "cluster"
 *   value  version 1 | kind 1 | sid 8 | cluster 8 | ids n 4 | sids n 4 | ids 8 each | sids 8 each
 *
 *   kind     sid          cluster            ids                        sids
 *   join     0            that stays         clusters that become it    documents that enter it
 *   delete   the deleted  it was in, or 0    of the parts split off     a document of each part,
 * then (0: it is alone)           what is deleted with it
 *
 *   key    "posted" | sid 8
 *   value  empty
 *
 * The second says that a document got its postings later than its record: as the first of its class
 * when the one before it was deleted. It stands until the postings are flushed.
 */
#ifndef KINFS_ENGINE_INDEX_CLUSTER_INTENT_H
#define KINFS_ENGINE_INDEX_CLUSTER_INTENT_H

#include <stdint.h>

#include "engine/index/sid_vector.h"
#include "store/kv.h"

enum intent_kind { INTENT_JOIN = 1, INTENT_DELETE = 2 };

/* Numbers of each kind in one intent: 64 KiB suits any store. */
enum { INTENT_NUMBERS = 4096 };

struct cluster_intent {
    enum intent_kind kind;
    uint64_t sid, cluster;
    struct sid_vector ids, sids;
};

void cluster_intent_done(struct cluster_intent *intent);

/* The documents that an INTENT_DELETE takes away. */
size_t cluster_intent_n_leaving(const struct cluster_intent *intent);
uint64_t cluster_intent_leaving(const struct cluster_intent *intent, size_t i);

/* Return 0 or a store error; get: -ENOENT when nothing is to be finished, -EUCLEAN. */
int cluster_intent_put(struct kv *kv, const struct cluster_intent *intent);
int cluster_intent_get(struct kv *kv, struct cluster_intent *ret_intent);
int cluster_intent_clear(struct kv *kv);

int posted_intent_put(struct kv *kv, uint64_t sid);
int posted_intent_list(struct kv *kv, struct sid_vector *sids);
int posted_intent_clear(struct kv *kv, const struct sid_vector *sids);

#endif
