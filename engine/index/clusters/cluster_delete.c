/* First, changing nothing, what the clusters fall into without the documents (cluster_rest.h). All
 * that is stored as the intent, one for all that go together, and carried out by the code that
 * would finish it after a crash (cluster_change.h). Clusters have no document in common, so what
 * one falls into does not depend on the others.
 *
 * Twins go before, each by itself: their postings pass to another, which the search for parts has
 * to find there.
 */
#include "engine/index/clusters/cluster_delete.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/index/tables/classes.h"
#include "engine/index/clusters/cluster_change.h"
#include "engine/index/clusters/cluster_rest.h"

/* As many are deleted by one intent. */
enum { DELETED_AT_ONCE = 512 };

struct leaver {
    uint64_t cluster, sid;
    struct leaving_document known;
};

static int compare_leavers(const void *a, const void *b)
{
    const struct leaver *x = a, *y = b;
    if (x->cluster != y->cluster)
        return x->cluster < y->cluster ? -1 : 1;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

static int compare_sids(const void *a, const void *b)
{
    const struct leaver *x = a, *y = b;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

/* A split more, of the leavers from one on that are in its cluster. Returns how many they are, or
 * an error. */
static int take_leavers(const struct leaver *leavers, size_t n_leavers,
                        struct cluster_intent *intent)
{
    struct cluster_split *split = cluster_intent_add_split(intent);
    size_t n = 0;
    int r = 0;

    if (!split)
        return -ENOMEM;
    split->cluster = leavers[0].cluster;
    for (; r == 0 && n < n_leavers && leavers[n].cluster == split->cluster; n++)
        r = sid_vector_push(&split->leaving, leavers[n].sid);
    return r < 0 ? r : (int)n;
}

/* The clusters of another clustering that documents leave: a split for each. */
static int add_splits(const struct graph *graph, const struct sid_vector *leaving,
                      struct cluster_intent *intent)
{
    size_t n = leaving->n_sids;
    _cleanup_free_ uint64_t *clusters = calloc(n, sizeof(*clusters));
    _cleanup_free_ struct leaver *leavers = calloc(n, sizeof(*leavers));
    if (!clusters || !leavers)
        return -ENOMEM;
    int r = membership_clusters_of(graph->membership, leaving->sids, n, clusters);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        leavers[i] = (struct leaver){clusters[i], leaving->sids[i]};
    qsort(leavers, n, sizeof(*leavers), compare_leavers);
    for (size_t at = 0; at < n; at += (size_t)r) {
        if (leavers[at].cluster == 0) {
            r = 1;
            continue;
        }
        r = take_leavers(leavers + at, n - at, intent);
        if (r < 0)
            return r;
    }
    return 0;
}

/* What documents leave in the clusterings after the default one, and carry it out. */
static int leave_others(const struct graph *first, struct cluster_intent *intent)
{
    int r = 0;

    for (const struct graph *graph = first->next; r == 0 && graph; graph = graph->next) {
        const struct sid_vector leaving = intent->splits[0].leaving; /* the array may move */
        r = add_splits(graph, &leaving, intent);
    }
    return r < 0 ? r : cluster_change_carry_out(first, intent);
}

static size_t numbers_of(const struct cluster_intent *intent)
{
    size_t n = 0;
    for (size_t i = 0; i < intent->n_splits; i++)
        n += intent->splits[i].leaving.n_sids + 2 * intent->splits[i].ids.n_sids;
    return n;
}

/* The splits of one cluster of the default clustering after the other, until the intent has enough.
 * Returns of how many leavers, or an error. */
static int plan_some(const struct graph *graph, const struct leaver *leavers, size_t n_leavers,
                     struct cluster_intent *intent)
{
    size_t at = 0;

    while (at < n_leavers && numbers_of(intent) < INTENT_NUMBERS) {
        int n = take_leavers(leavers + at, n_leavers - at, intent);
        if (n < 0)
            return n;
        at += (size_t)n;
        struct cluster_split *split = &intent->splits[intent->n_splits - 1];
        int r = split->cluster ? cluster_rest_plan(graph, split) : 0;
        if (r < 0)
            return r;
    }
    return (int)at;
}

/* The first split has all that leave. Where they are of one cluster it is that one's. */
static int name_all(struct leaver *leavers, size_t n_leavers, struct cluster_intent *intent)
{
    int r = 0;

    qsort(leavers, n_leavers, sizeof(*leavers), compare_sids);
    for (size_t i = 0; r == 0 && i < n_leavers; i++)
        r = sid_vector_push(&intent->splits[0].leaving, leavers[i].sid);
    return r;
}

/* None has a twin that stays. Returns how many of them are gone, or an error. */
static int delete_together(const struct graph *first, struct leaver *leavers, size_t n_leavers)
{
    _cleanup_(cluster_intent_done) struct cluster_intent intent = {.kind = INTENT_DELETE};
    struct leaving_document known[DELETED_AT_ONCE];
    const bool of_one = leavers[0].cluster == leavers[n_leavers - 1].cluster;

    if (!of_one && !cluster_intent_add_split(&intent))
        return -ENOMEM;
    int n = plan_some(first, leavers, n_leavers, &intent);
    int r = n < 0 ? n : of_one ? 0 : name_all(leavers, (size_t)n, &intent);
    for (int i = 0; i < n; i++)
        known[i] = leavers[i].known;
    intent.known = known;
    if (r == 0)
        r = leave_others(first, &intent);
    return r < 0 ? r : n;
}

/* A document whose class lives on takes no node away. */
static int delete_twin(const struct graph *first, struct leaver *leaver)
{
    _cleanup_(cluster_intent_done) struct cluster_intent intent = {.kind = INTENT_DELETE};

    int r = membership_clusters_of(first->membership, &leaver->sid, 1, &leaver->cluster);
    if (r == 0)
        r = take_leavers(leaver, 1, &intent);
    intent.known = &leaver->known;
    return r < 0 ? r : leave_others(first, &intent);
}

/* Whom they have in their classes. */
static int find_others(const struct graph *graph, struct leaver *leavers, size_t n)
{
    uint8_t class_ids[CLASSES_AT_ONCE][CLASS_BYTES];
    uint64_t sids[CLASSES_AT_ONCE], others[CLASSES_AT_ONCE];
    int r = 0;

    for (size_t at = 0; r == 0 && at < n; at += CLASSES_AT_ONCE) {
        size_t n_some = n - at < CLASSES_AT_ONCE ? n - at : CLASSES_AT_ONCE;
        for (size_t i = 0; i < n_some; i++) {
            sids[i] = leavers[at + i].sid;
            record_class(leavers[at + i].known.record, class_ids[i]);
        }
        r = classes_others(graph->kv, (const uint8_t(*)[CLASS_BYTES])class_ids, sids, n_some,
                           others);
        for (size_t i = 0; r == 0 && i < n_some; i++)
            leavers[at + i].known.other = others[i];
    }
    return r;
}

/* When the twins have gone: a cluster may have gone with one. */
static int find_clusters(const struct graph *graph, struct leaver *leavers, size_t n)
{
    uint64_t sids[DELETED_AT_ONCE], clusters[DELETED_AT_ONCE];

    sids[0] = 0; /* for a compiler that cannot know */
    for (size_t i = 0; i < n; i++)
        sids[i] = leavers[i].sid;
    int r = membership_clusters_of(graph->membership, sids, n, clusters);
    for (size_t i = 0; r == 0 && i < n; i++)
        leavers[i].cluster = clusters[i];
    return r;
}

/* One whose other goes as well has to look again in its turn. */
static int look_again(const struct graph *graph, const struct sid_vector *sids,
                      struct leaver *leaver)
{
    uint8_t class_id[CLASS_BYTES];
    uint64_t other = 0;

    if (!sid_vector_finds(sids, leaver->known.other))
        return 0;
    record_class(leaver->known.record, class_id);
    int r = classes_other(graph->kv, class_id, leaver->sid, &other);
    leaver->known.other = other;
    return r < 0 ? r : 0;
}

/* At most DELETED_AT_ONCE. */
static int delete_some(const struct graph *first, const uint64_t *sids,
                       const struct record *const *records, size_t n)
{
    _cleanup_free_ struct leaver *leavers = calloc(n + 1, sizeof(*leavers));
    _cleanup_(sid_vector_done) struct sid_vector all = {0};
    size_t n_leavers = 0;
    int r = leavers ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < n; i++) {
        leavers[i] = (struct leaver){.sid = sids[i], .known = {.record = records[i]}};
        r = sid_vector_push(&all, sids[i]);
    }
    sid_vector_sort_unique(&all);
    if (r == 0)
        r = find_others(first, leavers, n);
    for (size_t i = 0; r == 0 && i < n; i++) {
        r = look_again(first, &all, &leavers[i]);
        if (r == 0 && leavers[i].known.other)
            r = delete_twin(first, &leavers[i]);
        else if (r == 0)
            leavers[n_leavers++] = leavers[i];
    }
    if (r == 0)
        r = find_clusters(first, leavers, n_leavers);
    if (r == 0 && n_leavers)
        qsort(leavers, n_leavers, sizeof(*leavers), compare_leavers);
    for (size_t at = 0; r >= 0 && at < n_leavers; at += (size_t)r)
        r = delete_together(first, leavers + at, n_leavers - at);
    return r < 0 ? r : 0;
}

int cluster_delete(const struct graph *first, const uint64_t *sids,
                   const struct record *const *records, size_t n)
{
    int r = 0;
    for (size_t at = 0; r == 0 && at < n; at += DELETED_AT_ONCE)
        r = delete_some(first, sids + at, records + at,
                        n - at < DELETED_AT_ONCE ? n - at : DELETED_AT_ONCE);
    return r;
}
