/* The components of a scope: each document is linked with its neighbours in it. */
#include "engine/index/clusters/recluster_private.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/cluster/stars.h"
#include "engine/index/clusters/components.h"
#include "engine/index/clusters/neighbours.h"

enum { LINKED_AT_ONCE = 64 };

static int compare_documents(const void *a, const void *b)
{
    const struct scope_document *x = a, *y = b;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

/* A document that was gathered twice, with another id each time: both ids are torn. */
static int note_torn(struct recluster *run, uint64_t id, uint64_t other)
{
    int r = id && id != other ? number_vector_push(&run->torn, id) : 0;
    return r < 0 || other == 0 || id == other ? r : number_vector_push(&run->torn, other);
}

static int note_both(struct recluster *run, const struct scope_document *a,
                     const struct scope_document *b)
{
    int r = note_torn(run, a->cluster, b->cluster);
    return r < 0 ? r : note_torn(run, a->divided, b->divided);
}

/* A divided component may be incomplete: some of its documents came with it, others with their
 * clusters: it is not gathered whole where documents came and went in between. */
static int note_incomplete(struct recluster *run)
{
    _cleanup_free_ uint64_t *n_found = calloc(run->queue.n_numbers + 1, sizeof(*n_found));
    int r = n_found ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i < run->n; i++)
        if (run->documents[i].divided)
            n_found[id_map_find(&run->queued, run->documents[i].divided)]++;
    for (size_t i = 0; r == 0 && i < run->queue.n_numbers; i++)
        if (component_is_divided(run->queue.numbers[i]) && n_found[i] != run->sizes.numbers[i])
            r = number_vector_push(&run->torn, run->queue.numbers[i]);
    return r;
}

/* Documents that several lists have came several times; one of each is kept. */
int recluster_begin_linking(struct recluster *run)
{
    size_t n = 0;
    int r = 0;
    if (run->n)
        qsort(run->documents, run->n, sizeof(*run->documents), compare_documents);
    for (size_t i = 0; r == 0 && i < run->n; i++)
        if (n == 0 || run->documents[n - 1].sid != run->documents[i].sid)
            run->documents[n++] = run->documents[i];
        else
            r = note_both(run, &run->documents[n - 1], &run->documents[i]);
    if (r < 0)
        return r;
    run->n = n;
    run->phase = RECLUSTER_LINKING;
    r = note_incomplete(run);
    if (r == 0)
        r = union_find_init(&run->sets, n + 1);
    for (size_t i = 0; r == 0 && i < n; i++) {
        run->documents[i].first = (uint32_t)i;
        r = id_map_add(&run->places, run->documents[i].sid, (uint32_t)i);
    }
    return r;
}

/* -- pairs -- */

struct scope_linking {
    struct recluster *run;
    uint32_t place;
};

static int wanted(void *user, const uint64_t *sids, size_t n, bool *ret_wanted)
{
    const struct scope_linking *linking = user;
    struct recluster *run = linking->run;
    const uint32_t root = union_find_root(&run->sets, linking->place);
    for (size_t i = 0; i < n; i++) {
        const uint32_t place = id_map_find(&run->places, sids[i]);
        ret_wanted[i] = place != ID_MAP_NONE && union_find_root(&run->sets, place) != root;
    }
    return 0;
}

static int found(void *user, uint64_t sid)
{
    const struct scope_linking *linking = user;
    struct recluster *run = linking->run;
    union_find_join(&run->sets, linking->place, id_map_find(&run->places, sid));
    return 0;
}

/* Joins a document with the first of its class. Returns 1 where it is that itself, 0, or an error.
 */
static int link_class(struct recluster *run, uint32_t place, const struct record *record)
{
    struct scope_document *document = &run->documents[place];
    uint8_t class_id[CLASS_BYTES];
    record_class(record, class_id);
    const uint64_t number = record_class_number(class_id);
    const uint32_t first = id_map_find(&run->classes, number);
    if (first == ID_MAP_NONE) {
        int r = id_map_add(&run->classes, number, place);
        document->first = place;
        document->is_node = record->sketch.n_values > 0;
        document->order = document->is_node ? stars_order(&record->sketch) : 0;
        return r < 0 ? r : 1;
    }
    document->first = first;
    union_find_join(&run->sets, first, place);
    return 0;
}

