/* A delete searches nothing. Where other documents of its class live on, its postings pass to the
 * next of them, and no cluster changes but by one member. Else its cluster is marked dirty first
 * and is clustered anew: at once when it is small, behind otherwise (recluster.h).
 *
 * Example: of a chain of drafts a - b - c, b goes. An intent and the mark stand; then its postings
 * and its rows as a member go, then its row of the class and its record. a and c are compared: they
 * do not resemble each other, and the cluster is no more.
 *
 * Cost: two writes, and two of each clustering, shared by up to 64 documents that go together (but
 * not by those of one class), and what clustering anew costs.
 * Left out: finding out whether a document held its cluster together before it goes. To know that
 * its neighbours have to be read and compared, which is what clustering anew does. */
#include "engine/index/clusters/cluster_delete.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/clusters/cluster_change.h"
#include "engine/index/clusters/components.h"
#include "engine/index/clusters/intents.h"
#include "engine/index/clusters/looseness.h"
#include "engine/index/clusters/recluster.h"
#include "engine/index/tables/classes.h"
#include "engine/index/tables/schema.h"

enum { DELETED_AT_ONCE = MEMBERS_AT_ONCE };

/* Documents that go together, at most DELETED_AT_ONCE. */
struct leaving {
    uint64_t sids[DELETED_AT_ONCE],
        others[DELETED_AT_ONCE]; /* others: the smallest of its class besides; 0: none */
    const struct record *records[DELETED_AT_ONCE];
    uint8_t class_ids[DELETED_AT_ONCE][CLASS_BYTES];
    struct member members[DELETED_AT_ONCE];
    uint64_t components[DELETED_AT_ONCE];
    size_t n;
    bool may_be_gone; /* it is done again */
};

/* The first document of a class has its postings. */
static bool has_postings(const struct leaving *leaving, size_t i)
{
    return leaving->others[i] == 0 || leaving->others[i] > leaving->sids[i];
}

/* -- before -- */

/* Lists the components that lose a node by the documents that leave, each once, but for those that
 * are dirty already. Components with one document left, or none, are no clusters then. While
 * documents are put off that is not so, for a run over all may have gathered the cluster; and the
 * next of the class may be one of them. */
static int dirty_components_of(const struct graph *graph, const struct leaving *leaving,
                               struct number_vector *dirty)
{
    const bool are_put_off = dirty_has(graph->dirty, DIRTY_PUT_OFF);
    int r = 0;
    for (size_t i = 0; r == 0 && i < leaving->n; i++) {
        const uint64_t component = leaving->components[i];
        uint64_t size = 0;
        size_t n_leaving = 0;
        if (component == 0 || (leaving->others[i] && !are_put_off) ||
            number_vector_has(dirty, component) || dirty_has(graph->dirty, component))
            continue;
        for (size_t k = 0; k < leaving->n; k++)
            n_leaving += leaving->components[k] == component;
        r = component_size(graph, component, &size);
        if (r == 0 && (size > n_leaving + 1 || are_put_off))
            r = number_vector_push(dirty, component);
    }
    return r;
}

/* Lists of which a document is a head have another one when it is gone. */
static int dirty_lists_of(const struct graph *graph, const struct leaving *leaving,
                          struct number_vector *lists)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < leaving->n; i++) {
        const struct min_sketch *sketch = &leaving->records[i]->sketch;
        const size_t n_keys =
            has_postings(leaving, i) ? postings_tier_keys(POSTINGS_TIER_R, sketch) : 0;
        for (size_t k = 0; r == 0 && k < n_keys; k++) {
            struct posting_list list;
            size_t n_compared;
            if (!long_lists_have(graph->long_lists, sketch->values[k]))
                continue;
            r = graph_list(graph, sketch->values[k], &list, &n_compared);
            if (r == 0 && n_compared > 0 && leaving->sids[i] <= list.sids[n_compared - 1] &&
                !number_vector_has(lists, sketch->values[k]))
                r = number_vector_push(lists, sketch->values[k]);
        }
    }
    return r;
}

/* Value of the intent: number of clusters 1 | clusters 8 each, of any clustering | fingerprints of
 * tier R 8 each. */
