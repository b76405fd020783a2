/* Clusters as they come out among what a caller may read.
 *
 * The stored clusters are those of all documents. That two documents are in one of them may be
 * because of a third one between them, so it tells who can read the two of the third. For a caller
 * who may not read everything a cluster is therefore found when it is asked for: from a document
 * on, always to those that resemble one of those found, and only to documents that the caller may
 * list and read, as they are now. Nothing stored of clusters is looked at. Example: of a chain a -
 * b - c whose b is hidden, a and c are in no cluster; a copy of b that is readable brings them
 * together.
 *
 * A cluster is named by its oldest document, permuted (shown_ids.h), in a range of its own: so it
 * is found again by its name alone, and is nobody else's.
 *
 * Cost: a question for each document found (query.c), all candidates of which are compared that
 * did not resemble one before; nothing is read of more than READABLE_CLUSTER_MAX documents, beyond
 * which there is no cluster. Candidates are others' too, however many they make of them; so who
 * looks for all clusters gives each a time, and one that takes longer is as one that is too large.
 * Left out:
 * clusterings whose links are not of two documents alone (centres, batches, containment, which
 * would need postings of its own to go both ways).
 */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_READABLE_CLUSTER_H
#define KINFS_ENGINE_INDEX_ANSWERS_READABLE_CLUSTER_H

#include "engine/index/answers/answer.h"
#include "engine/index/tables/sid_tally.h"

enum { READABLE_CLUSTER_MAX = INDEX_READABLE_CLUSTER_MAX };

struct readable_member {
    uint64_t sid;
    const struct record *record; /* of the index's keeping */
    char *path;
    uint32_t star; /* which of the clusters of a loose component it is in */
};

/* Zero-initialised; ends with readable_cluster_done(). */
struct readable_cluster {
    struct index *index;
    struct readable_member *members; /* in the order in which they were found */
    size_t n_members;
    bool is_stale; /* a document was left out that is not what it was when it was sketched */
};
void readable_cluster_done(struct readable_cluster *cluster);

/* The findings of earlier questions of one caller. Zero-initialised; ends with
 * readable_known_done().
 *
 * How much of those in clusters that are too large is kept depends on documents that the caller may
 * not know of. So it only saves work, has a bound, and counts the same however much it is: past the
 * bound such a document is searched for anew. */
struct readable_known {
    int64_t most_ms;        /* that a search may take; 0: any time */
    struct sid_tally seen;  /* documents of clusters that were found */
    struct sid_tally large; /* classes of those in too large ones, by half of what names them */
};
void readable_known_done(struct readable_known *known);
bool readable_known_has(const struct readable_known *known, uint64_t sid); /* of one found */
/* The memory that the caller is charged for it: of documents that this one may read alone. */
size_t readable_known_bytes(const struct readable_known *known);

/* The component of a document; of one member where nothing readable resembles it.
 *
 * threshold  of its links
 * divides    whether loose ones are several clusters: members say which (readable_stars.h)
 * known      NULL, or what was found for the same caller; this is added to it
 *
 * Returns 0, -ENOENT (the caller may not list and read it), -ESTALE (it is not what it was when it
 * was sketched), -E2BIG (more than READABLE_CLUSTER_MAX documents, or it takes longer than it may;
 * known may say so of one that the caller may not read, too), -EINTR (query->stop said so),
 * -ENOMEM, -EUCLEAN or a store error; then *cluster is empty. */
int readable_cluster_find(struct index *index, uint64_t sid, double threshold, bool divides,
                          const struct index_query *query, struct readable_known *known,
                          struct readable_cluster *cluster);

/* Members of the cluster of a document alone are left. */
void readable_cluster_keep(struct readable_cluster *cluster, uint64_t sid);

/* The id of a cluster of two or more, in the clustering of a base; and the document that an id is
 * of: 0, where it is none. */
uint64_t readable_cluster_id(const struct readable_cluster *cluster, uint64_t base);
uint64_t readable_cluster_sid(const struct index *index, uint64_t id);

#endif
