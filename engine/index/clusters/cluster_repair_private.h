/* What the parts of a repair share: cluster_repair.c, which clusters it is about; of those that
 * have no centre cluster_repair_run.c; of the others cluster_repair_waiting.c. The committer's. */
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

/* How far a cluster is of which documents wait. */
struct repair_waiting {
    uint64_t cluster;
    uint8_t order[ORDER_BYTES]; /* who stands behind waits */
};

struct cluster_repairs {
    pthread_mutex_t lock;  /* of ids, for others than the committer, who alone changes them */
    struct sid_vector ids; /* those that wait among them */
    struct repair_waiting *waiting;
    size_t n_waiting, max_waiting; /* those of which it is known */
    size_t at_once, a_step;
    bool changed; /* since the run began */
    struct repair_run run;
};

static inline bool cluster_repairs_has_centre(uint64_t cluster)
{
    return clustering_has_centres(cluster_clustering(cluster));
}

/* Its row, and what is known of it. 0 or a store error. */
int cluster_repairs_end(const struct graph *graph, uint64_t cluster);
/* Those of one clustering, of run->graph if there is one, else of any without centres. Returns
 * whether there are any, or -ENOMEM. */
int cluster_repairs_take(struct cluster_repairs *repairs, const struct graph *first,
                         struct repair_run *run);

/* -- cluster_repair_run.c -- */

void repair_run_done(struct repair_run *run);
/* Return 0, -ESTALE when a document is gone without a word, or an error. */
int repair_run_begin(struct cluster_repairs *repairs, const struct graph *first);
int repair_run_go_on(struct cluster_repairs *repairs);

/* -- cluster_repair_waiting.c -- */

void repair_waiting_forget(struct cluster_repairs *repairs, uint64_t cluster);
/* Of a cluster of which documents wait some are taken in. Returns 1 when there was one, 0, or an
 * error. */
int repair_waiting_step(struct cluster_repairs *repairs, const struct graph *first);

#endif
