/* Intents are the changes of clusters that the committer has begun and must finish after a crash or
 * a failure of the store: rows that stand before the first write of a change and go after its last.
 * TABLE_INTENTS has another kind, of directories: "removed" (intake/directory_removal.h).
 *
 * TABLE_INTENTS
 *
 *   key    "dirty" | cluster 8         its documents may belong to others, or not together; the
 *                                      number of a clustering alone (cluster_ids.h): some of its
 *                                      documents are on their way from one cluster to another;
 *                                      0: documents that are in no cluster may belong to one
 *   key    "list" | fingerprint 8      other documents than before are compared by this list
 *   key    "delete" | sid 8            a document is being deleted, or its postings are; value: its
 *                                      clusters and fingerprints (cluster_delete.c). Until the
 *                                      postings are flushed
 *   key    "posted" | sid 8            a document got its postings later than its record, as the
 *                                      first of its class when the one before it was deleted, or
 *                                      as one that is inserted below the watermark
 *                                      "postings_flushed". Until the postings are flushed
 *
 * The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_INTENTS_H
#define KINFS_ENGINE_INDEX_CLUSTERS_INTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/index/tables/number_vector.h"
#include "store/kv.h"

enum intent { INTENT_DIRTY, INTENT_LIST, INTENT_DELETE, INTENT_POSTED, INTENT_KINDS };

/* Into a batch. */
void intent_put(struct kv_batch *batch, enum intent kind, uint64_t number, struct kv_slice value);
void intent_drop(struct kv_batch *batch, enum intent kind, uint64_t number);

/* The numbers of all intents of a kind, ascending: appended. Returns 0, -ENOMEM, -EUCLEAN or a
 * store error. */
int intents_list(struct kv *kv, enum intent kind, struct number_vector *numbers);
/* Returns 0, -ENOENT or a store error; gives. */
int intent_value(struct kv *kv, enum intent kind, uint64_t number, struct kv_buf *ret_value);
/* Put intents without a value, or remove some, any number of them. Returns 0, -ENOMEM or a store
 * error. */
int intents_put(struct kv *kv, enum intent kind, const struct number_vector *numbers);
int intents_drop(struct kv *kv, enum intent kind, const struct number_vector *numbers);

/* A row is an intent, and sound: 1; 0: it is another one; -EUCLEAN. */
int intent_check(const struct kv_entry *row, enum intent *ret_kind);

#endif
