/* A repair: all documents of its clusters are listed; of each the class and, where it is the first
 * of that, the neighbours are asked for, and joined in memory (union-find), until all are one or
 * all have been asked. That says which parts there are. The larger part of a cluster keeps its id,
 * as when a delete sees to it itself; the others are moved, some documents a step.
 *
 * It holds for what was listed: edges depend on two documents alone, and these do not change. When
 * a document comes to a cluster that is repaired, or leaves it, the repair begins anew.
 *
 * Memory: 33 bytes for each document of the clusters.
 */
#include "engine/index/clusters/cluster_repair_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/index/tables/classes.h"
#include "engine/index/clusters/cluster_change.h"
#include "engine/index/clusters/id_votes.h"
#include "engine/index/clusters/neighbours.h"

struct repair_document {
    uint64_t sid, from, to; /* its cluster as listed, and to be */
    uint32_t rank;          /* among those of its cluster */
};

void repair_run_done(struct repair_run *run)
{
    sid_vector_done(&run->clusters);
    free(run->documents);
    union_find_done(&run->sets);
    *run = (struct repair_run){0};
}

/* -- its beginning -- */

static int compare_documents(const void *a, const void *b)
{
    const struct repair_document *x = a, *y = b;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

/* A document in two clusters was being moved when something failed: that is completed. */
static int end_move(const struct repair_run *run, struct repair_document *document, uint64_t other)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    uint64_t now;
    int r = membership_cluster_of(run->graph->membership, document->sid, &now);

    if (r == 0)
        r = sid_vector_push(&sids, document->sid);
    if (r < 0 || now == 0)
        return r;
    uint64_t from = now == document->from ? other : document->from;
    document->from = now;
    run->graph->membership->repeating = true;
    r = cluster_change_move(run->graph, from, now, &sids);
    run->graph->membership->repeating = false;
    return r;
}

