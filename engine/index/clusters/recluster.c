/* A run has four parts:
 *
 *   gather   the documents of the scope, each with its cluster and component; some, or a list, a
 *            step
 *
 *   link     each document with its candidates in the scope (neighbours.h); some a step
 *
 *   divide   the components that are loose (division.h); some a step
 *
 *   move     what is not where it belongs, ids by vote (move_plan.h): first between components
 *            that are divided, then between clusters; some a step
 *
 * Example: from the cluster 7 of a b c d the document that held a b and c d together has gone. The
 * scope is a b c d, linking makes {a b} and {c d} of it. Both have two votes for the id 7; a comes
 * before c in the cluster, so {a b} keep it, and c d move into the new cluster 8.
 *
 * A scope of a few documents is linked without posting lists: each is compared with each.
 *
 * Whatever has an edge into a scope is in it: edges that lead out of a cluster come with a document
 * that is inserted, which marks all clusters it touches, or with a list, which is marked.
 *
 * Left out: the batch engine for large scopes. It would have to be told which lists are long in the
 * whole index, and what is read for that is what linking reads here. */
#include "engine/index/clusters/recluster_private.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/index/clusters/components.h"

/* A run that has more documents left to move ends when something comes; the number is so many times
 * that of documents that are clustered anew at once. */
enum { FINISHED_TIMES = 16 };

int recluster_new(struct recluster **ret_run)
{
    *ret_run = calloc(1, sizeof(**ret_run));
    return *ret_run ? 0 : -ENOMEM;
}

void recluster_forget(struct recluster *run)
{
    const unsigned n_void = run->n_void;
    free(run->documents);
    free(run->has_moved);
    free(run->is_void);
    number_vector_done(&run->dirty);
    number_vector_done(&run->lists);
    number_vector_done(&run->queue);
    id_map_done(&run->queued);
    number_vector_done(&run->sizes);
    kv_buf_done(&run->cursor);
    number_vector_done(&run->torn);
    number_vector_done(&run->gone);
    division_done(&run->division);
    free(run->numbers);
    move_plan_done(&run->plan);
    move_plan_done(&run->divided);
    number_vector_done(&run->void_queued);
    number_vector_done(&run->others);
    id_map_done(&run->places);
    id_map_done(&run->classes);
    union_find_done(&run->sets);
    *run = (struct recluster){.n_void = n_void};
}

void recluster_free(struct recluster *run)
{
    if (run)
        recluster_forget(run);
    free(run);
}

static int begin(struct recluster *run, const struct graph *graph, uint64_t until)
{
    run->phase = RECLUSTER_GATHERING;
    run->disturbed = false;
    run->until = until;
    run->up_to = dirty_last_mark(graph->dirty);
    _cleanup_(number_vector_done) struct number_vector ids = {0};
    int r = dirty_clusters(graph->dirty, &ids);
    for (size_t i = 0; r == 0 && i < ids.n_numbers; i++) {
        const unsigned clustering = cluster_clustering(ids.numbers[i]);
        if ((clustering && clustering != CLUSTERING_DIVIDED) || ids.numbers[i] == DIRTY_PUT_OFF)
            continue; /* those are on their way, or put off */
        r = number_vector_push(&run->dirty, ids.numbers[i]);
        if (r == 0)
            r = recluster_queue(run, ids.numbers[i]);
    }
    if (r == 0)
        r = dirty_lists(graph->dirty, &run->lists);
    if (until) /* all that meet in them are gathered */
        run->at_list = run->lists.n_numbers;
    return r;
}

