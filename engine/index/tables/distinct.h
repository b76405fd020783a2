/* Documents that somebody has declared not to be duplicates of each other.
 *
 * Row of TABLE_DISTINCT:
 *
 *   key    file key | file key, the smaller one first, each with its size in one byte before it
 *   value  empty                                            partition: the first
 *
 * A row outlives edits and renames of its files, and a rebuild, which takes rows over; and is of no
 * effect where one of them is gone. It derives from nothing: it is the one thing in a store that
 * the tree does not make again.
 */
#ifndef KINFS_ENGINE_INDEX_TABLES_DISTINCT_H
#define KINFS_ENGINE_INDEX_TABLES_DISTINCT_H

#include <stdbool.h>

#include "base/files/file_key.h"
#include "store/kv.h"

/* Any thread. Returns 1, 0 or a store error. */
int distinct_has(struct kv *kv, const struct file_key *a, const struct file_key *b);
/* Declare it, or take it back. Any thread; idempotent. Returns 0, -ENOMEM or a store error. */
int distinct_set(struct kv *kv, const struct file_key *a, const struct file_key *b, bool distinct);

/* Take over the rows of another store, as far as damage lets them be read. Returns 0, -ENOMEM or a
 * store error. */
int distinct_copy(struct kv *from, struct kv *to);

int distinct_check(const struct kv_entry *row); /* 0, -EUCLEAN */

#endif
