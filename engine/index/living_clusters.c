/* Incremental connected components, with deletion, over a graph that is not stored.
 *
 * Insert finds the document's neighbours and joins their clusters, small into large. Delete looks
 * whether the neighbours still reach each other (cluster_parts.h). Every change of more than one
 * partition of the store stands in TABLE_INTENTS while it lasts (cluster_intent.h) and can be done
 * again. Postings are lost by a crash up to a watermark, which this keeps:
 *
 *   TABLE_META   "postings_flushed"   sid 8 (big endian): the postings of all documents up to it
 *                                     are in the store, but for those TABLE_INTENTS names
 *
 * and what happens at the next start is: finish removing what was being deleted; post what is past
 * the watermark or named; finish the interrupted change, which needs the postings.
 */
#include "engine/index/living_clusters.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "engine/index/classes.h"
#include "engine/index/cluster_aliases.h"
#include "engine/index/cluster_change.h"
#include "engine/index/cluster_delete.h"
#include "engine/index/cluster_hubs.h"
#include "engine/index/cluster_link.h"
#include "engine/index/membership.h"
#include "engine/index/postings_replay.h"
#include "engine/index/remade.h"
#include "engine/index/remake_plan.h"
#include "engine/index/schema.h"

enum { TORN_READS = 8 };

/* One way of clustering. */
struct clustering {
    struct membership membership;
    struct graph graph;
};

struct living_clusters {
    struct clustering clusterings[1 + LIVING_CLUSTERINGS_MAX]; /* first the default one */
    size_t n_clusterings, long_from;
    struct kv *kv;
    struct cluster_repairs *repairs;
    struct graph *graph;                /* the default one's, and through it all */
    bool posted;                        /* the postings lost by a crash are there again */
    bool unfinished;                    /* a change may have stopped half-way; its intent stands */
    uint64_t flushed_sid;               /* as stored */
    uint64_t last_sid;                  /* the largest inserted */
    uint64_t first_failed, last_failed; /* inserts that failed and were not repeated; 0: none */
};

static const struct kv_slice flushed_key = {"postings_flushed", 16};

static int clustering_init(struct clustering *clustering, struct living_clusters *clusters,
                           struct records *records, struct postings *postings,
                           const struct edge_rule *rule, size_t long_from, unsigned number)
{
    clustering->graph = (struct graph){.kv = clusters->kv,
                                       .records = records,
                                       .postings = postings,
                                       .membership = &clustering->membership,
                                       .rule = *rule,
                                       .repairs = clusters->repairs,
                                       .linked_sid = UINT64_MAX};
    int r = long_lists_new(long_from, &clustering->graph.long_lists);
    if (r < 0)
        return r;
    struct cluster_hubs *hubs = NULL;
    r = cluster_hubs_new(long_from, &hubs);
    if (r == 0)
        r = membership_init(&clustering->membership, clusters->kv, number);
    clustering->membership.hubs = hubs;
    if (r < 0) {
        cluster_hubs_free(hubs);
        long_lists_free(clustering->graph.long_lists);
    }
    return r;
}

int living_clusters_open(struct kv *kv, struct records *records, struct postings *postings,
                         double threshold, size_t long_from, struct living_clusters **ret_clusters)
{
    const struct edge_rule rule = {.resemblance = threshold};
    struct living_clusters *clusters = calloc(1, sizeof(*clusters));
    if (!clusters)
        return -ENOMEM;
    clusters->kv = kv;
    clusters->long_from = long_from;
    clusters->graph = &clusters->clusterings[0].graph;
    int r = cluster_repairs_new(&clusters->repairs);
    if (r == 0)
        r = clustering_init(&clusters->clusterings[0], clusters, records, postings, &rule,
                            long_from, 0);
    if (r < 0) {
        cluster_repairs_free(clusters->repairs);
        free(clusters);
        return r;
    }
    clusters->n_clusterings = 1;
    *ret_clusters = clusters;
    return 0;
}

