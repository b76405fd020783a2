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
#include "engine/index/cluster_change.h"
#include "engine/index/cluster_delete.h"
#include "engine/index/membership.h"
#include "engine/index/postings_replay.h"
#include "engine/index/schema.h"

enum { TORN_READS = 8 };

struct living_clusters {
    struct membership membership;
    struct graph graph;
    bool posted;                        /* the postings lost by a crash are there again */
    bool unfinished;                    /* a change may have stopped half-way; its intent stands */
    uint64_t flushed_sid;               /* as stored */
    uint64_t last_sid;                  /* the largest inserted */
    uint64_t first_failed, last_failed; /* inserts that failed and were not repeated; 0: none */
};

static const struct kv_slice flushed_key = {"postings_flushed", 16};

int living_clusters_open(struct kv *kv, struct records *records, struct postings *postings,
                         double threshold, size_t long_from, struct living_clusters **ret_clusters)
{
    struct living_clusters *clusters = calloc(1, sizeof(*clusters));
    if (!clusters)
        return -ENOMEM;
    clusters->graph = (struct graph){kv, records, postings, &clusters->membership, NULL, threshold};
    int r = long_lists_new(long_from, &clusters->graph.long_lists);
    if (r == 0)
        r = membership_init(&clusters->membership, kv);
    if (r < 0) {
        long_lists_free(clusters->graph.long_lists);
        free(clusters);
        return r;
    }
    *ret_clusters = clusters;
    return 0;
}

void living_clusters_close(struct living_clusters *clusters)
{
    if (!clusters)
        return;
    membership_done(&clusters->membership, !clusters->unfinished);
    long_lists_free(clusters->graph.long_lists);
    free(clusters);
}

/* -- insert -- */

struct linking {
    struct joining joining;
    uint64_t sid;
};

/* What comes later is inserted again after it: a crash leaves them known, and ids depend on the
 * order in which they join. */
static bool may_link(void *user, uint64_t sid, uint64_t cluster)
{
    const struct linking *linking = user;
    return sid < linking->sid &&
           (cluster == 0 || !sid_vector_has(&linking->joining.clusters, cluster));
}

static int link_to(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct linking *linking = user;
    (void)record;
    return joining_add(&linking->joining, sid, cluster);
}

/* Postings that a replay past the watermark would not find again are noted. */
static int post(struct living_clusters *clusters, uint64_t sid, const struct record *record)
{
    int r = sid <= clusters->flushed_sid ? posted_intent_put(clusters->graph.kv, sid) : 0;
    return r < 0 ? r : graph_post(&clusters->graph, sid, &record->sketch);
}

/* The first document of its class: look for neighbours. Postings of dead documents (a crash forgets
 * removals) are dropped on the way. */
static int link_first(struct living_clusters *clusters, struct linking *linking,
                      const struct record *record)
{
    _cleanup_(sid_vector_done) struct sid_vector dead = {0};

    int r = post(clusters, linking->sid, record);
    if (r == 0)
        r = neighbours_reach(&clusters->graph, &record->sketch, may_link, link_to, linking, &dead);
    for (size_t i = 0; i < dead.n_sids && r == 0; i++)
        r = postings_remove(clusters->graph.postings, dead.sids[i], &record->sketch);
    return r;
}

/* One of the class is there before it, and has the postings: join its cluster. */
static int link_twin(struct living_clusters *clusters, struct linking *linking, uint64_t twin)
{
    uint64_t cluster;
    int r = membership_clusters_of(&clusters->membership, &twin, 1, &cluster);

    return r < 0 ? r : joining_add(&linking->joining, twin, cluster);
}

static void linking_done(struct linking *linking)
{
    joining_done(&linking->joining);
}

/* first: of its class, in which it is. */
static int insert(struct living_clusters *clusters, uint64_t sid, const struct record *record,
                  uint64_t first)
{
    _cleanup_(linking_done) struct linking linking = {.sid = sid};
    uint64_t cluster = 0;
    int r = 0;

    if (sid <= clusters->last_sid) /* it may have been inserted before, or in part */
        r = membership_clusters_of(&clusters->membership, &sid, 1, &cluster);
    if (r == 0)
        r = joining_add(&linking.joining, sid, cluster);
    if (r == 0)
        r = first == sid ? link_first(clusters, &linking, record)
                         : link_twin(clusters, &linking, first);
    return r < 0 ? r : cluster_change_join(&clusters->graph, &linking.joining);
}

/* -- recovery -- */

static int read_flushed(struct living_clusters *clusters)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};

    int r = kv_get(clusters->graph.kv, TABLE_META, flushed_key, &value);
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
        r = cluster_change_remove(&clusters->graph, intent);
    if (r == 0)
        r = postings_replay(&clusters->graph, &clusters->last_sid);
    if (r == 0)
        clusters->posted = true;
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
    long_lists_forget(clusters->graph.long_lists);
    int interrupted = cluster_intent_get(clusters->graph.kv, &intent);
    if (interrupted < 0 && interrupted != -ENOENT)
        return interrupted;
    int r = clusters->posted ? 0 : recover_postings(clusters, interrupted == 0 ? &intent : NULL);
    if (r == 0 && interrupted == 0)
        r = cluster_change_finish(&clusters->graph, &intent);
    if (r == 0 && (failed || interrupted == 0))
        r = membership_recount(&clusters->membership);
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
                       const struct record *const *records, size_t n)
{
    uint8_t class_ids[CLASSES_AT_ONCE][CLASS_BYTES];
    uint64_t firsts[CLASSES_AT_ONCE];

    for (size_t i = 0; i < n; i++)
        record_class(records[i], class_ids[i]);
    int r = classes_add_all(clusters->graph.kv, (const uint8_t(*)[CLASS_BYTES])class_ids, sids, n,
                            firsts);
    if (r < 0)
        note_insert(clusters, sids[0], r);
    for (size_t i = 0; i < n && r == 0; i++) {
        r = insert(clusters, sids[i], records[i], firsts[i]);
        note_insert(clusters, sids[i], r);
    }
    return r;
}

