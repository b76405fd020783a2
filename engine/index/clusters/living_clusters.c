/* Incremental connected components, with deletion, over a graph that is not stored.
 *
 * Insert finds the document's neighbours and joins their clusters, small into large. Delete looks
 * whether the neighbours still reach each other (cluster_parts.h). Every change of more than one
 * partition of the store stands in TABLE_INTENTS while it lasts (cluster_intent.h) and can be done
 * again.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "engine/index/tables/classes.h"
#include "engine/index/tables/cluster_aliases.h"
#include "engine/index/clusters/cluster_change.h"
#include "engine/index/clusters/cluster_delete.h"
#include "engine/index/clusters/cluster_hubs.h"
#include "engine/index/clusters/cluster_link.h"
#include "engine/index/clusters/living_clusters_private.h"
#include "engine/index/clusters/remade.h"
#include "engine/index/clusters/remake_plan.h"
#include "engine/index/clusters/small_cluster.h"

enum { FILTERS_MAX = 1 << 18 }; /* 21 MB */

static int clustering_init(struct clustering *clustering, struct living_clusters *clusters,
                           struct records *records, struct postings *postings, double threshold,
                           unsigned number)
{
    clustering->graph = (struct graph){.kv = clusters->kv,
                                       .records = records,
                                       .postings = postings,
                                       .membership = &clustering->membership,
                                       .threshold = threshold,
                                       .filters = clusters->filters,
                                       .repairs = clusters->repairs,
                                       .small_cluster = clusters->limits.small_cluster};
    int r = long_lists_new(clusters->limits.long_from, &clustering->graph.long_lists);
    if (r < 0)
        return r;
    struct cluster_hubs *hubs = NULL;
    r = cluster_hubs_new(clusters->limits.long_from, &hubs);
    if (r == 0 && number == 0)
        r = short_lists_new(0, &clustering->graph.short_lists);
    if (r == 0)
        r = membership_init(&clustering->membership, clusters->kv, number);
    clustering->membership.hubs = hubs;
    if (r < 0) {
        cluster_hubs_free(hubs);
        long_lists_free(clustering->graph.long_lists);
        short_lists_free(clustering->graph.short_lists);
    }
    return r;
}

int living_clusters_open(struct kv *kv, struct records *records, struct postings *postings,
                         double threshold, const struct living_limits *limits,
                         struct living_clusters **ret_clusters)
{
    struct living_clusters *clusters = calloc(1, sizeof(*clusters));
    if (!clusters)
        return -ENOMEM;
    clusters->kv = kv;
    if (limits)
        clusters->limits = *limits;
    if (clusters->limits.small_cluster == 0)
        clusters->limits.small_cluster = SMALL_CLUSTER_MAX;
    clusters->graph = &clusters->clusterings[0].graph;
    int r = cluster_repairs_new(&clusters->repairs);
    if (r == 0)
        r = filter_cache_new(FILTERS_MAX, &clusters->filters);
    if (r == 0)
        r = clustering_init(&clusters->clusterings[0], clusters, records, postings, threshold, 0);
    if (r < 0) {
        filter_cache_free(clusters->filters);
        cluster_repairs_free(clusters->repairs);
        free(clusters);
        return r;
    }
    clusters->n_clusterings = 1;
    *ret_clusters = clusters;
    return 0;
}

int living_clusters_add(struct living_clusters *clusters, unsigned number, struct remade *remade)
{
    assert(number > 0 && number <= CLUSTERING_MAX &&
           clusters->n_clusterings <= LIVING_CLUSTERINGS_MAX);
    struct clustering *clustering = &clusters->clusterings[clusters->n_clusterings];
    const struct graph *like = clusters->graph;
    int r = clustering_init(clustering, clusters, like->records, like->postings, 1, number);
    if (r < 0)
        return r;
    clustering->graph.remade = remade;
    clusters->clusterings[clusters->n_clusterings++ - 1].graph.next = &clustering->graph;
    return 0;
}

void living_clusters_close(struct living_clusters *clusters)
{
    if (!clusters)
        return;
    for (size_t i = 0; i < clusters->n_clusterings; i++) {
        membership_done(&clusters->clusterings[i].membership, !clusters->unfinished);
        cluster_hubs_free(clusters->clusterings[i].membership.hubs);
        long_lists_free(clusters->clusterings[i].graph.long_lists);
        short_lists_free(clusters->clusterings[i].graph.short_lists);
    }
    filter_cache_free(clusters->filters);
    cluster_repairs_free(clusters->repairs);
    free(clusters);
}

