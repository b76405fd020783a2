/* Questions that anyone may ask of named clusterings. */
#include <errno.h>
#include <string.h>

#include "engine/index/index_private.h"
#include "engine/index/clusters/remade.h"

void named_clusterings_retry(struct index *index)
{
    bool retries = false;
    for (size_t i = 0; i < index->named.n_wanted; i++)
        if (index->named.wanted[i].remade && remade_retry(index->named.wanted[i].remade))
            retries = true;
    if (!retries)
        return;
    LOCKED(&index->lock);
    index->redoing = !index->damaged;
    pthread_cond_signal(&index->wake_committer);
}

static void show(struct index *index, const struct named_clustering *wanted,
                 struct index_clustering_status *ret_status)
{
    const uint64_t linked = living_clusters_linked(index->clusters, wanted->number);
    const uint64_t last = atomic_load(&index->last_sid);
    struct index_clustering_status status = {.clustering = wanted->clustering,
                                             .base = clustering_base(wanted->number),
                                             .current = linked == UINT64_MAX,
                                             .remade = wanted->remade != NULL};

    if (wanted->remade) {
        status.current = remade_is_current(wanted->remade);
        status.made = remade_get_loss(wanted->remade, &status.loss);
        status.error = status.current ? 0 : remade_error(wanted->remade);
    }
    status.percent = status.current ? 100 : last ? (unsigned)(linked * 100 / last) : 0;
    if (!status.current && status.percent > 99)
        status.percent = 99;
    living_clusters_count_in(index->clusters, wanted->number, &status.clusters,
                             &status.clustered_documents);
    *ret_status = status;
}

size_t index_get_clusterings(struct index *index,
                             struct index_clustering_status ret_clusterings[INDEX_CLUSTERINGS_MAX])
{
    for (size_t i = 0; i < index->named.n_wanted; i++)
        show(index, &index->named.wanted[i], &ret_clusterings[i]);
    return index->named.n_wanted;
}

int index_find_clustering(struct index *index, const char *name,
                          struct index_clustering_status *ret_clustering)
{
    for (size_t i = 0; i < index->named.n_wanted; i++)
        if (strcmp(index->named.wanted[i].clustering.name, name) == 0) {
            show(index, &index->named.wanted[i], ret_clustering);
            return 0;
        }
    return -ENOENT;
}

static const struct named_clustering *find_number(const struct index *index, unsigned number)
{
    for (size_t i = 0; i < index->named.n_wanted; i++)
        if (index->named.wanted[i].number == number)
            return &index->named.wanted[i];
    return NULL;
}

bool index_clustering_is_of_pairs(const struct index *index, uint64_t base)
{
    const struct named_clustering *wanted = find_number(index, cluster_clustering(base));
    return base == 0 || (wanted && wanted->clustering.kind == INDEX_CLUSTERING_COMPONENTS &&
                         wanted->clustering.containment == 0);
}

bool named_clusterings_is_stale(const struct index *index, uint64_t cluster)
{
    const struct named_clustering *wanted = find_number(index, cluster_clustering(cluster));
    return wanted && wanted->remade && !remade_is_current(wanted->remade);
}

bool named_clusterings_loss(const struct index *index, uint64_t cluster,
                            struct index_clustering_loss *ret_loss)
{
    const struct named_clustering *wanted = find_number(index, cluster_clustering(cluster));
    return wanted && wanted->clustering.kind == INDEX_CLUSTERING_BRODER1997 &&
           remade_get_loss(wanted->remade, ret_loss);
}

double named_clusterings_threshold(const struct index *index, uint64_t cluster)
{
    const struct named_clustering *wanted = find_number(index, cluster_clustering(cluster));
    return wanted && wanted->clustering.resemblance > 0 ? wanted->clustering.resemblance
                                                        : INDEX_CLUSTER_THRESHOLD;
}
