/* Documents that somebody has declared not to be duplicates of each other.
 *
 * Row of TABLE_DISTINCT:
 *
 *   key    file key | file key, each with its size in one byte before it; of a pair both orders
 *   value  empty                                            partition: the first
 *
 * A row outlives edits and renames of its files, and a rebuild, which takes rows over; and is of no
 * effect where one of them is gone. A file that takes the place of another, as many editors save,
 * has its rows (intake/declared.h). They derive from nothing: the tree does not make them again.
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

/* Something is declared of a file: 1, 0 or a store error. */
int distinct_any(struct kv *kv, const struct file_key *file);
/* Declare of `to` what is declared of `from`, in whose place it is now; with from_goes of that one
 * no more. Of at most DISTINCT_CARRIED_MAX others. What is declared of the two of them stays: names
 * may be exchanged. Idempotent. Returns 0, -EUCLEAN, -ENOMEM or a store error. */
enum { DISTINCT_CARRIED_MAX = 1024 };
int distinct_carry(struct kv *kv, const struct file_key *from, const struct file_key *to,
                   bool from_goes);

/* Declare nothing of a file any more. Idempotent. Returns 0, -EUCLEAN, -ENOMEM or a store error. */
int distinct_forget(struct kv *kv, const struct file_key *file);

/* Take over the rows of another store, as far as damage lets them be read. Returns 0, -ENOMEM or a
 * store error. */
int distinct_copy(struct kv *from, struct kv *to);

int distinct_check(const struct kv_entry *row); /* 0, -EUCLEAN */

#endif
