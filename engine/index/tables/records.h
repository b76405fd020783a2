/* Document records by sid, the ones asked for lately kept decoded in memory.
 *
 * A record never changes and a sid is never reused, so what is kept is right until the document is
 * deleted; records_forget() says so. Any thread; a shard's lock is held for a look-up, never over a
 * store call.
 */
#ifndef KINFS_ENGINE_INDEX_TABLES_RECORDS_H
#define KINFS_ENGINE_INDEX_TABLES_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/index/tables/record.h"
#include "store/kv.h"

struct records;

/* max_bytes  of records kept, about. kv is borrowed. Returns 0 or -ENOMEM; ret_records gives. */
int records_open(struct kv *kv, size_t max_bytes, struct records **ret_records);
void records_close(struct records *records); /* all have been put back */

/* Get records; ret_refs[i] is NULL where sids[i] is not alive. Give them back with
 * records_return(). Returns 0, -EUCLEAN, -ENOMEM or a store error; then none is held. One multi_get
 * for those not in memory. */
int records_borrow(struct records *records, const uint64_t *sids, size_t n_sids,
                   const struct record **ret_refs);
void records_return(struct records *records, const struct record **refs, size_t n_refs);

/* Visit all records of the store from a sid on, ascending, decoded for the visit alone. Not those
 * that come meanwhile below the one it is at. Returns 0, what visit returned, -EUCLEAN, -ENOMEM or
 * a store error. */
typedef int (*record_visit_fn)(void *user, uint64_t sid, const struct record *record);
int records_each(struct kv *kv, uint64_t from_sid, record_visit_fn visit, void *user);
/* The same, some at once: n of them, from 1 to RECORDS_VISITED. */
enum { RECORDS_VISITED = 64 };
typedef int (*records_visit_fn)(void *user, const uint64_t *sids, const struct record *records,
                                size_t n);
int records_each_some(struct kv *kv, uint64_t from_sid, records_visit_fn visit, void *user);

/* A record was deleted from the store. */
void records_forget(struct records *records, uint64_t sid);

#endif
