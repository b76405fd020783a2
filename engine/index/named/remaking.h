/* A clustering on its way to be made anew: a thread of its own reads the sketches of all records
 * and has a batch cluster them, then says who moves where; the committer carries that out. The
 * committer's, but for remaking_plan_now(), which is anyone's. */
#ifndef KINFS_ENGINE_INDEX_NAMED_REMAKING_H
#define KINFS_ENGINE_INDEX_NAMED_REMAKING_H

#include "engine/cluster/batch.h"
#include "engine/index/index.h"
#include "base/niceness.h"
#include "engine/index/clusters/move_plan.h"

struct remaking;

struct remaking_task {
    struct kv *kv; /* borrowed, like all of it */
    const struct policy *policy;
    const char *scratch; /* directory for what does not fit into memory */
    struct niceness *niceness;
    unsigned number;          /* of the clustering */
    struct batch_options how; /* clustering_batch() */
    size_t a_step;            /* of the plan; 0: 256 */
};

/* The result of the thread, by the caller's own: a plan whose moves and joins are the differences
 * from what is stored; gives. niceness: not asked. Returns as remaking_result(). */
int remaking_plan_now(const struct remaking_task *task, struct move_plan *ret_plan);

/* Begin: nothing is waited for. Returns 0, -ENOMEM or -EAGAIN (no thread); ret_remaking gives. */
int remaking_start(const struct remaking_task *task, struct remaking **ret_remaking);
/* The thread is done. */
bool remaking_is_ready(struct remaking *remaking);
/* The results of a remaking that is ready: its plan, and what its batch left out. Returns 0 or what
 * went wrong: -ENOSPC, -ENOMEM, -EUCLEAN, -EIO or another error of the store. */
int remaking_result(struct remaking *remaking, struct move_plan **ret_plan,
                    struct index_clustering_loss *ret_loss);
/* Stops the thread where it is not done: within some 0.1 s. NULL allowed. */
void remaking_free(struct remaking *remaking);

#endif
