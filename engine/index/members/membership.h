/* Membership says which documents are in which cluster of one clustering: the rows behind living
 * clusters, without the reasons. The default one has the number 0.
 *
 * TABLE_MEMBERS, partition: the cluster. So its size is always that of its rows.
 *
 *   key    cluster 8                      size of the cluster
 *   value  members 8
 *
 *   key    cluster 8 | rank | sid 8       a member; the first one is the representative
 *   value  empty
 *
 *   key    cluster 8 | order | rank | sid 8   the same where clusters have centres (member.h)
 *   value  empty
 *
 *   rank   2^64-1 - tokens 8 | content fingerprint 16 | key size 1 | file key n
 *
 * TABLE_CLUSTER_OF
 *
 *   key    sid 8                          of the default clustering
 *   key    sid 8 | clustering 1           of another one
 *   value  cluster 8                      no row: in none
 *
 * TABLE_META
 *
 *   "cluster_counts"     8+8   clusters and documents in them; only after a clean end
 *   "cluster_counts.N"         the same of clustering N
 *
 * All numbers big endian. A write, here and where costs are told, is one kv_apply().
 */
#ifndef KINFS_ENGINE_INDEX_MEMBERS_MEMBERSHIP_H
#define KINFS_ENGINE_INDEX_MEMBERS_MEMBERSHIP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/index/members/cluster_ids.h"
#include "engine/index/members/dissolved_clusters.h"
#include "engine/index/members/member.h"
#include "engine/index/members/member_changes.h"
#include "engine/index/tables/number_cache.h"
#include "engine/index/tables/number_vector.h"
#include "store/kv.h"

enum { MEMBERS_AT_ONCE = 64 };

struct membership {
    struct kv *kv;
    unsigned clustering;
    /* The committer's: by sid in which cluster a document is, by cluster how many members it has.
     */
    struct number_cache clusters, sizes;
    struct cluster_ids ids;
    struct dissolved_clusters dissolved;
    struct member_changes *changes; /* borrowed, or NULL: nobody is told of them */
    /* A move that was interrupted is carried out again: some of its documents may be there. */
    bool repeating;
    bool changed;       /* by this instance, so that it stores its counts */
    bool counts_stored; /* "cluster_counts" is there and must go before a change */
    _Atomic int64_t n_clusters, n_documents;
};

/* Reads or makes the counts: one pass over the clustering's part of TABLE_MEMBERS after a crash.
 * Returns 0, -ENOMEM or a store error. */
int membership_init(struct membership *membership, struct kv *kv, unsigned clustering);
/* Keeps the counts for the next time, unless told that they may be wrong. */
void membership_done(struct membership *membership, bool clean);

/* Count again: after a failed change. What is known of sizes is forgotten. */
int membership_recount(struct membership *membership);

/* -- the committer's; each idempotent; after a failure the caller repeats it to completion -- */

/* Move documents from a cluster (0: none) into another (0: none). Any number of members. None of
 * them is in `to`; but when it is repeated, those that are lose their old row only. */
int membership_move(struct membership *membership, uint64_t from, uint64_t to,
                    const struct member *members, size_t n_members);
/* A document that is new comes into a cluster; it is inserted again after a crash. One write. */
int membership_insert(struct membership *membership, uint64_t to, const struct member *member);
/* Move all of a cluster into another. */
int membership_move_all(struct membership *membership, uint64_t from, uint64_t to);
/* Documents that are deleted out of the clusters they are in: members[i] out of clusters[i], at
 * most MEMBERS_AT_ONCE; ret_sizes[i]: what that one has left.
 *
 * may_be_gone  what is done again may have been done: it is looked at which are still there
 *
 * Two writes. */
int membership_leave(struct membership *membership, const uint64_t *clusters,
                     const struct member *members, size_t n_members, bool may_be_gone,
                     uint64_t *ret_sizes);
/* Give up clusters, each once and at most MEMBERS_AT_ONCE, that have one member left, and remember
 * these. ret_gone[i]: there is no such cluster (any more). 0 or an error. */
int membership_dissolve(struct membership *membership, const uint64_t *ids, size_t n,
                        bool *ret_gone);

/* As membership_size(), from memory where it is known. */
int membership_known_size(struct membership *membership, uint64_t id, uint64_t *ret_size);
/* An id that was never given out before has none. */
void membership_is_new(struct membership *membership, uint64_t id);

/* The clusters of documents, 0: none. */
int membership_look_up(struct membership *membership, const uint64_t *sids, size_t n_sids,
                       uint64_t *ret_ids);

/* -- anyone's -- */

int membership_cluster_of(struct membership *membership, uint64_t sid, uint64_t *ret_id);
int membership_size(struct membership *membership, uint64_t id, uint64_t *ret_size); /* 0: none */
/* Append members in order of rank, up to limit (0: all). */
int membership_list(struct membership *membership, uint64_t id, size_t limit,
                    struct number_vector *sids);
/* Some more of them. *cursor: nothing at first; ends with kv_buf_done(). Returns 1 when there may
 * be more, 0 or an error. */
int membership_list_some(struct membership *membership, uint64_t id, struct kv_buf *cursor,
                         struct number_vector *sids);
/* The same with their places, at most `most`. Returns how many, -EUCLEAN or a store error. */
int membership_some(struct membership *membership, uint64_t id, struct kv_buf *cursor, size_t most,
                    struct member *ret_members);
/* after  an id of the clustering, or clustering_base() */
int membership_ids(struct membership *membership, uint64_t after, size_t limit, uint64_t *ret_ids);

#endif
