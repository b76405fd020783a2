/* The looseness of a cluster of the default clustering says how it hangs together, so that an
 * insert tells at a glance whether the one it joins has to be divided (engine/cluster/stars.h): of
 * some clusters the first document by order, and the sum of the others' resemblances to it. Holds
 * for the number of documents it was noted for, and is otherwise found out anew. The committer's.
 */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_LOOSENESS_H
#define KINFS_ENGINE_INDEX_CLUSTERS_LOOSENESS_H

#include "engine/cluster/stars.h"
#include "engine/index/clusters/graph.h"

struct looseness;
int looseness_new(struct looseness **ret_looseness); /* 0, -ENOMEM */
void looseness_free(struct looseness *looseness);    /* NULL allowed */

struct looseness_fact {
    uint64_t cluster, n_documents;
    uint64_t first, order; /* sid, and order, of the first by order */
    struct stars_looseness looseness;
};
void looseness_note(struct looseness *looseness, const struct looseness_fact *fact);
void looseness_forget(struct looseness *looseness, uint64_t cluster);
/* A document has gone, and another of its class lives on: the cluster, which has n_left now, hangs
 * together as before. */
void looseness_pass_on(struct looseness *looseness, uint64_t cluster, uint64_t n_left, uint64_t sid,
                       uint64_t other);

/* A cluster of all documents of some, and of others that are in none: does it hang together?
 *
 * id        of the cluster they become
 * clusters  that they are in now
 * others    by sid
 * added     of others, one that is new; NULL: more than one is, or it may be in one of the clusters
 * is_node   it is the first of its class, and has shingles
 *
 * Returns 1, 0 (no, or there are too many to look at now), or an error. Reads a record; or those of
 * all documents, where it was not known (after a restart), or one in n of n times. */
int looseness_is_tight(const struct graph *graph, uint64_t id, const struct number_vector *clusters,
                       const struct number_vector *others, const struct record *added,
                       bool is_node);

#endif
