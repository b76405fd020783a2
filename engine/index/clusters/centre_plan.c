/* A heap gives the nodes in order, so that what is before a node has its status for good when its
 * turn comes: that of the plan, or, when it is in none, the stored one. */
#include "engine/index/clusters/centre_plan.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/index/clusters/centre_members.h"
#include "engine/index/clusters/centre_search.h"

/* Members of a cluster that is larger are looked at some a step. */
enum { AT_ONCE = 512 };

void centre_plan_done(struct centre_plan *plan)
{
    free(plan->spots);
    free(plan->heap);
    id_map_done(&plan->by_sid);
}

bool centre_plan_excludes(const struct centre_plan *plan, uint64_t sid)
{
    return sid == plan->not_with || sid > plan->graph->linked_sid ||
           sid_vector_finds(plan->leaving, sid);
}

static bool was_centre(const struct spot *spot)
{
    return place_equal(&spot->had, &spot->node);
}

static bool is_centre(const struct spot *spot)
{
    return place_equal(&spot->has, &spot->node);
}

static int grow(struct centre_plan *plan)
{
    uint32_t max = plan->max_spots ? 2 * plan->max_spots : 16;
    struct spot *spots = reallocarray(plan->spots, max, sizeof(*spots));
    if (!spots)
        return -ENOMEM;
    plan->spots = spots;
    uint32_t *heap = reallocarray(plan->heap, max, sizeof(*heap));
    if (!heap)
        return -ENOMEM;
    plan->heap = heap;
    plan->max_spots = max;
    return 0;
}

/* The spot of a node, with its stored status. */
static int find_spot(struct centre_plan *plan, const struct place *node, uint64_t cluster,
                     uint32_t *ret_spot)
{
    uint32_t i = id_map_find(&plan->by_sid, node->sid);
    if (i != ID_MAP_NONE) {
        *ret_spot = i;
        return 0;
    }
    int r = plan->n_spots == plan->max_spots ? grow(plan) : 0;
    if (r < 0)
        return r;
    struct spot spot = {.node = *node, .had = *node, .cluster = cluster};
    r = cluster ? centre_members_centre(plan->graph, cluster, &spot.had) : 0;
    if (r == 0)
        r = id_map_add(&plan->by_sid, node->sid, plan->n_spots);
    if (r < 0)
        return r;
    plan->spots[plan->n_spots] = spot;
    *ret_spot = plan->n_spots++;
    return 0;
}

/* -- the heap -- */

static bool heap_before(const struct centre_plan *plan, uint32_t i, uint32_t k)
{
    return place_before(&plan->spots[plan->heap[i]].node, &plan->spots[plan->heap[k]].node);
}

static void heap_swap(struct centre_plan *plan, uint32_t i, uint32_t k)
{
    uint32_t spot = plan->heap[i];
    plan->heap[i] = plan->heap[k];
    plan->heap[k] = spot;
}

static void queue(struct centre_plan *plan, uint32_t spot)
{
    if (plan->spots[spot].queued)
        return;
    plan->spots[spot].queued = true;
    uint32_t i = plan->n_heap++;
    plan->heap[i] = spot;
    for (; i > 0 && heap_before(plan, i, (i - 1) / 2); i = (i - 1) / 2)
        heap_swap(plan, i, (i - 1) / 2);
}

static uint32_t take_first(struct centre_plan *plan)
{
    uint32_t first = plan->heap[0], i = 0;
    plan->heap[0] = plan->heap[--plan->n_heap];
    for (;;) {
        uint32_t least = i;
        for (uint32_t k = 2 * i + 1; k <= 2 * i + 2 && k < plan->n_heap; k++)
            if (heap_before(plan, k, least))
                least = k;
        if (least == i)
            return first;
        heap_swap(plan, i, least);
        i = least;
    }
}

/* -- what is known of clusters -- */

static void place_of(struct place *place, uint64_t sid, const struct record *record)
{
    place->sid = sid;
    member_order(place->order, record);
}

