/* Document records by sid, the ones asked for lately kept decoded in memory.
 *
 * A record never changes and a sid is never reused, so what is kept is right until the document is
 * deleted; records_forget() says so. Any thread; a shard's lock is held for a look-up, never over a
 * store call.
 */
#ifndef KINFS_ENGINE_INDEX_RECORDS_H
#define KINFS_ENGINE_INDEX_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/index/record.h"
#include "store/kv.h"

struct records;

/* max_bytes  of records kept, about. kv is borrowed. Returns 0 or -ENOMEM; ret_records gives. */
int records_open(struct kv *kv, size_t max_bytes, struct records **ret_records);
void records_close(struct records *records); /* all have been put back */

/* Get records; ret_refs[i] is NULL where sids[i] is not alive. Give them back with records_put().
 * Returns 0, -EUCLEAN, -ENOMEM or a store error; then none is held. One multi_get for those not in
 * memory. */
int records_get(struct records *records, const uint64_t *sids, size_t n_sids,
                const struct record **ret_refs);
void records_put(struct records *records, const struct record **refs, size_t n_refs);

/* A record was deleted from the store. */
void records_forget(struct records *records, uint64_t sid);

#endif
