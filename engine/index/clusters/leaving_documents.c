#include "engine/index/clusters/leaving_documents.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/index/tables/classes.h"
#include "engine/index/tables/schema.h"

enum { CHUNK = MEMBERS_AT_ONCE };

/* Some of what leaves, ascending. */
struct chunk {
    struct member members[CHUNK];
    uint8_t class_ids[CHUNK][CLASS_BYTES];
    uint64_t sids[CHUNK];
    size_t n;
};

/* -- postings and class -- */

/* The postings go over to the next document of the class, whose sketch has the same fingerprints.
 */
static int hand_over_postings(const struct graph *graph, uint64_t sid, const struct record *record,
                              uint64_t other)
{
    int r = 0;

    if (other && other < sid)
        return 0;
    if (other) {
        r = posted_intent_put(graph->kv, other);
        if (r == 0)
            r = graph_post(graph, other, &record->sketch);
    }
    return r < 0 ? r : postings_remove(graph->postings, sid, &record->sketch);
}

static int take_known(const struct graph *graph, uint64_t sid, const struct record *record,
                      uint64_t other, struct chunk *chunk)
{
    record_class(record, chunk->class_ids[chunk->n]);
    member_init(&chunk->members[chunk->n], sid, record);
    chunk->sids[chunk->n++] = sid;
    return hand_over_postings(graph, sid, record, other);
}

/* One that has been removed already has no record. */
static int take_stored(const struct graph *graph, uint64_t sid, struct chunk *chunk)
{
    _cleanup_(record_done) struct record record = {0};
    uint8_t class_id[CLASS_BYTES];
    uint64_t other = 0;

    int r = graph_record(graph, sid, &record);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    record_class(&record, class_id);
    r = classes_other(graph->kv, class_id, sid, &other);
    return r < 0 ? r : take_known(graph, sid, &record, other, chunk);
}

/* -- clusters -- */

/* Those that leave clusters of one clustering. */
struct leavings {
    struct membership *membership;
    bool may_be_gone;
    uint64_t clusters[CHUNK];
    struct member members[CHUNK];
    struct cluster_split *splits[CHUNK];
    size_t n;
};

static int leave(struct leavings *leavings)
{
    uint64_t n_left[CHUNK];

    if (leavings->n == 0)
        return 0;
    int r = membership_leave(leavings->membership, leavings->clusters, leavings->members,
                             leavings->n, leavings->may_be_gone, n_left);
    for (size_t i = 0; r == 0 && i < leavings->n; i++) {
        leavings->splits[i]->n_left = n_left[i];
        leavings->splits[i]->is_left_known = true;
    }
    leavings->n = 0;
    return r;
}

static int add_leaving(struct leavings *leavings, struct cluster_split *split,
                       const struct member *member)
{
    leavings->clusters[leavings->n] = split->cluster;
    leavings->members[leavings->n] = *member;
    leavings->splits[leavings->n++] = split;
    return leavings->n == CHUNK ? leave(leavings) : 0;
}

/* What a split has of the chunk. */
static int leave_cluster(struct leavings *leavings, struct cluster_split *split,
                         const struct chunk *chunk)
{
    const struct sid_vector sids = {(uint64_t *)chunk->sids, chunk->n, chunk->n};
    int r = 0;

    for (size_t i = 0; r == 0 && i < split->leaving.n_sids; i++) {
        uint64_t sid = split->leaving.sids[i];
        size_t place = sid < chunk->sids[0] || sid > chunk->sids[chunk->n - 1]
                           ? SIZE_MAX
                           : sid_vector_place(&sids, sid);
        if (place < SIZE_MAX)
            r = add_leaving(leavings, split, &chunk->members[place]);
    }
    return r;
}

static int leave_clusters(const struct graph *first, struct cluster_intent *intent,
                          const struct chunk *chunk)
{
    struct leavings leavings = {.may_be_gone = !intent->known};
    int r = 0;

    for (size_t i = 0; r == 0 && i < intent->n_splits; i++) {
        struct cluster_split *split = &intent->splits[i];
        const struct graph *graph = split->cluster ? graph_of_cluster(first, split->cluster) : NULL;
        if (!graph)
            continue;
        if (leavings.membership != graph->membership)
            r = leave(&leavings);
        leavings.membership = graph->membership;
        if (r == 0)
            r = leave_cluster(&leavings, split, chunk);
    }
    return r < 0 ? r : leave(&leavings);
}

/* -- records -- */

static int delete_records(const struct graph *graph, const struct chunk *chunk)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();

    if (!batch)
        return -ENOMEM;
    for (size_t i = 0; i < chunk->n; i++) {
        struct record_key key;
        kv_batch_delete(batch, TABLE_RECORDS, record_key(&key, chunk->sids[i]));
    }
    int r = kv_apply(graph->kv, batch);
    for (size_t i = 0; i < chunk->n; i++) {
        records_forget(graph->records, chunk->sids[i]);
        filter_cache_drop(graph->filters, chunk->sids[i]);
    }
    return r;
}

static int remove_chunk(const struct graph *first, struct cluster_intent *intent,
                        const struct chunk *chunk)
{
    if (chunk->n == 0)
        return 0;
    int r = classes_remove_all(first->kv, (const uint8_t(*)[CLASS_BYTES])chunk->class_ids,
                               chunk->sids, chunk->n);
    if (r == 0)
        r = leave_clusters(first, intent, chunk);
    return r < 0 ? r : delete_records(first, chunk);
}

int leaving_documents_remove(const struct graph *first, struct cluster_intent *intent)
{
    const struct sid_vector leaving = intent->splits[0].leaving;
    struct chunk chunk = {.n = 0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < leaving.n_sids; i++) {
        const struct leaving_document *known = intent->known ? &intent->known[i] : NULL;
        r = known ? take_known(first, leaving.sids[i], known->record, known->other, &chunk)
                  : take_stored(first, leaving.sids[i], &chunk);
        if (r < 0 || chunk.n < CHUNK)
            continue;
        r = remove_chunk(first, intent, &chunk);
        chunk.n = 0;
    }
    return r < 0 ? r : remove_chunk(first, intent, &chunk);
}
