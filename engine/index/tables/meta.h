/* Rows of TABLE_META: by name, numbers of 8 bytes (big endian) or other values. */
#ifndef KINFS_ENGINE_INDEX_TABLES_META_H
#define KINFS_ENGINE_INDEX_TABLES_META_H

#include <string.h>

#include "store/kv.h"

/* When the store was made, in nanoseconds since 1970: no document was read before. Stores of
 * earlier versions do not have it. */
#define META_MADE "made"

static inline struct kv_slice meta_key(const char *name)
{
    return (struct kv_slice){name, strlen(name)};
}

/* Returns 0, -ENOENT, -EUCLEAN or a store error. */
int meta_get_number(struct kv *kv, const char *name, uint64_t *ret_value);
/* The same, of a sketch id or the end of those given out: one that is too large is damage. */
int meta_get_sid(struct kv *kv, const char *name, uint64_t *ret_sid);

/* Return 0, -ENOMEM or a store error. */
int meta_put(struct kv *kv, const char *name, struct kv_slice value);
int meta_put_number(struct kv *kv, const char *name, uint64_t value);
int meta_delete(struct kv *kv, const char *name);

#endif
