/* Clusters: their ids and members, those of who may not read everything, how one hangs together,
 * and what becomes of them. A part of index.h. */
#ifndef KINFS_ENGINE_INDEX_INDEX_CLUSTERS_H
#define KINFS_ENGINE_INDEX_INDEX_CLUSTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/files/file_key.h"
#include "engine/index/index_clusterings.h"
#include "engine/index/index_questions.h"

struct index;

/* Cluster ids are of no order, and stay with their clusters. The clusters of a named clustering
 * have ids above its base, up to INDEX_CLUSTER_MAX more; those of the default one above 0. */
#define INDEX_CLUSTER_MAX ((UINT64_C(1) << 56) - 1)

/* Some ids of clusters.
 *
 * Up to limit of those that come after one, of its clustering, which need not be there any more; a
 * base: from the first. Returns how many, or an error. */
int index_cluster_ids(struct index *index, uint64_t after, size_t limit, uint64_t *ret_ids);

/* 1: there is such a cluster; 0, or an error. */
int index_has_cluster(struct index *index, uint64_t id);

/* The cluster that one with another id became part of, for as long as there is that cluster.
 * Returns 0, -ENOENT or an error. */
int index_cluster_alias(struct index *index, uint64_t id, uint64_t *ret_id);

struct cluster_info {
    uint64_t id;
    uint64_t size;  /* documents */
    bool repairing; /* it may turn out to be several, or part of another */
    bool stale;     /* its clustering is made anew, and has not seen the last changes */
    struct kin representative;
    double resemblance_min,
        resemblance_mean; /* of the members to the representative; NAN: see there */
};
void cluster_info_done(struct cluster_info *info);

/* Returns 0, -ENOENT. With members, they are given with their resemblance to the representative,
 * the representative first, then best first. With a limit only the first 1,000 members (or limit,
 * if that is more) are read for that, without members the first `limit`, and resemblance_min and
 * _mean are NAN where there are more. Without members the representative alone is kept in memory,
 * and with a limit of 1 it is one of the first 64, or there is none (-ENOENT).
 * With query->may_read, id is one of index_readable_cluster(), and errors are that function's.
 * query->threshold is not used. -EINTR: stopped. Waits for reads. */
int index_cluster(struct index *index, uint64_t id, const struct index_query *query,
                  struct cluster_info *ret_info, struct kin_list *ret_members);

/* The members of a cluster, however many, as index_cluster() has them: one at a time, as paths may
 * be long. In memory are 16 bytes for each, and the paths of INDEX_MEMBERS_AT_ONCE. Of more members
 * than these such as resemble the representative alike are in path order in parts of so many, and
 * the oldest of them are in the first part.
 *
 * most      so many of them, evenly taken in that order, the representative first; 0: all
 * query     its stop alone counts: for the owner, as any path is named
 * ret_size  documents in the cluster
 *
 * Returns 0, -ENOENT, -EINTR (stopped), what member() returned, -ENOMEM or a store error; after
 * members were told of, too. */
enum { INDEX_MEMBERS_AT_ONCE = 4096 };
typedef int (*index_member_fn)(void *user, const struct kin *kin);
int index_cluster_members(struct index *index, uint64_t id, size_t most,
                          const struct index_query *query, uint64_t *ret_size,
                          index_member_fn member, void *user);

/* -- clusters for who may not read everything (readable_cluster.h) -- */

/* A larger one is not shown to who may not read everything. */
enum { INDEX_READABLE_CLUSTER_MAX = 256 };

/* The cluster that a document is in, of those documents alone that query->may_read allows: as
 * index_cluster(), under an id that differs from that of the cluster among all documents.
 *
 * base  of the clustering; 0: the default one
 *
 * Returns 0, -ENOENT (in none, too large a one, one of a clustering that is not of pairs, or the
 * document is not known), -EINTR (stopped), -ENOMEM or a store error. A question for each of its
 * documents: milliseconds, where many share boilerplate a second. */
int index_readable_cluster(struct index *index, const struct file_key *file, uint64_t base,
                           const struct index_query *query, struct cluster_info *ret_info,
                           struct kin_list *ret_members);

/* True: the links of a clustering are of two documents alone, so that it has such clusters. */
bool index_clustering_is_of_pairs(const struct index *index, uint64_t base);

/* All such clusters of a clustering, found one after the other in an order that depends on the
 * allowed documents alone. One thread at a time; the index outlives it. */
struct index_readable_clusters;
int index_readable_clusters_new(struct index *index, uint64_t base,
                                struct index_readable_clusters **ret_clusters); /* or -ENOMEM */
