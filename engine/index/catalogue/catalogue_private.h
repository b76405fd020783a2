/* The keys of rows, which catalogue.c and catalogue_files.c both make. */
#ifndef KINFS_ENGINE_INDEX_CATALOGUE_CATALOGUE_PRIVATE_H
#define KINFS_ENGINE_INDEX_CATALOGUE_CATALOGUE_PRIVATE_H

#include <limits.h>
#include <string.h>

#include "engine/index/catalogue/catalogue.h"

enum { ENTRY_KEY_MAX = 2 * (1 + FILE_KEY_MAX_BYTES) + NAME_MAX };

struct entry_key {
    uint8_t bytes[ENTRY_KEY_MAX + 1];
    size_t size_bytes;
};

static inline void entry_key_append(struct entry_key *out, const struct file_key *key)
{
    out->bytes[out->size_bytes++] = key->size_bytes;
    memcpy(out->bytes + out->size_bytes, key->bytes, key->size_bytes);
    out->size_bytes += key->size_bytes;
}

static inline struct kv_slice entry_slice(const struct entry_key *key)
{
    return (struct kv_slice){key->bytes, key->size_bytes};
}

/* The smallest key after it. */
static inline struct entry_key entry_key_after(struct entry_key key)
{
    key.bytes[key.size_bytes++] = 0;
    return key;
}

#endif
