/* A heap gives the nodes in order, so that what is before a node has its status for good when its
 * turn comes: that of the plan, or, when it is in none, the stored one. */
#include "engine/index/centre_plan.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/index/classes.h"

void centre_plan_done(struct centre_plan *plan)
{
    free(plan->spots);
    free(plan->heap);
    free(plan->centres);
    id_map_done(&plan->by_sid);
    id_map_done(&plan->by_cluster);
}

bool centre_plan_excludes(const struct centre_plan *plan, uint64_t sid)
{
    return sid == plan->not_with || sid > plan->graph->linked_sid ||
           sid_vector_finds(plan->leaving, sid);
}

/* -- what is stored -- */

static int read_centre(const struct centre_plan *plan, uint64_t cluster, struct place *ret_place)
{
    _cleanup_(sid_vector_done) struct sid_vector class = {0};
    struct member first;

    *ret_place = (struct place){0};
    int r = membership_first(plan->graph->membership, cluster, &first);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    memcpy(ret_place->order, first.order, ORDER_BYTES);
    r = classes_list(plan->graph->kv, first.order + ORDER_BYTES - CLASS_BYTES, 1, &class);
    if (r == 0 && class.n_sids > 0)
        ret_place->sid = class.sids[0];
    return r;
}

int centre_plan_centre_of(struct centre_plan *plan, uint64_t cluster, struct place *ret_place)
{
    uint32_t i = id_map_find(&plan->by_cluster, cluster);
    if (i == ID_MAP_NONE) {
        if (plan->n_centres == plan->max_centres) {
            uint32_t max = plan->max_centres ? 2 * plan->max_centres : 16;
            struct place *centres = reallocarray(plan->centres, max, sizeof(*centres));
            if (!centres)
                return -ENOMEM;
            plan->centres = centres;
            plan->max_centres = max;
        }
        int r = read_centre(plan, cluster, &plan->centres[plan->n_centres]);
        if (r == 0)
            r = id_map_add(&plan->by_cluster, cluster, plan->n_centres);
        if (r < 0)
            return r;
        i = plan->n_centres++;
    }
    *ret_place = plan->centres[i];
    return 0;
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
    r = cluster ? centre_plan_centre_of(plan, cluster, &spot.had) : 0;
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

/* -- looking -- */

static void place_of(struct place *place, uint64_t sid, const struct record *record)
{
    place->sid = sid;
    member_order(place->order, record);
}

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
    int r = centre_plan_centre_of(plan, cluster, &centre);
    if (r < 0)
        plan->error = r;
    return r == 0 && centre.sid == sid;
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

static bool may_be_later(void *user, uint64_t sid, uint64_t cluster)
{
    const struct centre_plan *plan = user;
    uint32_t i = id_map_find(&plan->by_sid, sid);
    (void)cluster;

    return !centre_plan_excludes(plan, sid) &&
           (i == ID_MAP_NONE || (i != plan->at && !plan->spots[i].done));
}

static int found_later(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct centre_plan *plan = user;
    const struct place centre = plan->spots[plan->at].node;
    struct place place;
    uint32_t i;

    place_of(&place, sid, record);
    if (!place_before(&centre, &place))
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

static int ask(struct centre_plan *plan, neighbour_wanted_fn wanted, neighbour_found_fn found)
{
    const struct record *record = NULL;
    uint64_t sid = plan->spots[plan->at].node.sid;

    int r = records_get(plan->graph->records, &sid, 1, &record);
    if (r == 0 && record)
        r = neighbours_find(plan->graph, &record->sketch, wanted, found, plan, NULL);
    records_put(plan->graph->records, &record, 1);
    return r < 0 ? r : plan->error;
}

/* Who had a centre that is one no more: the nodes of its cluster. */
int centre_plan_lose_members(struct centre_plan *plan, uint64_t cluster, const struct place *centre)
{
    _cleanup_(sid_vector_done) struct sid_vector members = {0};

    int r = membership_list(plan->graph->membership, cluster, 0, &members);
    for (size_t i = 0; r == 0 && i < members.n_sids; i++) {
        _cleanup_(sid_vector_done) struct sid_vector class = {0};
        const struct record *record = NULL;
        struct place place;
        uint32_t spot;
        r = records_get(plan->graph->records, &members.sids[i], 1, &record);
        if (r < 0 || !record)
            return r < 0 ? r : -EUCLEAN;
        place_of(&place, members.sids[i], record);
        records_put(plan->graph->records, &record, 1);
        if (place_equal(&place, centre))
            continue;
        r = classes_list(plan->graph->kv, place.order + ORDER_BYTES - CLASS_BYTES, 1, &class);
        if (r < 0 || class.n_sids == 0)
            return r < 0 ? r : -EUCLEAN;
        place.sid = class.sids[0];
        if (centre_plan_excludes(plan, place.sid))
            continue;
        r = find_spot(plan, &place, cluster, &spot);
        if (r == 0 && !plan->spots[spot].done) {
            plan->spots[spot].lost = true;
            queue(plan, spot);
        }
    }
    return r;
}

static int look_at(struct centre_plan *plan, uint32_t i)
{
    struct spot *spot = &plan->spots[i];
    int r = 0;

    plan->at = i;
    spot->has = spot->node;
    if (spot->is_new || spot->lost)
        r = ask(plan, may_be_centre, found_centre);
    else
        spot->has = spot->had;
    spot = &plan->spots[i];
    /* Who comes has no postings yet; who found it was told of it. */
    if (spot->has_best && place_before(&spot->best, &spot->has))
        spot->has = spot->best;
    spot->done = true;
    const struct spot now = *spot;
    if (r == 0 && is_centre(&now) && (now.is_new || !was_centre(&now)))
        r = ask(plan, may_be_later, found_later);
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
