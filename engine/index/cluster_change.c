/* Join: the clusters that lose their ids move into the one that keeps it, then come the documents
 * that were in none.
 *
 * Delete: first, changing nothing, what the cluster would fall into without the document
 * (cluster_parts.h); the larger part keeps the id, the others get theirs. All that is stored as the
 * intent: after a crash the parts are found again by searching from one document of each, within
 * the old cluster and the new one, and the ids are known. Then the rows and the record go, and the
 * parts move.
 */
#include "engine/index/cluster_change.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/index/classes.h"
#include "engine/index/cluster_parts.h"
#include "engine/index/schema.h"

enum {
    CHUNK = 64,
    INTENT_NUMBERS = 4096 /* of each kind in one intent: 64 KiB suits any store */
};

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
    uint8_t keys[CHUNK][8];
    struct kv_slice slices[CHUNK];
    struct kv_buf values[CHUNK];
    size_t n_members = 0;

    for (size_t i = 0; i < n; i++) {
        put_be64(keys[i], sids[i]);
        slices[i] = (struct kv_slice){keys[i], 8};
    }
    int r = kv_multi_get(graph->kv, TABLE_RECORDS, slices, n, values);
    if (r < 0)
        return r;
    r = 0;
    for (size_t i = 0; i < n; i++) {
        _cleanup_(record_done) struct record record = {0};
        if (r == 0 && values[i].data)
            r = record_decode(values[i].data, values[i].size_bytes, &record);
        if (r == 0 && values[i].data)
            member_init(&members[n_members++], sids[i], &record);
        kv_buf_done(&values[i]);
    }
    if (r == 0)
        *ret_n_members = n_members;
    return r;
}

static int move_documents(const struct graph *graph, uint64_t from, uint64_t to,
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
        int r = membership_move_all(graph->membership, intent->ids.sids[i], intent->cluster);
        if (r < 0)
            return r;
    }
    return move_documents(graph, 0, intent->cluster, &intent->sids);
}

static int delete_record(const struct graph *graph, uint64_t sid)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    uint8_t key[8];

    if (!batch)
        return -ENOMEM;
    put_be64(key, sid);
    kv_batch_delete(batch, TABLE_RECORDS, (struct kv_slice){key, 8});
    int r = kv_apply(graph->kv, batch);
    records_forget(graph->records, sid);
    return r;
}

/* The smallest sid of a class besides one. Returns 1, 0 when there is none, or an error. */
static int next_of_class(const struct graph *graph, const struct record *record, uint64_t sid,
                         uint64_t *ret_next)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    uint8_t class_id[CLASS_BYTES];

    record_class(record, class_id);
    int r = classes_list(graph->kv, class_id, 2, &sids);
    if (r < 0)
        return r;
    size_t i = sids.n_sids > 0 && sids.sids[0] == sid;
    if (i == sids.n_sids)
        return 0;
    *ret_next = sids.sids[i];
    return 1;
}

/* The postings go over to the next document of the class, whose sketch has the same fingerprints.
 */
static int hand_over_postings(const struct graph *graph, uint64_t sid, const struct record *record)
{
    uint64_t next = 0;

    int r = next_of_class(graph, record, sid, &next);
    if (r < 0 || (r > 0 && next < sid))
        return r < 0 ? r : 0;
    if (r > 0) {
        r = posted_intent_put(graph->kv, next);
        if (r == 0)
            r = postings_add(graph->postings, next, &record->sketch);
    }
    return r < 0 ? r : postings_remove(graph->postings, sid, &record->sketch);
}

int cluster_change_remove(const struct graph *graph, const struct cluster_intent *intent)
{
    _cleanup_(record_done) struct record record = {0};
    uint8_t class_id[CLASS_BYTES];
    struct member member;

    int r = graph_record(graph, intent->sid, &record);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    r = hand_over_postings(graph, intent->sid, &record);
    if (r < 0)
        return r;
    record_class(&record, class_id);
    r = classes_remove(graph->kv, class_id, intent->sid);
    if (r == 0 && intent->cluster) {
        member_init(&member, intent->sid, &record);
        r = membership_move(graph->membership, intent->cluster, 0, &member, 1);
    }
    return r < 0 ? r : delete_record(graph, intent->sid);
}

