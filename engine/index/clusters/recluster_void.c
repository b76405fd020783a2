/* The result of a run is void where documents have come or gone since it gathered them. */
#include "engine/index/clusters/recluster_private.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/index/clusters/components.h"

/* Finds those that are gone among documents in no cluster, of which nothing but the record tells.
 */
static int find_gone(const struct graph *graph, const uint64_t *sids, const uint64_t *clusters,
                     size_t n, bool *has_moved)
{
    const struct record *records[MEMBERS_AT_ONCE];
    uint64_t loners[MEMBERS_AT_ONCE];
    size_t places[MEMBERS_AT_ONCE], n_loners = 0;
    for (size_t i = 0; i < n; i++)
        if (clusters[i] == 0 && !has_moved[i]) {
            places[n_loners] = i;
            loners[n_loners++] = sids[i];
        }
    int r = n_loners ? records_borrow(graph->records, loners, n_loners, records) : 0;
    if (r < 0 || n_loners == 0)
        return r;
    for (size_t i = 0; i < n_loners; i++)
        has_moved[places[i]] = !records[i];
    records_return(graph->records, records, n_loners);
    return 0;
}

static int find_moved(struct recluster *run, const struct graph *graph)
{
    int r = 0;
    for (size_t at = 0; r == 0 && at < run->n; at += MEMBERS_AT_ONCE) {
        const size_t n = run->n - at < MEMBERS_AT_ONCE ? run->n - at : MEMBERS_AT_ONCE;
        uint64_t sids[MEMBERS_AT_ONCE], clusters[MEMBERS_AT_ONCE], components[MEMBERS_AT_ONCE];
        for (size_t i = 0; i < n; i++)
            sids[i] = run->documents[at + i].sid;
        r = membership_look_up(graph->membership, sids, n, clusters);
        if (r == 0)
            r = components_of(graph, sids, clusters, n, components);
        for (size_t i = 0; r == 0 && i < n; i++) {
            const struct scope_document *document = &run->documents[at + i];
            const bool divided = component_is_divided(components[i]);
            run->has_moved[at + i] = clusters[i] != document->cluster ||
                                     document->divided != (divided ? components[i] : 0);
        }
        if (r == 0)
            r = find_gone(graph, sids, clusters, n, run->has_moved + at);
    }
    return r;
}

/* A cluster or component is torn, too, that has another number of documents than when it was
 * gathered, or was marked since the run began: it may belong to others that are not in the scope.
 */
static int find_torn(struct recluster *run, const struct graph *graph)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < run->queue.n_numbers; i++) {
        uint64_t size;
        r = component_size(graph, run->queue.numbers[i], &size);
        if (r == 0 && (size != run->sizes.numbers[i] ||
                       dirty_has_since(graph->dirty, run->queue.numbers[i], run->up_to)))
            r = number_vector_push(&run->torn, run->queue.numbers[i]);
    }
    return r;
}

/* -- what is void -- */

/* The place of an id behind those of the documents. */
static uint32_t place_of(const struct recluster *run, uint64_t id)
{
    return (uint32_t)run->n + id_map_find(&run->queued, id);
}

/* A document is together with its set, its cluster and its component. */
static int join_all(struct recluster *run, struct union_find *together)
{
    int r = union_find_init(together, run->n + run->queue.n_numbers + 1);
    for (uint32_t i = 0; r == 0 && i < run->n; i++) {
        const struct scope_document *document = &run->documents[i];
        union_find_join(together, i, union_find_root(&run->sets, i));
        if (document->cluster)
            union_find_join(together, i, place_of(run, document->cluster));
        if (document->divided)
            union_find_join(together, i, place_of(run, document->divided));
    }
    return r;
}

/* A document that is together with one that has moved, or is torn, is void. */
static int spread_void(struct recluster *run)
{
    _cleanup_(union_find_done) struct union_find together = {0};
    _cleanup_free_ bool *is_void = calloc(run->n + run->queue.n_numbers + 1, sizeof(*is_void));
    bool any = run->torn.n_numbers > 0;
    int r = is_void ? join_all(run, &together) : -ENOMEM;
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < run->n; i++) {
        is_void[union_find_root(&together, i)] |= run->has_moved[i];
        any |= run->has_moved[i];
    }
    for (size_t i = 0; i < run->torn.n_numbers; i++)
        is_void[union_find_root(&together, place_of(run, run->torn.numbers[i]))] = true;
    for (uint32_t i = 0; i < run->n; i++)
        run->is_void[i] = is_void[union_find_root(&together, i)];
    for (size_t i = 0; r == 0 && i < run->queue.n_numbers; i++)
        if (is_void[union_find_root(&together, place_of(run, run->queue.numbers[i]))])
            r = number_vector_push(&run->void_queued, run->queue.numbers[i]);
    return r < 0 ? r : any;
}

int recluster_find_void(struct recluster *run, const struct graph *graph)
{
    run->has_moved = calloc(run->n + 1, sizeof(*run->has_moved));
    run->is_void = calloc(run->n + 1, sizeof(*run->is_void));
    int r = run->has_moved && run->is_void ? find_torn(run, graph) : -ENOMEM;
    if (r == 0 && run->disturbed && !run->until) /* else nothing moves but what goes */
        r = find_moved(run, graph);
    if (r == 0)
        r = spread_void(run);
    number_vector_sort_unique(&run->void_queued);
    return r;
}