/* Before documents come or go. */
static int about_to_change(struct living_clusters *clusters)
{
    int r = 0;
    for (const struct graph *graph = clusters->graph->next; r == 0 && graph; graph = graph->next)
        r = remade_changed(graph->remade);
    return r;
}

/* -- insert -- */

static int insert(struct living_clusters *clusters, const struct coming *coming)
{
    const bool is_first = coming->first == coming->sid;
    int r = 0;

    /* Postings that a replay past the watermark would not find again are noted. */
    if (is_first && coming->sid <= clusters->flushed_sid)
        r = posted_intent_put(clusters->kv, coming->sid);
    if (r < 0)
        return r;
    if (r == 0)
        r = cluster_link(clusters->graph, coming);
    for (const struct graph *graph = clusters->graph->next; r == 0 && graph; graph = graph->next)
        r = cluster_link_in_place(graph, coming);
    /* After it was looked for, so that fingerprints that nobody else has are not asked for; and
     * whatever came of that: what is repeated finds it as others do. */
    int posted = is_first ? graph_post(clusters->graph, coming->sid, &coming->record->sketch) : 0;
    return r < 0 ? r : posted;
}

int living_clusters_remake(struct living_clusters *clusters, unsigned number,
                           struct remake_plan *plan)
{
    const struct clustering *clustering = living_clusters_find(clusters, number);
    int r = living_clusters_recover(clusters);
    if (r < 0)
        return r;
    r = remake_plan_step(plan, &clustering->graph);
    clusters->unfinished = r < 0;
    return r;
}

/* -- the committer's -- */

static void note_insert(struct living_clusters *clusters, uint64_t sid, int r)
{
    if (sid > clusters->last_sid)
        clusters->last_sid = sid;
    if (r < 0) {
        if (clusters->first_failed == 0 || sid < clusters->first_failed)
            clusters->first_failed = sid;
        if (sid > clusters->last_failed)
            clusters->last_failed = sid;
    } else if (clusters->first_failed == sid && clusters->last_failed == sid) {
        clusters->first_failed = clusters->last_failed = 0;
    }
}

static int insert_some(struct living_clusters *clusters, const uint64_t *sids,
                       const struct record *const *records, size_t n, uint64_t replaced)
{
    uint8_t class_ids[CLASSES_AT_ONCE][CLASS_BYTES];
    uint64_t firsts[CLASSES_AT_ONCE];
    bool is_alone[CLASSES_AT_ONCE];

    /* Those of one class have the same sketch. Announced before its class is stored: whatever
     * becomes of its postings, who comes later looks. */
    for (size_t i = 0; i < n; i++) {
        const struct min_sketch *sketch = &records[i]->sketch;
        record_class(records[i], class_ids[i]);
        is_alone[i] = sketch->n_values > 0 && !postings_announce(clusters->graph->postings, sketch);
    }
    int r = classes_add_all(clusters->kv, (const uint8_t(*)[CLASS_BYTES])class_ids, sids, is_alone,
                            n, firsts);
    if (r < 0)
        note_insert(clusters, sids[0], r);
    for (size_t i = 0; i < n && r == 0; i++) {
        r = insert(clusters, &(struct coming){.sid = sids[i],
                                              .record = records[i],
                                              .first = firsts[i],
                                              .replaced = replaced,
                                              .may_be_in = sids[i] <= clusters->last_sid});
        note_insert(clusters, sids[i], r);
    }
    return r;
}

static int insert_all(struct living_clusters *clusters, const uint64_t *sids,
                      const struct record *const *records, size_t n, uint64_t replaced)
{
    int r = living_clusters_recover(clusters);

    if (r == 0 && n > 0)
        r = about_to_change(clusters);
    if (r < 0 && n > 0)
        note_insert(clusters, sids[0], r);
    for (size_t at = 0; r == 0 && at < n; at += CLASSES_AT_ONCE) {
        size_t n_some = n - at < CLASSES_AT_ONCE ? n - at : CLASSES_AT_ONCE;
        assert(sids[at] > 0);
        r = insert_some(clusters, sids + at, records + at, n_some, replaced);
        clusters->unfinished = r < 0;
    }
    return r;
}

