/* The clusters that follow every change, as a graph over the postings: the threshold of its edges,
 * its members, and what is known of posting lists; and beside it the members of clusterings that a
 * batch makes. The committer's. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_GRAPH_H
#define KINFS_ENGINE_INDEX_CLUSTERS_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/index/clusters/cluster_repair.h"
#include "engine/index/postings/filter_cache.h"
#include "engine/index/postings/long_lists.h"
#include "engine/index/tables/membership.h"
#include "engine/index/postings/postings.h"
#include "engine/index/tables/records.h"
#include "engine/index/tables/record.h"
#include "engine/index/postings/short_lists.h"

struct graph {
    struct kv *kv;
    struct records *records;
    struct postings *postings;
    struct membership *membership;
    struct long_lists *long_lists;
    struct short_lists *short_lists; /* NULL: none */
    struct filter_cache *filters;    /* of all clusterings */
    double threshold;
    struct remade *remade; /* not NULL: there are no edges, its clusters are those of a batch
                              (remade.h) */
    struct cluster_repairs *repairs;
    size_t small_cluster; /* documents, at most SMALL_CLUSTER_MAX */
    struct graph *next;   /* of another clustering; the default one's is the first. NULL: none */
};

/* Whether there is an edge between two documents of different classes; symmetric. At a threshold of
 * 1 there is none, as equal documents are of one class; documents without shingles have none.
 * Returns 1, 0 or -EPROTO (sketches of two policies). A merge of the two sketches. */
int graph_edge(double threshold, const struct min_sketch *a, const struct min_sketch *b);

/* The graph that a cluster is of, among one and those after it; NULL: none of these. */
const struct graph *graph_of_cluster(const struct graph *first, uint64_t cluster);

/* All of a cluster is about to move into another, and its id is given up; a part of a cluster
 * leaves it; documents move from one into another (0: none); anything may have happened. */
void graph_joined(const struct graph *graph, uint64_t from, uint64_t to);
void graph_split(const struct graph *graph, uint64_t cluster);
void graph_moved(const struct graph *graph, uint64_t from, uint64_t to);
void graph_forget(const struct graph *graph);

/* Note the postings of a document that is, or becomes, the first of its class. 0 or an error. */
int graph_post(const struct graph *graph, uint64_t sid, const struct min_sketch *sketch);

/* Read the record of a document. Returns 0, -ENOENT, or an error; ret_record gives. */
int graph_record(const struct graph *graph, uint64_t sid, struct record *ret_record);

#endif
