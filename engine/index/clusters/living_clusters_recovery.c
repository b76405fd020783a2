/* What a crash, or a store that failed, left half-done. Postings are lost by a crash up to a
 * watermark, which this keeps:
 *
 *   TABLE_META   "postings_flushed"   sid 8 (big endian): the postings of all documents up to it
 *                                     are in the store, but for those TABLE_INTENTS names
 *
 * and what happens at the next start is: finish removing what was being deleted; post what is past
 * the watermark or named; finish the interrupted change, which needs the postings.
 */
#include <errno.h>

#include "base/bytes.h"
#include "engine/index/clusters/cluster_change.h"
#include "engine/index/clusters/cluster_hubs.h"
#include "engine/index/clusters/leaving_documents.h"
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

/* The postings that were in memory. A document that was being deleted goes first. */
static int recover_postings(struct living_clusters *clusters, struct cluster_intent *intent)
{
    int r = read_flushed(clusters);

    if (r == 0 && intent && intent->kind == INTENT_DELETE)
        r = leaving_documents_remove(clusters->graph, intent);
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
    for (const struct graph *graph = clusters->graph; graph; graph = graph->next) {
        graph_forget(graph);
        cluster_hubs_forget(graph->membership->hubs);
        number_cache_clear(&graph->membership->heads);
    }
}

/* What an intent moves may have been moved. */
static int finish_change(struct living_clusters *clusters, struct cluster_intent *intent)
{
    for (size_t i = 0; i < clusters->n_clusterings; i++)
        clusters->clusterings[i].membership.repeating = true;
    int r = cluster_change_finish(clusters->graph, intent);
    for (size_t i = 0; i < clusters->n_clusterings; i++)
        clusters->clusterings[i].membership.repeating = false;
    return r;
}

/* What a crash or a failing store left half-done comes before any other change. */
int living_clusters_recover(struct living_clusters *clusters)
{
    _cleanup_(cluster_intent_done) struct cluster_intent intent = {0};

    if (clusters->posted && !clusters->unfinished)
        return 0;
    bool failed = clusters->unfinished; /* in this process, which may have lost count */
    clusters->unfinished = true;
    forget_what_is_known(clusters);
    int interrupted = cluster_intent_get(clusters->kv, &intent);
    if (interrupted < 0 && interrupted != -ENOENT)
        return interrupted;
    int r = clusters->posted ? 0 : cluster_repairs_load(clusters->repairs, clusters->graph);
    if (r == 0 && !clusters->posted)
        r = recover_postings(clusters, interrupted == 0 ? &intent : NULL);
    if (r == 0 && interrupted == 0)
        r = finish_change(clusters, &intent);
    if (r == 0)
        r = cluster_repairs_recover(clusters->repairs, clusters->graph);
    if (r == 0 && (failed || interrupted == 0))
        r = recount(clusters);
    if (r == 0)
        clusters->unfinished = false;
    return r;
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
