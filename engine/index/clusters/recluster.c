/* A run has four parts:
 *
 *   gather   the documents of the scope, each with its cluster and component; some, or a list, a
 *            step
 *
 *   link     each document with its candidates in the scope (neighbours.h); some a step
 *
 *   divide   the components that are loose (division.h); some a step
 *
 *   move     what is not where it belongs, ids by vote (remake_plan.h): first between components
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
#include "engine/index/clusters/recluster.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/cluster/large/union_find.h"
#include "engine/index/clusters/cluster_change.h"
#include "engine/index/clusters/components.h"
#include "engine/index/clusters/division.h"
#include "engine/index/clusters/neighbours.h"
#include "engine/index/clusters/remake_plan.h"
#include "engine/index/tables/id_map.h"

enum { LINKED_AT_ONCE = 64, VOID = UINT32_MAX };

struct scope_document {
    uint64_t sid, cluster; /* 0: in none */
    uint64_t divided;      /* the component, where it is divided; else 0 */
    uint64_t order;        /* of a node: looseness_order() */
    uint32_t rank;         /* among the members of the cluster */
    uint32_t first;        /* the place of the first of its class */
    bool is_node;          /* which has shingles */
};

struct recluster {
    struct scope_document *documents; /* by sid, once all are gathered */
    size_t n, room;
    struct sid_vector dirty, lists; /* components, and lists, that are */
    struct sid_vector queue;        /* of the scope, in the order they are gathered: clusters, and
                                       components that are divided */
    struct id_map queued;           /* the place of each in it */
    struct sid_vector sizes;        /* of those that are gathered: the number of documents */
    struct sid_vector torn; /* clusters that a document came into, or left, between two steps that
                               gathered it */
    struct kv_buf cursor;   /* where to go on in the next of them */
    size_t n_gathered;      /* of that one */
    struct id_map places, classes; /* of sids; of classes: the place of the first */
    struct union_find sets;
    size_t at_list, at; /* how far it has come */
    uint64_t up_to;     /* the last mark that was made before it began */
    bool began, linking, dividing, moving;
    struct division division;
    uint32_t *numbers;                     /* by place: in the plans, or VOID */
    struct remake_plan plan, divided;      /* of what moves: clusters, components */
    struct sid_vector void_queued, others; /* others: dirty only while documents move */
    bool at_a_stretch;                     /* nothing comes between its steps */
    unsigned n_void;                       /* runs, one after the other */
};

int recluster_new(struct recluster **ret_run)
{
    *ret_run = calloc(1, sizeof(**ret_run));
    return *ret_run ? 0 : -ENOMEM;
}

