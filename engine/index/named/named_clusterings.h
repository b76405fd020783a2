/* The named clusterings of a store: which there are, and what is left of those that are not wanted
 * any more. A batch makes each anew in the background when documents have changed (remade.h); rows
 * of those that are not wanted are removed there, some at a time. The committer's, but for what is
 * said to be anyone's.
 *
 * A row of each says which it is (clustering_row.h), another whether its clusters are those of now.
 */
#ifndef KINFS_ENGINE_INDEX_NAMED_NAMED_CLUSTERINGS_H
#define KINFS_ENGINE_INDEX_NAMED_NAMED_CLUSTERINGS_H

#include "base/background_task.h"
#include "engine/index/messages.h"
#include "engine/index/members/cluster_ids.h"
#include "engine/index/named/clustering_row.h"
#include "engine/index/named/remaking.h"
#include "store/kv.h"

struct living_clusters;
struct remade;
struct topics;

struct named_clustering {
    unsigned number;
    struct index_clustering clustering;
    struct remade *remade;
};

/* The things they are made of, and with; all borrowed. */
struct named_clusterings_of {
    struct kv *kv;
    struct living_clusters *clusters;
    struct topics *topics; /* NULL: no words are kept, and there are no clusterings of them */
    const struct policy *policy;
    const char *scratch; /* the directory for what a batch does not keep in memory */
    struct niceness *niceness;
    struct messages *messages;
};

struct named_clusterings {
    struct named_clusterings_of of;
    struct named_clustering
        wanted[CLUSTERINGS_MOST]; /* by name, of topics first; the same from opening on */
    size_t n_wanted;
    unsigned removing[CLUSTERING_MAX];
    size_t n_removing;
    struct kv_buf at; /* of the one that is being removed: where to go on */
    unsigned phase;   /* which of its rows: of TABLE_CLUSTER_OF, its clusters, its aliases */
    struct background_task *remaking; /* of one at a time: remade; NULL: of none */
    struct remaking_task task;        /* of it */
    const struct named_clustering *remade;
    uint64_t n_changes;                         /* of it, when that began */
    const struct named_clustering *also_remade; /* topics and sub-topics; or NULL; as is: */
    uint64_t also_n_changes;
    int64_t began_ms;
};

/* Read what there is, decide what is wanted, and add it to the living clusters. After these were
 * opened, before anything is done with them. *named: all zero before. Returns 0, -EUCLEAN, -ENOMEM
 * or a store error. */
int named_clusterings_open(struct named_clusterings *named, const struct named_clusterings_of *of,
                           const struct index_options *options);

/* Clusterings that could not be made anew are to be tried once more. Returns whether there is any.
 * Anyone's. */
bool named_clusterings_retry(struct named_clusterings *named);

bool named_clusterings_is_idle(const struct named_clusterings *named);
/* The committer has something to do for named clusterings right now.
 *
 * rests   nothing is known that will change documents
 * wanted  somebody waits for all to be idle */
bool named_clusterings_has_work(const struct named_clusterings *named, bool rests, bool wanted);
/* Some of that work. 0, or a store error. */
int named_clusterings_step(struct named_clusterings *named, bool rests, bool wanted);
/* The work that other threads do for it ends; the committer is no more, or calls. */
void named_clusterings_stop(struct named_clusterings *named);

void named_clusterings_done(struct named_clusterings *named);

/* The clustering of a cluster has not seen the last changes (remade.h). Anyone's. */
bool named_clusterings_is_stale(const struct named_clusterings *named, uint64_t cluster);

/* The loss of a batch of mode broder1997, of the clustering of a cluster. Returns false where it is
 * of another mode, or was never made. Anyone's. */
bool named_clusterings_loss(const struct named_clusterings *named, uint64_t cluster,
                            struct index_clustering_loss *ret_loss);

/* From which resemblance on documents of a cluster are linked. Anyone's. */
double named_clusterings_threshold(const struct named_clusterings *named, uint64_t cluster);

/* The one of a number; NULL: there is none, or it is not wanted any more. Anyone's. */
const struct named_clustering *named_clusterings_find(const struct named_clusterings *named,
                                                      unsigned number);

#endif
