/* Cluster ids: numbers that are never given out twice, whatever happens. (What dissolved may come
 * back under its own: dissolved_clusters.h.)
 *
 * TABLE_META   "next_cluster"   8 (big endian)   the smallest id never given out
 */
#ifndef KINFS_ENGINE_INDEX_CLUSTER_IDS_H
#define KINFS_ENGINE_INDEX_CLUSTER_IDS_H

#include <stdint.h>

#include "store/kv.h"

/* Ids that are reserved and not given out yet; zero at first. The committer's. */
struct cluster_ids {
    uint64_t next, end;
};

/* Give out an id, 1 or more. Returns 0, -ENOMEM, -EUCLEAN or a store error. */
int cluster_ids_new(struct cluster_ids *ids, struct kv *kv, uint64_t *ret_id);
/* See to it that no id up to this one is ever given out from now on. */
int cluster_ids_pass(struct cluster_ids *ids, struct kv *kv, uint64_t id);

#endif
