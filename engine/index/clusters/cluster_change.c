#include "engine/index/clusters/cluster_change.h"

#include "engine/index/members/cluster_aliases.h"
#include "engine/index/members/cluster_ids.h"

int cluster_new_id(const struct graph *graph, const struct number_vector *loners, uint64_t *ret_id)
{
    struct membership *membership = graph->membership;
    uint64_t best = 0, size = 0;

    for (size_t i = 0; i < loners->n_numbers; i++) {
        uint64_t id = dissolved_clusters_id(&membership->dissolved, loners->numbers[i]);
        int r = id ? membership_known_size(membership, id, &size) : 0;
        if (r < 0)
            return r;
        if (id && size == 0 && (best == 0 || id < best))
            best = id;
    }
    *ret_id = best;
    int r = best ? 0 : cluster_ids_new(&membership->ids, graph->kv, ret_id);
    if (r == 0 && !best)
        membership_is_new(membership, *ret_id);
    return r < 0 || graph->remade ? r : dirty_mark(graph->dirty, ret_id, 1);
}

static int read_members(const struct graph *graph, const uint64_t *sids, size_t n,
                        struct member members[MEMBERS_AT_ONCE], size_t *ret_n_members)
{
    const struct record *records[MEMBERS_AT_ONCE];
    size_t n_members = 0;

    int r = records_borrow(graph->records, sids, n, records);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        if (records[i])
            member_init(&members[n_members++], sids[i], records[i]);
    records_return(graph->records, records, n);
    *ret_n_members = n_members;
    return 0;
}

int cluster_move(const struct graph *graph, uint64_t from, uint64_t to,
                 const struct number_vector *sids)
{
    for (size_t at = 0; at < sids->n_numbers; at += MEMBERS_AT_ONCE) {
        struct member members[MEMBERS_AT_ONCE];
        size_t n = sids->n_numbers - at < MEMBERS_AT_ONCE ? sids->n_numbers - at : MEMBERS_AT_ONCE;
        int r = read_members(graph, sids->numbers + at, n, members, &n);
        if (r == 0)
            r = membership_move(graph->membership, from, to, members, n);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool is_shown(const struct graph *graph)
{
    return graph->membership->clustering != CLUSTERING_DIVIDED;
}

/* The alias is there before the cluster is gone: a path with its id leads somewhere at any time. */
int cluster_merge(const struct graph *graph, uint64_t from, uint64_t to)
{
    int r = is_shown(graph) ? cluster_aliases_add(graph->kv, from, to) : 0;
    if (r == 0)
        r = membership_move_all(graph->membership, from, to);
    if (r == 0)
        member_changes_note_merge(graph->membership->changes, from, to);
    return r;
}

static int drop_aliases(const struct graph *graph, const uint64_t *clusters, const bool *gone,
                        size_t n)
{
    bool led_to[MEMBERS_AT_ONCE];
    int r = cluster_aliases_are_there(graph->kv, clusters, n, led_to);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (gone[i] && led_to[i])
            r = cluster_aliases_drop(graph->kv, clusters[i]);
    return r;
}

int cluster_emptied(const struct graph *graph, uint64_t cluster, uint64_t to)
{
    const bool gone = true;
    uint64_t size = 0;
    int r = to ? membership_known_size(graph->membership, to, &size) : 0;
    if (r < 0 || !is_shown(graph))
        return r;
    if (size <= 1)
        return drop_aliases(graph, &cluster, &gone, 1);
    r = cluster_aliases_add(graph->kv, cluster, to);
    if (r == 0)
        member_changes_note_merge(graph->membership->changes, cluster, to);
    return r;
}

int cluster_dissolve(const struct graph *graph, const uint64_t *clusters, size_t n)
{
    int r = 0;
    for (size_t at = 0; r == 0 && at < n; at += MEMBERS_AT_ONCE) {
        const size_t n_some = n - at < MEMBERS_AT_ONCE ? n - at : MEMBERS_AT_ONCE;
        bool gone[MEMBERS_AT_ONCE];
        r = membership_dissolve(graph->membership, clusters + at, n_some, gone);
        if (r == 0 && is_shown(graph))
            r = drop_aliases(graph, clusters + at, gone, n_some);
    }
    return r;
}
