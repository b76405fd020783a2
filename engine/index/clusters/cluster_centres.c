#include "engine/index/clusters/cluster_centres.h"

#include <errno.h>

#include "engine/index/clusters/centre_members.h"
#include "engine/index/clusters/centre_plan.h"
#include "engine/index/clusters/cluster_change.h"

static void place_of(struct place *place, uint64_t sid, const struct record *record)
{
    place->sid = sid;
    member_order(place->order, record);
}

int cluster_centres_insert(const struct graph *graph, uint64_t sid, const struct record *record,
                           uint64_t not_with)
{
    _cleanup_(cluster_intent_done) struct cluster_intent intent = {.kind = INTENT_MOVE};
    const struct sid_vector none = {0};
    _cleanup_(centre_plan_done) struct centre_plan plan = {
        .graph = graph, .leaving = &none, .not_with = not_with};
    struct place place;
    uint64_t cluster = 0;

    place_of(&place, sid, record);
    int r = membership_clusters_of(graph->membership, &sid, 1, &cluster);
    if (r == 0)
        r = centre_plan_enters(&plan, &place, cluster);
    if (r == 0)
        r = centre_plan_carry_out(&plan);
    if (r == 0)
        r = centre_plan_moves(&plan, &intent);
    return r < 0 || intent.n_splits == 0 ? r : cluster_change_carry_out(graph, &intent);
}

/* -- who waits -- */

static int take_in(const struct graph *graph, uint64_t cluster, const struct centre_node *node)
{
    _cleanup_(cluster_intent_done) struct cluster_intent intent = {.kind = INTENT_MOVE};
    const struct sid_vector none = {0};
    _cleanup_(centre_plan_done) struct centre_plan plan = {
        .graph = graph, .leaving = &none, .is_posted = true};

    int r = centre_plan_enters(&plan, &node->place, cluster);
    if (r == 0)
        r = centre_plan_carry_out(&plan);
    if (r == 0)
        r = centre_plan_moves(&plan, &intent);
    return r < 0 || intent.n_splits == 0 ? r : cluster_change_carry_out(graph, &intent);
}

int cluster_centres_take_in(const struct graph *graph, uint64_t cluster, const uint8_t *order,
                            size_t most)
{
    struct centre_node nodes[CENTRE_NODES_AT_ONCE];
    const struct record *records[CENTRE_NODES_AT_ONCE];
    uint64_t sids[CENTRE_NODES_AT_ONCE];

    int n = centre_members_after(graph, cluster, order, nodes);
    if (n <= 0)
        return n;
    n = (size_t)n < most ? n : (int)most;
    for (int i = 0; i < n; i++)
        sids[i] = nodes[i].place.sid;
    int r =
        records_get(graph->records, sids, (size_t)n, records); /* in one look, for what follows */
    if (r < 0)
        return r;
    for (int i = 0; r == 0 && i < n; i++) {
        r = take_in(graph, cluster, &nodes[i]);
        if (r == 0)
            r = cluster_repairs_taken_in(graph, cluster, nodes[i].place.order);
    }
    records_put(graph->records, records, (size_t)n);
    return r < 0 ? r : n;
}

/* -- who goes -- */

/* Only a centre leaves anybody behind. */
static int leave(struct centre_plan *plan, uint64_t sid)
{
    const struct record *record = NULL;
    struct place place, centre;
    uint64_t cluster = 0;

    int r = membership_clusters_of(plan->graph->membership, &sid, 1, &cluster);
    if (r < 0 || cluster == 0)
        return r;
    r = records_get(plan->graph->records, &sid, 1, &record);
    if (r < 0 || !record)
        return r < 0 ? r : -EUCLEAN;
    place_of(&place, sid, record);
    records_put(plan->graph->records, &record, 1);
    r = centre_members_centre(plan->graph, cluster, &centre);
    if (r < 0 || !place_equal(&centre, &place))
        return r;
    return centre_plan_lose_members(plan, cluster, &centre);
}

int cluster_centres_plan_delete(const struct graph *graph, const struct sid_vector *leaving,
                                struct cluster_intent *intent)
{
    _cleanup_(centre_plan_done) struct centre_plan plan = {.graph = graph, .leaving = leaving};
    int r = 0;

    for (size_t i = 0; r == 0 && i < leaving->n_sids; i++)
        r = leave(&plan, leaving->sids[i]);
    if (r == 0)
        r = centre_plan_carry_out(&plan);
    return r < 0 ? r : centre_plan_moves(&plan, intent);
}
