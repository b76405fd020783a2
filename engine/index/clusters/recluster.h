/* Clustering a scope anew: the documents of components (components.h) that are dirty, and of those
 * that meet in dirty posting lists. Nothing else merges components that are not small, splits or
 * divides them, or moves documents from one to another.
 *
 * A run goes on in steps, behind all other work, and ends by moving what is not where it belongs.
 * Documents may come and go between its steps, but for the last ones, when they move: where a
 * cluster of the scope is not as it was when the run looked at it, what came out of it is void and
 * it stays dirty for the next run. After RECLUSTER_RUNS runs with something void, one after the
 * other, what is void is put in order as it was gathered, and stays dirty all the same: so what
 * changes all the time is not left behind, and holds up nothing else.
 *
 * Cost: for a document 7 to 24 us, its record and its posting lists; in a loose component as much
 * again, for its centres. 110 bytes while it lasts, some hundred more for a centre.
 * The committer's. All return 0 or as it says, -ENOMEM, -EUCLEAN or a store error. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_RECLUSTER_H
#define KINFS_ENGINE_INDEX_CLUSTERS_RECLUSTER_H

#include "engine/index/clusters/graph.h"

enum { RECLUSTER_RUNS = 4 };

struct recluster;
int recluster_new(struct recluster **ret_run); /* 0, -ENOMEM */
void recluster_free(struct recluster *run);    /* NULL allowed */

/* A step, mostly of some milliseconds, of a run over all that is dirty. Returns 1 when there is
 * more to do, 0 when nothing is dirty. */
int recluster_step(struct recluster *run, const struct graph *graph);
/* A step of a run over all documents up to one, while those that come are put off. Returns 1 when
 * there is more to do, 0 at its end, when *ret_last is that one.
 *
 * last  where a run begins: the last one that has come */
int recluster_all_step(struct recluster *run, const struct graph *graph, uint64_t last,
                       uint64_t *ret_last);
bool recluster_is_at_work(const struct recluster *run);
/* Before documents come or go (gone: those that do): what is being moved is moved to its end, if
 * that is near; else it is clustered anew once more. A run over all documents goes on: what the
 * gone ones hung together with is dirty when it ends. 0 or an error. */
int recluster_finish(struct recluster *run, const struct graph *graph, const uint64_t *gone,
                     size_t n_gone);
/* The findings of a run are forgotten: anything may have happened. */
void recluster_forget(struct recluster *run);

/* Small components among those that have just become dirty are clustered, each in one go: they have
 * nothing to do with others that are dirty. */
int recluster_small(const struct graph *graph, const struct number_vector *components);
/* The same of some that a document has come into, and that were not dirty before, in one go where
 * they are small together. */
int recluster_together(const struct graph *graph, const uint64_t *components, size_t n);

#endif
