/* Names that clusters had: one that became part of another leaves its id to it, so that a path with
 * it stays valid. However often that happens an alias leads straight to a cluster that is there,
 * and goes when that goes.
 *
 * TABLE_MEMBERS, behind all clusters; partition: the first 8 bytes. *marked* is an id with its
 * highest bit set, which that of no cluster is (cluster_ids.h).
 *
 *   key    alias marked 8                    value  cluster 8
 *   key    cluster marked 8 | alias 8        value  empty
 *
 * The first row of an alias is what counts. The second is written before it, and found by what
 * changes or drops it.
 */
#ifndef KINFS_ENGINE_INDEX_MEMBERS_CLUSTER_ALIASES_H
#define KINFS_ENGINE_INDEX_MEMBERS_CLUSTER_ALIASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/kv.h"

#define CLUSTER_ALIAS_MARK (UINT64_C(1) << 63)

/* The most ids that lead to one cluster; those of the youngest clusters are kept. */
enum { CLUSTER_ALIASES_MAX = 64 };

/* -- the committer's; each idempotent, and to be repeated after a failure. Return 0, -ENOMEM,
 * -EUCLEAN or a store error; a scan of a few rows and a write. -- */

/* A cluster becomes part of another: what led to it leads to that, and its own id does. */
int cluster_aliases_add(struct kv *kv, uint64_t from, uint64_t to);
/* A cluster has another id: what led to it leads to that, and nothing else does. */
int cluster_aliases_rename(struct kv *kv, uint64_t from, uint64_t to);
/* Ids lead to each of some clusters, at most CLUSTER_ALIASES_AT_ONCE. */
enum { CLUSTER_ALIASES_AT_ONCE = 64 };
int cluster_aliases_are_there(struct kv *kv, const uint64_t *clusters, size_t n, bool *ret_there);

/* A cluster is no more: nor is what led to it. */
int cluster_aliases_drop(struct kv *kv, uint64_t cluster);

/* -- anyone's -- */

/* The cluster that an id of none leads to. Returns 0, -ENOENT, -EUCLEAN or a store error. */
int cluster_aliases_find(struct kv *kv, uint64_t alias, uint64_t *ret_cluster);

/* All of them, in order, until found() returns other than 0, which is returned. */
int cluster_aliases_each(struct kv *kv, int (*found)(void *user, uint64_t alias, uint64_t cluster),
                         void *user);

#endif
