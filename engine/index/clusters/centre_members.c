#include "engine/index/clusters/centre_members.h"

#include <errno.h>
#include <string.h>

#include "engine/index/tables/classes.h"

static bool is_same(const uint8_t *order, const uint8_t *other)
{
    return memcmp(order, other, ORDER_BYTES) == 0;
}

/* Those of one class stand together. */
static int group(const struct member *members, int n, struct centre_node *nodes)
{
    int n_nodes = 0;

    for (int i = 0; i < n; i++) {
        struct centre_node *node = n_nodes > 0 ? &nodes[n_nodes - 1] : NULL;
        if (!node || !is_same(node->place.order, members[i].order)) {
            node = &nodes[n_nodes++];
            node->place.sid = members[i].sid;
            node->n_documents = 0;
            memcpy(node->place.order, members[i].order, ORDER_BYTES);
        }
        if (members[i].sid < node->place.sid)
            node->place.sid = members[i].sid;
        node->n_documents++;
    }
    return n_nodes;
}

/* The whole class of a node of which some were read. */
static int complete(const struct graph *graph, struct centre_node *node)
{
    _cleanup_(sid_vector_done) struct sid_vector class = {0};

    int r = classes_list(graph->kv, node->place.order + ORDER_BYTES - CLASS_BYTES, 0, &class);
    if (r < 0 || class.n_sids == 0)
        return r < 0 ? r : -EUCLEAN;
    node->place.sid = class.sids[0];
    node->n_documents = class.n_sids;
    return 0;
}

int centre_members_after(const struct graph *graph, uint64_t cluster, const uint8_t *order,
                         struct centre_node *ret_nodes)
{
    struct member members[CENTRE_NODES_AT_ONCE];

    int n = membership_after(graph->membership, cluster, order, CENTRE_NODES_AT_ONCE, members);
    if (n <= 0)
        return n;
    n = group(members, n, ret_nodes);
    if (n > 1)
        return n - 1; /* of the last one there may be more */
    int r = complete(graph, &ret_nodes[0]);
    return r < 0 ? r : 1;
}

static int read_centre(const struct graph *graph, uint64_t cluster, struct place *ret_centre)
{
    _cleanup_(sid_vector_done) struct sid_vector class = {0};
    struct member first;

    *ret_centre = (struct place){0};
    int r = membership_first(graph->membership, cluster, &first);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    memcpy(ret_centre->order, first.order, ORDER_BYTES);
    r = classes_list(graph->kv, first.order + ORDER_BYTES - CLASS_BYTES, 1, &class);
    if (r == 0 && class.n_sids > 0)
        ret_centre->sid = class.sids[0];
    return r;
}

int centre_members_centre(const struct graph *graph, uint64_t cluster, struct place *ret_centre)
{
    struct centre_cache *cache = &graph->membership->centres;

    if (!centre_cache_get(cache, cluster, ret_centre)) {
        int r = read_centre(graph, cluster, ret_centre);
        if (r < 0)
            return r;
        if (ret_centre->sid)
            centre_cache_set(cache, cluster, ret_centre);
    }
    return 0;
}
