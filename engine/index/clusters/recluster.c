/* A run has three parts:
 *
 *   gather   the documents of the scope, each with its cluster; some, or a list, a step
 *
 *   link     each document with its candidates in the scope (neighbours.h); some a step
 *
 *   move     what is not where it belongs, ids by vote (remake_plan.h); some a step
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
#include "engine/index/clusters/neighbours.h"
#include "engine/index/clusters/remake_plan.h"
#include "engine/index/tables/id_map.h"

enum { LINKED_AT_ONCE = 64 };

struct scope_document {
    uint64_t sid, cluster; /* 0: in none */
    uint32_t rank;         /* among its members */
};

struct recluster {
    struct scope_document *documents; /* by sid, once all are gathered */
    size_t n, room;
    struct sid_vector clusters, lists; /* that are dirty */
    struct sid_vector queue;           /* clusters of the scope, in the order they are gathered */
    struct id_map queued;              /* the place of each in it */
    struct sid_vector sizes;           /* of those that are gathered: the number of documents */
    struct sid_vector torn; /* clusters that a document came into, or left, between two steps that
                               gathered it */
    struct kv_buf cursor;   /* where to go on in the next of them */
    size_t n_gathered;      /* of that one */
    struct id_map places, classes; /* of sids; of classes: the place of the first */
    struct union_find sets;
    size_t at_list, at; /* how far it has come */
    uint64_t up_to;     /* the last mark that was made before it began */
    bool began, linking, moving;
    struct remake_plan plan;                 /* of what moves */
    struct sid_vector void_clusters, others; /* others: dirty only while documents move */
    bool at_a_stretch;                       /* nothing comes between its steps */
    unsigned n_void;                         /* runs, one after the other */
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
    sid_vector_done(&run->clusters);
    sid_vector_done(&run->lists);
    sid_vector_done(&run->queue);
    id_map_done(&run->queued);
    sid_vector_done(&run->sizes);
    kv_buf_done(&run->cursor);
    sid_vector_done(&run->torn);
    remake_plan_done(&run->plan);
    sid_vector_done(&run->void_clusters);
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

static int add_document(struct recluster *run, uint64_t sid, uint64_t cluster, size_t rank)
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
    run->documents[run->n++] = (struct scope_document){sid, cluster, (uint32_t)rank};
    return 0;
}

static int queue_cluster(struct recluster *run, uint64_t cluster)
{
    if (id_map_find(&run->queued, cluster) != ID_MAP_NONE)
        return 0;
    int r = id_map_add(&run->queued, cluster, (uint32_t)run->queue.n_sids);
    return r < 0 ? r : sid_vector_push(&run->queue, cluster);
}

/* Some documents of the next cluster. One that there is not is gathered, too: its mark goes at the
 * end. */
static int gather_some(struct recluster *run, const struct graph *graph)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    const uint64_t cluster = run->queue.sids[run->sizes.n_sids];
    int more = membership_list_some(graph->membership, cluster, &run->cursor, &sids);
    int r = more < 0 ? more : 0;
    for (size_t i = 0; r == 0 && i < sids.n_sids; i++)
        r = add_document(run, sids.sids[i], cluster, run->n_gathered++);
    if (r < 0 || more > 0)
        return r;
    r = sid_vector_push(&run->sizes, run->n_gathered);
    run->n_gathered = 0;
    return r;
}

/* The documents of a list: clusters that they are in, to be gathered whole, and those that are in
 * none. */
static int gather_list(struct recluster *run, const struct graph *graph, uint64_t fingerprint)
{
    _cleanup_(sid_list_done) struct sid_list list = {0};
    int r = postings_with(graph->postings, POSTINGS_TIER_R, &fingerprint, 1, 0, &list, NULL);
    for (size_t at = 0; r == 0 && at < list.n_sids; at += MEMBERS_AT_ONCE) {
        const size_t n = list.n_sids - at < MEMBERS_AT_ONCE ? list.n_sids - at : MEMBERS_AT_ONCE;
        uint64_t clusters[MEMBERS_AT_ONCE];
        r = membership_clusters_of(graph->membership, list.sids + at, n, clusters);
        for (size_t i = 0; r == 0 && i < n; i++) {
            if (clusters[i] == 0)
                r = add_document(run, list.sids[at + i], 0, 0);
            else
                r = queue_cluster(run, clusters[i]);
        }
    }
    return r;
}

