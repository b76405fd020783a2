/* Ids of clusters in a database that is made anew: a cluster has the one that most of its documents
 * were under before, and ids that had become others lead on. */
#ifndef KINFS_ENGINE_INDEX_UPKEEP_KEPT_IDS_H
#define KINFS_ENGINE_INDEX_UPKEEP_KEPT_IDS_H

#include "engine/index/index_state.h"
#include "engine/index/intake/salvage.h"
#include "engine/index/named/clustering_row.h"

/* The old store: an index, or what can be read of one that is damaged, or nothing. */
struct old_store {
    struct index *index;
    struct kv *kv, *damaged; /* kv: of the one or the other; NULL: nothing */
    struct salvage *salvage; /* of kv; NULL without */
    uint64_t next_cluster;   /* above all ids of its default clustering */
    size_t n_named;          /* clusterings, as far as they can be read: */
    struct old_clustering {
        unsigned number;
        uint64_t next_cluster; /* above all its ids */
        struct index_clustering clustering;
    } named[CLUSTERINGS_MOST];
    char *why;     /* it could not be opened as an index at first; NULL: it could */
    bool put_back; /* what it had lost of what it says of itself has been put back */
};

/* The rest of what is known of kv, which may be NULL. 0 or -ENOMEM; end with old_store_forget(). */
int old_store_know(struct old_store *old);
void old_store_forget(struct old_store *old);

/* Before anything is in the fresh database: its new ids will be larger than all of the old one. The
 * fresh index has to be opened again before it gives any out. 0, or a store error. */
int kept_ids_begin(struct index *fresh, const struct old_store *old);

/* When all documents are in it, as far as the old one can be read. 0, -ENOMEM or a store error. A
 * look-up for each document that is in a cluster. */
int kept_ids_take(struct index *fresh, const struct old_store *old);

#endif
