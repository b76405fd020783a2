/* The neighbours of a document that are centres, or that a change of a centre concerns, in a
 * clustering with centres (cluster_centres.h). Nearly all documents of a long posting list are of a
 * few clusters, and what is wanted of a cluster is most often its centre, or nothing: so a list
 * with a digest (long_lists.h) is not read, and its clusters are asked for instead. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CENTRE_SEARCH_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CENTRE_SEARCH_H

#include "engine/index/clusters/neighbours.h"

/* What is wanted of a cluster. */
enum centre_wanted { CENTRE_NOTHING, CENTRE_ITSELF, CENTRE_ALL };

struct centre_search {
    /* Returns enum centre_wanted, or an error. CENTRE_ITSELF: *ret_sid. */
    int (*choose)(void *user, uint64_t cluster, uint64_t *ret_sid);
    neighbour_wanted_fn wanted; /* of a document, whatever led to it */
    neighbour_found_fn found;
    void *user;
    bool is_posted; /* the document itself has its postings */
};

/* Find all neighbours that are wanted, of all documents in lists without a digest, and of what is
 * chosen of the clusters in the others; each once or more. Those that wait
 * (cluster_repairs_waits()) may be among them, or not.
 *
 * Returns as neighbours_find(). A look at each digest, and what is read and compared is what is
 * wanted; lists without a digest are read. The committer's. */
int centre_search(const struct graph *graph, const struct min_sketch *sketch,
                  const struct centre_search *search);

#endif
