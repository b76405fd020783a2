/* Answers about clusters for who may not read everything (readable_cluster.h). */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_READABLE_CLUSTERS_H
#define KINFS_ENGINE_INDEX_ANSWERS_READABLE_CLUSTERS_H

#include "engine/index/index.h"

/* index_cluster() for a query with may_read. */
int readable_clusters_answer(struct index *index, uint64_t id, const struct index_query *query,
                             struct cluster_info *ret_info, struct kin_list *ret_members);

#endif