void index_readable_clusters_free(struct index_readable_clusters *clusters);    /* NULL allowed */
DEFINE_CLEANUP(struct index_readable_clusters *, index_readable_clusters_free);
/* Look at one more document. The query is of the same caller each time. Returns 1 when there may be
 * more, 0 when all were looked at, -EINTR (stopped; the document is looked at again), -ENOMEM or a
 * store error. */
int index_readable_clusters_step(struct index_readable_clusters *clusters,
                                 const struct index_query *query);
/* The ids found so far, borrowed until the next step. Returns how many. */
size_t index_readable_clusters_ids(const struct index_readable_clusters *clusters,
                                   const uint64_t **ret_ids);
/* The memory it is charged for, which depends on the allowed documents alone: 8 bytes for each id,
 * at most 64 for each allowed document found, and a mebibyte. */
size_t index_readable_clusters_bytes(const struct index_readable_clusters *clusters);

/* An explanation tells how a cluster hangs together: resemblance is not transitive, so it may be a
 * chain whose ends have nothing in common. */
enum { CLUSTER_LINKS = 5 };
struct cluster_link {
    char *path_a, *path_b;
    double resemblance;
    uint64_t n_beyond; /* documents on b's side: what the cluster would lose without the link */
};
struct cluster_explanation {
    uint64_t id, size, n_classes; /* of the cluster; documents of one class resemble with 1 */
    uint64_t n_classes_compared;  /* all, or as many as can be, evenly taken; all that follows */
    uint64_t n_pairs;             /* is of the documents of these */
    double resemblance_min, resemblance_mean;
    double linked;              /* share of the pairs at the threshold of clusters or above */
    uint32_t n_parts, diameter; /* by links of such pairs: parts, and the longest way */
    size_t n_links;
    struct cluster_link links[CLUSTER_LINKS]; /* the weakest of those that hold it together */
    bool has_loss;                            /* of broder1997, of all its clusters: */
    struct index_clustering_loss loss;
};
void cluster_explanation_done(struct cluster_explanation *explanation);

/* Returns 0, -ENOENT, -ENOMEM or a store error. Reads every document's record, and compares the
 * sketches of all pairs of up to 2,048 classes, in half a second. For the owner: names any path. */
int index_explain(struct index *index, uint64_t id, struct cluster_explanation *ret_explanation);

/* -- what becomes of clusters, for who watches -- */

enum index_event_kind {
    INDEX_EVENT_MISSED, /* the first one, where there is: so many changes went by unseen */
    INDEX_EVENT_LEFT,   /* the document is in the cluster no more, and may be no more itself */
    INDEX_EVENT_JOINED,
    /* It came, or was written anew, and resembles another by query->threshold; with a decay: it is
     * near to one that came before it, each of which has an event. */
    INDEX_EVENT_NEAR,
    INDEX_EVENT_MERGED, /* a cluster became part of another; of its documents all is told, too */
};
struct index_event {
    enum index_event_kind kind;
    uint64_t document; /* stands for the file as long as the index is open, whatever its path is;
                          below 2^53 */
    const char *path;  /* as it is now, or was before the document went; NULL: none is known */
    uint64_t cluster, from; /* from: INDEX_EVENT_MERGED, what that was before */
    const char *other;      /* the representative as it is now, or what it is near to; NULL: none is
                               there any more */
    double resemblance;     /* to that one; NAN: it is not known (any more) */
    double decayed;         /* what is left of it by the time between the two; NAN: none is asked */
    uint64_t n_missed;
};

/* The place up to which a watcher has come; zero-initialised: from now on. */
struct index_cursor {
    uint64_t instance, next; /* instance: of this opening of the index, below 2^53 */
    bool more;               /* others have changed since: ask again at once */
};

/* The clusters of the default clustering have changed since a cursor, which is moved on behind some
 * hundred changes: for each document and cluster what has come of these, so that one that was
 * written anew in its cluster neither left nor joined. First what left, then what joined, in the
 * order in which it did.
 * Changes are kept in 8 MiB of memory, and only until a minute after the last question; of more
 * that is said (INDEX_EVENT_MISSED). Steps of the index are told whole.
 *
 * Returns 0, what event() returned, -ESTALE (the cursor is of another opening), -EINTR (stopped),
 * -ENOMEM or a store error; then the cursor is as it was. Waits for reads: of what came, some as of
 * index_similar(), of which the likeliest documents alone are compared. For the owner: names any
 * path. */
typedef int (*index_event_fn)(void *user, const struct index_event *event);
int index_watch(struct index *index, struct index_cursor *cursor, const struct index_query *query,
                index_event_fn event, void *user);

#endif
