/* The row of a named clustering: which one it is, and whether all documents are in it.
 *
 * TABLE_META
 *
 *   key    "clustering.N"
 *   value  version 1 | state 1 | sid 8 | text     state: enum clustering_state
 *                                                 text: as index_clustering_print() makes it
 *
 * N is the number of the clustering in its rows and its clusters' ids (cluster_ids.h).
 */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTERING_ROW_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTERING_ROW_H

#include "engine/cluster/batch.h"
#include "engine/index/tables/cluster_ids.h"
#include "engine/index/clusters/edge_rule.h"
#include "engine/index/index.h"
#include "store/kv.h"

enum clustering_state {
    CLUSTERING_MAKING = 1,
    CLUSTERING_PAUSED = 2, /* documents up to sid are in it; at a clean end */
    CLUSTERING_COMPLETE = 3,
    CLUSTERING_REMOVING = 4,
};

struct clustering_row {
    unsigned number;
    enum clustering_state state;
    uint64_t sid;
    struct index_clustering clustering;
};

/* 0, -ENOMEM or a store error. */
int clustering_row_put(struct kv *kv, unsigned number, enum clustering_state state, uint64_t sid,
                       const struct index_clustering *clustering);
/* Of a value. One whose rule this version does not know is none to keep: it is being removed. 0,
 * -EUCLEAN or -ENOMEM. */
int clustering_row_parse(const struct kv_buf *value, unsigned number,
                         struct clustering_row *ret_row);
/* Returns 1, 0 where there is none, -EUCLEAN, -ENOMEM or a store error. */
int clustering_row_get(struct kv *kv, unsigned number, struct clustering_row *ret_row);
/* All there are: 0 or such an error. */
int clustering_rows_get(struct kv *kv, struct clustering_row rows[CLUSTERING_MAX],
                        size_t *ret_n_rows);

/* -- what it says of the clustering; anyone's -- */

/* One that a batch makes (remade.h), how, and what links documents in one that it does not. */
bool clustering_is_remade(enum index_clustering_kind kind);
enum batch_mode clustering_mode(enum index_clustering_kind kind);
struct edge_rule clustering_rule(const struct index_clustering *clustering);

/* The clustering that such a value is of, whole or being made. Returns 1, 0 where it is being
 * removed or this version does not know its rule; -EUCLEAN or -ENOMEM. */
int clustering_row_wanted(const struct kv_buf *value, unsigned number,
                          struct index_clustering *ret_clustering);
/* The rule of a clustering of which all documents are in it, and which follows every change.
 * Returns 1, 0 where there is none such, -EUCLEAN, -ENOMEM or a store error. */
int clustering_row_rule(struct kv *kv, unsigned number, struct edge_rule *ret_rule);
/* Of one that a batch makes, and whose clusters are those of now, as its row says: its mode and
 * threshold. Returns the same. */
int clustering_row_remade(struct kv *kv, unsigned number, enum batch_mode *ret_mode,
                          double *ret_threshold);

#endif