/* Returns 1, 0 or an error. */
static int is_large(const struct centre_plan *plan, uint64_t cluster)
{
    const size_t at_once = cluster_repairs_at_once(plan->graph->repairs);
    uint64_t size = 0;

    int r = membership_known_size(plan->graph->membership, cluster, &size);
    return r < 0 ? r : size > (at_once < AT_ONCE ? at_once : AT_ONCE);
}

/* Whether it was planned that a stored centre is one no more. */
static bool is_lost(const struct centre_plan *plan, const struct place *centre)
{
    uint32_t i = id_map_find(&plan->by_sid, centre->sid);

    return centre_plan_excludes(plan, centre->sid) ||
           (i != ID_MAP_NONE && plan->spots[i].done && !is_centre(&plan->spots[i]));
}

/* -- looking for centres -- */

/* What is not done is not before the one that is looked at. */
static bool may_be_centre(void *user, uint64_t sid, uint64_t cluster)
{
    struct centre_plan *plan = user;
    uint32_t i = id_map_find(&plan->by_sid, sid);
    struct place centre;

    if (centre_plan_excludes(plan, sid) || i == plan->at)
        return false;
    if (i != ID_MAP_NONE)
        return plan->spots[i].done && is_centre(&plan->spots[i]);
    if (cluster == 0)
        return true;
    int r = centre_members_centre(plan->graph, cluster, &centre);
    if (r < 0)
        plan->error = r;
    return r == 0 && centre.sid == sid;
}

/* Stored centres before the one that it had are no neighbours of it, or it would have had one of
 * them; those that were planned have told it. */
static int choose_centre(void *user, uint64_t cluster, uint64_t *ret_sid)
{
    struct centre_plan *plan = user;
    const struct spot *spot = &plan->spots[plan->at];
    struct place centre;

    int r = centre_members_centre(plan->graph, cluster, &centre);
    if (r < 0 || centre.sid == 0 || !place_before(&centre, &spot->has) ||
        (!spot->is_new && !place_before(&spot->had, &centre)) ||
        !may_be_centre(plan, centre.sid, cluster))
        return r < 0 ? r : CENTRE_NOTHING;
    *ret_sid = centre.sid;
    return CENTRE_ITSELF;
}

static int found_centre(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct centre_plan *plan = user;
    struct spot *spot = &plan->spots[plan->at];
    struct place place;
    (void)cluster;

    place_of(&place, sid, record);
    if (place_before(&place, &spot->has))
        spot->has = place;
    return 0;
}

/* -- telling those behind a new centre -- */

static bool may_be_later(void *user, uint64_t sid, uint64_t cluster)
{
    const struct centre_plan *plan = user;
    uint32_t i = id_map_find(&plan->by_sid, sid);
    (void)cluster;

    return !centre_plan_excludes(plan, sid) &&
           (i == ID_MAP_NONE || (i != plan->at && !plan->spots[i].done));
}

/* Who has a centre before this one keeps it. */
static int choose_later(void *user, uint64_t cluster, uint64_t *ret_sid)
{
    struct centre_plan *plan = user;
    const struct place *node = &plan->spots[plan->at].node;
    struct place centre;

    int r = centre_members_centre(plan->graph, cluster, &centre);
    if (r < 0 || centre.sid == 0)
        return r < 0 ? r : CENTRE_NOTHING;
    bool lost = is_lost(plan, &centre);
    if (!lost && place_before(&centre, node))
        return CENTRE_NOTHING;
    r = is_large(plan, cluster);
    if (r <= 0)
        return r < 0 ? r : CENTRE_ALL;
    r = cluster_repairs_wait(plan->graph, cluster, centre.order);
    *ret_sid = centre.sid;
    return r < 0 ? r : lost ? CENTRE_NOTHING : CENTRE_ITSELF;
}

static int found_later(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct centre_plan *plan = user;
    const struct place centre = plan->spots[plan->at].node;
    struct place place;
    uint32_t i;

    place_of(&place, sid, record);
    if (!place_before(&centre, &place) ||
        (cluster && id_map_find(&plan->by_sid, sid) == ID_MAP_NONE &&
         cluster_repairs_waits(plan->graph->repairs, cluster, place.order)))
        return 0;
    int r = find_spot(plan, &place, cluster, &i);
    if (r < 0)
        return r;
    struct spot *spot = &plan->spots[i];
    if (!spot->has_best || place_before(&centre, &spot->best))
        spot->best = centre;
    spot->has_best = true;
    queue(plan, i);
    return 0;
}

