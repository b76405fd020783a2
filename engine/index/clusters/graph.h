/* The graph whose components, loose ones divided into stars, are the clusters that follow every
 * change: its nodes are classes, each named by its first document, the only one of it that has
 * postings; its edges are not stored but found, by posting lists and by comparing sketches. Beside
 * it the members of clusterings that a batch makes, which have no edges. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_GRAPH_H
#define KINFS_ENGINE_INDEX_CLUSTERS_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/index/clusters/dirty.h"
#include "engine/index/clusters/living_clusters.h"
#include "engine/index/postings/filter_cache.h"
#include "engine/index/postings/long_lists.h"
#include "engine/index/postings/postings.h"
#include "engine/index/members/membership.h"
#include "engine/index/tables/classes.h"
#include "engine/index/tables/record.h"
#include "engine/index/tables/records.h"

struct looseness;

struct graph {
    struct kv *kv;
    struct classes *classes;
    struct records *records;
    struct postings *postings;
    struct membership *membership;
    struct filter_cache *filters;
    struct long_lists *long_lists;
    struct seen_sids *seen; /* neighbours.h */
    struct dirty *dirty;
    struct cluster_bounds bounds;
    double threshold;
    struct remade *remade; /* not NULL: there are no edges, its clusters are those of a batch
                              (remade.h) */
    struct graph *divided; /* the default one's: of components that are divided; NULL: none is */
    struct looseness *looseness; /* likewise: of those that are not */
    struct graph *next; /* of another clustering; the default one's is the first. NULL: none */
};

/* An edge stands between two documents of different classes that resemble each other by the
 * threshold; symmetric. At a threshold of 1 none do, as equal documents are of one class; documents
 * without shingles do not. Returns 1, 0 or -EPROTO (sketches of two policies). A merge of the two
 * sketches. */
int graph_edge(double threshold, const struct min_sketch *a, const struct min_sketch *b);

/* The graph that a cluster is of, among one and those after it; NULL: none of these. */
const struct graph *graph_of_cluster(const struct graph *first, uint64_t cluster);

/* Post a document that is, or becomes, the first of its class. 0 or an error. */
int graph_post(const struct graph *graph, uint64_t sid, const struct min_sketch *sketch);

/* The beginning of a posting list, and how many of its documents others are compared with: all, or
 * of a long list its heads. 0 or an error of postings_list(). */
int graph_list(const struct graph *graph, uint64_t fingerprint, struct posting_list *ret_list,
               size_t *ret_n_compared);

/* Read the record of a document. Returns 0, -ENOENT, or an error; ret_record gives. */
int graph_record(const struct graph *graph, uint64_t sid, struct record *ret_record);

#endif
