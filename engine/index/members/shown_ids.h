/* Cluster ids as they are shown. Ids are given out in order, so of a tree in which somebody sees
 * clusters 1, 2 and 5 there would be others, with documents that are not to be known of. What is
 * shown is a permutation of the ids, drawn by the store's secret key: the same for good, and of no
 * order.
 *
 * Ids below 2^32 are shown as numbers from 1 to 2^32 - 1, larger ones up to 2^56 - 1 among
 * themselves. The bits above are the number of a clustering (cluster_ids.h), and stay as they are.
 */
#ifndef KINFS_ENGINE_INDEX_MEMBERS_SHOWN_IDS_H
#define KINFS_ENGINE_INDEX_MEMBERS_SHOWN_IDS_H

#include <stdint.h>

#include "engine/sketch/policy.h"

struct shown_ids {
    uint64_t key[2]; /* secret */
};

void shown_ids_init(struct shown_ids *ids, const struct policy *policy);

/* The one is the inverse of the other; 0, which is no id, for 0 and for what can be none. Any
 * thread, half a microsecond. */
uint64_t shown_ids_show(const struct shown_ids *ids, uint64_t id);
uint64_t shown_ids_read(const struct shown_ids *ids, uint64_t shown);

#endif
