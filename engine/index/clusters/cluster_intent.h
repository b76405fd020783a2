/* What the committer is about to change in the clusters, stored before the first write and removed
 * after the last, so that it can be finished after a crash or a failing store. There is one at a
 * time; a *promoted* document has a row besides (see below).
 *
 * TABLE_INTENTS
 *
 *   key    "cluster"
 *   value  version 1 | kind 1 | sid 8 | cluster 8 | ids n 4 | sids n 4 | ids 8 each | sids 8 each
 *
 *   kind     sid          cluster            ids                        sids
 *   join     0            that stays         clusters that become it    documents that enter it
 *   rename   0            its new id         the one it had             none
 *   delete   the deleted  it was in, or 0    of the parts split off     a document of each part,
 *                                            (0: it is alone)           then what is deleted with
 *                                                                       it
 *
 * A delete by which several clusters are left, of this clustering or of others, has version 2, and
 * behind that for each of these (where they are several of the default clustering the one above is
 * 0, and what is deleted are all that leave them):
 *
 *          cluster 8 | leaving n 4 | parts n 4 | leaving 8 each | ids 8 each | a document of each 8
 *
 * Where the document of a part is 0 those that leave go into the cluster of the id. A move (kind 4)
 * has nothing else: it is as a delete of the document 0, which there is not.
 *
 *   key    "posted" | sid 8
 *   value  empty
 *
 * The second says that a document got its postings later than its record: as the first of its class
 * when the one before it was deleted. It stands until the postings are flushed.
 */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_INTENT_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_INTENT_H

#include <stdint.h>

#include "engine/index/tables/record.h"
#include "engine/index/tables/sid_vector.h"
#include "store/kv.h"

enum intent_kind { INTENT_JOIN = 1, INTENT_DELETE = 2, INTENT_RENAME = 3, INTENT_MOVE = 4 };

/* Numbers of each kind in one intent and clustering: 64 KiB suits any store. */
enum { INTENT_NUMBERS = 4096 };

/* What documents leave behind of a cluster: the part that keeps it, and those that are split off.
 */
struct cluster_split {
    uint64_t cluster;             /* 0: they are in none */
    struct sid_vector leaving;    /* ascending */
    struct sid_vector ids;        /* of the parts split off; 0: it is one document, in no cluster */
    struct sid_vector beginnings; /* a document of each of these */
    /* Not stored: */
    struct sid_vector *parts; /* all documents of each; none: not known */
    uint64_t n_left;          /* what the cluster has when those that leave are gone */
    bool is_left_known;
};
void cluster_split_done(struct cluster_split *split);
/* A part more. documents  all of it, taken over; NULL: not known. Returns 0, -ENOMEM. */
int cluster_split_add_part(struct cluster_split *split, uint64_t id, uint64_t beginning,
                           struct sid_vector *documents);
/* Those that leave it go into the cluster ids.sids[0], or into none. */
bool cluster_split_is_move(const struct cluster_split *split);

/* A document that is deleted, as far as its caller knows it. */
struct leaving_document {
    const struct record *record; /* borrowed */
    uint64_t other;              /* the smallest of its class besides; 0: none */
};

struct cluster_intent {
    enum intent_kind kind;
    /* INTENT_JOIN, INTENT_RENAME; of the clustering that the cluster is of */
    uint64_t cluster;
    struct sid_vector ids, sids;
    /* INTENT_DELETE, INTENT_MOVE; first by all that are deleted what they leave in the default
     * clustering, if that is one cluster */
    struct cluster_split *splits;
    size_t n_splits;
    /* INTENT_DELETE, not stored: of each that leaves by the first split, borrowed; NULL: not known
     */
    const struct leaving_document *known;
};

void cluster_intent_done(struct cluster_intent *intent);

/* A split more, all zero; NULL: no memory. Valid until the next one. */
struct cluster_split *cluster_intent_add_split(struct cluster_intent *intent);

/* Documents that move from a cluster (0: none) into another (0: none). */
struct cluster_move {
    uint64_t sid, from, to;
};
struct cluster_moves {
    struct cluster_move *moves;
    size_t n_moves, max_moves;
};
void cluster_moves_done(struct cluster_moves *moves);
int cluster_moves_add(struct cluster_moves *moves, uint64_t sid, uint64_t from,
                      uint64_t to); /* 0, -ENOMEM */
/* A split for each pair of clusters. Sorts the moves. Returns 0, -ENOMEM. */
int cluster_intent_add_moves(struct cluster_intent *intent, struct cluster_moves *moves);

/* Return 0 or a store error; get: -ENOENT when nothing is to be finished, -EUCLEAN. */
int cluster_intent_put(struct kv *kv, const struct cluster_intent *intent);
int cluster_intent_get(struct kv *kv, struct cluster_intent *ret_intent);
int cluster_intent_clear(struct kv *kv);

int posted_intent_put(struct kv *kv, uint64_t sid);
int posted_intent_list(struct kv *kv, struct sid_vector *sids);
int posted_intent_clear(struct kv *kv, const struct sid_vector *sids);

#endif