/* Lists that became long while documents were put off. What was linked before the run met one is of
 * it as a short one, where it had become long since: it is dirty. */
static int note_long(const struct graph *graph, const struct number_vector *grown, uint64_t sid)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < grown->n_numbers; i++) {
        struct posting_list list;
        size_t n_compared;
        r = graph_list(graph, grown->numbers[i], &list, &n_compared);
        if (r == 0 && list.sids[0] < sid)
            r = dirty_mark_lists(graph->dirty, &grown->numbers[i], 1);
        if (r == 0)
            r = long_lists_set(graph->long_lists, grown->numbers[i], true);
    }
    return r;
}

static int link_by_lists(struct recluster *run, const struct graph *graph, uint32_t place,
                         const struct record *record)
{
    _cleanup_(number_vector_done) struct number_vector candidates = {0}, grown = {0};
    struct scope_linking linking = {run, place};
    const uint64_t sid = run->documents[place].sid;
    int r =
        neighbours_candidates(graph, sid, &record->sketch, &candidates, run->until ? &grown : NULL);
    if (r == 0)
        r = note_long(graph, &grown, sid);
    return r < 0 ? r
                 : neighbours_compare(graph, &record->sketch, &candidates, wanted, found, &linking);
}

/* Compares two firsts of their classes, where they are not in one set. */
static int link_pair(struct recluster *run, const struct graph *graph,
                     const struct record *const *records, uint32_t a, uint32_t b)
{
    if (union_find_root(&run->sets, a) == union_find_root(&run->sets, b))
        return 0;
    const struct min_sketch *sketch_a = &records[a]->sketch, *sketch_b = &records[b]->sketch;
    int r = neighbours_are_candidates(graph, run->documents[a].sid, sketch_a, run->documents[b].sid,
                                      sketch_b);
    if (r > 0)
        r = graph_edge(graph->threshold, sketch_a, sketch_b);
    if (r > 0)
        union_find_join(&run->sets, a, b);
    return r < 0 ? r : 0;
}

/* Some documents from run->at on, whose records are there but for those that are gone; all: they
 * are the whole scope. */
static int link_records(struct recluster *run, const struct graph *graph,
                        const struct record *const *records, size_t n, bool all)
{
    bool is_first[LINKED_AT_ONCE];
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        const uint32_t place = (uint32_t)(run->at + i);
        is_first[i] = false;
        if (!records[i])
            continue;
        r = link_class(run, place, records[i]);
        is_first[i] = r > 0;
        r = r > 0 ? 0 : r;
        if (r < 0 || !is_first[i])
            continue;
        if (!all)
            r = link_by_lists(run, graph, place, records[i]);
        for (size_t k = 0; r == 0 && all && k < i; k++)
            if (is_first[k])
                r = link_pair(run, graph, records, (uint32_t)k, place);
    }
    return r;
}

int recluster_link_some(struct recluster *run, const struct graph *graph)
{
    const struct record *records[LINKED_AT_ONCE];
    uint64_t sids[LINKED_AT_ONCE] = {0};
    const size_t n = run->n - run->at < LINKED_AT_ONCE ? run->n - run->at : LINKED_AT_ONCE;
    for (size_t i = 0; i < n; i++)
        sids[i] = run->documents[run->at + i].sid;
    int r = records_borrow(graph->records, sids, n, records);
    if (r < 0)
        return r;
    r = link_records(run, graph, records, n, n == run->n && !run->until);
    records_return(graph->records, records, n);
    run->at += n;
    return r;
}

/* -- divide -- */

int recluster_begin_dividing(struct recluster *run, const struct graph *graph)
{
    struct division_node *nodes = calloc(run->n + 1, sizeof(*nodes));
    size_t n = 0;
    if (!nodes)
        return -ENOMEM;
    for (size_t i = 0; graph->divided && i < run->n; i++) {
        const struct scope_document *document = &run->documents[i];
        if (document->is_node)
            nodes[n++] = (struct division_node){document->sid, document->order, (uint32_t)i,
                                                union_find_root(&run->sets, (uint32_t)i)};
    }
    run->phase = RECLUSTER_DIVIDING;
    return division_begin(&run->division, nodes, n, run->n);
}