void recluster_forget(struct recluster *run)
{
    const unsigned n_void = run->n_void;
    free(run->documents);
    sid_vector_done(&run->dirty);
    sid_vector_done(&run->lists);
    sid_vector_done(&run->queue);
    id_map_done(&run->queued);
    sid_vector_done(&run->sizes);
    kv_buf_done(&run->cursor);
    sid_vector_done(&run->torn);
    division_done(&run->division);
    free(run->numbers);
    remake_plan_done(&run->plan);
    remake_plan_done(&run->divided);
    sid_vector_done(&run->void_queued);
    sid_vector_done(&run->others);
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

/* -- gather -- */

static int add_document(struct recluster *run, const struct scope_document *document)
{
    if (run->n == run->room) {
        const size_t room = run->room ? 2 * run->room : 64;
        struct scope_document *larger = reallocarray(run->documents, room, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        run->documents = larger;
        run->room = room;
    }
    if (run->n == UINT32_MAX - 1)
        return -E2BIG;
    run->documents[run->n++] = *document;
    return 0;
}

static int queue(struct recluster *run, uint64_t id)
{
    if (id_map_find(&run->queued, id) != ID_MAP_NONE)
        return 0;
    int r = id_map_add(&run->queued, id, (uint32_t)run->queue.n_sids);
    return r < 0 ? r : sid_vector_push(&run->queue, id);
}

/* The cluster and the component of some documents, MEMBERS_AT_ONCE at most, are gathered. A
 * document comes with its cluster (from); one that is in none, with its component, or else with its
 * list (from is 0). */
static int gather_documents(struct recluster *run, const struct graph *graph, uint64_t from,
                            const uint64_t *sids, size_t n)
{
    uint64_t clusters[MEMBERS_AT_ONCE], components[MEMBERS_AT_ONCE];
    int r = membership_clusters_of(graph->membership, sids, n, clusters);
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
            r = queue(run, clusters[i]);
        if (r == 0 && divided)
            r = queue(run, components[i]);
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
static int gather_some(struct recluster *run, const struct graph *graph)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    const uint64_t id = run->queue.sids[run->sizes.n_sids];
    const struct graph *of = graph_of_cluster(graph, id);
    int more = of ? membership_list_some(of->membership, id, &run->cursor, &sids) : 0;
    int r = more < 0 ? more : gather_all(run, graph, id, sids.sids, sids.n_sids);
    if (r < 0 || more > 0)
        return r;
    r = sid_vector_push(&run->sizes, run->n_gathered);
    run->n_gathered = 0;
    return r;
}

/* The documents of a list: their clusters and components are gathered whole. */
static int gather_list(struct recluster *run, const struct graph *graph, uint64_t fingerprint)
{
    _cleanup_(sid_list_done) struct sid_list list = {0};
    int r = postings_with(graph->postings, POSTINGS_TIER_R, &fingerprint, 1, 0, &list, NULL);
    return r < 0 ? r : gather_all(run, graph, 0, list.sids, list.n_sids);
}

static int compare_documents(const void *a, const void *b)
{
    const struct scope_document *x = a, *y = b;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

/* A document that was gathered twice. */
static int note_torn(struct recluster *run, uint64_t id, uint64_t other)
{
    int r = id && id != other ? sid_vector_push(&run->torn, id) : 0;
    return r < 0 || other == 0 || id == other ? r : sid_vector_push(&run->torn, other);
}

static int note_both(struct recluster *run, const struct scope_document *a,
                     const struct scope_document *b)
{
    int r = note_torn(run, a->cluster, b->cluster);
    return r < 0 ? r : note_torn(run, a->divided, b->divided);
}

/* Documents of several lists came several times. */
static int begin_linking(struct recluster *run)
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
    run->linking = true;
    r = union_find_init(&run->sets, n + 1);
    for (size_t i = 0; r == 0 && i < n; i++) {
        run->documents[i].first = (uint32_t)i;
        r = id_map_add(&run->places, run->documents[i].sid, (uint32_t)i);
    }
    return r;
}

/* -- link -- */

struct linking {
    struct recluster *run;
    uint32_t place;
};

static int wanted(void *user, const uint64_t *sids, size_t n, bool *ret_wanted)
{
    const struct linking *linking = user;
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
    const struct linking *linking = user;
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
        document->order = document->is_node ? looseness_order(&record->sketch) : 0;
        return r < 0 ? r : 1;
    }
    document->first = first;
    union_find_join(&run->sets, first, place);
    return 0;
}

static int link_by_lists(struct recluster *run, const struct graph *graph, uint32_t place,
                         const struct record *record)
{
    _cleanup_(sid_vector_done) struct sid_vector candidates = {0};
    struct linking linking = {run, place};
    int r =
        neighbours_candidates(graph, run->documents[place].sid, &record->sketch, &candidates, NULL);
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

static int link_some(struct recluster *run, const struct graph *graph)
{
    const struct record *records[LINKED_AT_ONCE];
    uint64_t sids[LINKED_AT_ONCE] = {0};
    const size_t n = run->n - run->at < LINKED_AT_ONCE ? run->n - run->at : LINKED_AT_ONCE;
    for (size_t i = 0; i < n; i++)
        sids[i] = run->documents[run->at + i].sid;
    int r = records_get(graph->records, sids, n, records);
    if (r < 0)
        return r;
    r = link_records(run, graph, records, n, n == run->n);
    records_put(graph->records, records, n);
    run->at += n;
    return r;
}

/* -- divide -- */

static int begin_dividing(struct recluster *run, const struct graph *graph)
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
    run->dividing = true;
    return division_begin(&run->division, nodes, n, run->n);
}

/* -- move -- */

/* Those in no cluster of which nothing but the record tells that they are gone. */
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
    int r = n_loners ? records_get(graph->records, loners, n_loners, records) : 0;
    if (r < 0 || n_loners == 0)
        return r;
    for (size_t i = 0; i < n_loners; i++)
        changed[places[i]] = !records[i];
    records_put(graph->records, records, n_loners);
    return 0;
}

