/* What was found by reading documents in full: what two classes of them resemble each other by, by
 * the full sets of their shingles, and the SHA-256 of a content.
 *
 * Rows of TABLE_COMPARED, whose partition is the first five bytes of the key, which are the number
 * of the owner (big endian; UINT32_MAX: anyone's) and a generation, 0 to 2:
 *
 *   owner 4 | generation 1 | class 17 | class 17, the smaller one first
 *                                        -> the resemblance, as the 8 bytes of a big-endian double
 *   owner 4 | generation 1 | class 17 | content fingerprint 16
 *                                        -> the SHA-256 of the bytes
 *   owner 4 | generation 1 | class 17 | content fingerprint 16 | "N"
 *                                        -> nothing: it is too long to be compared
 *   owner 4 | 255                        -> generation 1 | rows put in it 8 | where the next to be
 *                                           deleted is: what of its key is behind the generation
 *
 * A class and a fingerprint are named by what documents say, so a row is true for as long as the
 * store has its policy, whatever comes and goes: it joins no two tables, no crash makes it wrong,
 * and whoever has read may write it. But an owner can have a file read that says something else by
 * then than it said to the sketch, so what is found of the files of one is kept for that one, and
 * the rows of one take no room of another's.
 *
 * An owner has COMPARED_MAX rows at most. They are put into one generation; when that is half as
 * many, the next one begins, the one before it is read still, and what is found there is put again;
 * and of the one before that each row that is put deletes some. So what is asked for stays, and the
 * rest goes without a walk through all.
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
/* Any thread; idempotent. Returns 0, -ENOMEM, -EUCLEAN or a store error. */
int compared_put(struct kv *kv, uid_t owner, const uint8_t a[CLASS_BYTES],
                 const uint8_t b[CLASS_BYTES], double resemblance);

/* The SHA-256 of the content of a record. Threads and results as above; -ENOENT: not read. */
int compared_get_digest(struct kv *kv, uid_t owner, const struct record *record,
                        uint8_t ret_digest[COMPARED_DIGEST_BYTES]);
int compared_put_digest(struct kv *kv, uid_t owner, const struct record *record,
                        const uint8_t digest[COMPARED_DIGEST_BYTES]);

/* The content of a record is too long to be compared. Threads and results as above; of the
 * first 1, 0 or an error. */
int compared_is_long(struct kv *kv, uid_t owner, const struct record *record);
int compared_put_long(struct kv *kv, uid_t owner, const struct record *record);

int compared_check(const struct kv_entry *row); /* 0, -EUCLEAN */

#endif
