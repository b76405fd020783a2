/* The end of a run: ids by vote, documents move, and marks go. */
#include "engine/index/clusters/recluster_private.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/index/clusters/cluster_change.h"
#include "engine/index/clusters/components.h"

/* Documents of a star are a group, and those of a component that is whole. */
static void group_clusters(struct recluster *run, uint32_t *groups)
{
    for (size_t i = 0; i < run->n; i++) {
        const uint32_t centre = run->division.centres[run->documents[i].first];
        groups[i] = centre == DIVISION_WHOLE ? union_find_root(&run->sets, (uint32_t)i) : centre;
    }
}

/* Documents of a divided component are a group; others are alone. */
static void group_divided(struct recluster *run, uint32_t *groups)
{
    for (size_t i = 0; i < run->n; i++)
        groups[i] = run->division.centres[run->documents[i].first] == DIVISION_WHOLE
                        ? (uint32_t)i
                        : union_find_root(&run->sets, (uint32_t)i);
}

/* A group is named by its first document that does not stay; sizes, by that: of those that do not.
 */
static int name_groups(const struct recluster *run, const bool *stays, uint32_t *groups,
                       uint32_t *sizes)
{
    _cleanup_free_ uint32_t *leaders = malloc((run->n + 1) * sizeof(*leaders));
    if (!leaders)
        return -ENOMEM;
    for (size_t i = 0; i < run->n; i++)
        leaders[i] = UINT32_MAX;
    for (size_t i = 0; i < run->n; i++) {
        uint32_t *leader = &leaders[groups[i]];
        if (stays[i])
            continue;
        *leader = *leader == UINT32_MAX ? (uint32_t)i : *leader;
        groups[i] = *leader;
        sizes[*leader]++;
    }
    return 0;
}

/* A void document leaves its component for nothing, and its cluster only where it is in a component
 * by which the next run finds it. components: the numbers in the plan of these, which is carried
 * out before; NULL where this is that one. */
static bool is_kept(const struct recluster *run, size_t i, uint32_t group_size,
                    const uint32_t *components)
{
    return run->is_void[i] && group_size == 1 &&
           !(components && (run->documents[i].divided || components[i] != RECLUSTER_VOID));
}

/* The documents that do not stay, with groups of places. numbers gets the place of each in the
 * plan.
 */
static int make_plan(const struct recluster *run, const bool *stays, uint32_t *groups,
                     const uint32_t *components, uint32_t *numbers, struct move_plan *plan)
{
    _cleanup_free_ uint64_t *ids = calloc(run->n + 1, sizeof(*ids));
    _cleanup_free_ uint32_t *ranks = calloc(run->n + 1, sizeof(*ranks));
    _cleanup_free_ uint32_t *sizes = calloc(run->n + 1, sizeof(*sizes));
    plan->a_step = MOVE_PLAN_STEP_MAX;
    plan->groups = calloc(run->n + 1, sizeof(*plan->groups));
    int r =
        ids && ranks && sizes && plan->groups ? name_groups(run, stays, groups, sizes) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < run->n; i++) {
        const struct scope_document *document = &run->documents[i];
        const size_t number = plan->sids.n_numbers;
        numbers[i] = RECLUSTER_VOID;
        if (stays[i] || is_kept(run, i, sizes[groups[i]], components))
            continue;
        numbers[i] = (uint32_t)number; /* of a leader it is known before it is asked for */
        ids[number] = components ? document->cluster : document->divided;
        ranks[number] = components ? document->rank : (uint32_t)i;
        plan->groups[number] = numbers[groups[i]];
        r = number_vector_push(&plan->sids, document->sid);
    }
    return r < 0 ? r : move_plan_decide(plan, ids, ranks);
}

static int make_plans(struct recluster *run, const struct graph *graph, const bool *stays)
{
    _cleanup_free_ uint32_t *groups = calloc(run->n + 1, sizeof(*groups));
    _cleanup_free_ uint32_t *components = malloc((run->n + 1) * sizeof(*components));
    run->numbers = malloc((run->n + 1) * sizeof(*run->numbers));
    if (!groups || !components || !run->numbers)
        return -ENOMEM;
    int r = 0;
    for (size_t i = 0; i < run->n; i++)
        components[i] = RECLUSTER_VOID;
    if (graph->divided) {
        group_divided(run, groups);
        r = make_plan(run, stays, groups, NULL, components, &run->divided);
    }
    run->n_divided_moves = run->divided.n_moves;
    while (r == 0 && run->divided.n_moves &&
           run->divided.moves[run->divided.n_moves - 1].group == MOVE_PLAN_ALONE)
        run->divided.n_moves--;
    group_clusters(run, groups);
    return r < 0 ? r : make_plan(run, stays, groups, components, run->numbers, &run->plan);
}

/* Clusters that came into the scope by a list, or by their component, are dirty while documents
 * move.
 */
static int mark_others(struct recluster *run, const struct graph *graph)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < run->queue.n_numbers; i++)
        if (!dirty_has(graph->dirty, run->queue.numbers[i]))
            r = number_vector_push(&run->others, run->queue.numbers[i]);
    return r < 0 ? r : dirty_mark(graph->dirty, run->others.numbers, run->others.n_numbers);
}

int recluster_begin_moving(struct recluster *run, const struct graph *graph)
{
    const bool void_stays = run->n_void < RECLUSTER_RUNS && !run->until;
    int r = recluster_find_void(run, graph);
    if (r < 0)
        return r;
    run->n_void = r > 0 ? run->n_void + 1 : 0;
    run->phase = RECLUSTER_MOVING;
    r = mark_others(run, graph);
    return r < 0 ? r : make_plans(run, graph, void_stays ? run->is_void : run->has_moved);
}

