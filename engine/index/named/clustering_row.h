/* The row of a named clustering: which one it is.
 *
 * TABLE_META
 *
 *   key    "clustering.N"
 *   value  version 1 (2) | state 1 | text state: enum clustering_state
 *                                         text: as index_clustering_print() makes it
 *
 * N is the number of the clustering in its rows and its clusters' ids (cluster_ids.h).
 */
#ifndef KINFS_ENGINE_INDEX_NAMED_CLUSTERING_ROW_H
#define KINFS_ENGINE_INDEX_NAMED_CLUSTERING_ROW_H

#include "engine/cluster/batch.h"
#include "engine/index/members/cluster_ids.h"
#include "engine/index/index.h"
#include "store/kv.h"

enum clustering_state {
    CLUSTERING_WANTED = 1,
    CLUSTERING_REMOVING = 2,
};

struct clustering_row {
    unsigned number;
    enum clustering_state state;
    struct index_clustering clustering;
};

/* 0, -ENOMEM or a store error. */
int clustering_row_put(struct kv *kv, unsigned number, enum clustering_state state,
                       const struct index_clustering *clustering);
/* All there are: 0, -EUCLEAN, -ENOMEM or a store error. */
int clustering_rows_get(struct kv *kv, struct clustering_row rows[CLUSTERING_MAX],
                        size_t *ret_n_rows);

/* -- what it says of the clustering; anyone's -- */

/* Those of topics, which stand beside the ones that are wanted by name where a store keeps words.
 */
enum {
    CLUSTERINGS_OF_TOPICS = 2,
    CLUSTERINGS_MOST = INDEX_CLUSTERINGS_MAX + CLUSTERINGS_OF_TOPICS
};
extern const struct index_clustering clusterings_of_topics[CLUSTERINGS_OF_TOPICS];
static inline bool clustering_is_of_topics(const struct index_clustering *clustering)
{
    return clustering->kind == INDEX_CLUSTERING_TOPICS ||
           clustering->kind == INDEX_CLUSTERING_SUBTOPICS;
}

/* The options of the batch that makes a clustering: of the options mode, threshold, containment and
 * whole, all else 0. Not of topics. */
struct batch_options clustering_batch(const struct index_clustering *clustering);

/* The clustering that such a value is of. Returns 1, 0 where it is being removed; -EUCLEAN or
 * -ENOMEM. */
int clustering_row_wanted(const struct kv_buf *value, unsigned number,
                          struct index_clustering *ret_clustering);
/* The rule of a clustering whose clusters are those of now, as its row says (remade.h). Returns 1,
 * 0 where there is none such, -EUCLEAN, -ENOMEM or a store error. */
int clustering_row_current(struct kv *kv, unsigned number, struct index_clustering *ret_clustering);

#endif