static int put_intent(const struct graph *first, struct kv_batch *batch, uint64_t sid,
                      const struct min_sketch *sketch)
{
    const size_t n_keys = postings_tier_keys(POSTINGS_TIER_R, sketch);
    uint8_t value[1 + 8 * (CLUSTERING_MAX + POSTINGS_TIER_R_KEYS)], *p = value + 1;
    value[0] = 0;
    for (const struct graph *graph = first; graph; graph = graph->next) {
        uint64_t cluster;
        int r = membership_look_up(graph->membership, &sid, 1, &cluster);
        if (r < 0)
            return r;
        if (cluster == 0)
            continue;
        value[0]++;
        put_be64(p, cluster);
        p += 8;
    }
    for (size_t i = 0; i < n_keys; i++, p += 8)
        put_be64(p, sketch->values[i]);
    intent_put(batch, INTENT_DELETE, sid, (struct kv_slice){value, (size_t)(p - value)});
    return 0;
}

/* Intents and marks stand before the first write. */
static int announce(const struct graph *graph, const struct leaving *leaving,
                    struct number_vector *dirty)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    _cleanup_(number_vector_done) struct number_vector lists = {0};
    const size_t n_before = dirty->n_numbers;
    int r = batch ? dirty_components_of(graph, leaving, dirty) : -ENOMEM;
    if (r == 0)
        r = dirty_lists_of(graph, leaving, &lists);
    if (r == 0 && lists.n_numbers)
        r = dirty_mark_lists(graph->dirty, lists.numbers, lists.n_numbers);
    for (size_t i = 0; r == 0 && i < leaving->n; i++) {
        if (!leaving->may_be_gone) /* else it stands, and says where the document was */
            r = put_intent(graph, batch, leaving->sids[i], &leaving->records[i]->sketch);
        if (r == 0 && leaving->others[i] > leaving->sids[i]) /* which gets the postings */
            intent_put(batch, INTENT_POSTED, leaving->others[i], (struct kv_slice){"", 0});
    }
    if (r == 0)
        r = dirty_mark_in(graph->dirty, batch, dirty->numbers + n_before,
                          dirty->n_numbers - n_before);
    return r < 0 ? r : kv_apply(graph->kv, batch);
}

/* -- postings -- */

/* Lists that are long no more are noted. */
static int note_shrunk(const struct graph *graph, const uint64_t *fingerprints, size_t n)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        struct posting_list list;
        if (!long_lists_have(graph->long_lists, fingerprints[i]))
            continue;
        r = postings_list(graph->postings, fingerprints[i], &list);
        if (r < 0 || !list.whole || list.n > graph->bounds.most_compared)
            continue;
        r = dirty_mark_lists(graph->dirty, &fingerprints[i], 1);
        if (r == 0)
            r = long_lists_set(graph->long_lists, fingerprints[i], false);
    }
    return r;
}

/* The postings pass to the next document of the class, whose sketch has the same fingerprints. */
static int remove_postings(const struct graph *graph, const struct leaving *leaving)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < leaving->n; i++) {
        const struct min_sketch *sketch = &leaving->records[i]->sketch;
        if (!has_postings(leaving, i))
            continue;
        if (leaving->others[i])
            r = graph_post(graph, leaving->others[i], sketch);
        if (r == 0)
            r = postings_remove(graph->postings, leaving->sids[i], sketch);
        if (r == 0)
            r = note_shrunk(graph, sketch->values, postings_tier_keys(POSTINGS_TIER_R, sketch));
    }
    return r;
}

/* -- members -- */

/* The documents leave the clusters of one clustering. What is no cluster then is given up, but for
 * those that are dirty. */
static int leave_clusters(const struct graph *graph, const struct leaving *leaving)
{
    uint64_t clusters[DELETED_AT_ONCE], n_left[DELETED_AT_ONCE];
    struct member members[DELETED_AT_ONCE];
    _cleanup_(number_vector_done) struct number_vector ended = {0};
    size_t n = 0;
    int r = membership_look_up(graph->membership, leaving->sids, leaving->n, clusters);
    for (size_t i = 0; r == 0 && i < leaving->n; i++) {
        if (clusters[i] == 0)
            continue;
        members[n] = leaving->members[i];
        clusters[n++] = clusters[i];
    }
    if (r < 0 || n == 0)
        return r;
    r = membership_leave(graph->membership, clusters, members, n, leaving->may_be_gone, n_left);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (n_left[i] <= 1 && !dirty_has(graph->dirty, clusters[i]) &&
            !number_vector_has(&ended, clusters[i]))
            r = number_vector_push(&ended, clusters[i]);
    return r < 0 ? r : cluster_dissolve(graph, ended.numbers, ended.n_numbers);
}

