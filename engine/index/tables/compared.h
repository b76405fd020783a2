/* What was found by reading documents in full: what two classes of them resemble each other by, by
 * the full sets of their shingles, and the SHA-256 of a content.
 *
 * Rows of TABLE_COMPARED:
 *
 *   key    class 17 | class 17, the smaller one first | owner 4      partition: the first
 *   value  the resemblance, as the 8 bytes of a double (big endian)
 *
 *   key    class 17 | content fingerprint 16 | owner 4               partition: the class
 *   value  the SHA-256 of the bytes
 *
 * A class and a fingerprint are named by what documents say, so a row is true for as long as the
 * store has its policy, whatever comes and goes: it joins no two tables, no crash makes it wrong,
 * and whoever has read may write it. But an owner can have a file read that says something else by
 * then than it said to the sketch, so what is found of the files of one is kept for that one: the
 * number of the user, big endian; UINT32_MAX: anyone's. There are COMPARED_MAX rows at most: where
 * there would be more, those go that are of no document any more, or else all, and what is asked
 * for is read again.
 */
#ifndef KINFS_ENGINE_INDEX_TABLES_COMPARED_H
#define KINFS_ENGINE_INDEX_TABLES_COMPARED_H

#include <sys/types.h>

#include "engine/index/tables/record.h"
#include "store/kv.h"

enum { COMPARED_MAX = 1 << 20, COMPARED_DIGEST_BYTES = 32 };

/* Any thread. Returns 0, -ENOENT (not compared), -EUCLEAN or a store error. */
int compared_get(struct kv *kv, uid_t owner, const uint8_t a[CLASS_BYTES],
                 const uint8_t b[CLASS_BYTES], double *ret_resemblance);
/* Any thread; idempotent. Returns 0, -ENOMEM or a store error. */
int compared_put(struct kv *kv, uid_t owner, const uint8_t a[CLASS_BYTES],
                 const uint8_t b[CLASS_BYTES], double resemblance);

/* The SHA-256 of the content of a record. Threads and results as above; -ENOENT: not read. */
int compared_get_digest(struct kv *kv, uid_t owner, const struct record *record,
                        uint8_t ret_digest[COMPARED_DIGEST_BYTES]);
int compared_put_digest(struct kv *kv, uid_t owner, const struct record *record,
                        const uint8_t digest[COMPARED_DIGEST_BYTES]);

/* How many rows there are. Reads all. Returns 0, -ENOMEM or a store error. */
int compared_count(struct kv *kv, uint64_t *ret_n);
/* Remove rows of classes that no document is of; where more than `most` are left, all. Reads all.
 * Returns 0 with how many are left, -ENOMEM or a store error. */
int compared_trim(struct kv *kv, uint64_t most, uint64_t *ret_n);

int compared_check(const struct kv_entry *row); /* 0, -EUCLEAN */

#endif