/* All documents connected with one, within the clusters a split is between. */
static int part_documents(const struct graph *graph, uint64_t without, const uint64_t clusters[2],
                          uint64_t sid, struct sid_vector *sids)
{
    _cleanup_(cluster_parts_free_p) struct cluster_parts *parts = NULL;
    _cleanup_(record_done) struct record record = {0};

    int r = graph_record(graph, sid, &record);
    if (r == 0)
        r = cluster_parts_new(graph, without, clusters, 2, &parts);
    if (r == 0)
        r = cluster_parts_begin_from(parts, sid, &record);
    if (r == 0)
        r = cluster_parts_search(parts, true);
    return r < 0 ? r : cluster_parts_documents(parts, 0, sids);
}

static int split_off(const struct graph *graph, const struct cluster_intent *intent, size_t part)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    uint64_t clusters[2] = {intent->cluster, intent->ids.sids[part]};
    uint64_t beginning = intent->sids.sids[part];

    int r = clusters[1] ? part_documents(graph, intent->sid, clusters, beginning, &sids)
                        : sid_vector_push(&sids, beginning);
    return r < 0 ? r : move_documents(graph, clusters[0], clusters[1], &sids);
}

static int carry_out_delete(const struct graph *graph, const struct cluster_intent *intent)
{
    int r = cluster_change_remove(graph, intent);

    for (size_t i = 0; i < intent->ids.n_sids && r == 0; i++)
        r = split_off(graph, intent, i);
    return r == 0 && intent->cluster ? membership_dissolve(graph->membership, intent->cluster) : r;
}

int cluster_change_finish(const struct graph *graph, const struct cluster_intent *intent)
{
    int r = intent->kind == INTENT_JOIN ? carry_out_join(graph, intent)
                                        : carry_out_delete(graph, intent);
    return r < 0 ? r : cluster_intent_clear(graph->kv);
}

int cluster_change_carry_out(const struct graph *graph, const struct cluster_intent *intent)
{
    int r = cluster_intent_put(graph->kv, intent);
    return r < 0 ? r : cluster_change_finish(graph, intent);
}

/* -- join -- */

/* The id of a cluster that is new: that of one which dissolved around one of its documents, the
 * smallest; else a fresh one. */
static int choose_new_id(const struct graph *graph, const struct sid_vector *loners,
                         uint64_t *ret_id)
{
    uint64_t best = 0, size = 0;

    for (size_t i = 0; i < loners->n_sids; i++) {
        uint64_t id = dissolved_clusters_id(&graph->membership->dissolved, loners->sids[i]);
        int r = id ? membership_size(graph->membership, id, &size) : 0;
        if (r < 0)
            return r;
        if (id && size == 0 && (best == 0 || id < best))
            best = id;
    }
    if (best == 0)
        return cluster_ids_new(&graph->membership->ids, graph->kv, ret_id);
    *ret_id = best;
    return 0;
}