int living_clusters_add(struct living_clusters *clusters, unsigned number,
                        const struct edge_rule *rule, uint64_t linked_sid)
{
    assert(number > 0 && number <= CLUSTERING_MAX &&
           clusters->n_clusterings <= LIVING_CLUSTERINGS_MAX);
    struct clustering *clustering = &clusters->clusterings[clusters->n_clusterings];
    const struct graph *like = clusters->graph;
    int r = clustering_init(clustering, clusters, like->records, like->postings, rule,
                            clusters->long_from, number);
    if (r < 0)
        return r;
    clustering->graph.linked_sid = linked_sid;
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
    }
    cluster_repairs_free(clusters->repairs);
    free(clusters);
}

int living_clusters_add_remade(struct living_clusters *clusters, unsigned number,
                               struct remade *remade)
{
    int r = living_clusters_add(clusters, number, &(struct edge_rule){0}, 0);
    if (r == 0)
        clusters->clusterings[clusters->n_clusterings - 1].graph.remade = remade;
    return r;
}

/* The one a cluster is of, or an id says. NULL: there is none such. */
static struct membership *membership_of(struct living_clusters *clusters, uint64_t id)
{
    const struct graph *graph = graph_of_cluster(clusters->graph, id);
    return graph ? graph->membership : NULL;
}

/* Before documents come or go. */
static int about_to_change(struct living_clusters *clusters)
{
    int r = 0;
    for (const struct graph *graph = clusters->graph; r == 0 && graph; graph = graph->next)
        if (graph->remade)
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
    for (const struct graph *graph = clusters->graph; r == 0 && graph; graph = graph->next)
        if (graph->remade)
            r = cluster_link_in_place(graph, coming);
        else if (coming->sid <= graph->linked_sid)
            r = cluster_link(graph, coming);
    /* After it was looked for, so that fingerprints that nobody else has are not asked for; and
     * whatever came of that: what is repeated finds it as others do. */
    int posted = is_first ? graph_post(clusters->graph, coming->sid, &coming->record->sketch) : 0;
    return r < 0 ? r : posted;
}

/* -- one clustering alone -- */

static struct clustering *find_clustering(struct living_clusters *clusters, unsigned number)
{
    for (size_t i = 0; i < clusters->n_clusterings; i++)
        if (clusters->clusterings[i].membership.clustering == number)
            return &clusters->clusterings[i];
    return NULL;
}

struct linking_more {
    struct graph *graph;
    size_t n_left;
};

/* A document that is not in its class yet is inserted again, and then linked. */
static int link_next(void *user, uint64_t sid, const struct record *record)
{
    _cleanup_(sid_vector_done) struct sid_vector class = {0};
    struct linking_more *more = user;
    const uint64_t linked_before = more->graph->linked_sid;
    uint8_t class_id[CLASS_BYTES];

    if (more->n_left-- == 0)
        return 1;
    record_class(record, class_id);
    int r = classes_list(more->graph->kv, class_id, 1, &class);
    if (r < 0)
        return r;
    more->graph->linked_sid = sid;
    if (class.n_sids > 0 && class.sids[0] == sid)
        long_lists_posted(more->graph->long_lists, sid, &record->sketch);
    if (class.n_sids > 0)
        r = cluster_link(more->graph, &(struct coming){.sid = sid,
                                                       .record = record,
                                                       .first = class.sids[0],
                                                       .may_be_in = true});
    if (r < 0)
        more->graph->linked_sid = linked_before;
    return r;
}

int living_clusters_link_more(struct living_clusters *clusters, unsigned number, size_t n_documents)
{
    struct clustering *clustering = find_clustering(clusters, number);
    int r = living_clusters_recover(clusters);

    if (r < 0 || !clustering || clustering->graph.linked_sid == UINT64_MAX)
        return r;
    struct linking_more more = {&clustering->graph, n_documents};
    r = records_each(clusters->kv, clustering->graph.linked_sid + 1, link_next, &more);
    clusters->unfinished = r < 0;
    if (r == 0)
        clustering->graph.linked_sid = UINT64_MAX;
    return r;
}

