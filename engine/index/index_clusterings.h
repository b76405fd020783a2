/* Named clusterings of an index: how one is told by words, and its state. A part of index.h. */
#ifndef KINFS_ENGINE_INDEX_INDEX_CLUSTERINGS_H
#define KINFS_ENGINE_INDEX_INDEX_CLUSTERINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files/file_key.h"

struct index;

/* Documents of the default clustering resemble each other by so much at least. */
#define INDEX_CLUSTER_THRESHOLD 0.5

/* A named way of clustering, beside the default one (components of such resemblances,
 * loose ones divided into stars). A batch (engine/cluster/batch.h) makes each of the same sketches,
 * as a whole after changes, in the background: for one more, or another threshold, no document is
 * read. */
enum { INDEX_CLUSTERINGS_MAX = 8, INDEX_CLUSTERING_TEXT_BYTES = 96 };
enum index_clustering_kind {
    /* connected by resemblances of at least `resemblance`, or by one being contained in the other
     * by at least `containment`, if that is not 0 */
    INDEX_CLUSTERING_COMPONENTS,
    /* each document with the first of those it resembles by at least `resemblance` that are
     * centres; no two centres resemble each other so (engine/cluster/loose.h) */
    INDEX_CLUSTERING_CENTER,
    /* connected by super shingles in common; no threshold */
    INDEX_CLUSTERING_SUPERSHINGLE,
    /* what `kinfs cluster` says of that mode, at `resemblance` */
    INDEX_CLUSTERING_EXACT,
    INDEX_CLUSTERING_FAST,
    INDEX_CLUSTERING_BRODER1997,
    /* by words (index_topics.h): not among those that anybody names */
    INDEX_CLUSTERING_TOPICS,
    INDEX_CLUSTERING_SUBTOPICS,
};
struct index_clustering {
    char name[32];
    enum index_clustering_kind kind;
    double resemblance, containment; /* multiples of 0.0001, up to 1: equal documents alone */
};

/* Read "NAME:RULE", such as "near:components:0.95" or "parts:components:0.5:containment:0.9" or
 * "tight:center:0.9" or "near:supershingle" or "paper:broder1997".
 * Returns 0, or -EINVAL with a line in *ret_error that says what is wrong with it. */
int index_clustering_parse(const char *text, struct index_clustering *ret_clustering,
                           char **ret_error);
/* The same text for the same clustering. */
void index_clustering_print(const struct index_clustering *clustering,
                            char ret_text[INDEX_CLUSTERING_TEXT_BYTES]);

/* The loss of a batch of mode broder1997 is what it leaves out: lists of what more than 1,000
 * documents share. */
struct index_clustering_loss {
    uint64_t postings, lists; /* all that there are; lists of two documents or more */
    uint64_t lists_left_out, postings_left_out;
};

/* The state of a named clustering. */
struct index_clustering_status {
    struct index_clustering clustering;
    uint64_t base; /* of its clusters' ids */
    uint64_t clusters, clustered_documents;
    bool current; /* else it is to be made anew, and its clusters are those before the changes,
                     less what is gone */
    bool made;    /* at least once; of that time */
    struct index_clustering_loss loss; /* of broder1997, else nothing */
    int error; /* why it could not be made anew the last time (-ENOSPC, ..): make room, then
                  index_settle(), or the next change; 0: it could, or is current */
};
/* Up to INDEX_CLUSTERINGS_MAX of them, in order of names. Returns how many. Any thread, no wait. */
size_t index_get_clusterings(struct index *index,
                             struct index_clustering_status ret_clusterings[INDEX_CLUSTERINGS_MAX]);
/* Returns 0 or -ENOENT. */
int index_find_clustering(struct index *index, const char *name,
                          struct index_clustering_status *ret_clustering);
/* The cluster of a document in the clustering of a base, for who may read everything; 0: none.
 * Returns 0, -ENOENT for no known document, or an error. */
int index_cluster_of(struct index *index, const struct file_key *file, uint64_t base,
                     uint64_t *ret_id);

#endif