static int list_documents(struct repair_run *run)
{
    for (size_t i = 0; i < run->clusters.n_sids; i++) {
        _cleanup_(sid_vector_done) struct sid_vector members = {0};
        uint64_t cluster = run->clusters.sids[i];
        int r = membership_list(run->graph->membership, cluster, 0, &members);
        if (r < 0)
            return r;
        struct repair_document *larger =
            reallocarray(run->documents, run->n_documents + members.n_sids + 1, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        run->documents = larger;
        for (size_t k = 0; k < members.n_sids; k++)
            run->documents[run->n_documents++] = (struct repair_document){
                .sid = members.sids[k], .from = cluster, .rank = (uint32_t)k};
    }
    if (run->n_documents)
        qsort(run->documents, run->n_documents, sizeof(*run->documents), compare_documents);
    size_t n = 0;
    for (size_t i = 0; i < run->n_documents; i++) {
        struct repair_document *last = &run->documents[n - 1];
        int r = 0;
        if (n == 0 || last->sid != run->documents[i].sid)
            run->documents[n++] = run->documents[i];
        else
            r = end_move(run, last, run->documents[i].from);
        if (r < 0)
            return r;
    }
    run->n_documents = run->n_sets = n;
    return union_find_init(&run->sets, n);
}

/* A document that is in no cluster was leaving one when something failed: that is completed. */
static int end_leaving(const struct repair_run *run)
{
    uint64_t sids[MEMBERS_AT_ONCE], clusters[MEMBERS_AT_ONCE];
    int r = 0;

    for (size_t at = 0; r == 0 && at < run->n_documents; at += MEMBERS_AT_ONCE) {
        size_t n =
            run->n_documents - at < MEMBERS_AT_ONCE ? run->n_documents - at : MEMBERS_AT_ONCE;
        for (size_t i = 0; i < n; i++)
            sids[i] = run->documents[at + i].sid;
        r = membership_clusters_of(run->graph->membership, sids, n, clusters);
        run->graph->membership->repeating = true;
        for (size_t i = 0; r == 0 && i < n; i++)
            if (clusters[i] == 0)
                r = cluster_change_move(run->graph, run->documents[at + i].from, 0,
                                        &(struct sid_vector){.sids = &sids[i], .n_sids = 1});
        run->graph->membership->repeating = false;
    }
    return r;
}

int cluster_repairs_recover(struct cluster_repairs *repairs, const struct graph *first)
{
    int r = 0;

    for (const struct graph *graph = first; r >= 0 && graph; graph = graph->next) {
        struct repair_run run = {.graph = graph};
        r = cluster_repairs_take(repairs, first, &run);
        if (r > 0)
            r = list_documents(&run);
        if (r == 0)
            r = end_leaving(&run);
        repair_run_done(&run);
    }
    return r < 0 ? r : 0;
}

int repair_run_begin(struct cluster_repairs *repairs, const struct graph *first)
{
    struct repair_run *run = &repairs->run;

    repair_run_done(run);
    repairs->changed = false;
    int r = cluster_repairs_take(repairs, first, run);
    return r <= 0 ? r : list_documents(run);
}

/* -- a run: what belongs together -- */

static size_t place_of(const struct repair_run *run, uint64_t sid)
{
    const struct repair_document wanted = {.sid = sid};
    const struct repair_document *found = run->n_documents
                                              ? bsearch(&wanted, run->documents, run->n_documents,
                                                        sizeof(*run->documents), compare_documents)
                                              : NULL;
    return found ? (size_t)(found - run->documents) : SIZE_MAX;
}

static bool is_apart(void *user, uint64_t sid, uint64_t cluster)
{
    struct repair_run *run = user;
    size_t place = place_of(run, sid);
    (void)cluster;
    return place < SIZE_MAX && union_find_root(&run->sets, (uint32_t)place) !=
                                   union_find_root(&run->sets, (uint32_t)run->at);
}

static int join(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct repair_run *run = user;
    size_t place = place_of(run, sid);
    (void)cluster, (void)record;
    if (place < SIZE_MAX)
        run->n_sets -= (size_t)union_find_join(&run->sets, (uint32_t)place, (uint32_t)run->at);
    return 0;
}

/* Returns 0, -ESTALE when the document is no more, or an error. */
static int look_at(struct repair_run *run)
{
    _cleanup_(sid_vector_done) struct sid_vector class = {0};
    const struct graph *graph = run->graph;
    uint64_t sid = run->documents[run->at].sid;
    uint8_t class_id[CLASS_BYTES];
    const struct record *record;

    int r = records_get(graph->records, &sid, 1, &record);
    if (r < 0 || !record)
        return r < 0 ? r : -ESTALE;
    record_class(record, class_id);
    r = classes_list(graph->kv, class_id, 1, &class);
    if (r == 0 && class.n_sids > 0 && class.sids[0] != sid)
        r = join(run, class.sids[0], 0, NULL);
    else if (r == 0)
        r = neighbours_find(graph, &record->sketch, is_apart, join, run, NULL);
    records_put(graph->records, &record, 1);
    return r;
}

/* -- a run: who keeps which id -- */

/* to[part]: the cluster of which it has most documents, each cluster once; sizes[part]. */
static int choose_ids(struct repair_run *run, uint64_t *to, uint32_t *sizes)
{
    _cleanup_free_ struct id_vote *votes = calloc(run->n_documents + 1, sizeof(*votes));
    _cleanup_(id_map_done) struct id_map given = {0};

    if (!votes)
        return -ENOMEM;
    for (size_t i = 0; i < run->n_documents; i++) {
        uint32_t part = union_find_root(&run->sets, (uint32_t)i);
        votes[i] = (struct id_vote){run->documents[i].from, part, run->documents[i].rank, 1};
        sizes[part]++;
    }
    return id_votes_decide(votes, id_votes_count(votes, run->n_documents), to, &given);
}

static int new_cluster(struct cluster_repairs *repairs, struct repair_run *run, uint64_t *ret_id)
{
    const bool changed = repairs->changed;
    int r = cluster_ids_new(&run->graph->membership->ids, run->graph->kv, ret_id);
    if (r == 0)
        r = cluster_repairs_note(run->graph, *ret_id);
    if (r == 0)
        r = sid_vector_push(&run->clusters, *ret_id);
    repairs->changed = changed;
    return r;
}

static int compare_ways(const void *a, const void *b)
{
    const struct repair_document *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return compare_documents(a, b);
}

static int decide(struct cluster_repairs *repairs, struct repair_run *run)
{
    _cleanup_free_ uint64_t *to = calloc(run->n_documents + 1, sizeof(*to));
    _cleanup_free_ uint32_t *sizes = calloc(run->n_documents + 1, sizeof(*sizes));
    int r = to && sizes ? choose_ids(run, to, sizes) : -ENOMEM;

    for (size_t i = 0; r == 0 && i < run->n_documents; i++) {
        uint32_t part = union_find_root(&run->sets, (uint32_t)i);
        if (!to[part] && sizes[part] > 1)
            r = new_cluster(repairs, run, &to[part]);
        run->documents[i].to = to[part];
    }
    if (run->n_documents) /* what goes the same way goes together */
        qsort(run->documents, run->n_documents, sizeof(*run->documents), compare_ways);
    run->moving = true;
    run->at = 0;
    return r;
}

/* -- a run: its end -- */

static int move_some(struct repair_run *run, size_t most)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    const struct repair_document *first = &run->documents[run->at];
    size_t end = run->at + most;
    int r = 0;

    for (; r == 0 && run->at < run->n_documents && run->at < end; run->at++) {
        const struct repair_document *document = &run->documents[run->at];
        if (document->from != first->from || document->to != first->to)
            break;
        if (document->from != document->to)
            r = sid_vector_push(&sids, document->sid);
    }
    if (r < 0 || sids.n_sids == 0)
        return r;
    /* At each step: lists may have been learnt since the last one. */
    graph_moved(run->graph, first->from, first->to);
    return cluster_change_move(run->graph, first->from, first->to, &sids);
}

static int finish(struct repair_run *run)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < run->clusters.n_sids; i++) {
        uint64_t id = run->clusters.sids[i];
        r = cluster_change_dissolve(run->graph, &id, 1);
        if (r == 0)
            r = cluster_repairs_end(run->graph, id);
    }
    repair_run_done(run);
    return r;
}

int repair_run_go_on(struct cluster_repairs *repairs)
{
    struct repair_run *run = &repairs->run;
    int r = 0;

    if (run->moving)
        return run->at < run->n_documents ? move_some(run, repairs->a_step) : finish(run);
    for (size_t n = 0; r == 0 && n < repairs->a_step && run->at < run->n_documents; n++, run->at++)
        r = run->n_sets > 1 ? look_at(run) : 0;
    return r == 0 && run->at == run->n_documents ? decide(repairs, run) : r;
}