/* A fact about a component stays true when a document of it goes whose class lives on. It is passed
 * on for one document after the other, as if those that follow had not gone yet. */
static int keep_looseness(const struct graph *graph, const struct leaving *leaving)
{
    int r = 0;
    for (size_t i = 0; r == 0 && graph->looseness && i < leaving->n; i++) {
        uint64_t n_left = 0;
        if (!leaving->others[i] || !leaving->components[i])
            continue;
        r = component_size(graph, leaving->components[i], &n_left);
        for (size_t k = i + 1; k < leaving->n; k++)
            n_left += leaving->components[k] == leaving->components[i];
        if (r == 0)
            looseness_pass_on(graph->looseness, leaving->components[i], n_left, leaving->sids[i],
                              leaving->others[i]);
    }
    return r;
}

static int delete_rows(const struct graph *graph, const struct leaving *leaving)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    for (size_t i = 0; i < leaving->n; i++) {
        struct record_key key;
        classes_remove(batch, leaving->class_ids[i], leaving->sids[i]);
        kv_batch_delete(batch, TABLE_RECORDS, record_key(&key, leaving->sids[i]));
    }
    int r = kv_apply(graph->kv, batch);
    for (size_t i = 0; i < leaving->n; i++) {
        records_forget(graph->records, leaving->sids[i]);
        filter_cache_drop(graph->filters, leaving->sids[i]);
    }
    return r;
}

/* -- all of it -- */

/* Documents leave together, of which no two are of one class. */
static int delete_some(const struct graph *first, struct leaving *leaving,
                       struct number_vector *dirty)
{
    if (leaving->n == 0)
        return 0;
    for (size_t i = 0; i < leaving->n; i++)
        member_init(&leaving->members[i], leaving->sids[i], leaving->records[i]);
    int r = membership_look_up(first->membership, leaving->sids, leaving->n, leaving->components);
    if (r == 0)
        r = components_of(first, leaving->sids, leaving->components, leaving->n,
                          leaving->components);
    if (r == 0)
        r = announce(first, leaving, dirty);
    if (r == 0)
        r = remove_postings(first, leaving);
    for (const struct graph *graph = first; r == 0 && graph; graph = graph->next)
        r = leave_clusters(graph, leaving);
    if (r == 0)
        r = keep_looseness(first, leaving);
    return r < 0 ? r : delete_rows(first, leaving);
}

static void add(struct leaving *leaving, uint64_t sid, const struct record *record, uint64_t other)
{
    const size_t i = leaving->n++;
    leaving->sids[i] = sid;
    leaving->records[i] = record;
    leaving->others[i] = other;
    record_class(record, leaving->class_ids[i]);
}

static int delete_twin(const struct graph *first, uint64_t sid, const struct record *record,
                       bool may_be_gone, struct number_vector *dirty)
{
    _cleanup_free_ struct leaving *leaving = calloc(1, sizeof(*leaving));
    uint8_t class_id[1][CLASS_BYTES];
    uint64_t other = 0;
    if (!leaving)
        return -ENOMEM;
    record_class(record, class_id[0]);
    int r =
        classes_others(first->classes, (const uint8_t(*)[CLASS_BYTES])class_id, &sid, 1, &other);
    leaving->may_be_gone = may_be_gone;
    add(leaving, sid, record, other);
    return r < 0 ? r : delete_some(first, leaving, dirty);
}

static bool has_twin(const uint8_t (*class_ids)[CLASS_BYTES], size_t n, size_t i)
{
    for (size_t k = 0; k < n; k++)
        if (k != i && memcmp(class_ids[k], class_ids[i], CLASS_BYTES) == 0)
            return true;
    return false;
}

