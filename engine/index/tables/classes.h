/* The documents of a class (record_class()) are found by its rows.
 *
 * Those that come have larger sids than those that go, most of all, so a store passes over the rows
 * of all that are gone before it comes to the first that is there. From where on it is to look is
 * known, of the classes that were asked for lately: each row that is gone is passed over once or
 * twice, not at each question. It is a bound from below: a deletion leaves it true, and an addition
 * may lower it.
 *
 * Example: of a class 3, 5, 8 the first is known to be 3 when that goes. Who asks for the first
 * then looks from 3 on, and it is known to be 5.
 *
 * Row of TABLE_CLASSES:
 *
 *   key    class 17 | sid 8 (big endian)     partition: the class
 *   value  empty
 */
#ifndef KINFS_ENGINE_INDEX_TABLES_CLASSES_H
#define KINFS_ENGINE_INDEX_TABLES_CLASSES_H

#include <stdint.h>

#include "engine/index/tables/number_cache.h"
#include "engine/index/tables/number_vector.h"
#include "engine/index/tables/record.h"
#include "store/kv.h"

/* The classes of a store, for the one thread that changes them. */
struct classes {
    struct kv *kv;
    struct number_cache firsts; /* by record_class_number(): nobody of the class is below */
};

/* kv  borrowed. 0 or -ENOMEM */
int classes_init(struct classes *classes, struct kv *kv);
void classes_done(struct classes *classes);
/* After a store that failed told of what it did not keep. */
void classes_forget(struct classes *classes);

/* Many documents, each in a class, in one write; and then the first of each one's class, by one
 * look: ret_firsts[i], which may be sids[i]. Nobody else is in the class of one that is_alone[i]:
 * it is not looked for. At most CLASSES_AT_ONCE of them. Idempotent. Returns 0 or a store error. */
enum { CLASSES_AT_ONCE = 64 };
int classes_add(struct classes *classes, const uint8_t (*class_ids)[CLASS_BYTES],
                const uint64_t *sids, const bool *is_alone, size_t n, uint64_t *ret_firsts);
/* Takes the row out, in a batch; nothing happens where there is none. */
void classes_remove(struct kv_batch *batch, const uint8_t class_id[CLASS_BYTES], uint64_t sid);

/* Append the sids of a class that are above `after` to a vector, ascending, the first `limit` of
 * them (0: all): a class may have very many. Any thread. Returns 0 or an error. */
int classes_list(struct kv *kv, const uint8_t class_id[CLASS_BYTES], uint64_t after, size_t limit,
                 struct number_vector *sids);

/* Finds the smallest sid besides each of many documents in its class: ret_others[i], 0 where there
 * is none. At most CLASSES_AT_ONCE of them, by two looks. Returns 0 or an error. */
int classes_others(struct classes *classes, const uint8_t (*class_ids)[CLASS_BYTES],
                   const uint64_t *sids, size_t n, uint64_t *ret_others);

#endif