int living_clusters_insert_all(struct living_clusters *clusters, const uint64_t *sids,
                               const struct record *const *records, size_t n)
{
    int r = living_clusters_recover(clusters);

    if (r < 0 && n > 0)
        note_insert(clusters, sids[0], r);
    for (size_t at = 0; r == 0 && at < n; at += CLASSES_AT_ONCE) {
        size_t n_some = n - at < CLASSES_AT_ONCE ? n - at : CLASSES_AT_ONCE;
        assert(sids[at] > 0);
        r = insert_some(clusters, sids + at, records + at, n_some);
        clusters->unfinished = r < 0;
    }
    return r;
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
    if (r < 0)
        return r;
    r = cluster_delete(&clusters->graph, sids, records, n);
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
    uint64_t cluster;

    int r = living_clusters_recover(clusters);
    if (r == 0)
        r = membership_clusters_of(&clusters->membership, &old_sid, 1, &cluster);
    if (r < 0) {
        note_insert(clusters, new_sid, r);
        return r;
    }
    /* What was in no cluster has no id to keep, and would only found one to leave it. */
    if (cluster == 0) {
        dissolved_clusters_replace(&clusters->membership.dissolved, old_sid, new_sid);
        r = living_clusters_delete(clusters, old_sid, old_record);
        if (r < 0) {
            note_insert(clusters, new_sid, r);
            return r;
        }
        return living_clusters_insert(clusters, new_sid, new_record);
    }
    r = living_clusters_insert(clusters, new_sid, new_record);
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
        r = posted_intent_list(clusters->graph.kv, &posted);
    if (r == 0)
        r = postings_flush(clusters->graph.postings);
    if (r < 0)
        return r;
    put_be64(value, sid);
    kv_batch_put(batch, TABLE_META, flushed_key, (struct kv_slice){value, sizeof(value)});
    r = kv_apply(clusters->graph.kv, batch);
    if (r < 0)
        return r;
    clusters->flushed_sid = sid;
    return posted_intent_clear(clusters->graph.kv, &posted);
}

int living_clusters_rename(struct living_clusters *clusters, uint64_t id, uint64_t new_id)
{
    _cleanup_(cluster_intent_done) struct cluster_intent intent = {.kind = INTENT_JOIN,
                                                                   .cluster = new_id};
    uint64_t size = 0, new_size = 0;

    if (new_id == 0 || new_id >= UINT64_MAX - 1)
        return -EINVAL;
    int r = living_clusters_recover(clusters);
    if (r == 0)
        r = membership_size(&clusters->membership, id, &size);
    if (r == 0)
        r = membership_size(&clusters->membership, new_id, &new_size);
    if (r < 0 || size == 0 || id == new_id || new_size > 0)
        return r < 0 ? r : size == 0 ? -ENOENT : id == new_id ? 0 : -EEXIST;
    long_lists_forget(clusters->graph.long_lists); /* which may know the new id as a former one */
    r = cluster_ids_pass(&clusters->membership.ids, clusters->graph.kv, new_id);
    if (r == 0)
        r = sid_vector_push(&intent.ids, id);
    if (r == 0) {
        r = cluster_change_carry_out(&clusters->graph, &intent);
        clusters->unfinished = r < 0;
    }
    return r;
}

/* -- anyone's -- */

int living_clusters_of(struct living_clusters *clusters, uint64_t sid, uint64_t *ret_id,
                       uint64_t *ret_size)
{
    uint64_t id = 0, size = 0;

    /* Between the two reads the cluster may have become another one. */
    for (unsigned i = 0; i < TORN_READS && size == 0; i++) {
        int r = membership_cluster_of(&clusters->membership, sid, &id);
        if (r == 0 && id)
            r = membership_size(&clusters->membership, id, &size);
        if (r < 0)
            return r;
        if (id == 0)
            break;
    }
    *ret_id = size ? id : 0;
    *ret_size = size;
    return 0;
}

int living_clusters_has(struct living_clusters *clusters, uint64_t sid)
{
    uint64_t id;
    int r = membership_cluster_of(&clusters->membership, sid, &id);

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

    int r = membership_list(&clusters->membership, id, limit, &sids);
    if (r < 0 || sids.n_sids == 0)
        return r < 0 ? r : -ENOENT;
    *ret_members = list_of(&sids);
    return 0;
}

int living_clusters_ids(struct living_clusters *clusters, uint64_t after, size_t limit,
                        uint64_t *ret_ids)
{
    return membership_ids(&clusters->membership, after, limit, ret_ids);
}

int living_clusters_class(struct living_clusters *clusters, const uint8_t class_id[CLASS_BYTES],
                          struct sid_list *ret_sids)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};

    int r = classes_list(clusters->graph.kv, class_id, 0, &sids);
    if (r == 0)
        *ret_sids = list_of(&sids);
    return r;
}

void living_clusters_count(struct living_clusters *clusters, uint64_t *ret_clusters,
                           uint64_t *ret_documents)
{
    int64_t n_clusters = clusters->membership.n_clusters;
    int64_t n_documents = clusters->membership.n_documents;

    *ret_clusters = n_clusters > 0 ? (uint64_t)n_clusters : 0;
    *ret_documents = n_documents > 0 ? (uint64_t)n_documents : 0;
}