/* Clusters and components with one document left, or none, are no more. */
static int dissolve(const struct graph *graph, const struct number_vector *ids)
{
    _cleanup_(number_vector_done) struct number_vector clusters = {0}, divided = {0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < ids->n_numbers; i++)
        r = number_vector_push(component_is_divided(ids->numbers[i]) ? &divided : &clusters,
                               ids->numbers[i]);
    if (r == 0)
        r = cluster_dissolve(graph, clusters.numbers, clusters.n_numbers);
    return r < 0 || !graph->divided
               ? r
               : cluster_dissolve(graph->divided, divided.numbers, divided.n_numbers);
}

/* Ids that the run has given are dirty, too; those of what is void stay so. */
static int add_given(struct recluster *run, const struct move_plan *plan)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < plan->sids.n_numbers; i++)
        if (plan->ids[i] && id_map_find(&run->queued, plan->ids[i]) == ID_MAP_NONE &&
            !run->is_void[id_map_find(&run->places, plan->sids.numbers[i])])
            r = number_vector_push(&run->others, plan->ids[i]);
    return r;
}

/* Notes how loosely the components hang together that stay whole. */
static int note_looseness(struct recluster *run, const struct graph *graph)
{
    for (size_t i = 0; graph->looseness && i < run->queue.n_numbers; i++)
        looseness_forget(graph->looseness, run->queue.numbers[i]);
    for (size_t i = 0; i < run->division.n_whole; i++) {
        struct looseness_fact fact = run->division.whole[i].fact;
        const uint32_t number = run->numbers[run->division.whole[i].set];
        fact.cluster = number == RECLUSTER_VOID ? 0 : run->plan.ids[run->plan.groups[number]];
        int r = fact.cluster ? component_size(graph, fact.cluster, &fact.n_documents) : 0;
        if (r < 0)
            return r;
        if (fact.cluster && !run->is_void[run->division.whole[i].set])
            looseness_note(graph->looseness, &fact);
    }
    return 0;
}

static uint64_t planned_id(const struct move_plan *plan, uint64_t sid)
{
    const size_t number = number_vector_place(&plan->sids, sid);
    return number == SIZE_MAX ? 0 : plan->ids[plan->groups[number]];
}

/* A cluster that was to become part of one that is in question has stayed, maybe. */
static int add_left_by_joins(struct recluster *run, const struct move_plan *plan)
{
    _cleanup_(number_vector_done) struct number_vector left = {0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < plan->n_joins; i++)
        if (number_vector_finds(&run->void_queued, plan->ids[plan->joins[i].group]))
            r = number_vector_push(&left, plan->joins[i].cluster);
    for (size_t i = 0; r == 0 && i < left.n_numbers; i++)
        r = number_vector_push(&run->void_queued, left.numbers[i]);
    number_vector_sort_unique(&run->void_queued);
    return r;
}

/* The clusters that a document would be in which has gone since a run over all began stay dirty. */
static int add_left_by_gone(struct recluster *run)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < run->gone.n_numbers; i++) {
        r = number_vector_push(&run->void_queued, planned_id(&run->plan, run->gone.numbers[i]));
        if (r == 0)
            r = number_vector_push(&run->void_queued,
                                   planned_id(&run->divided, run->gone.numbers[i]));
    }
    number_vector_sort_unique(&run->void_queued);
    if (r == 0)
        r = add_left_by_joins(run, &run->plan);
    return r < 0 ? r : add_left_by_joins(run, &run->divided);
}

static int add_clean(const struct recluster *run, const struct number_vector *ids,
                     struct number_vector *clean)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < ids->n_numbers; i++)
        if (!number_vector_finds(&run->void_queued, ids->numbers[i]))
            r = number_vector_push(clean, ids->numbers[i]);
    return r;
}

/* The whole scope is in order now, but for what is void; so are clusters that are new. */
static int clear_marks(struct recluster *run, const struct graph *graph)
{
    _cleanup_(number_vector_done) struct number_vector clean = {0}, others = {0};
    int r = add_given(run, &run->plan);
    if (r == 0)
        r = add_given(run, &run->divided);
    if (r == 0)
        r = note_looseness(run, graph);
    if (r == 0)
        r = add_left_by_gone(run);
    if (r == 0)
        r = add_clean(run, &run->others, &others);
    if (r == 0)
        r = add_clean(run, &run->dirty, &clean);
    if (r == 0)
        r = dissolve(graph, &others);
    if (r == 0)
        r = dissolve(graph, &clean);
    if (r == 0)
        r = dirty_clear(graph->dirty, others.numbers, others.n_numbers, UINT64_MAX);
    if (r == 0)
        r = dirty_clear(graph->dirty, clean.numbers, clean.n_numbers, run->up_to);
    if (r == 0 && run->n_void == 0)
        r = dirty_clear_lists(graph->dirty, run->lists.numbers, run->lists.n_numbers, run->up_to);
    return r;
}

/* Three passes, so that a document is in a component or a cluster at any time: into divided
 * components, and from one to another; between clusters; out of divided components, which
 * make_plans() has left out of the moves until then. A call is one step of the pass that is not
 * over. Nothing comes between the first document that moves and the last. */
int recluster_move_some(struct recluster *run, const struct graph *graph)
{
    int r = graph->divided ? move_plan_step(&run->divided, graph->divided) : 0;
    if (r == 0)
        r = move_plan_step(&run->plan, graph);
    if (r == 0 && graph->divided) {
        run->divided.n_moves = run->n_divided_moves;
        r = move_plan_step(&run->divided, graph->divided);
    }
    return r == 0 ? clear_marks(run, graph) : r < 0 ? r : 1;
}
