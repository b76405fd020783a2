/* The clusterings of an index as one thing: what is done to documents is done in each, in order,
 * and what a crash or a failing store left half done is finished before anything else.
 *
 * Join eagerly, split lazily: an insert joins one cluster (cluster_insert.h), a delete marks one
 * dirty (cluster_delete.h), and what is dirty is clustered anew (recluster.h). */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "engine/cluster/pairs/links_bounds.h"
#include "engine/index/clusters/cluster_delete.h"
#include "engine/index/clusters/cluster_insert.h"
#include "engine/index/clusters/intents.h"
#include "engine/index/clusters/living_clusters_private.h"
#include "engine/index/clusters/neighbours.h"
#include "engine/index/clusters/remade.h"
#include "engine/index/clusters/move_plan.h"
#include "engine/index/tables/classes.h"
#include "engine/index/members/cluster_aliases.h"

enum {
    FILTERS_MAX = 1 << 18,    /* 21 MB */
    RECLUSTERED_AT_ONCE = 64, /* some hundred microseconds */
};

static int clustering_init(struct clustering *clustering, struct living_clusters *clusters,
                           struct records *records, struct postings *postings, double threshold,
                           unsigned number)
{
    clustering->graph = (struct graph){.kv = clusters->kv,
                                       .classes = &clusters->classes,
                                       .records = records,
                                       .postings = postings,
                                       .membership = &clustering->membership,
                                       .filters = clusters->filters,
                                       .long_lists = &clusters->long_lists,
                                       .seen = clusters->seen,
                                       .dirty = clusters->dirty,
                                       .bounds = clusters->bounds,
                                       .threshold = threshold};
    return membership_init(&clustering->membership, clusters->kv, number);
}

static void set_bounds(struct living_clusters *clusters, const struct cluster_bounds *bounds)
{
    struct cluster_bounds *to = &clusters->bounds;
    if (bounds)
        *to = *bounds;
    if (to->most_compared == 0)
        to->most_compared = LINKS_MOST_COMPARED;
    if (to->n_heads == 0)
        to->n_heads = LINKS_HEADS;
    if (to->at_once == 0)
        to->at_once = RECLUSTERED_AT_ONCE;
}

/* Makes what all clusterings have in common. */
static int init_shared(struct living_clusters *clusters)
{
    int r = classes_init(&clusters->classes, clusters->kv);
    if (r == 0)
        r = dirty_new(clusters->kv, &clusters->dirty);
    if (r == 0)
        r = recluster_new(&clusters->run);
    if (r == 0)
        r = looseness_new(&clusters->looseness);
    if (r == 0)
        r = filter_cache_new(FILTERS_MAX, &clusters->filters);
    if (r == 0)
        r = seen_sids_new(&clusters->seen);
    if (r == 0)
        r = long_lists_read(clusters->kv, &clusters->long_lists);
    return r < 0 ? r : dirty_read(clusters->dirty);
}

static void free_shared(struct living_clusters *clusters)
{
    long_lists_done(&clusters->long_lists);
    seen_sids_free(clusters->seen);
    filter_cache_free(clusters->filters);
    looseness_free(clusters->looseness);
    recluster_free(clusters->run);
    dirty_free(clusters->dirty);
    classes_done(&clusters->classes);
    free(clusters);
}

/* Another clustering joins the chain of them. */
static int add_clustering(struct living_clusters *clusters, unsigned number, double threshold,
                          struct graph **ret_graph)
{
    struct clustering *clustering = &clusters->clusterings[clusters->n_clusterings];
    const struct graph *like = clusters->graph;
    int r = clustering_init(clustering, clusters, like->records, like->postings, threshold, number);
    if (r < 0)
        return r;
    clusters->clusterings[clusters->n_clusterings++ - 1].graph.next = &clustering->graph;
    *ret_graph = &clustering->graph;
    return 0;
}

static int add_divided(struct living_clusters *clusters)
{
    struct graph *graph = clusters->graph;
    int r = add_clustering(clusters, CLUSTERING_DIVIDED, graph->threshold, &graph->divided);
    graph->looseness = clusters->looseness;
    return r;
}

int living_clusters_open(struct kv *kv, struct records *records, struct postings *postings,
                         double threshold, const struct cluster_bounds *bounds,
                         struct living_clusters **ret_clusters)
{
    struct living_clusters *clusters = calloc(1, sizeof(*clusters));
    if (!clusters)
        return -ENOMEM;
    clusters->kv = kv;
    set_bounds(clusters, bounds);
    clusters->graph = &clusters->clusterings[0].graph;
    int r = init_shared(clusters);
    if (r == 0)
        r = clustering_init(&clusters->clusterings[0], clusters, records, postings, threshold, 0);
    if (r == 0)
        clusters->n_clusterings = 1;
    if (r == 0 && !clusters->bounds.whole)
        r = add_divided(clusters);
    if (r < 0) {
        living_clusters_close(clusters);
        return r;
    }
    *ret_clusters = clusters;
    return 0;
}

