/* The clusterings there are, and whether each is current. */
#include <errno.h>
#include <string.h>

#include "engine/index/clusters/remade.h"
#include "engine/index/index_state.h"

static void show(struct index *index, const struct named_clustering *wanted,
                 struct index_clustering_status *ret_status)
{
    struct index_clustering_status status = {.clustering = wanted->clustering,
                                             .base = clustering_base(wanted->number),
                                             .current = remade_is_current(wanted->remade)};

    status.made = remade_get_loss(wanted->remade, &status.loss);
    status.error = status.current ? 0 : remade_error(wanted->remade);
    living_clusters_count_in(index->clusters, wanted->number, &status.clusters,
                             &status.clustered_documents);
    *ret_status = status;
}

size_t index_get_clusterings(struct index *index,
                             struct index_clustering_status ret_clusterings[INDEX_CLUSTERINGS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < index->named.n_wanted; i++)
        if (!clustering_is_of_topics(&index->named.wanted[i].clustering))
            show(index, &index->named.wanted[i], &ret_clusterings[n++]);
    return n;
}

int index_find_clustering(struct index *index, const char *name,
                          struct index_clustering_status *ret_clustering)
{
    for (size_t i = 0; i < index->named.n_wanted; i++)
        if (!clustering_is_of_topics(&index->named.wanted[i].clustering) &&
            strcmp(index->named.wanted[i].clustering.name, name) == 0) {
            show(index, &index->named.wanted[i], ret_clustering);
            return 0;
        }
    return -ENOENT;
}

bool index_clustering_is_of_pairs(const struct index *index, uint64_t base)
{
    const struct named_clustering *wanted =
        named_clusterings_find(&index->named, cluster_clustering(base));
    return base == 0 || (wanted && wanted->clustering.kind == INDEX_CLUSTERING_COMPONENTS &&
                         wanted->clustering.containment == 0);
}