int living_clusters_remake(struct living_clusters *clusters, unsigned number,
                           struct remake_plan *plan)
{
    const struct clustering *clustering = find_clustering(clusters, number);
    int r = living_clusters_recover(clusters);
    if (r < 0)
        return r;
    r = remake_plan_step(plan, &clustering->graph);
    clusters->unfinished = r < 0;
    return r;
}

uint64_t living_clusters_linked(struct living_clusters *clusters, unsigned number)
{
    const struct clustering *clustering = find_clustering(clusters, number);
    return clustering ? clustering->graph.linked_sid : 0;
}

/* -- recovery -- */

static int read_flushed(struct living_clusters *clusters)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};

    int r = kv_get(clusters->kv, TABLE_META, flushed_key, &value);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (value.size_bytes != 8)
        return -EUCLEAN;
    clusters->flushed_sid = clusters->last_sid = get_be64(value.data);
    return 0;
}

/* The postings that were in memory. A document that was being deleted goes first. */
static int recover_postings(struct living_clusters *clusters, const struct cluster_intent *intent)
{
    int r = read_flushed(clusters);

    if (r == 0 && intent && intent->kind == INTENT_DELETE)
        r = cluster_change_remove(clusters->graph, intent);
    if (r == 0)
        r = postings_replay(clusters->graph, &clusters->last_sid);
    if (r == 0)
        clusters->posted = true;
    return r;
}

static int recount(struct living_clusters *clusters)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < clusters->n_clusterings; i++)
        r = membership_recount(&clusters->clusterings[i].membership);
    return r;
}

static void forget_long_lists(struct living_clusters *clusters)
{
    for (const struct graph *graph = clusters->graph; graph; graph = graph->next) {
        long_lists_forget(graph->long_lists);
        cluster_hubs_forget(graph->membership->hubs);
    }
}

/* What a crash or a failing store left half-done comes before any other change. */
int living_clusters_recover(struct living_clusters *clusters)
{
    _cleanup_(cluster_intent_done) struct cluster_intent intent = {0};

    if (clusters->posted && !clusters->unfinished)
        return 0;
    bool failed = clusters->unfinished; /* in this process, which may have lost count */
    clusters->unfinished = true;
    forget_long_lists(clusters);
    int interrupted = cluster_intent_get(clusters->kv, &intent);
    if (interrupted < 0 && interrupted != -ENOENT)
        return interrupted;
    int r = clusters->posted ? 0 : cluster_repairs_load(clusters->repairs, clusters->graph);
    if (r == 0 && !clusters->posted)
        r = recover_postings(clusters, interrupted == 0 ? &intent : NULL);
    if (r == 0 && interrupted == 0)
        r = cluster_change_finish(clusters->graph, &intent);
    if (r == 0 && (failed || interrupted == 0))
        r = recount(clusters);
    if (r == 0)
        clusters->unfinished = false;
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

    for (size_t i = 0; i < n; i++)
        record_class(records[i], class_ids[i]);
    int r =
        classes_add_all(clusters->kv, (const uint8_t(*)[CLASS_BYTES])class_ids, sids, n, firsts);
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

int living_clusters_flush(struct living_clusters *clusters)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    _cleanup_(sid_vector_done) struct sid_vector posted = {0};
    uint8_t value[8];

    if (!batch)
        return -ENOMEM;
    int r = living_clusters_recover(clusters);
    uint64_t sid = clusters->first_failed ? clusters->first_failed - 1 : clusters->last_sid;
    if (r == 0)
        r = posted_intent_list(clusters->kv, &posted);
    if (r == 0)
        r = postings_flush(clusters->graph->postings);
    if (r < 0)
        return r;
    put_be64(value, sid);
    kv_batch_put(batch, TABLE_META, flushed_key, (struct kv_slice){value, sizeof(value)});
    r = kv_apply(clusters->kv, batch);
    if (r < 0)
        return r;
    clusters->flushed_sid = sid;
    return posted_intent_clear(clusters->kv, &posted);
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
    long_lists_forget(graph->long_lists); /* which may know the new id as a former one */
    cluster_hubs_forget(graph->membership->hubs);
    r = cluster_ids_pass(&graph->membership->ids, clusters->kv, new_id);
    if (r == 0)
        r = sid_vector_push(&intent.ids, id);
    if (r == 0) {
        r = cluster_change_carry_out(graph, &intent);
        clusters->unfinished = r < 0;
    }
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

/* -- anyone's -- */

bool living_clusters_is_repairing(struct living_clusters *clusters, uint64_t id)
{
    return cluster_repairs_has(clusters->repairs, id);
}

size_t living_clusters_n_repairing(struct living_clusters *clusters)
{
    return cluster_repairs_count(clusters->repairs);
}

int living_clusters_of_in(struct living_clusters *clusters, unsigned number, uint64_t sid,
                          uint64_t *ret_id, uint64_t *ret_size)
{
    struct clustering *clustering = find_clustering(clusters, number);
    uint64_t id = 0, size = 0;

    /* Between the two reads the cluster may have become another one. */
    for (unsigned i = 0; clustering && i < TORN_READS && size == 0; i++) {
        int r = membership_cluster_of(&clustering->membership, sid, &id);
        if (r == 0 && id)
            r = membership_size(&clustering->membership, id, &size);
        if (r < 0)
            return r;
        if (id == 0)
            break;
    }
    *ret_id = size ? id : 0;
    *ret_size = size;
    return 0;
}

int living_clusters_of(struct living_clusters *clusters, uint64_t sid, uint64_t *ret_id,
                       uint64_t *ret_size)
{
    return living_clusters_of_in(clusters, 0, sid, ret_id, ret_size);
}

int living_clusters_has(struct living_clusters *clusters, uint64_t sid)
{
    uint64_t id;
    int r = membership_cluster_of(&clusters->clusterings[0].membership, sid, &id);

    return r < 0 ? r : id != 0;
}

static struct sid_list list_of(struct sid_vector *vector)
{
    struct sid_list list = {vector->sids, vector->n_sids};
    *vector = (struct sid_vector){0};
    return list;
}

int living_clusters_members(struct living_clusters *clusters, uint64_t id, size_t limit,
                            struct sid_list *ret_members)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    struct membership *membership = membership_of(clusters, id);

    int r = membership ? membership_list(membership, id, limit, &sids) : -ENOENT;
    if (r < 0 || sids.n_sids == 0)
        return r < 0 ? r : -ENOENT;
    *ret_members = list_of(&sids);
    return 0;
}

