/* The documents of a class (record_class()) are found by its rows.
 *
 * Row of TABLE_CLASSES:
 *
 *   key    class 17 | sid 8 (big endian)     partition: the class
 *   value  empty
 */
#ifndef KINFS_ENGINE_INDEX_TABLES_CLASSES_H
#define KINFS_ENGINE_INDEX_TABLES_CLASSES_H

#include <stdint.h>

#include "engine/index/tables/record.h"
#include "engine/index/tables/number_vector.h"
#include "store/kv.h"

/* Idempotent. Return 0 or a store error. */
int classes_add(struct kv *kv, const uint8_t class_id[CLASS_BYTES], uint64_t sid);
/* Many documents, each in a class, in one write; and then the first of each one's class, by one
 * look: ret_firsts[i], which may be sids[i]. Nobody else is in the class of one that is_alone[i]:
 * it is not looked for. At most CLASSES_AT_ONCE of them. */
enum { CLASSES_AT_ONCE = 64 };
int classes_add_all(struct kv *kv, const uint8_t (*class_ids)[CLASS_BYTES], const uint64_t *sids,
                    const bool *is_alone, size_t n, uint64_t *ret_firsts);
/* Takes the row out, in a batch; nothing happens where there is none. */
void classes_remove(struct kv_batch *batch, const uint8_t class_id[CLASS_BYTES], uint64_t sid);

/* Append the sids of a class that are above `after` to a vector, ascending, the first `limit` of
 * them (0: all): a class may have very many. Any thread. Returns 0 or an error. */
int classes_list(struct kv *kv, const uint8_t class_id[CLASS_BYTES], uint64_t after, size_t limit,
                 struct number_vector *sids);

/* The smallest sid of a class besides one. Returns 1, 0 when there is none, or an error. */
int classes_other(struct kv *kv, const uint8_t class_id[CLASS_BYTES], uint64_t sid,
                  uint64_t *ret_other);

/* The same of many documents, by one look: ret_others[i], 0 where there is none. At most
 * CLASSES_AT_ONCE of them. Returns 0 or an error. */
int classes_others(struct kv *kv, const uint8_t (*class_ids)[CLASS_BYTES], const uint64_t *sids,
                   size_t n, uint64_t *ret_others);

#endif