static int ask(struct centre_plan *plan, struct centre_search search)
{
    const struct record *record = NULL;
    const struct spot *spot = &plan->spots[plan->at];
    uint64_t sid = spot->node.sid;

    search.user = plan;
    search.is_posted = !spot->is_new || plan->is_posted;
    int r = records_get(plan->graph->records, &sid, 1, &record);
    if (r == 0 && record)
        r = centre_search(plan->graph, &record->sketch, &search);
    records_put(plan->graph->records, &record, 1);
    return r < 0 ? r : plan->error;
}

static int ask_for_centre(struct centre_plan *plan)
{
    return ask(plan, (struct centre_search){
                         .choose = choose_centre, .wanted = may_be_centre, .found = found_centre});
}

static int tell_later(struct centre_plan *plan)
{
    return ask(plan, (struct centre_search){
                         .choose = choose_later, .wanted = may_be_later, .found = found_later});
}

/* -- looking -- */

static int lose(struct centre_plan *plan, uint64_t cluster, const struct centre_node *node)
{
    uint32_t i;

    if (centre_plan_excludes(plan, node->place.sid) ||
        cluster_repairs_waits(plan->graph->repairs, cluster, node->place.order))
        return 0;
    int r = find_spot(plan, &node->place, cluster, &i);
    if (r < 0 || plan->spots[i].done)
        return r;
    plan->spots[i].lost = true;
    plan->spots[i].n_documents = node->n_documents;
    queue(plan, i);
    return 0;
}

/* Who had a centre that is one no more: the nodes of its cluster, behind it. */
int centre_plan_lose_members(struct centre_plan *plan, uint64_t cluster, const struct place *centre)
{
    struct centre_node nodes[CENTRE_NODES_AT_ONCE];
    struct place last = *centre;
    int n = 0;

    int r = is_large(plan, cluster);
    if (r != 0)
        return r < 0 ? r : cluster_repairs_wait(plan->graph, cluster, centre->order);
    while ((n = centre_members_after(plan->graph, cluster, last.order, nodes)) > 0) {
        for (int i = 0; i < n; i++) {
            r = lose(plan, cluster, &nodes[i]);
            if (r < 0)
                return r;
        }
        last = nodes[n - 1].place;
    }
    return n;
}

static int look_at(struct centre_plan *plan, uint32_t i)
{
    struct spot *spot = &plan->spots[i];
    int r = 0;

    plan->at = i;
    spot->has = spot->node;
    /* Who comes has no postings yet; who found it has told it. */
    if (spot->has_best && place_before(&spot->best, &spot->has))
        spot->has = spot->best;
    if (spot->is_new || (spot->lost && place_before(&spot->had, &spot->has)))
        r = ask_for_centre(plan);
    spot = &plan->spots[i];
    if (!spot->is_new && !spot->lost && !(spot->has_best && place_before(&spot->best, &spot->had)))
        spot->has = spot->had;
    spot->done = true;
    const struct spot now = *spot;
    if (r == 0 && is_centre(&now) && (now.is_new || !was_centre(&now)))
        r = tell_later(plan);
    if (r == 0 && !is_centre(&now) && was_centre(&now) && now.cluster)
        r = centre_plan_lose_members(plan, now.cluster, &now.node);
    return r;
}

int centre_plan_enters(struct centre_plan *plan, const struct place *node, uint64_t cluster)
{
    uint32_t spot;
    int r = find_spot(plan, node, cluster, &spot);
    if (r < 0)
        return r;
    plan->spots[spot].is_new = true;
    queue(plan, spot);
    return 0;
}

int centre_plan_carry_out(struct centre_plan *plan)
{
    int r = 0;
    while (r == 0 && plan->n_heap > 0)
        r = look_at(plan, take_first(plan));
    return r;
}
