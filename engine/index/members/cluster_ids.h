/* Cluster ids: numbers that are never given out twice, whatever happens. (What dissolved may come
 * back under its own: dissolved_clusters.h.) The upper bits say which clustering a cluster is of,
 * 0 for the default one; each counts for itself.
 *
 * TABLE_META   "next_cluster"     8 (big endian)   the smallest id never given out
 *              "next_cluster.N"                    the same of clustering N
 */
#ifndef KINFS_ENGINE_INDEX_MEMBERS_CLUSTER_IDS_H
#define KINFS_ENGINE_INDEX_MEMBERS_CLUSTER_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/kv.h"

enum { CLUSTERING_SHIFT = 56, CLUSTERING_MAX = 63, CLUSTERING_CENTRES_FROM = 32 };
/* Never shown: components that are several clusters of the default clustering
 * (clusters/components.h). */
enum { CLUSTERING_DIVIDED = 31 };

static inline unsigned cluster_clustering(uint64_t id)
{
    return (unsigned)(id >> CLUSTERING_SHIFT);
}

/* The clusters of a clustering have centres (mode center), and their members stand in the order of
 * these (member.h): its number says so. */
static inline bool clustering_has_centres(unsigned number)
{
    return number >= CLUSTERING_CENTRES_FROM && number <= CLUSTERING_MAX;
}

/* The number that all ids of a clustering lie above. */
static inline uint64_t clustering_base(unsigned number)
{
    return (uint64_t)number << CLUSTERING_SHIFT;
}

/* Ids that are reserved and not given out yet; zero at first, but for the number of the clustering.
 * The committer's. */
struct cluster_ids {
    unsigned clustering;
    uint64_t next, end;
};

/* The name of a row of TABLE_META that each clustering has: that of the default one as it is, else
 * with its number behind it. */
enum { CLUSTERING_META_BYTES = 32 };
struct clustering_meta {
    char bytes[CLUSTERING_META_BYTES];
};
struct kv_slice clustering_meta_key(struct clustering_meta *meta, const char *name,
                                    unsigned clustering);

/* The value of such a row: NEXT_MAX ids of the clustering at most. Returns 0, or -EUCLEAN and gives
 * nothing. */
int cluster_ids_decode_next(struct kv_slice value, unsigned clustering, uint64_t *ret_next);

/* Give out an id. Returns 0, -ENOMEM, -EUCLEAN or a store error. */
int cluster_ids_new(struct cluster_ids *ids, struct kv *kv, uint64_t *ret_id);
/* Give out none of the next n. Returns as above. */
int cluster_ids_pass_over(const struct cluster_ids *ids, struct kv *kv, uint64_t n);
/* See to it that no id up to this one is ever given out from now on. */
int cluster_ids_pass(struct cluster_ids *ids, struct kv *kv, uint64_t id);

#endif
