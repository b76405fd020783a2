/* Answers about living clusters that anyone may ask for, beside the committer that changes them. */
#include <errno.h>

#include "engine/index/tables/classes.h"
#include "engine/index/members/cluster_aliases.h"
#include "engine/index/clusters/living_clusters_private.h"

enum { TORN_READS = 8 };

/* Returns the rows of the clustering that an id says it is of; NULL where there is no such
 * clustering. */
static struct membership *membership_of(struct living_clusters *clusters, uint64_t id)
{
    const struct graph *graph = graph_of_cluster(clusters->graph, id);
    return graph ? graph->membership : NULL;
}

struct clustering *living_clusters_find(struct living_clusters *clusters, unsigned number)
{
    for (size_t i = 0; i < clusters->n_clusterings; i++)
        if (clusters->clusterings[i].membership.clustering == number)
            return &clusters->clusterings[i];
    return NULL;
}

/* A cluster of a divided component has documents of it alone. */
bool living_clusters_is_dirty(struct living_clusters *clusters, uint64_t id)
{
    const struct graph *divided = clusters->graph->divided;
    struct membership *membership = membership_of(clusters, id);
    _cleanup_(kv_buf_done) struct kv_buf cursor = {0};
    struct member first;
    uint64_t component = 0;
    if (dirty_has(clusters->dirty, id) ||
        (cluster_clustering(id) == 0 && dirty_has(clusters->dirty, DIRTY_PUT_OFF)))
        return true;
    if (!divided || divided->membership->n_clusters == 0 || !membership ||
        membership->clustering != 0 || membership_some(membership, id, &cursor, 1, &first) <= 0)
        return false;
    return membership_cluster_of(divided->membership, first.sid, &component) == 0 && component &&
           dirty_has(clusters->dirty, component);
}

size_t living_clusters_n_dirty(struct living_clusters *clusters)
{
    return dirty_count(clusters->dirty);
}

int living_clusters_of_in(struct living_clusters *clusters, unsigned number, uint64_t sid,
                          uint64_t *ret_id, uint64_t *ret_size)
{
    struct clustering *clustering = living_clusters_find(clusters, number);
    uint64_t id = 0, size = 0;

    /* Between the two reads the cluster may have become another one. */
    for (unsigned i = 0; clustering && i < TORN_READS && size == 0; i++) {
        int r = membership_cluster_of(&clustering->membership, sid, &id);
        if (r == 0 && id)
            r = membership_size(&clustering->membership, id, &size);
        if (r < 0)
            return r;
        if (id == 0)
            break;
    }
    *ret_id = size ? id : 0;
    *ret_size = size;
    return 0;
}

int living_clusters_of(struct living_clusters *clusters, uint64_t sid, uint64_t *ret_id,
                       uint64_t *ret_size)
{
    return living_clusters_of_in(clusters, 0, sid, ret_id, ret_size);
}

int living_clusters_has(struct living_clusters *clusters, uint64_t sid)
{
    uint64_t id;
    int r = membership_cluster_of(&clusters->clusterings[0].membership, sid, &id);

    return r < 0 ? r : id != 0;
}

static struct sid_list list_of(struct number_vector *vector)
{
    struct sid_list list = {vector->numbers, vector->n_numbers};
    *vector = (struct number_vector){0};
    return list;
}

int living_clusters_members(struct living_clusters *clusters, uint64_t id, size_t limit,
                            struct sid_list *ret_members)
{
    _cleanup_(number_vector_done) struct number_vector sids = {0};
    struct membership *membership = membership_of(clusters, id);

    int r = membership ? membership_list(membership, id, limit, &sids) : -ENOENT;
    if (r < 0 || sids.n_numbers == 0)
        return r < 0 ? r : -ENOENT;
    *ret_members = list_of(&sids);
    return 0;
}

int living_clusters_size(struct living_clusters *clusters, uint64_t id, uint64_t *ret_size)
{
    struct membership *membership = membership_of(clusters, id);
    return membership ? membership_size(membership, id, ret_size) : -ENOENT;
}

int living_clusters_ids(struct living_clusters *clusters, uint64_t after, size_t limit,
                        uint64_t *ret_ids)
{
    struct membership *membership = membership_of(clusters, after);
    return membership ? membership_ids(membership, after, limit, ret_ids) : 0;
}

int living_clusters_alias(struct living_clusters *clusters, uint64_t id, uint64_t *ret_id)
{
    return cluster_aliases_find(clusters->kv, id, ret_id);
}

int living_clusters_class(struct living_clusters *clusters, const uint8_t class_id[CLASS_BYTES],
                          uint64_t after, size_t limit, struct sid_list *ret_sids)
{
    _cleanup_(number_vector_done) struct number_vector sids = {0};

    int r = classes_list(clusters->kv, class_id, after, limit, &sids);
    if (r == 0)
        *ret_sids = list_of(&sids);
    return r;
}

void living_clusters_count_in(struct living_clusters *clusters, unsigned number,
                              uint64_t *ret_clusters, uint64_t *ret_documents)
{
    const struct clustering *clustering = living_clusters_find(clusters, number);
    int64_t n_clusters = clustering ? clustering->membership.n_clusters : 0;
    int64_t n_documents = clustering ? clustering->membership.n_documents : 0;

    *ret_clusters = n_clusters > 0 ? (uint64_t)n_clusters : 0;
    *ret_documents = n_documents > 0 ? (uint64_t)n_documents : 0;
}

void living_clusters_count(struct living_clusters *clusters, uint64_t *ret_clusters,
                           uint64_t *ret_documents)
{
    living_clusters_count_in(clusters, 0, ret_clusters, ret_documents);
}
