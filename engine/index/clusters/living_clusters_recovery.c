/* Recovery finishes what a crash, or a store that failed, left half-done. By a crash the postings
 * in memory are lost: those of documents past a watermark, which this keeps:
 *
 *   TABLE_META   "postings_flushed"   sid 8 (big endian): the postings of all documents up to it
 *                                     are in the store, but for those TABLE_INTENTS names
 *
 * and what happens at the next start is: documents that were on their way between two clusters
 * arrive; what is past the watermark or named is posted; deletes are finished. What is dirty is
 * clustered anew later, behind other work.
 *
 * A document moves by three rows, each of a partition of its own: its row in the new cluster and
 * what says that it is in that one (*cluster_of*), in one call, of which a crash may leave either;
 * then its row in the old one goes. Both clusters are dirty meanwhile, so the rows of dirty
 * clusters tell who had not arrived.
 */
#include <errno.h>

#include "base/bytes.h"
#include "engine/index/clusters/cluster_change.h"
#include "engine/index/clusters/cluster_delete.h"
#include "engine/index/clusters/intents.h"
#include "engine/index/clusters/living_clusters_private.h"
#include "engine/index/clusters/postings_replay.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"

static const struct kv_slice flushed_key = {"postings_flushed", 16};

static int read_flushed(struct living_clusters *clusters)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};

    int r = kv_get(clusters->kv, TABLE_META, flushed_key, &value);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (value.size_bytes != 8)
        return -EUCLEAN;
    r = sid_decode(value.data, &clusters->flushed_sid);
    clusters->last_sid = clusters->flushed_sid;
    return r;
}

/* Notes the postings again that were in memory. */
static int recover_postings(struct living_clusters *clusters)
{
    int r = read_flushed(clusters);
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

static void forget_what_is_known(struct living_clusters *clusters)
{
    recluster_forget(clusters->run);
    classes_forget(&clusters->classes);
    for (const struct graph *graph = clusters->graph; graph; graph = graph->next) {
        number_cache_clear(&graph->membership->sizes);
        number_cache_clear(&graph->membership->clusters);
    }
}

void living_clusters_set_repeating(struct living_clusters *clusters, bool repeating)
{
    for (size_t i = 0; i < clusters->n_clusterings; i++)
        clusters->clusterings[i].membership.repeating = repeating;
}

/* -- documents on their way -- */

static int arrive_of(const struct graph *graph, uint64_t cluster)
{
    _cleanup_(number_vector_done) struct number_vector sids = {0};
    int r = membership_list(graph->membership, cluster, 0, &sids);
    for (size_t i = 0; r == 0 && i < sids.n_numbers; i++) {
        const struct number_vector one = {&sids.numbers[i], 1, 1};
        uint64_t to;
        r = membership_look_up(graph->membership, &sids.numbers[i], 1, &to);
        if (r == 0 && to != cluster)
            r = cluster_move(graph, cluster, to, &one);
    }
    return r;
}

/* Documents arrive that were on their way from any cluster of a clustering to another. */
static int arrive_in(const struct graph *graph)
{
    enum { IDS = 64 };
    uint64_t ids[IDS], after = clustering_base(graph->membership->clustering);
    int n;
    while ((n = membership_ids(graph->membership, after, IDS, ids)) > 0) {
        for (int i = 0; i < n; i++) {
            int r = arrive_of(graph, ids[i]);
            if (r < 0)
                return r;
        }
        after = ids[n - 1];
    }
    return n;
}

/* The next batch of a clustering moves what is still to be moved. */
static int arrive(struct living_clusters *clusters)
{
    _cleanup_(number_vector_done) struct number_vector dirty = {0};
    int r = dirty_read(clusters->dirty);
    if (r == 0)
        r = dirty_clusters(clusters->dirty, &dirty);
    for (size_t i = 0; r == 0 && i < dirty.n_numbers; i++) {
        const uint64_t id = dirty.numbers[i];
        const struct graph *graph = graph_of_cluster(clusters->graph, id);
        const bool all = cluster_clustering(id) && id == clustering_base(cluster_clustering(id));
        if (graph)
            r = all ? arrive_in(graph) : arrive_of(graph, id);
        if (r == 0 && (all || !graph))
            r = dirty_clear(clusters->dirty, &id, 1, UINT64_MAX);
    }
    return r;
}

/* -- */

static int recover(struct living_clusters *clusters)
{
    const bool failed = clusters->unfinished; /* in this process, which may have lost count */
    clusters->unfinished = true;
    forget_what_is_known(clusters);
    int r = arrive(clusters);
    if (r == 0 && !clusters->posted)
        r = recover_postings(clusters);
    if (r == 0)
        r = cluster_delete_again(clusters->graph, &clusters->n_deleted);
    if (r == 0 && failed)
        r = recount(clusters);
    if (r == 0)
        clusters->unfinished = false;
    return r;
}

/* The work that a crash or a failing store left half-done comes before any other change. */
int living_clusters_recover(struct living_clusters *clusters)
{
    if (clusters->posted && !clusters->unfinished)
        return 0;
    living_clusters_set_repeating(clusters, true);
    int r = recover(clusters);
    living_clusters_set_repeating(clusters, false);
    return r;
}

/* One that goes leaves an intent, be it without postings, as others of its class have them: whoever
 * writes and removes copies of a text would have intents without end. */
bool living_clusters_flush_due(const struct living_clusters *clusters)
{
    return postings_flush_due(clusters->graph->postings) ||
           clusters->n_deleted >= LIVING_CLUSTERS_DELETED_MAX;
}

int living_clusters_flush_postings(struct living_clusters *clusters)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    _cleanup_(number_vector_done) struct number_vector posted = {0}, deleted = {0};
    uint8_t value[8];

    if (!batch)
        return -ENOMEM;
    int r = living_clusters_recover(clusters);
    uint64_t sid = clusters->first_failed ? clusters->first_failed - 1 : clusters->last_sid;
    if (r == 0)
        r = intents_list(clusters->kv, INTENT_POSTED, &posted);
    if (r == 0)
        r = intents_list(clusters->kv, INTENT_DELETE, &deleted);
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
    r = intents_drop(clusters->kv, INTENT_POSTED, &posted);
    if (r == 0)
        r = intents_drop(clusters->kv, INTENT_DELETE, &deleted);
    if (r == 0)
        clusters->n_deleted = 0;
    return r;
}
