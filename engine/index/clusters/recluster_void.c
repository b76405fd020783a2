/* The result of a run is void where documents have come or gone since it gathered them. */
#include "engine/index/clusters/recluster_private.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/index/clusters/components.h"

/* -- components that change all the time -- */

bool recluster_is_unsettled(const struct recluster *run, uint64_t id)
{
    return id && run->unsettled[id_map_find(&run->queued, id)];
}

static void set_unsettled(struct recluster *run, uint64_t id, bool unsettled)
{
    if (id)
        run->unsettled[id_map_find(&run->queued, id)] = unsettled;
}

/* Components that share a set with others are not unsettled. */
static int settle_shared(struct recluster *run)
{
    _cleanup_free_ uint64_t *owners = calloc(run->n + 1, sizeof(*owners)); /* by root */
    if (!owners)
        return -ENOMEM;
    for (size_t i = 0; i < run->n; i++)
        owners[union_find_root(&run->sets, (uint32_t)i)] = run->documents[i].divided;
    for (size_t i = 0; i < run->n; i++) {
        const uint64_t owner = owners[union_find_root(&run->sets, (uint32_t)i)];
        if (owner == run->documents[i].divided)
            continue;
        set_unsettled(run, owner, false);
        set_unsettled(run, run->documents[i].divided, false);
    }
    return 0;
}

/* Whatever comes into a divided component, or leaves it, marks it. What was gathered of it is
 * divided all the same where it hangs together with nothing else: those that came since stay where
 * they are until the next run, and so does a component that has fallen apart, which nobody sees. */
static int find_unsettled(struct recluster *run, const struct graph *graph)
{
    bool any = false;
    run->unsettled = calloc(run->queue.n_numbers + 1, sizeof(*run->unsettled));
    if (!run->unsettled)
        return -ENOMEM;
    for (size_t i = 0; i < run->queue.n_numbers; i++)
        any |= run->unsettled[i] = component_is_divided(run->queue.numbers[i]) &&
                                   dirty_has_since(graph->dirty, run->queue.numbers[i], run->up_to);
    int r = any ? settle_shared(run) : 0;
    for (size_t i = 0; r == 0 && any && i < run->queue.n_numbers; i++)
        if (run->unsettled[i])
            r = number_vector_push(&run->void_queued, run->queue.numbers[i]);
    for (size_t i = 0; r == 0 && any && i < run->n; i++)
        if (recluster_is_unsettled(run, run->documents[i].divided))
            set_unsettled(run, run->documents[i].cluster, true);
    for (size_t i = 0; r == 0 && any && i < run->n; i++)
        if (!recluster_is_unsettled(run, run->documents[i].divided))
            set_unsettled(run, run->documents[i].cluster, false);
    return r;
}

/* -- what is void -- */

/* Finds those that are gone among documents in no cluster, of which nothing but the record tells.
 */
static int find_gone(const struct graph *graph, const uint64_t *sids, const uint64_t *clusters,
                     size_t n, bool *changed)
{
    const struct record *records[MEMBERS_AT_ONCE];
    uint64_t loners[MEMBERS_AT_ONCE];
    size_t places[MEMBERS_AT_ONCE], n_loners = 0;
    for (size_t i = 0; i < n; i++)
        if (clusters[i] == 0 && !changed[i]) {
            places[n_loners] = i;
            loners[n_loners++] = sids[i];
        }
    int r = n_loners ? records_borrow(graph->records, loners, n_loners, records) : 0;
    if (r < 0 || n_loners == 0)
        return r;
    for (size_t i = 0; i < n_loners; i++)
        changed[places[i]] = !records[i];
    records_return(graph->records, records, n_loners);
    return 0;
}

/* A cluster or component is changed where it has another number of documents than when it was
 * gathered. */
static int is_other(struct recluster *run, const struct graph *graph, uint64_t id, bool *changed)
{
    uint64_t size;
    int r = id ? component_size(graph, id, &size) : 0;
    if (r == 0 && id)
        *changed |= size != run->sizes.numbers[id_map_find(&run->queued, id)];
    return r;
}