/* A cluster or component is changed where it has another number of documents than when it was
 * gathered. */
static int is_other(struct recluster *run, const struct graph *graph, uint64_t id, bool *changed)
{
    uint64_t size;
    int r = id ? component_size(graph, id, &size) : 0;
    if (r == 0 && id)
        *changed |= size != run->sizes.sids[id_map_find(&run->queued, id)];
    return r;
}

/* Documents whose cluster or component is not as it was gathered. */
static int find_changed(struct recluster *run, const struct graph *graph, bool *changed)
{
    struct membership *membership = graph->membership;
    int r = 0;
    for (size_t at = 0; r == 0 && at < run->n; at += MEMBERS_AT_ONCE) {
        const size_t n = run->n - at < MEMBERS_AT_ONCE ? run->n - at : MEMBERS_AT_ONCE;
        uint64_t sids[MEMBERS_AT_ONCE], clusters[MEMBERS_AT_ONCE], components[MEMBERS_AT_ONCE];
        for (size_t i = 0; i < n; i++)
            sids[i] = run->documents[at + i].sid;
        r = membership_clusters_of(membership, sids, n, clusters);
        if (r == 0)
            r = components_of(graph, sids, clusters, n, components);
        for (size_t i = 0; r == 0 && i < n; i++) {
            const struct scope_document *document = &run->documents[at + i];
            const bool divided = component_is_divided(components[i]);
            changed[at + i] = clusters[i] != document->cluster ||
                              document->divided != (divided ? components[i] : 0);
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
    struct sid_vector *list;
};

/* Returns 1 where it is new. 0: in none. */
static int add_void(struct void_ids *ids, uint64_t id)
{
    if (id == 0 || id_map_find(&ids->map, id) != ID_MAP_NONE)
        return 0;
    int r = id_map_add(&ids->map, id, 0);
    if (r == 0)
        r = sid_vector_push(ids->list, id);
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
    bool any = run->torn.n_sids > 0;
    int r = 0;
    for (size_t i = 0; r >= 0 && i < run->torn.n_sids; i++)
        r = add_void(ids, run->torn.sids[i]);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; r >= 0 && i < run->n; i++) {
            const struct scope_document *document = &run->documents[i];
            const uint32_t root = union_find_root(&run->sets, (uint32_t)i);
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

/* A group is named by its first document: groups[i] is that of document i, by place. */
static int find_leaders(struct recluster *run, uint32_t *groups)
{
    _cleanup_free_ uint32_t *leaders = malloc((run->n + 1) * sizeof(*leaders));
    if (!leaders)
        return -ENOMEM;
    for (size_t i = 0; i < run->n; i++) {
        const uint32_t centre = run->division.centres[run->documents[i].first];
        groups[i] = centre == DIVISION_WHOLE ? union_find_root(&run->sets, (uint32_t)i) : centre;
        leaders[i] = UINT32_MAX;
    }
    for (size_t i = 0; i < run->n; i++) {
        uint32_t *leader = &leaders[groups[i]];
        *leader = *leader == UINT32_MAX ? (uint32_t)i : *leader;
        groups[i] = *leader;
    }
    return 0;
}

/* The documents of what is not void, with groups of places. */
static int make_plan(const struct recluster *run, const bool *changed, const uint32_t *groups,
                     bool divided, struct remake_plan *plan)
{
    _cleanup_free_ uint64_t *ids = calloc(run->n + 1, sizeof(*ids));
    _cleanup_free_ uint32_t *ranks = calloc(run->n + 1, sizeof(*ranks));
    plan->a_step = REMAKE_STEP_MAX;
    plan->groups = calloc(run->n + 1, sizeof(*plan->groups));
    if (!ids || !ranks || !plan->groups)
        return -ENOMEM;
    for (size_t i = 0; i < run->n; i++) {
        const struct scope_document *document = &run->documents[i];
        const size_t number = plan->sids.n_sids;
        if (changed[i])
            continue;
        run->numbers[i] = (uint32_t)number; /* of a leader it is known before it is asked for */
        ids[number] = divided ? document->divided : document->cluster;
        ranks[number] = divided ? (uint32_t)i : document->rank;
        plan->groups[number] = run->numbers[groups[i]];
        int r = sid_vector_push(&plan->sids, document->sid);
        if (r < 0)
            return r;
    }
    return remake_plan_decide(plan, ids, ranks);
}

/* Documents of a divided component are a group; others are alone. */
static void group_divided(struct recluster *run, uint32_t *groups)
{
    for (size_t i = 0; i < run->n; i++)
        groups[i] = run->division.centres[run->documents[i].first] == DIVISION_WHOLE
                        ? (uint32_t)i
                        : union_find_root(&run->sets, (uint32_t)i);
}

static int make_plans(struct recluster *run, const struct graph *graph, const bool *changed)
{
    _cleanup_free_ uint32_t *groups = calloc(run->n + 1, sizeof(*groups));
    run->numbers = malloc((run->n + 1) * sizeof(*run->numbers));
    if (!groups || !run->numbers)
        return -ENOMEM;
    for (size_t i = 0; i < run->n; i++)
        run->numbers[i] = VOID;
    int r = find_leaders(run, groups);
    if (r == 0)
        r = make_plan(run, changed, groups, false, &run->plan);
    if (r < 0 || !graph->divided)
        return r;
    group_divided(run, groups);
    return make_plan(run, changed, groups, true, &run->divided);
}

/* Clusters that came into the scope by a list, or by their component, are dirty while documents
 * move.
 */
static int mark_others(struct recluster *run, const struct graph *graph)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < run->queue.n_sids; i++)
        if (!dirty_has(graph->dirty, run->queue.sids[i]))
            r = sid_vector_push(&run->others, run->queue.sids[i]);
    return r < 0 ? r : dirty_mark(graph->dirty, run->others.sids, run->others.n_sids);
}

static int begin_moving(struct recluster *run, const struct graph *graph)
{
    _cleanup_free_ bool *changed = calloc(run->n + 1, sizeof(*changed));
    if (!changed)
        return -ENOMEM;
    int r = find_changed(run, graph, changed);
    if (r == 0)
        r = spread_void(run, changed);
    if (r < 0)
        return r;
    run->n_void = r > 0 ? run->n_void + 1 : 0;
    sid_vector_sort_unique(&run->void_queued);
    run->moving = true;
    r = mark_others(run, graph);
    return r < 0 ? r : make_plans(run, graph, changed);
}

/* Clusters and components with one document left, or none, are no more. */
static int dissolve(const struct graph *graph, const struct sid_vector *ids)
{
    _cleanup_(sid_vector_done) struct sid_vector clusters = {0}, divided = {0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < ids->n_sids; i++)
        r = sid_vector_push(component_is_divided(ids->sids[i]) ? &divided : &clusters,
                            ids->sids[i]);
    if (r == 0)
        r = cluster_dissolve(graph, clusters.sids, clusters.n_sids);
    return r < 0 || !graph->divided
               ? r
               : cluster_dissolve(graph->divided, divided.sids, divided.n_sids);
}

/* Ids that the run has given are dirty, too. */
static int add_given(struct recluster *run, const struct remake_plan *plan)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < plan->sids.n_sids; i++)
        if (plan->ids[i] && id_map_find(&run->queued, plan->ids[i]) == ID_MAP_NONE)
            r = sid_vector_push(&run->others, plan->ids[i]);
    return r;
}