/* Returns 1 when there is more to do, 0 at its end, or an error. */
static int go_on(struct recluster *run, const struct graph *graph)
{
    int r = 0;
    switch (run->phase) {
    case RECLUSTER_GATHERING:
        if (run->at_sid < run->until)
            r = recluster_gather_range(run, graph);
        else if (run->at_list < run->lists.n_numbers)
            r = recluster_gather_list(run, graph, run->lists.numbers[run->at_list++]);
        else if (run->sizes.n_numbers < run->queue.n_numbers)
            r = recluster_gather_some(run, graph);
        else
            r = recluster_begin_linking(run);
        break;
    case RECLUSTER_LINKING:
        r = run->at < run->n ? recluster_link_some(run, graph)
                             : recluster_begin_dividing(run, graph);
        break;
    case RECLUSTER_DIVIDING:
        r = division_step(&run->division, graph);
        if (r == 0)
            r = recluster_begin_moving(run, graph);
        break;
    case RECLUSTER_MOVING: return recluster_move_some(run, graph);
    case RECLUSTER_NOT_BEGUN: break;
    }
    return r < 0 ? r : 1;
}

static size_t n_left(const struct move_plan *plan)
{
    size_t n = plan->n_moves - plan->moved;
    for (size_t i = plan->joined; i < plan->n_joins; i++)
        n += plan->joins[i].n_left;
    return n;
}

/* A cluster of which more is left to move than may hold others up is left as after a crash: dirty,
 * and documents that have moved need not move again. */
int recluster_finish(struct recluster *run, const struct graph *graph, const uint64_t *gone,
                     size_t n_gone)
{
    int r = 0;
    run->disturbed = true;
    for (size_t i = 0; r == 0 && run->until && i < n_gone; i++)
        r = number_vector_push(&run->gone, gone[i]);
    if (r < 0 || run->until)
        return r;
    r = run->phase == RECLUSTER_MOVING &&
        n_left(&run->plan) + run->n_divided_moves - run->divided.moved <=
            FINISHED_TIMES * graph->bounds.at_once;
    while (r > 0)
        r = go_on(run, graph);
    if (r < 0 || run->phase == RECLUSTER_MOVING)
        recluster_forget(run);
    return r;
}

bool recluster_is_at_work(const struct recluster *run)
{
    return run->phase != RECLUSTER_NOT_BEGUN;
}

int recluster_all_step(struct recluster *run, const struct graph *graph, uint64_t last,
                       uint64_t *ret_last)
{
    int r = 1;
    if (run->phase == RECLUSTER_NOT_BEGUN)
        r = begin(run, graph, last);
    if (r >= 0)
        r = go_on(run, graph);
    if (r == 0 && !run->disturbed && run->n_void > 0) /* by nobody: rows contradict each other */
        r = -EUCLEAN;
    if (r == 0)
        *ret_last = run->until;
    if (r <= 0)
        recluster_forget(run);
    return r;
}

int recluster_step(struct recluster *run, const struct graph *graph)
{
    uint64_t last;
    if (run->phase == RECLUSTER_NOT_BEGUN && dirty_count(graph->dirty) == 0)
        return 0;
    int r = recluster_all_step(run, graph, 0, &last);
    return r < 0 ? r : dirty_count(graph->dirty) > 0;
}

static int run_once(const struct graph *graph, const uint64_t *components, size_t n)
{
    struct recluster run = {.phase = RECLUSTER_GATHERING, .up_to = dirty_last_mark(graph->dirty)};
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        r = number_vector_push(&run.dirty, components[i]);
        if (r == 0)
            r = recluster_queue(&run, components[i]);
    }
    if (r == 0)
        while ((r = go_on(&run, graph)) > 0)
            ;
    recluster_forget(&run);
    return r;
}

int recluster_together(const struct graph *graph, const uint64_t *components, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t size;
        int r = component_size(graph, components[i], &size);
        if (r < 0)
            return r;
        sum += size;
    }
    return sum <= graph->bounds.at_once ? run_once(graph, components, n) : 0;
}

int recluster_small(const struct graph *graph, const struct number_vector *components)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < components->n_numbers; i++)
        r = recluster_together(graph, &components->numbers[i], 1);
    return r;
}