/* The cluster that keeps its id: most documents, then the smallest id. */
static int choose_id(const struct graph *graph, const struct joining *joining, uint64_t *ret_id)
{
    const struct sid_vector *clusters = &joining->clusters;
    uint64_t best = 0, best_size = 0;

    if (clusters->n_sids == 0)
        return choose_new_id(graph, &joining->loners, ret_id);
    for (size_t i = 0; i < clusters->n_sids; i++) {
        uint64_t id = clusters->sids[i], size = 0;
        int r = clusters->n_sids == 1 ? 0 : membership_size(graph->membership, id, &size);
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

/* -- delete -- */

struct leaving {
    struct cluster_parts *parts;
    uint64_t sid, cluster;
    size_t n_neighbours;
};

static bool in_same_cluster(void *user, uint64_t sid, uint64_t cluster)
{
    const struct leaving *leaving = user;
    return sid != leaving->sid && cluster == leaving->cluster;
}

static int begin_from(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct leaving *leaving = user;
    (void)cluster;
    leaving->n_neighbours++;
    return cluster_parts_begin_from(leaving->parts, sid, record);
}

/* Documents in each part, and which part has the best member that stays. The part that was not
 * exhausted has what the others have not. */
static int measure_parts(const struct graph *graph, const struct leaving *leaving, size_t n_parts,
                         uint64_t *sizes, size_t *ret_best)
{
    _cleanup_(sid_vector_done) struct sid_vector first_two = {0};
    size_t rest = n_parts, best = n_parts;
    uint64_t cluster_size, n_documents = 1;

    int r = membership_size(graph->membership, leaving->cluster, &cluster_size);
    if (r == 0)
        r = membership_list(graph->membership, leaving->cluster, 2, &first_two);
    if (r == 0 && first_two.n_sids < 2)
        r = -EUCLEAN;
    if (r < 0)
        return r;
    uint64_t first = first_two.sids[first_two.sids[0] == leaving->sid];
    for (size_t i = 0; i < n_parts; i++) {
        _cleanup_(sid_vector_done) struct sid_vector sids = {0};
        if (!cluster_parts_exhausted(leaving->parts, i)) {
            rest = i;
            continue;
        }
        r = cluster_parts_documents(leaving->parts, i, &sids);
        if (r < 0)
            return r;
        sizes[i] = sids.n_sids;
        n_documents += sids.n_sids;
        if (sid_vector_has(&sids, first))
            best = i;
    }
    if (rest < n_parts)
        sizes[rest] = cluster_size > n_documents ? cluster_size - n_documents : 0;
    if (best == n_parts)
        best = rest < n_parts ? rest : 0;
    for (size_t i = 0; i < n_parts; i++)
        if (sizes[i] > sizes[best])
            best = i;
    *ret_best = best;
    return 0;
}

static int plan_split(const struct graph *graph, const struct leaving *leaving, size_t n_parts,
                      struct cluster_intent *intent)
{
    _cleanup_free_ uint64_t *sizes = calloc(n_parts, sizeof(*sizes));
    size_t best;

    if (!sizes)
        return -ENOMEM;
    int r = measure_parts(graph, leaving, n_parts, sizes, &best);
    for (size_t i = 0; i < n_parts && r == 0; i++) {
        uint64_t id = 0;
        if (i == best)
            continue;
        if (sizes[i] > 1)
            r = cluster_ids_new(&graph->membership->ids, graph->kv, &id);
        if (r == 0)
            r = sid_vector_push(&intent->ids, id);
        if (r == 0)
            r = sid_vector_push(&intent->sids, cluster_parts_beginning(leaving->parts, i));
    }
    return r;
}

/* What happens to a cluster when the last document of a class leaves it. */
static int plan_delete(const struct graph *graph, const struct record *record,
                       struct cluster_intent *intent)
{
    _cleanup_(cluster_parts_free_p) struct cluster_parts *parts = NULL;

    int r = cluster_parts_new(graph, intent->sid, &intent->cluster, 1, &parts);
    if (r < 0)
        return r;
    struct leaving leaving = {parts, intent->sid, intent->cluster, 0};
    r = neighbours_find(graph, &record->sketch, in_same_cluster, begin_from, &leaving, NULL);
    if (r < 0 || leaving.n_neighbours < 2)
        return r;
    int n_parts = cluster_parts_search(parts, false);
    return n_parts < 2 ? (n_parts < 0 ? n_parts : 0)
                       : plan_split(graph, &leaving, (size_t)n_parts, intent);
}

int cluster_change_delete(const struct graph *graph, uint64_t sid, const struct record *record)
{
    _cleanup_(cluster_intent_done) struct cluster_intent intent = {.kind = INTENT_DELETE,
                                                                   .sid = sid};
    uint64_t next;

    int r = membership_clusters_of(graph->membership, &sid, 1, &intent.cluster);
    if (r == 0 && intent.cluster) {
        r = next_of_class(graph, record, sid, &next);
        if (r == 0)
            r = plan_delete(graph, record, &intent);
    }
    return r < 0 ? r : cluster_change_carry_out(graph, &intent);
}