/* How loosely those hang together that are whole. */
static int note_looseness(struct recluster *run, const struct graph *graph)
{
    for (size_t i = 0; i < run->division.n_whole; i++) {
        struct looseness_fact fact = run->division.whole[i].fact;
        const uint32_t number = run->numbers[run->division.whole[i].set];
        fact.cluster = number == VOID ? 0 : run->plan.ids[run->plan.groups[number]];
        int r = fact.cluster ? component_size(graph, fact.cluster, &fact.n_documents) : 0;
        if (r < 0)
            return r;
        if (fact.cluster)
            looseness_note(graph->looseness, &fact);
    }
    return 0;
}

/* The whole scope is in order now, but for what is void; so are clusters that are new. */
static int clear_marks(struct recluster *run, const struct graph *graph)
{
    _cleanup_(sid_vector_done) struct sid_vector clean = {0};
    int r = dissolve(graph, &run->others);
    if (r == 0)
        r = add_given(run, &run->plan);
    if (r == 0)
        r = add_given(run, &run->divided);
    if (r == 0)
        r = note_looseness(run, graph);
    if (r == 0)
        r = dirty_clear(graph->dirty, run->others.sids, run->others.n_sids, UINT64_MAX);
    for (size_t i = 0; r == 0 && i < run->dirty.n_sids; i++)
        if (!sid_vector_finds(&run->void_queued, run->dirty.sids[i]))
            r = sid_vector_push(&clean, run->dirty.sids[i]);
    if (r == 0)
        r = dissolve(graph, &clean);
    if (r == 0)
        r = dirty_clear(graph->dirty, clean.sids, clean.n_sids, run->up_to);
    if (r == 0 && run->n_void == 0)
        r = dirty_clear_lists(graph->dirty, run->lists.sids, run->lists.n_sids, run->up_to);
    return r;
}

