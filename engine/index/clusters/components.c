#include "engine/index/clusters/components.h"

int components_of(const struct graph *graph, const uint64_t *sids, const uint64_t *clusters,
                  size_t n, uint64_t *ret_components)
{
    const bool any = graph->divided && graph->divided->membership->n_clusters > 0;
    for (size_t at = 0; at < n; at += MEMBERS_AT_ONCE) {
        const size_t n_some = n - at < MEMBERS_AT_ONCE ? n - at : MEMBERS_AT_ONCE;
        uint64_t divided[MEMBERS_AT_ONCE] = {0};
        int r =
            any ? membership_look_up(graph->divided->membership, sids + at, n_some, divided) : 0;
        if (r < 0)
            return r;
        for (size_t i = 0; i < n_some; i++)
            ret_components[at + i] = divided[i] ? divided[i] : clusters[at + i];
    }
    return 0;
}

int component_size(const struct graph *graph, uint64_t component, uint64_t *ret_size)
{
    const struct graph *of = graph_of_cluster(graph, component);
    *ret_size = 0;
    return of ? membership_known_size(of->membership, component, ret_size) : 0;
}
