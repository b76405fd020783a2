/* Join: the clusters that lose their ids move into the one that keeps it, then come the documents
 * that were in none.
 *
 * Delete: what the cluster falls into is known (cluster_delete.h) and stands in the intent: after a
 * crash the parts are found again by searching from one document of each, within the old cluster
 * and the new one, and the ids are known. Rows and records of what leaves go, and the parts move.
 */
#include "engine/index/clusters/cluster_change.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/index/tables/classes.h"
#include "engine/index/tables/cluster_aliases.h"
#include "engine/index/clusters/cluster_parts.h"
#include "engine/index/clusters/leaving_documents.h"
#include "engine/index/tables/schema.h"

enum { CHUNK = 64 };

void joining_done(struct joining *joining)
{
    sid_vector_done(&joining->clusters);
    sid_vector_done(&joining->loners);
}

int joining_add(struct joining *joining, uint64_t sid, uint64_t cluster)
{
    struct sid_vector *vector = cluster ? &joining->clusters : &joining->loners;
    uint64_t number = cluster ? cluster : sid;

    return sid_vector_has(vector, number) ? 0 : sid_vector_push(vector, number);
}

/* -- carrying out -- */

static int read_members(const struct graph *graph, const uint64_t *sids, size_t n,
                        struct member members[CHUNK], size_t *ret_n_members)
{
    const struct record *records[CHUNK];
    size_t n_members = 0;

    int r = records_get(graph->records, sids, n, records);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        if (records[i])
            member_init(&members[n_members++], sids[i], records[i]);
    records_put(graph->records, records, n);
    *ret_n_members = n_members;
    return 0;
}

int cluster_change_move(const struct graph *graph, uint64_t from, uint64_t to,
                        const struct sid_vector *sids)
{
    for (size_t at = 0; at < sids->n_sids; at += CHUNK) {
        struct member members[CHUNK];
        size_t n = sids->n_sids - at < CHUNK ? sids->n_sids - at : CHUNK;
        int r = read_members(graph, sids->sids + at, n, members, &n);
        if (r == 0)
            r = membership_move(graph->membership, from, to, members, n);
        if (r < 0)
            return r;
    }
    return 0;
}

static int carry_out_join(const struct graph *graph, const struct cluster_intent *intent)
{
    for (size_t i = 0; i < intent->ids.n_sids; i++) {
        uint64_t id = intent->ids.sids[i];
        graph_joined(graph, id, intent->cluster);
        /* Before it is gone: a path with it leads somewhere at any time. */
        int r = intent->kind == INTENT_JOIN
                    ? cluster_aliases_add(graph->kv, id, intent->cluster)
                    : cluster_aliases_rename(graph->kv, id, intent->cluster);
        if (r == 0)
            r = cluster_repairs_joined(graph, id, intent->cluster);
        if (r == 0)
            r = membership_move_all(graph->membership, id, intent->cluster);
        if (r < 0)
            return r;
    }
    cluster_repairs_changed(graph, intent->cluster);
    return cluster_change_move(graph, 0, intent->cluster, &intent->sids);
}

/* All documents connected with one, within the clusters a split is between. */
static int part_documents(const struct graph *graph, const struct sid_vector *without,
                          const uint64_t clusters[2], uint64_t sid, struct sid_vector *sids)
{
    _cleanup_(cluster_parts_free_p) struct cluster_parts *parts = NULL;
    _cleanup_(record_done) struct record record = {0};

    int r = graph_record(graph, sid, &record);
    if (r == 0)
        r = cluster_parts_new(graph, without, clusters, 2, &parts);
    if (r == 0)
        r = cluster_parts_begin_from(parts, sid, &record);
    if (r == 0)
        r = cluster_parts_search(parts, true, SIZE_MAX);
    return r < 0 ? r : cluster_parts_documents(parts, 0, sids);
}

static int split_off(const struct graph *graph, const struct cluster_split *split, size_t part)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    uint64_t clusters[2] = {split->cluster, split->ids.sids[part]};
    uint64_t beginning = split->beginnings.sids[part];

    if (split->parts && split->parts[part].n_sids > 0)
        return cluster_change_move(graph, clusters[0], clusters[1], &split->parts[part]);
    int r = clusters[1] ? part_documents(graph, &split->leaving, clusters, beginning, &sids)
                        : sid_vector_push(&sids, beginning);
    return r < 0 ? r : cluster_change_move(graph, clusters[0], clusters[1], &sids);
}