/* Finds the documents whose cluster or component is not as it was gathered. */
static int find_changed(struct recluster *run, const struct graph *graph, bool *changed)
{
    struct membership *membership = graph->membership;
    int r = 0;
    for (size_t at = 0; r == 0 && at < run->n; at += MEMBERS_AT_ONCE) {
        const size_t n = run->n - at < MEMBERS_AT_ONCE ? run->n - at : MEMBERS_AT_ONCE;
        uint64_t sids[MEMBERS_AT_ONCE], clusters[MEMBERS_AT_ONCE], components[MEMBERS_AT_ONCE];
        for (size_t i = 0; i < n; i++)
            sids[i] = run->documents[at + i].sid;
        r = membership_look_up(membership, sids, n, clusters);
        if (r == 0)
            r = components_of(graph, sids, clusters, n, components);
        for (size_t i = 0; r == 0 && i < n; i++) {
            const struct scope_document *document = &run->documents[at + i];
            const bool divided = component_is_divided(components[i]);
            changed[at + i] = clusters[i] != document->cluster ||
                              document->divided != (divided ? components[i] : 0);
            if (recluster_is_unsettled(run, document->divided))
                continue;
            if (!changed[at + i])
                r = is_other(run, graph, document->cluster, &changed[at + i]);
            if (r == 0 && !changed[at + i])
                r = is_other(run, graph, document->divided, &changed[at + i]);
        }
        if (r == 0 && !run->at_a_stretch) /* else it was gone before: a posting too many */
            r = find_gone(graph, sids, clusters, n, changed + at);
    }
    return r;
}

/* Ids of what is void. */
struct void_ids {
    struct id_map map;
    struct number_vector *list;
};

/* Returns 1 where it is new. 0: in none. */
static int add_void(struct void_ids *ids, uint64_t id)
{
    if (id == 0 || id_map_find(&ids->map, id) != ID_MAP_NONE)
        return 0;
    int r = id_map_add(&ids->map, id, 0);
    if (r == 0)
        r = number_vector_push(ids->list, id);
    return r < 0 ? r : 1;
}

static bool is_void(const struct void_ids *ids, uint64_t id)
{
    return id && id_map_find(&ids->map, id) != ID_MAP_NONE;
}

/* A void document makes all that it hangs together with void, and its cluster and component; the
 * ids of these are gathered. Returns whether there is any, or an error. */
static int spread_over(struct recluster *run, bool *changed, struct void_ids *ids)
{
    bool any = false;
    int r = 0;
    for (size_t i = 0; r >= 0 && i < run->torn.n_numbers; i++)
        if (!recluster_is_unsettled(run, run->torn.numbers[i]))
            any |= (r = add_void(ids, run->torn.numbers[i])) > 0;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; r >= 0 && i < run->n; i++) {
            const struct scope_document *document = &run->documents[i];
            const uint32_t root = union_find_root(&run->sets, (uint32_t)i);
            if (recluster_is_unsettled(run, document->divided))
                continue;
            if (!changed[i] && !changed[root] && !is_void(ids, document->cluster) &&
                !is_void(ids, document->divided))
                continue;
            any = true;
            more |= !changed[i] || !changed[root];
            changed[i] = changed[root] = true;
            r = add_void(ids, document->cluster);
            more |= r > 0;
            if (r >= 0)
                r = add_void(ids, document->divided);
            more |= r > 0;
        }
        if (r < 0)
            return r;
    }
    return any;
}

static int spread_void(struct recluster *run, bool *changed)
{
    struct void_ids ids = {.list = &run->void_queued};
    int r = spread_over(run, changed, &ids);
    id_map_done(&ids.map);
    return r;
}

/* A component that was marked since the run began may belong to others that are not in the scope.
 */
static int note_marked(struct recluster *run, const struct graph *graph)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < run->queue.n_numbers; i++)
        if (dirty_has_since(graph->dirty, run->queue.numbers[i], run->up_to))
            r = number_vector_push(&run->torn, run->queue.numbers[i]);
    return r;
}

int recluster_find_void(struct recluster *run, const struct graph *graph, bool *changed)
{
    int r = find_unsettled(run, graph);
    if (r == 0)
        r = note_marked(run, graph);
    if (r == 0)
        r = find_changed(run, graph, changed);
    return r < 0 ? r : spread_void(run, changed);
}
