/* The struct and the helpers that membership.c, membership_move.c and membership_leave.c share. */
#ifndef KINFS_ENGINE_INDEX_MEMBERS_MEMBERSHIP_PRIVATE_H
#define KINFS_ENGINE_INDEX_MEMBERS_MEMBERSHIP_PRIVATE_H

#include "engine/index/members/cluster_sizes.h"
#include "engine/index/members/membership.h"

/* Before the first write: stored counts are no more true. */
int membership_before_change(struct membership *membership);
/* After it: a cluster has another size. */
void membership_count_change(struct membership *membership, uint64_t old_size, uint64_t new_size);

/* Into a batch: a cluster's size (0: no row), and in which cluster a document is (0: in none).
 */
void membership_batch_size(struct kv_batch *batch, uint64_t id, uint64_t size);
void membership_batch_cluster_of(const struct membership *membership, struct kv_batch *batch,
                                 uint64_t sid, uint64_t id);

/* The size in a row that was read (nothing: 0). 0 or -EUCLEAN. */
int membership_size_decode(const struct kv_buf *value, uint64_t *ret_size);

#endif