static const struct graph *graph_of_split(const struct graph *first,
                                          const struct cluster_split *split)
{
    bool enter = split->cluster == 0 && split->ids.n_sids > 0;
    return graph_of_cluster(first, enter ? split->ids.sids[0] : split->cluster);
}

static int carry_out_split(const struct graph *graph, const struct cluster_split *split)
{
    int r = 0;

    cluster_repairs_changed(graph, split->cluster);
    if (cluster_split_is_move(split))
        graph_moved(graph, split->cluster, split->ids.sids[0]);
    else if (split->ids.n_sids > 0)
        graph_split(graph, split->cluster);
    if (cluster_split_is_move(split))
        return cluster_change_move(graph, split->cluster, split->ids.sids[0], &split->leaving);
    for (size_t i = 0; i < split->ids.n_sids && r == 0; i++)
        r = split_off(graph, split, i);
    return r;
}

int cluster_change_dissolve(const struct graph *graph, const uint64_t *clusters, size_t n)
{
    bool gone[MEMBERS_AT_ONCE], led_to[MEMBERS_AT_ONCE];
    int r = membership_dissolve(graph->membership, clusters, n, gone);
    if (r == 0)
        r = cluster_aliases_are_there(graph->kv, clusters, n, led_to);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (gone[i] && led_to[i])
            r = cluster_aliases_drop(graph->kv, clusters[i]);
    return r;
}

/* Where most of the documents go that are moved out of a cluster; 0: into no other. */
static uint64_t where_most_go(const struct cluster_intent *intent, uint64_t cluster)
{
    uint64_t best = 0;
    size_t best_n = 0;

    for (size_t i = 0; i < intent->n_splits; i++) {
        const struct cluster_split *split = &intent->splits[i];
        if (split->cluster != cluster || !cluster_split_is_move(split) || split->ids.sids[0] == 0)
            continue;
        if (split->leaving.n_sids > best_n) {
            best = split->ids.sids[0];
            best_n = split->leaving.n_sids;
        }
    }
    return best;
}

/* Documents left in it may belong to others that were moved already: the repair's end sees to that.
 */
static bool is_repairing(const struct graph *graph, uint64_t cluster)
{
    return cluster_repairs_has(graph->repairs, cluster);
}

/* A cluster that documents have left. Where all went its id leads to where most did. */
static int end_split(const struct graph *graph, const struct cluster_intent *intent,
                     uint64_t cluster)
{
    const uint64_t to = where_most_go(intent, cluster);
    uint64_t size = 0, to_size = 0;

    int r = membership_known_size(graph->membership, cluster, &size);
    if (r == 0 && size == 0 && to)
        r = membership_known_size(graph->membership, to, &to_size);
    if (r == 0 && to_size > 1)
        return cluster_aliases_add(graph->kv, cluster, to);
    /* Others are about to come where a clustering that is made anew moves some after the other. */
    if (r < 0 || (size > 0 && graph->remade && intent->kind == INTENT_MOVE) ||
        (size > 0 && is_repairing(graph, cluster)))
        return r;
    return cluster_change_dissolve(graph, &cluster, 1);
}

/* Nothing but a delete has changed the cluster: what it has left is known, and all of it stays. */
static bool is_plain(const struct graph *graph, const struct cluster_intent *intent,
                     const struct cluster_split *split)
{
    return intent->kind == INTENT_DELETE && split->is_left_known && split->ids.n_sids == 0 &&
           !graph->remade;
}

/* Clusters of one clustering that are to be given up. */
struct ending {
    const struct graph *graph;
    uint64_t clusters[MEMBERS_AT_ONCE];
    size_t n;
};

static int end_some(struct ending *ending)
{
    int r = ending->n ? cluster_change_dissolve(ending->graph, ending->clusters, ending->n) : 0;
    ending->n = 0;
    return r;
}

static int end_splits(const struct graph *first, const struct cluster_intent *intent)
{
    struct ending ending = {.n = 0};
    int r = 0;

    for (size_t i = 0; i < intent->n_splits && r == 0; i++) {
        const struct cluster_split *split = &intent->splits[i];
        const struct graph *graph = graph_of_cluster(first, split->cluster);
        if (!graph || split->cluster == 0)
            continue;
        if (!is_plain(graph, intent, split)) {
            r = end_split(graph, intent, split->cluster);
            continue;
        }
        if (split->n_left > 1 || (split->n_left > 0 && is_repairing(graph, split->cluster)))
            continue;
        if (ending.graph != graph || ending.n == MEMBERS_AT_ONCE)
            r = end_some(&ending);
        ending.graph = graph;
        ending.clusters[ending.n++] = split->cluster;
    }
    return r < 0 ? r : end_some(&ending);
}