int living_clusters_ids(struct living_clusters *clusters, uint64_t after, size_t limit,
                        uint64_t *ret_ids)
{
    struct membership *membership = membership_of(clusters, after);
    return membership ? membership_ids(membership, after, limit, ret_ids) : 0;
}

int living_clusters_alias(struct living_clusters *clusters, uint64_t id, uint64_t *ret_id)
{
    return cluster_aliases_find(clusters->kv, id, ret_id);
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

int living_clusters_each_alias(struct living_clusters *clusters,
                               int (*found)(void *user, uint64_t alias, uint64_t id), void *user)
{
    return cluster_aliases_each(clusters->kv, found, user);
}

int living_clusters_class(struct living_clusters *clusters, const uint8_t class_id[CLASS_BYTES],
                          struct sid_list *ret_sids)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};

    int r = classes_list(clusters->kv, class_id, 0, &sids);
    if (r == 0)
        *ret_sids = list_of(&sids);
    return r;
}

void living_clusters_count_in(struct living_clusters *clusters, unsigned number,
                              uint64_t *ret_clusters, uint64_t *ret_documents)
{
    const struct clustering *clustering = find_clustering(clusters, number);
    int64_t n_clusters = clustering ? clustering->membership.n_clusters : 0;
    int64_t n_documents = clustering ? clustering->membership.n_documents : 0;

    *ret_clusters = n_clusters > 0 ? (uint64_t)n_clusters : 0;
    *ret_documents = n_documents > 0 ? (uint64_t)n_documents : 0;
}

void living_clusters_count(struct living_clusters *clusters, uint64_t *ret_clusters,
                           uint64_t *ret_documents)
{
    living_clusters_count_in(clusters, 0, ret_clusters, ret_documents);
}
