/* The struct and the functions that living_clusters.c and its other files (living_clusters_*.c)
 * share. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_LIVING_CLUSTERS_PRIVATE_H
#define KINFS_ENGINE_INDEX_CLUSTERS_LIVING_CLUSTERS_PRIVATE_H

#include "engine/index/clusters/living_clusters.h"
#include "engine/index/members/membership.h"
#include "engine/index/clusters/looseness.h"
#include "engine/index/clusters/recluster.h"

/* One way of clustering. */
struct clustering {
    struct membership membership;
    struct graph graph;
};

struct living_clusters {
    /* First the default one; next that of divided components (components.h), if they are divided.
     */
    struct clustering clusterings[2 + LIVING_CLUSTERINGS_MAX];
    size_t n_clusterings;
    struct cluster_bounds bounds;
    struct kv *kv;
    struct classes classes;
    struct dirty *dirty;
    struct recluster *run;
    struct looseness *looseness;
    struct filter_cache *filters;
    struct seen_sids *seen;
    struct long_lists long_lists;
    struct graph *graph;  /* the default one's, and through it all */
    bool posted;          /* the postings lost by a crash are there again */
    bool unfinished;      /* a change may have stopped half-way; its intent stands */
    uint64_t flushed_sid; /* as stored */
    size_t n_deleted;     /* since then, or more: their intents stand */
    uint64_t last_sid;    /* the largest inserted */
    uint64_t placed_sid;  /* while documents are put off: those after it are; 0 after a start */
    uint64_t first_failed, last_failed; /* inserts that failed and were not repeated; 0: none */
};

/* NULL: there is none of that number. */
struct clustering *living_clusters_find(struct living_clusters *clusters, unsigned number);

/* Every membership takes it that documents which move may be in part where they go. */
void living_clusters_set_repeating(struct living_clusters *clusters, bool repeating);

/* A document that is stored may not have been inserted, or was put off: it is inserted, but for one
 * that is gone. Returns 0 or an error, which is noted. */
int living_clusters_insert_again(struct living_clusters *clusters, uint64_t sid);

/* living_clusters_put_off.c: a step of clustering anew while documents are put off, which returns
 * as living_clusters_recluster(). */
int living_clusters_place_step(struct living_clusters *clusters);

#endif