int living_clusters_add(struct living_clusters *clusters, unsigned number, struct remade *remade)
{
    struct graph *graph;
    assert(number > 0 && number <= CLUSTERING_MAX && number != CLUSTERING_DIVIDED &&
           clusters->n_clusterings <= 1 + LIVING_CLUSTERINGS_MAX);
    int r = add_clustering(clusters, number, 1, &graph);
    if (r == 0)
        graph->remade = remade;
    return r;
}

void living_clusters_close(struct living_clusters *clusters)
{
    if (!clusters)
        return;
    for (size_t i = 0; i < clusters->n_clusterings; i++)
        membership_done(&clusters->clusterings[i].membership, !clusters->unfinished);
    free_shared(clusters);
}

/* Before documents come or go a run of clustering anew that moves others comes to its end, and
 * named clusterings are said to be those of before. */
static int about_to_change(struct living_clusters *clusters, const uint64_t *gone, size_t n_gone)
{
    int r = recluster_finish(clusters->run, clusters->graph, gone, n_gone);
    clusters->unfinished = r < 0;
    for (const struct graph *graph = clusters->graph->next; r == 0 && graph; graph = graph->next)
        r = graph->remade ? remade_changed(graph->remade) : 0;
    return r;
}

/* -- insert -- */

/* Postings that a replay past the watermark "postings_flushed" would not find again are noted. */
static int post(struct living_clusters *clusters, const struct coming *coming)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = NULL;
    int r = 0;
    if (coming->sid <= clusters->flushed_sid) {
        batch = kv_batch_new();
        if (!batch)
            return -ENOMEM;
        intent_put(batch, INTENT_POSTED, coming->sid, (struct kv_slice){"", 0});
        r = kv_apply(clusters->kv, batch);
    }
    return r < 0 ? r : graph_post(clusters->graph, coming->sid, &coming->record->sketch);
}

static int insert_one(struct living_clusters *clusters, const struct coming *coming)
{
    int r = coming->first == coming->sid ? post(clusters, coming) : 0;
    living_clusters_set_repeating(clusters, coming->may_be_in);
    if (r == 0 && !living_clusters_is_put_off(clusters, coming->sid))
        r = cluster_insert(clusters->graph, coming);
    for (const struct graph *graph = clusters->graph->next; r == 0 && graph; graph = graph->next)
        r = graph->remade ? cluster_insert_in_place(graph, coming) : 0;
    living_clusters_set_repeating(clusters, false);
    return r;
}

static void note_done(struct living_clusters *clusters, uint64_t sid, int r)
{
    if (sid > clusters->last_sid)
        clusters->last_sid = sid;
    if (r < 0) {
        if (clusters->first_failed == 0 || sid < clusters->first_failed)
            clusters->first_failed = sid;
        if (sid > clusters->last_failed)
            clusters->last_failed = sid;
    } else if (clusters->first_failed == sid) {
        clusters->first_failed = sid < clusters->last_failed ? sid + 1 : 0;
        clusters->last_failed = clusters->first_failed ? clusters->last_failed : 0;
    }
}

/* Documents, CLASSES_AT_ONCE at most, enter their classes by one write, and then each its cluster.
 */
static int insert_page(struct living_clusters *clusters, const uint64_t *sids,
                       const struct record *const *records, size_t n, uint64_t replaced)
{
    uint8_t class_ids[CLASSES_AT_ONCE][CLASS_BYTES];
    uint64_t firsts[CLASSES_AT_ONCE];
    bool is_alone[CLASSES_AT_ONCE];

    /* A sketch, which documents of one class share, is announced before the class is stored: then
     * who comes later looks for its postings, whatever becomes of them. */
    for (size_t i = 0; i < n; i++) {
        const struct min_sketch *sketch = &records[i]->sketch;
        record_class(records[i], class_ids[i]);
        is_alone[i] = sketch->n_values > 0 && !postings_announce(clusters->graph->postings, sketch);
    }
    int r = classes_add(&clusters->classes, (const uint8_t(*)[CLASS_BYTES])class_ids, sids,
                        is_alone, n, firsts);
    if (r < 0)
        note_done(clusters, sids[0], r);
    for (size_t i = 0; i < n && r == 0; i++) {
        r = insert_one(clusters, &(struct coming){.sid = sids[i],
                                                  .record = records[i],
                                                  .first = firsts[i],
                                                  .replaced = replaced,
                                                  .may_be_in = sids[i] <= clusters->last_sid});
        note_done(clusters, sids[i], r);
    }
    return r;
}

static int insert_batch(struct living_clusters *clusters, const uint64_t *sids,
                        const struct record *const *records, size_t n, uint64_t replaced)
{
    int r = living_clusters_recover(clusters);

    /* After a failure documents come once more that a run over all has moved. */
    if (n > 0 && sids[0] <= clusters->placed_sid && dirty_has(clusters->dirty, DIRTY_PUT_OFF))
        recluster_forget(clusters->run);
    if (r == 0 && n > 0)
        r = about_to_change(clusters, NULL, 0);
    if (r < 0 && n > 0)
        note_done(clusters, sids[0], r);
    for (size_t at = 0; r == 0 && at < n; at += CLASSES_AT_ONCE) {
        size_t n_some = n - at < CLASSES_AT_ONCE ? n - at : CLASSES_AT_ONCE;
        assert(sids[at] > 0);
        r = insert_page(clusters, sids + at, records + at, n_some, replaced);
        clusters->unfinished = r < 0;
    }
    return r;
}