/* Documents of one class go one by one: the next of the class is going, too. */
static int delete_page(const struct graph *first, const uint64_t *sids,
                       const struct record *const *records, size_t n, bool may_be_gone,
                       struct number_vector *dirty)
{
    _cleanup_free_ struct leaving *leaving = calloc(1, sizeof(*leaving));
    uint8_t class_ids[DELETED_AT_ONCE][CLASS_BYTES];
    uint64_t others[DELETED_AT_ONCE];
    int r = leaving ? 0 : -ENOMEM;
    for (size_t i = 0; i < n; i++)
        record_class(records[i], class_ids[i]);
    if (r == 0)
        r = classes_others(first->classes, (const uint8_t(*)[CLASS_BYTES])class_ids, sids, n,
                           others);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (!others[i] || !has_twin((const uint8_t(*)[CLASS_BYTES])class_ids, n, i))
            add(leaving, sids[i], records[i], others[i]);
        else
            r = delete_twin(first, sids[i], records[i], may_be_gone, dirty);
    if (r < 0)
        return r;
    leaving->may_be_gone = may_be_gone;
    return delete_some(first, leaving, dirty);
}

int cluster_delete(const struct graph *first, const uint64_t *sids,
                   const struct record *const *records, size_t n)
{
    _cleanup_(number_vector_done) struct number_vector dirty = {0};
    int r = 0;
    for (size_t at = 0; r == 0 && at < n; at += DELETED_AT_ONCE)
        r = delete_page(first, sids + at, records + at,
                        n - at < DELETED_AT_ONCE ? n - at : DELETED_AT_ONCE, false, &dirty);
    return r < 0 || dirty_has(first->dirty, DIRTY_PUT_OFF) ? r : recluster_small(first, &dirty);
}

/* An intent, decoded. */
struct intended {
    uint64_t clusters[CLUSTERING_MAX + 1], fingerprints[POSTINGS_TIER_R_KEYS];
    size_t n_clusters, n_fingerprints;
};

static int read_intent(const struct graph *first, uint64_t sid, struct intended *ret_intended)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct intended intended = {.n_clusters = 0};
    int r = intent_value(first->kv, INTENT_DELETE, sid, &value);
    if (r < 0)
        return r;
    const uint8_t *p = value.data, *end = p + value.size_bytes;
    if (value.size_bytes % 8 != 1 || p[0] > CLUSTERING_MAX || end < p + 1 + 8 * p[0] ||
        end > p + 1 + 8 * (p[0] + POSTINGS_TIER_R_KEYS))
        return -EUCLEAN;
    const size_t n_clusters = *p++;
    for (; intended.n_clusters < n_clusters; p += 8)
        intended.clusters[intended.n_clusters++] = get_be64(p);
    for (; p < end; p += 8)
        intended.fingerprints[intended.n_fingerprints++] = get_be64(p);
    *ret_intended = intended;
    return 0;
}

/* The record is gone, as are its rows of members and classes; its postings may be back. */
static int remove_postings_of(const struct graph *graph, uint64_t sid,
                              const struct intended *intended)
{
    const struct min_sketch sketch = {.values = intended->fingerprints,
                                      .n_values = (uint32_t)intended->n_fingerprints};
    int r = postings_remove(graph->postings, sid, &sketch);
    return r < 0 ? r : note_shrunk(graph, sketch.values, sketch.n_values);
}

/* Clusters that the document was in, and that may be none since, are given up. */
static int end_clusters(const struct graph *first, const struct intended *intended)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < intended->n_clusters; i++) {
        const struct graph *graph = graph_of_cluster(first, intended->clusters[i]);
        if (graph && !dirty_has(first->dirty, intended->clusters[i]))
            r = cluster_dissolve(graph, &intended->clusters[i], 1);
    }
    return r;
}

static int delete_again(const struct graph *first, uint64_t sid, struct number_vector *dirty)
{
    _cleanup_(record_done) struct record record = {0};
    const struct record *going = &record;
    struct intended intended;
    int r = read_intent(first, sid, &intended);
    if (r < 0)
        return r;
    r = graph_record(first, sid, &record);
    if (r == -ENOENT)
        r = remove_postings_of(first, sid, &intended);
    else if (r == 0)
        r = delete_page(first, &sid, &going, 1, true, dirty);
    return r < 0 ? r : end_clusters(first, &intended);
}

int cluster_delete_again(const struct graph *first, size_t *ret_n)
{
    _cleanup_(number_vector_done) struct number_vector sids = {0}, dirty = {0};
    int r = intents_list(first->kv, INTENT_DELETE, &sids);
    *ret_n = sids.n_numbers;
    for (size_t i = 0; r == 0 && i < sids.n_numbers; i++)
        r = delete_again(first, sids.numbers[i], &dirty);
    return r; /* clusters are clustered anew later, when all that was inserted is in them */
}