static int carry_out_splits(const struct graph *first, struct cluster_intent *intent)
{
    int r = intent->kind == INTENT_DELETE ? leaving_documents_remove(first, intent) : 0;

    for (size_t i = 0; i < intent->n_splits && r == 0; i++) {
        const struct graph *graph = graph_of_split(first, &intent->splits[i]);
        if (graph)
            r = carry_out_split(graph, &intent->splits[i]);
    }
    return r < 0 ? r : end_splits(first, intent);
}

int cluster_change_finish(const struct graph *first, struct cluster_intent *intent)
{
    const struct graph *graph = graph_of_cluster(first, intent->cluster);
    int r = intent->n_splits > 0 ? carry_out_splits(first, intent)
            : graph              ? carry_out_join(graph, intent)
                                 : 0; /* of a clustering that is no more */
    return r < 0 ? r : cluster_intent_clear(first->kv);
}

int cluster_change_carry_out(const struct graph *first, struct cluster_intent *intent)
{
    int r = cluster_intent_put(first->kv, intent);
    return r < 0 ? r : cluster_change_finish(first, intent);
}

/* -- join -- */

int cluster_change_new_id(const struct graph *graph, const struct sid_vector *loners,
                          uint64_t *ret_id)
{
    uint64_t best = 0, size = 0;

    for (size_t i = 0; i < loners->n_sids; i++) {
        uint64_t id = dissolved_clusters_id(&graph->membership->dissolved, loners->sids[i]);
        int r = id ? membership_known_size(graph->membership, id, &size) : 0;
        if (r < 0)
            return r;
        if (id && size == 0 && (best == 0 || id < best))
            best = id;
    }
    *ret_id = best;
    if (best)
        return 0;
    int r = cluster_ids_new(&graph->membership->ids, graph->kv, ret_id);
    if (r == 0)
        membership_is_new(graph->membership, *ret_id);
    return r;
}

/* The cluster that keeps its id: most documents, then the smallest id. */
static int choose_id(const struct graph *graph, const struct joining *joining, uint64_t *ret_id)
{
    const struct sid_vector *clusters = &joining->clusters;
    uint64_t best = 0, best_size = 0;

    if (clusters->n_sids == 0)
        return cluster_change_new_id(graph, &joining->loners, ret_id);
    for (size_t i = 0; i < clusters->n_sids; i++) {
        uint64_t id = clusters->sids[i], size = 0;
        int r = clusters->n_sids == 1 ? 0 : membership_known_size(graph->membership, id, &size);
        if (r < 0)
            return r;
        if (best == 0 || size > best_size || (size == best_size && id < best)) {
            best = id;
            best_size = size;
        }
    }
    *ret_id = best;
    return 0;
}

static int take_some(struct sid_vector *to, const struct sid_vector *from, size_t *at,
                     uint64_t but_not)
{
    for (; *at < from->n_sids && to->n_sids < INTENT_NUMBERS; ++*at) {
        int r = from->sids[*at] == but_not ? 0 : sid_vector_push(to, from->sids[*at]);
        if (r < 0)
            return r;
    }
    return 0;
}

int cluster_change_join(const struct graph *graph, const struct joining *joining)
{
    size_t n_clusters = joining->clusters.n_sids, n_loners = joining->loners.n_sids;
    size_t cluster_at = 0, loner_at = 0;
    uint64_t id;

    if (n_clusters + n_loners < 2)
        return 0;
    int r = choose_id(graph, joining, &id);
    while (r == 0 && (cluster_at < n_clusters || loner_at < n_loners)) {
        _cleanup_(cluster_intent_done) struct cluster_intent intent = {.kind = INTENT_JOIN,
                                                                       .cluster = id};
        r = take_some(&intent.ids, &joining->clusters, &cluster_at, id);
        if (r == 0)
            r = take_some(&intent.sids, &joining->loners, &loner_at, 0);
        if (r == 0 && intent.ids.n_sids + intent.sids.n_sids > 0)
            r = cluster_change_carry_out(graph, &intent);
    }
    return r;
}