static int compare_documents(const void *a, const void *b)
{
    const struct scope_document *x = a, *y = b;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

/* A document that was gathered twice. */
static int note_torn(struct recluster *run, uint64_t cluster, uint64_t other)
{
    int r = cluster && cluster != other ? sid_vector_push(&run->torn, cluster) : 0;
    return r < 0 || other == 0 || cluster == other ? r : sid_vector_push(&run->torn, other);
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
            r = note_torn(run, run->documents[n - 1].cluster, run->documents[i].cluster);
    if (r < 0)
        return r;
    run->n = n;
    run->linking = true;
    r = union_find_init(&run->sets, n + 1);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = id_map_add(&run->places, run->documents[i].sid, (uint32_t)i);
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
    uint8_t class_id[CLASS_BYTES];
    record_class(record, class_id);
    const uint64_t number = record_class_number(class_id);
    const uint32_t first = id_map_find(&run->classes, number);
    if (first == ID_MAP_NONE) {
        int r = id_map_add(&run->classes, number, place);
        return r < 0 ? r : 1;
    }
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

/* Clusters of the scope that are not as they were gathered. */
static int find_changed(struct recluster *run, const struct graph *graph, bool *changed)
{
    struct membership *membership = graph->membership;
    int r = 0;
    for (size_t at = 0; r == 0 && at < run->n; at += MEMBERS_AT_ONCE) {
        const size_t n = run->n - at < MEMBERS_AT_ONCE ? run->n - at : MEMBERS_AT_ONCE;
        uint64_t sids[MEMBERS_AT_ONCE], clusters[MEMBERS_AT_ONCE], size;
        for (size_t i = 0; i < n; i++)
            sids[i] = run->documents[at + i].sid;
        r = membership_clusters_of(membership, sids, n, clusters);
        for (size_t i = 0; r == 0 && i < n; i++) {
            const uint64_t cluster = run->documents[at + i].cluster;
            changed[at + i] = clusters[i] != cluster;
            if (cluster == 0 || changed[at + i])
                continue;
            r = membership_known_size(membership, cluster, &size);
            changed[at + i] = size != run->sizes.sids[id_map_find(&run->queued, cluster)];
        }
        if (r == 0 && !run->at_a_stretch) /* else it was gone before: a posting too many */
            r = find_gone(graph, sids, clusters, n, changed + at);
    }
    return r;
}

/* A void document makes its component void, and its cluster; those are gathered in void_clusters.
 * Returns whether there is any, or an error. */
static int spread_void(struct recluster *run, bool *changed, struct sid_vector *void_clusters)
{
    _cleanup_(id_map_done) struct id_map clusters = {0};
    bool any = run->torn.n_sids > 0;
    for (size_t i = 0; i < run->torn.n_sids; i++) {
        int r = sid_vector_push(void_clusters, run->torn.sids[i]);
        if (r == 0 && id_map_find(&clusters, run->torn.sids[i]) == ID_MAP_NONE)
            r = id_map_add(&clusters, run->torn.sids[i], 0);
        if (r < 0)
            return r;
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < run->n; i++) {
            const uint32_t root = union_find_root(&run->sets, (uint32_t)i);
            const uint64_t cluster = run->documents[i].cluster;
            const bool known = cluster && id_map_find(&clusters, cluster) != ID_MAP_NONE;
            if (!changed[i] && !changed[root] && !known)
                continue;
            any = true;
            more |= !changed[i] || !changed[root] || (cluster && !known);
            changed[i] = changed[root] = true;
            int r = cluster && !known ? id_map_add(&clusters, cluster, 0) : 0;
            if (r == 0 && cluster && !known)
                r = sid_vector_push(void_clusters, cluster);
            if (r < 0)
                return r;
        }
    }
    return any;
}

/* The documents of what is not void, as a plan. */
static int make_plan(struct recluster *run, const bool *changed, struct remake_plan *plan)
{
    _cleanup_free_ uint64_t *clusters = calloc(run->n + 1, sizeof(*clusters));
    _cleanup_free_ uint32_t *ranks = calloc(run->n + 1, sizeof(*ranks));
    _cleanup_free_ uint32_t *numbers = calloc(run->n + 1, sizeof(*numbers));
    plan->a_step = REMAKE_STEP_MAX;
    plan->groups = calloc(run->n + 1, sizeof(*plan->groups));
    if (!clusters || !ranks || !numbers || !plan->groups)
        return -ENOMEM;
    for (size_t i = 0; i < run->n; i++) {
        const size_t number = plan->sids.n_sids;
        if (changed[i])
            continue;
        numbers[i] = (uint32_t)number; /* of a root it is known before it is asked for */
        clusters[number] = run->documents[i].cluster;
        ranks[number] = run->documents[i].rank;
        plan->groups[number] = numbers[union_find_root(&run->sets, (uint32_t)i)];
        int r = sid_vector_push(&plan->sids, run->documents[i].sid);
        if (r < 0)
            return r;
    }
    return remake_plan_decide(plan, clusters, ranks);
}

/* Those of the scope that came by lists, and are not dirty: they are while documents move. */
static int mark_others(struct recluster *run, const struct graph *graph)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < run->n; i++) {
        const uint64_t cluster = run->documents[i].cluster;
        if (cluster && run->documents[i].rank == 0 && !dirty_has(graph->dirty, cluster))
            r = sid_vector_push(&run->others, cluster);
    }
    return r < 0 ? r : dirty_mark(graph->dirty, run->others.sids, run->others.n_sids);
}

