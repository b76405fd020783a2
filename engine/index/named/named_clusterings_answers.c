/* Questions that anyone may ask of named clusterings. */
#include "engine/index/named/named_clusterings.h"

#include "engine/index/clusters/living_clusters.h"
#include "engine/index/clusters/remade.h"

bool named_clusterings_retry(struct named_clusterings *named)
{
    bool retries = false;
    for (size_t i = 0; i < named->n_wanted; i++)
        if (remade_retry(named->wanted[i].remade))
            retries = true;
    return retries;
}

const struct named_clustering *named_clusterings_find(const struct named_clusterings *named,
                                                      unsigned number)
{
    for (size_t i = 0; i < named->n_wanted; i++)
        if (named->wanted[i].number == number)
            return &named->wanted[i];
    return NULL;
}

bool named_clusterings_is_stale(const struct named_clusterings *named, uint64_t cluster)
{
    const struct named_clustering *wanted =
        named_clusterings_find(named, cluster_clustering(cluster));
    return wanted && !remade_is_current(wanted->remade);
}

bool named_clusterings_loss(const struct named_clusterings *named, uint64_t cluster,
                            struct index_clustering_loss *ret_loss)
{
    const struct named_clustering *wanted =
        named_clusterings_find(named, cluster_clustering(cluster));
    return wanted && wanted->clustering.kind == INDEX_CLUSTERING_BRODER1997 &&
           remade_get_loss(wanted->remade, ret_loss);
}

double named_clusterings_threshold(const struct named_clusterings *named, uint64_t cluster)
{
    const struct named_clustering *wanted =
        named_clusterings_find(named, cluster_clustering(cluster));
    return wanted && wanted->clustering.resemblance > 0 ? wanted->clustering.resemblance
                                                        : INDEX_CLUSTER_THRESHOLD;
}