int living_clusters_insert_all(struct living_clusters *clusters, const uint64_t *sids,
                               const struct record *const *records, size_t n)
{
    return insert_all(clusters, sids, records, n, 0);
}

int living_clusters_insert(struct living_clusters *clusters, uint64_t sid,
                           const struct record *record)
{
    return living_clusters_insert_all(clusters, &sid, &record, 1);
}

int living_clusters_delete_all(struct living_clusters *clusters, const uint64_t *sids,
                               const struct record *const *records, size_t n)
{
    int r = living_clusters_recover(clusters);
    if (r == 0)
        r = about_to_change(clusters);
    if (r < 0)
        return r;
    r = cluster_delete(clusters->graph, sids, records, n);
    clusters->unfinished = r < 0;
    for (size_t i = 0; r == 0 && i < n; i++)
        note_insert(clusters, sids[i], 0);
    return r;
}

int living_clusters_delete(struct living_clusters *clusters, uint64_t sid,
                           const struct record *record)
{
    return living_clusters_delete_all(clusters, &sid, &record, 1);
}

int living_clusters_replace(struct living_clusters *clusters, uint64_t old_sid,
                            const struct record *old_record, uint64_t new_sid,
                            const struct record *new_record)
{
    int r = insert_all(clusters, &new_sid, &new_record, 1, old_sid);
    return r < 0 ? r : living_clusters_delete(clusters, old_sid, old_record);
}

int living_clusters_rename(struct living_clusters *clusters, uint64_t id, uint64_t new_id)
{
    _cleanup_(cluster_intent_done) struct cluster_intent intent = {.kind = INTENT_RENAME,
                                                                   .cluster = new_id};
    const struct graph *graph = graph_of_cluster(clusters->graph, id);
    uint64_t size = 0, new_size = 0;

    if (!graph || graph_of_cluster(clusters->graph, new_id) != graph ||
        new_id == clustering_base(cluster_clustering(id)))
        return -EINVAL;
    int r = living_clusters_recover(clusters);
    if (r == 0)
        r = membership_size(graph->membership, id, &size);
    if (r == 0)
        r = membership_size(graph->membership, new_id, &new_size);
    if (r < 0 || size == 0 || id == new_id || new_size > 0)
        return r < 0 ? r : size == 0 ? -ENOENT : id == new_id ? 0 : -EEXIST;
    graph_forget(graph); /* what may know the new id as a former one */
    cluster_hubs_forget(graph->membership->hubs);
    graph->membership->dissolved = (struct dissolved_clusters){0};
    r = cluster_ids_pass(&graph->membership->ids, clusters->kv, new_id);
    if (r == 0)
        r = sid_vector_push(&intent.ids, id);
    if (r == 0) {
        r = cluster_change_carry_out(graph, &intent);
        clusters->unfinished = r < 0;
    }
    return r;
}

int living_clusters_pass_ids(struct living_clusters *clusters, uint64_t n)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < clusters->n_clusterings; i++)
        r = cluster_ids_pass_over(&clusters->clusterings[i].membership.ids, clusters->kv, n);
    return r;
}

int living_clusters_keep_alias(struct living_clusters *clusters, uint64_t alias, uint64_t id)
{
    const struct graph *graph = graph_of_cluster(clusters->graph, id);
    uint64_t size = 0, alias_size = 0;
    int r = graph && graph_of_cluster(clusters->graph, alias) == graph ? 0 : -EINVAL;

    if (r == 0)
        r = living_clusters_recover(clusters);
    if (r == 0)
        r = membership_size(graph->membership, id, &size);
    if (r == 0)
        r = membership_size(graph->membership, alias, &alias_size);
    if (r == 0 && size > 0 && alias_size == 0)
        r = cluster_aliases_add(clusters->kv, alias, id);
    return r;
}

int living_clusters_repair(struct living_clusters *clusters)
{
    int r = living_clusters_recover(clusters);

    if (r == 0)
        r = cluster_repairs_step(clusters->graph);
    clusters->unfinished = r < 0;
    return r;
}

void living_clusters_set_repair_bounds(struct living_clusters *clusters, size_t at_once,
                                       size_t a_step)
{
    cluster_repairs_set_bounds(clusters->repairs, at_once, a_step);
}