/* -- a run -- */

static int begin(struct recluster *run, const struct graph *graph)
{
    run->began = true;
    run->at_a_stretch = run->n_void >= RECLUSTER_RUNS;
    run->up_to = dirty_last_mark(graph->dirty);
    _cleanup_(sid_vector_done) struct sid_vector ids = {0};
    int r = dirty_clusters(graph->dirty, &ids);
    for (size_t i = 0; r == 0 && i < ids.n_sids; i++) {
        const unsigned clustering = cluster_clustering(ids.sids[i]);
        if (clustering && clustering != CLUSTERING_DIVIDED)
            continue; /* those are on their way */
        r = sid_vector_push(&run->dirty, ids.sids[i]);
        if (r == 0)
            r = queue(run, ids.sids[i]);
    }
    return r < 0 ? r : dirty_lists(graph->dirty, &run->lists);
}

/* Nothing comes between the first document that moves and the last. */
static int move_some(struct recluster *run, const struct graph *graph)
{
    int r = graph->divided ? remake_plan_step(&run->divided, graph->divided) : 0;
    if (r == 0)
        r = remake_plan_step(&run->plan, graph);
    return r == 0 ? clear_marks(run, graph) : r < 0 ? r : 1;
}

/* Returns 1 when there is more to do, 0 at its end, or an error. */
static int go_on(struct recluster *run, const struct graph *graph)
{
    int r;
    if (run->at_list < run->lists.n_sids)
        r = gather_list(run, graph, run->lists.sids[run->at_list++]);
    else if (run->sizes.n_sids < run->queue.n_sids)
        r = gather_some(run, graph);
    else if (!run->linking)
        r = begin_linking(run);
    else if (run->at < run->n)
        r = link_some(run, graph);
    else if (!run->dividing)
        r = begin_dividing(run, graph);
    else if (!run->moving)
        r = (r = division_step(&run->division, graph)) == 0 ? begin_moving(run, graph) : r;
    else
        return move_some(run, graph);
    return r < 0 ? r : 1;
}

int recluster_finish(struct recluster *run, const struct graph *graph)
{
    int r = run->moving;
    while (r > 0)
        r = go_on(run, graph);
    if (r < 0 || run->moving)
        recluster_forget(run);
    return r;
}

int recluster_step(struct recluster *run, const struct graph *graph)
{
    int r = 1;
    if (!run->began && dirty_count(graph->dirty) == 0)
        return 0;
    if (!run->began)
        r = begin(run, graph);
    do
        r = r < 0 ? r : go_on(run, graph);
    while (r > 0 && run->at_a_stretch);
    if (r == 0 && run->at_a_stretch && run->n_void > 0) /* by nobody: rows contradict each other */
        r = -EUCLEAN;
    if (r <= 0)
        recluster_forget(run);
    return r < 0 ? r : dirty_count(graph->dirty) > 0;
}

static int run_once(const struct graph *graph, const uint64_t *components, size_t n)
{
    struct recluster run = {.began = true, .up_to = dirty_last_mark(graph->dirty)};
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        r = sid_vector_push(&run.dirty, components[i]);
        if (r == 0)
            r = queue(&run, components[i]);
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

int recluster_small(const struct graph *graph, const struct sid_vector *components)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < components->n_sids; i++)
        r = recluster_together(graph, &components->sids[i], 1);
    return r;
}
