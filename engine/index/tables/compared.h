/* What two classes of documents resemble each other by, found by the full sets of their shingles.
 *
 * Row of TABLE_COMPARED:
 *
 *   key    class 17 | class 17, the smaller one first      partition: the first
 *   value  the resemblance, as the 8 bytes of a double (big endian)
 *
 * A class is named by what its documents say, so a row is true for as long as the store has its
 * policy, whatever comes and goes: it joins no two tables, no crash makes it wrong, and whoever
 * compared may write it. There are COMPARED_MAX rows at most: where there would be more, those go
 * that are of no document any more, or else all, and what is asked for is compared again.
 */
#ifndef KINFS_ENGINE_INDEX_TABLES_COMPARED_H
#define KINFS_ENGINE_INDEX_TABLES_COMPARED_H

#include "engine/index/tables/record.h"
#include "store/kv.h"

enum { COMPARED_MAX = 1 << 20 };

/* Any thread. Returns 0, -ENOENT (not compared), -EUCLEAN or a store error. */
int compared_get(struct kv *kv, const uint8_t a[CLASS_BYTES], const uint8_t b[CLASS_BYTES],
                 double *ret_resemblance);
/* Any thread; idempotent. Returns 0, -ENOMEM or a store error. */
int compared_put(struct kv *kv, const uint8_t a[CLASS_BYTES], const uint8_t b[CLASS_BYTES],
                 double resemblance);

/* How many rows there are. Reads all. Returns 0, -ENOMEM or a store error. */
int compared_count(struct kv *kv, uint64_t *ret_n);
/* Remove rows of classes that no document is of; where more than `most` are left, all. Reads all.
 * Returns 0 with how many are left, -ENOMEM or a store error. */
int compared_trim(struct kv *kv, uint64_t most, uint64_t *ret_n);

int compared_check(const struct kv_entry *row); /* 0, -EUCLEAN */

#endif
