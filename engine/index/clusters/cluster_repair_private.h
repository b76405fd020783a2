/* State that cluster_repair.c, which knows the clusters it is about, and cluster_repair_run.c
 * share. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_REPAIR_PRIVATE_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_REPAIR_PRIVATE_H

#include <pthread.h>

#include "engine/cluster/union_find.h"
#include "engine/index/tables/cluster_ids.h"
#include "engine/index/clusters/cluster_repair.h"
#include "engine/index/tables/sid_vector.h"

struct repair_document;

struct repair_run {
    const struct graph *graph; /* of the clustering that is repaired; NULL: none is */
    struct sid_vector clusters;
    struct repair_document *documents; /* ascending by sid, until they move */
    size_t n_documents, n_sets, at;
    struct union_find sets;
    bool moving;
};

struct cluster_repairs {
    pthread_mutex_t lock; /* of ids, for others than the committer, who alone changes them */
    struct sid_vector ids;
    size_t at_once, a_step;
    bool changed; /* since the run began */
    struct repair_run run;
};

/* Its row, and what is known of it. 0 or a store error. */
int cluster_repairs_end(const struct graph *graph, uint64_t cluster);
/* Those of one clustering, of run->graph if there is one, else of any. Returns whether there are
 * any, or -ENOMEM. */
int cluster_repairs_take(struct cluster_repairs *repairs, const struct graph *first,
                         struct repair_run *run);

/* -- cluster_repair_run.c -- */

void repair_run_done(struct repair_run *run);
/* Return 0, -ESTALE when a document is gone without a word, or an error. */
int repair_run_begin(struct cluster_repairs *repairs, const struct graph *first);
int repair_run_go_on(struct cluster_repairs *repairs);

#endif
