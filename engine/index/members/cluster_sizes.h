/* Walk over the clusters of a clustering by their sizes in TABLE_MEMBERS (membership.h). */
#ifndef KINFS_ENGINE_INDEX_MEMBERS_CLUSTER_SIZES_H
#define KINFS_ENGINE_INDEX_MEMBERS_CLUSTER_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/kv.h"

enum { SIZE_KEY_BYTES = 8, SIZE_VALUE_BYTES = 8 };

struct cluster_sizes {
    struct kv *kv;
    size_t page_rows;
    uint64_t last;  /* the walk goes on after this id */
    uint64_t until; /* and ends before this one */
    struct kv_page page;
    size_t at;
    bool more;
};

/* after      an id of the clustering, or what they lie above (clustering_base())
 * page_rows  rows read at once: members of small clusters are passed over, those of large ones
 *            past the page are not read */
void cluster_sizes_init(struct cluster_sizes *sizes, struct kv *kv, uint64_t after,
                        size_t page_rows);
/* Returns 1 with the next cluster, 0 at the end, or an error. */
int cluster_sizes_next(struct cluster_sizes *sizes, uint64_t *ret_id, uint64_t *ret_size);
void cluster_sizes_done(struct cluster_sizes *sizes);

#endif