int living_clusters_insert_all(struct living_clusters *clusters, const uint64_t *sids,
                               const struct record *const *records, size_t n)
{
    return insert_batch(clusters, sids, records, n, 0);
}

int living_clusters_insert(struct living_clusters *clusters, uint64_t sid,
                           const struct record *record)
{
    return living_clusters_insert_all(clusters, &sid, &record, 1);
}

int living_clusters_insert_again(struct living_clusters *clusters, uint64_t sid)
{
    _cleanup_(record_done) struct record record = {0};
    const struct record *again = &record;
    int r = graph_record(clusters->graph, sid, &record);
    if (r == 0)
        r = insert_batch(clusters, &sid, &again, 1, 0);
    else
        note_done(clusters, sid, r = r == -ENOENT ? 0 : r);
    return r;
}

/* -- delete, replace -- */

/* A document that may have been inserted in part is inserted before it goes, or others move. */
static int insert_failed(struct living_clusters *clusters)
{
    int r = 0;
    while (r == 0 && clusters->first_failed)
        r = living_clusters_insert_again(clusters, clusters->first_failed);
    return r;
}

int living_clusters_delete_all(struct living_clusters *clusters, const uint64_t *sids,
                               const struct record *const *records, size_t n)
{
    int r = living_clusters_recover(clusters);
    if (r == 0)
        r = insert_failed(clusters);
    if (r == 0)
        r = about_to_change(clusters, sids, n);
    if (r < 0)
        return r;
    clusters->n_deleted += n;
    r = cluster_delete(clusters->graph, sids, records, n);
    clusters->unfinished = r < 0;
    for (size_t i = 0; r == 0 && i < n; i++)
        note_done(clusters, sids[i], 0);
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
    int r = insert_batch(clusters, &new_sid, &new_record, 1, old_sid);
    return r < 0 ? r : living_clusters_delete(clusters, old_sid, old_record);
}

void living_clusters_tell(struct living_clusters *clusters, struct member_changes *changes)
{
    clusters->clusterings[0].membership.changes = changes;
}

/* -- ids -- */

/* Interrupted, some of the documents have the new id and the others the old one: what is dirty is
 * clustered anew, and the larger part's id stays. */
static int carry_out_rename(struct living_clusters *clusters, const struct graph *graph,
                            uint64_t id, uint64_t new_id)
{
    const uint64_t on_its_way = clustering_base(graph->membership->clustering);
    const uint64_t marked[2] = {on_its_way ? on_its_way : new_id, id};
    const size_t n = on_its_way ? 1 : 2;
    const bool was_dirty = dirty_has(clusters->dirty, on_its_way ? on_its_way : id);
    int r = dirty_mark(clusters->dirty, marked, n);
    if (r == 0)
        r = cluster_aliases_rename(clusters->kv, id, new_id);
    if (r == 0)
        r = membership_move_all(graph->membership, id, new_id);
    if (r == 0) /* what was dirty still is, under its new id */
        r = dirty_clear(clusters->dirty, marked + was_dirty, n - was_dirty, UINT64_MAX);
    return r;
}

int living_clusters_rename(struct living_clusters *clusters, uint64_t id, uint64_t new_id)
{
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
    r = about_to_change(clusters, NULL, 0);
    if (r < 0)
        return r;
    graph->membership->dissolved = (struct dissolved_clusters){0};
    r = cluster_ids_pass(&graph->membership->ids, clusters->kv, new_id);
    if (r == 0) {
        r = carry_out_rename(clusters, graph, id, new_id);
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

/* -- making anew, step by step -- */

int living_clusters_remake(struct living_clusters *clusters, unsigned number,
                           struct move_plan *plan)
{
    const struct clustering *clustering = living_clusters_find(clusters, number);
    const uint64_t on_its_way = clustering_base(number);
    int r = living_clusters_recover(clusters);
    if (r == 0)
        r = dirty_mark(clusters->dirty, &on_its_way, 1);
    if (r == 0)
        r = move_plan_step(plan, &clustering->graph);
    if (r == 0)
        r = dirty_clear(clusters->dirty, &on_its_way, 1, UINT64_MAX);
    clusters->unfinished = r < 0;
    return r;
}

int living_clusters_recluster(struct living_clusters *clusters)
{
    int r = living_clusters_recover(clusters);

    if (r == 0)
        r = insert_failed(clusters);
    if (r == 0 && dirty_has(clusters->dirty, DIRTY_PUT_OFF))
        r = living_clusters_place_step(clusters);
    else if (r == 0)
        r = recluster_step(clusters->run, clusters->graph);
    clusters->unfinished = r < 0;
    return r;
}