static int begin_moving(struct recluster *run, const struct graph *graph)
{
    _cleanup_free_ bool *changed = calloc(run->n + 1, sizeof(*changed));
    if (!changed)
        return -ENOMEM;
    int r = find_changed(run, graph, changed);
    if (r == 0)
        r = spread_void(run, changed, &run->void_clusters);
    if (r < 0)
        return r;
    run->n_void = r > 0 ? run->n_void + 1 : 0;
    sid_vector_sort_unique(&run->void_clusters);
    run->moving = true;
    r = run->lists.n_sids ? mark_others(run, graph) : 0;
    return r < 0 ? r : make_plan(run, changed, &run->plan);
}

/* What is in order now: all of the scope but for what is void, and clusters that are new. */
static int clear_marks(struct recluster *run, const struct graph *graph)
{
    _cleanup_(sid_vector_done) struct sid_vector clean = {0};
    const struct remake_plan *plan = &run->plan;
    int r = cluster_dissolve(graph, run->others.sids, run->others.n_sids);
    for (size_t i = 0; r == 0 && i < plan->sids.n_sids; i++)
        if (plan->ids[i] && id_map_find(&run->queued, plan->ids[i]) == ID_MAP_NONE)
            r = sid_vector_push(&run->others, plan->ids[i]);
    if (r == 0)
        r = dirty_clear(graph->dirty, run->others.sids, run->others.n_sids, UINT64_MAX);
    for (size_t i = 0; r == 0 && i < run->clusters.n_sids; i++)
        if (!sid_vector_finds(&run->void_clusters, run->clusters.sids[i]))
            r = sid_vector_push(&clean, run->clusters.sids[i]);
    if (r == 0)
        r = cluster_dissolve(graph, clean.sids, clean.n_sids);
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
    int r = dirty_clusters(graph->dirty, &run->clusters);
    while (run->clusters.n_sids && cluster_clustering(run->clusters.sids[run->clusters.n_sids - 1]))
        run->clusters.n_sids--; /* those of another clustering are on their way */
    for (size_t i = 0; r == 0 && i < run->clusters.n_sids; i++)
        r = queue_cluster(run, run->clusters.sids[i]);
    return r < 0 ? r : dirty_lists(graph->dirty, &run->lists);
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
    else if (!run->moving)
        r = begin_moving(run, graph);
    else if ((r = remake_plan_step(&run->plan, graph)) == 0)
        return clear_marks(run, graph);
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

static int recluster_one(const struct graph *graph, uint64_t cluster)
{
    struct recluster run = {.began = true, .up_to = dirty_last_mark(graph->dirty)};
    int r = sid_vector_push(&run.clusters, cluster);
    if (r == 0)
        r = queue_cluster(&run, cluster);
    if (r == 0)
        while ((r = go_on(&run, graph)) > 0)
            ;
    recluster_forget(&run);
    return r;
}

int recluster_small(const struct graph *graph, const struct sid_vector *clusters)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < clusters->n_sids; i++) {
        uint64_t size;
        r = membership_known_size(graph->membership, clusters->sids[i], &size);
        if (r == 0 && size <= graph->bounds.at_once)
            r = recluster_one(graph, clusters->sids[i]);
    }
    return r;
}
