/* Votes decide which cluster keeps which id, when documents of clusters come together anew: each
 * cluster's id goes to the part that has most of its documents, and each part gets one of most of
 * its documents. Where that says nothing: the smaller id, then the part whose document comes first
 * in its cluster. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_ID_VOTES_H
#define KINFS_ENGINE_INDEX_CLUSTERS_ID_VOTES_H

#include <stddef.h>
#include <stdint.h>

#include "engine/index/tables/id_map.h"

struct id_vote {
    uint64_t cluster; /* that documents of a part are in; not 0 */
    uint32_t part;
    uint32_t rank; /* of the first of them, in the cluster */
    uint32_t n;    /* documents */
};

/* Votes of single documents become one for each part and cluster, the weightiest first. Returns how
 * many those are. */
size_t id_votes_count(struct id_vote *votes, size_t n);

/* Give ids to parts, by votes that are counted.
 *
 * to     by part; all 0
 * given  gets the clusters that keep their ids, each with its part
 *
 * Returns 0 or -ENOMEM. */
int id_votes_decide(const struct id_vote *votes, size_t n, uint64_t *to, struct id_map *given);

#endif
