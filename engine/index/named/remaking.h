/* A clustering on its way to be made anew: a batch clusters the sketches of all records, or the
 * bags of all documents (topics/topics_finding.h), and says who moves where; the committer carries
 * that out. Anyone's. */
#ifndef KINFS_ENGINE_INDEX_NAMED_REMAKING_H
#define KINFS_ENGINE_INDEX_NAMED_REMAKING_H

#include "engine/cluster/batch.h"
#include "engine/index/index.h"
#include "engine/index/clusters/move_plan.h"

struct remaking_task {
    struct kv *kv; /* borrowed, like all of it */
    const struct policy *policy;
    const char *scratch;      /* directory for what does not fit into memory */
    unsigned number;          /* of the clustering */
    struct batch_options how; /* clustering_batch() */
    bool is_topics, is_fine;  /* of bags, without the options: topics, or sub-topics; */
    bool is_unchanging;       /* kv does not change meanwhile; else they are of one moment of it */
    unsigned also;            /* and the other ones, of this clustering; 0: not wanted */
    size_t a_step;            /* of the plan; 0: 256 */
    /* all zero before: moves and joins are the differences from what is stored; what is left out */
    struct move_plan plan; /* gives, on success; so does */
    struct move_plan also_plan;
    struct index_clustering_loss loss;
};

/* A background_work on a task. Returns 0 or what went wrong: -ENOSPC, -ENOMEM, -EUCLEAN, -EIO or
 * another error of the store. Stops within some 0.1 s. */
int remaking_work(void *task, const bool *stop);

#endif
