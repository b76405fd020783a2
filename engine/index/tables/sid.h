/* Numbers of documents and of clusters as stores have them: 8 bytes, big endian. */
#ifndef KINFS_ENGINE_INDEX_TABLES_SID_H
#define KINFS_ENGINE_INDEX_TABLES_SID_H

#include <errno.h>
#include <stdint.h>

#include "base/bytes.h"

/* Counters begin at 1 and never come that far; the upper bit marks former ids of clusters. */
#define SID_MAX ((uint64_t)INT64_MAX)

/* The largest that the next number of documents, or of one clustering (cluster_ids.h), can be: more
 * than are ever given out lie before it, and as many behind it. */
#define NEXT_MAX ((uint64_t)1 << 55)

/* Returns 0, or -EUCLEAN for a number that no store has given out. */
static inline int sid_decode(const void *bytes, uint64_t *ret_sid)
{
    const uint64_t sid = get_be64(bytes);
    if (sid > SID_MAX)
        return -EUCLEAN;
    *ret_sid = sid;
    return 0;
}

#endif
