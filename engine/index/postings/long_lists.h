/* Long posting lists of tier R are known apart: of more classes than a document is compared with. A
 * long list has heads, the first documents of it, and a document that has its fingerprint is
 * compared with those alone.
 *
 * TABLE_META
 *
 *   "long" | fingerprint 8    value empty
 *
 * In memory all of them are known: one posting of a thousand has a long list at most. The
 * committer's, and nobody else may ask. */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_LONG_LISTS_H
#define KINFS_ENGINE_INDEX_POSTINGS_LONG_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/index/tables/sid_tally.h"
#include "store/kv.h"

struct long_lists {
    struct kv *kv;
    struct sid_tally lists; /* by fingerprint, which is not 0; n: 1 where it is long */
};

/* Reads them. Returns 0, -ENOMEM or a store error; ends with long_lists_done(). */
int long_lists_read(struct kv *kv, struct long_lists *ret_lists);
void long_lists_done(struct long_lists *lists);

bool long_lists_have(const struct long_lists *lists, uint64_t fingerprint);

/* A list is long, or no more. A write where that is new. Returns 0, -ENOMEM or a store error. */
int long_lists_set(struct long_lists *lists, uint64_t fingerprint, bool is_long);

/* A row of TABLE_META is of a long list. */
bool long_lists_is_row(const struct kv_slice *key);

#endif
