/* The documents of a scope: those of dirty components, and of what meets in dirty lists; or all. */
#include "engine/index/clusters/recluster_private.h"

#include <errno.h>

#include "base/room.h"
#include "engine/index/clusters/components.h"

static int add_document(struct recluster *run, const struct scope_document *document)
{
    if (!MAKE_ROOM(run->documents, run->room, run->n + 1))
        return -ENOMEM;
    if (run->n == UINT32_MAX - 1)
        return -E2BIG;
    run->documents[run->n++] = *document;
    return 0;
}

int recluster_queue(struct recluster *run, uint64_t id)
{
    if (id_map_find(&run->queued, id) != ID_MAP_NONE)
        return 0;
    int r = id_map_add(&run->queued, id, (uint32_t)run->queue.n_numbers);
    return r < 0 ? r : number_vector_push(&run->queue, id);
}

/* The cluster and the component of some documents, MEMBERS_AT_ONCE at most, are gathered. A
 * document comes with its cluster (from); one that is in none, with its component, or else with its
 * list (from is 0). */
static int gather_documents(struct recluster *run, const struct graph *graph, uint64_t from,
                            const uint64_t *sids, size_t n)
{
    uint64_t clusters[MEMBERS_AT_ONCE], components[MEMBERS_AT_ONCE];
    int r = membership_look_up(graph->membership, sids, n, clusters);
    if (r == 0)
        r = components_of(graph, sids, clusters, n, components);
    for (size_t i = 0; r == 0 && i < n; i++) {
        const bool divided = component_is_divided(components[i]);
        const struct scope_document document = {.sid = sids[i],
                                                .cluster = clusters[i],
                                                .divided = divided ? components[i] : 0,
                                                .rank = (uint32_t)run->n_gathered};
        const uint64_t comes_with = clusters[i] ? clusters[i] : document.divided;
        run->n_gathered += from != 0;
        if (comes_with == from || (from && !component_is_divided(from)))
            r = add_document(run, &document);
        if (r == 0 && clusters[i])
            r = recluster_queue(run, clusters[i]);
        if (r == 0 && divided)
            r = recluster_queue(run, components[i]);
    }
    return r;
}

static int gather_all(struct recluster *run, const struct graph *graph, uint64_t from,
                      const uint64_t *sids, size_t n)
{
    int r = 0;
    for (size_t at = 0; r == 0 && at < n; at += MEMBERS_AT_ONCE)
        r = gather_documents(run, graph, from, sids + at,
                             n - at < MEMBERS_AT_ONCE ? n - at : MEMBERS_AT_ONCE);
    return r;
}

/* Some documents of the next in the queue. One that there is not is gathered, too: its mark goes at
 * the end. */
int recluster_gather_some(struct recluster *run, const struct graph *graph)
{
    _cleanup_(number_vector_done) struct number_vector sids = {0};
    const uint64_t id = run->queue.numbers[run->sizes.n_numbers];
    const struct graph *of = graph_of_cluster(graph, id);
    int more = of ? membership_list_some(of->membership, id, &run->cursor, &sids) : 0;
    int r = more < 0 ? more : gather_all(run, graph, id, sids.numbers, sids.n_numbers);
    if (r < 0 || more > 0)
        return r;
    r = number_vector_push(&run->sizes, run->n_gathered);
    run->n_gathered = 0;
    return r;
}

/* The next of all documents. Sids that none has are passed over when they are linked. */
int recluster_gather_range(struct recluster *run, const struct graph *graph)
{
    uint64_t sids[MEMBERS_AT_ONCE];
    size_t n = 0;
    while (n < MEMBERS_AT_ONCE && run->at_sid < run->until)
        sids[n++] = ++run->at_sid;
    return gather_documents(run, graph, 0, sids, n);
}

/* The documents of a list: their clusters and components are gathered whole. */
int recluster_gather_list(struct recluster *run, const struct graph *graph, uint64_t fingerprint)
{
    _cleanup_(sid_list_done) struct sid_list list = {0};
    int r = postings_with(graph->postings, POSTINGS_TIER_R, &fingerprint, 1, 0, &list, NULL);
    return r < 0 ? r : gather_all(run, graph, 0, list.sids, list.n_sids);
}
