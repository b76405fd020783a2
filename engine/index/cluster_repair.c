/* A repair: all documents of its clusters are listed; of each the class and, where it is the first
 * of that, the neighbours are asked for, and joined in memory (union-find), until all are one or
 * all have been asked. That says which parts there are. The larger part of a cluster keeps its id,
 * as when a delete sees to it itself; the others are moved, some documents a step.
 *
 * It holds for what was listed: edges depend on two documents alone, and these do not change. When
 * a document comes to a cluster that is repaired, or leaves it, the repair begins anew.
 *
 * Memory: 33 bytes for each document of the clusters.
 */
#include "engine/index/cluster_repair.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "engine/cluster/union_find.h"
#include "engine/index/classes.h"
#include "engine/index/cluster_change.h"
#include "engine/index/cluster_hubs.h"
#include "engine/index/id_votes.h"
#include "engine/index/neighbours.h"
#include "engine/index/schema.h"

enum {
    AT_ONCE = 2048, /* a quarter second, where documents have few neighbours */
    A_STEP = 64,
    MOVED_A_STEP = 256,
    PREFIX_BYTES = 6,
    KEY_BYTES = PREFIX_BYTES + 8,
    PAGE = 256,
};

struct document {
    uint64_t sid, from, to; /* its cluster as listed, and to be */
    uint32_t rank;          /* among those of its cluster */
};

struct run {
    const struct graph *graph; /* of the clustering that is repaired; NULL: none is */
    struct sid_vector clusters;
    struct document *documents; /* ascending by sid */
    size_t n_documents, n_sets, at;
    struct union_find sets;
    bool moving;
};

struct cluster_repairs {
    pthread_mutex_t lock; /* of ids */
    struct sid_vector ids;
    size_t at_once, a_step;
    bool changed; /* the committer's, as all below */
    struct run run;
};

int cluster_repairs_new(struct cluster_repairs **ret_repairs)
{
    struct cluster_repairs *repairs = calloc(1, sizeof(*repairs));
    if (!repairs)
        return -ENOMEM;
    pthread_mutex_init(&repairs->lock, NULL);
    cluster_repairs_set_bounds(repairs, AT_ONCE, A_STEP);
    *ret_repairs = repairs;
    return 0;
}

static void run_done(struct run *run)
{
    sid_vector_done(&run->clusters);
    free(run->documents);
    union_find_done(&run->sets);
    *run = (struct run){0};
}

void cluster_repairs_free(struct cluster_repairs *repairs)
{
    if (!repairs)
        return;
    run_done(&repairs->run);
    sid_vector_done(&repairs->ids);
    pthread_mutex_destroy(&repairs->lock);
    free(repairs);
}

void cluster_repairs_set_bounds(struct cluster_repairs *repairs, size_t at_once, size_t a_step)
{
    repairs->at_once = at_once;
    repairs->a_step = a_step;
}

size_t cluster_repairs_at_once(const struct cluster_repairs *repairs)
{
    return repairs->at_once;
}

/* -- which clusters -- */

static struct kv_slice repair_key(uint8_t key[KEY_BYTES], uint64_t cluster)
{
    memcpy(key, "repair", PREFIX_BYTES);
    put_be64(key + PREFIX_BYTES, cluster);
    return (struct kv_slice){key, KEY_BYTES};
}

bool cluster_repairs_has(struct cluster_repairs *repairs, uint64_t cluster)
{
    LOCKED(&repairs->lock);
    return sid_vector_has(&repairs->ids, cluster);
}

size_t cluster_repairs_count(struct cluster_repairs *repairs)
{
    LOCKED(&repairs->lock);
    return repairs->ids.n_sids;
}

static int remember(struct cluster_repairs *repairs, uint64_t cluster)
{
    LOCKED(&repairs->lock);
    return sid_vector_has(&repairs->ids, cluster) ? 0 : sid_vector_push(&repairs->ids, cluster);
}

static void forget(struct cluster_repairs *repairs, uint64_t cluster)
{
    LOCKED(&repairs->lock);
    for (size_t i = 0; i < repairs->ids.n_sids; i++)
        if (repairs->ids.sids[i] == cluster)
            repairs->ids.sids[i--] = repairs->ids.sids[--repairs->ids.n_sids];
}

static int write_row(const struct graph *graph, uint64_t cluster, bool put)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    uint8_t key[KEY_BYTES];

    if (!batch)
        return -ENOMEM;
    if (put)
        kv_batch_put(batch, TABLE_INTENTS, repair_key(key, cluster), (struct kv_slice){"", 0});
    else
        kv_batch_delete(batch, TABLE_INTENTS, repair_key(key, cluster));
    return kv_apply(graph->kv, batch);
}

int cluster_repairs_load(struct cluster_repairs *repairs, const struct graph *graph)
{
    uint8_t from[KEY_BYTES], to[KEY_BYTES];
    uint64_t next = 0;
    bool more = true;

    while (more) {
        struct kv_range range = {repair_key(from, next), repair_key(to, UINT64_MAX)};
        struct kv_page page;
        int r = kv_scan(graph->kv, TABLE_INTENTS, &range, PAGE, &page);
        if (r < 0)
            return r;
        for (size_t i = 0; i < page.n_entries && r == 0; i++) {
            const struct kv_slice *key = &page.entries[i].key;
            if (key->size_bytes != KEY_BYTES) {
                r = -EUCLEAN;
                break;
            }
            next = get_be64((const uint8_t *)key->data + PREFIX_BYTES) + 1;
            r = remember(repairs, next - 1);
        }
        more = page.more;
        kv_page_done(&page);
        if (r < 0)
            return r;
    }
    return 0;
}

int cluster_repairs_note(const struct graph *graph, uint64_t cluster)
{
    int r = write_row(graph, cluster, true);
    graph->repairs->changed = true;
    return r < 0 ? r : remember(graph->repairs, cluster);
}

void cluster_repairs_changed(const struct graph *graph, uint64_t cluster)
{
    if (cluster_repairs_has(graph->repairs, cluster))
        graph->repairs->changed = true;
}

int cluster_repairs_joined(const struct graph *graph, uint64_t from, uint64_t to)
{
    cluster_repairs_changed(graph, to);
    if (!cluster_repairs_has(graph->repairs, from))
        return 0;
    int r = cluster_repairs_note(graph, to);
    if (r == 0)
        r = write_row(graph, from, false);
    if (r == 0)
        forget(graph->repairs, from);
    return r;
}

/* -- a run: beginning -- */

/* Those of one clustering. Returns whether there are any. */
static int take_clusters(struct cluster_repairs *repairs, const struct graph *first,
                         struct run *run)
{
    LOCKED(&repairs->lock);
    for (size_t i = 0; i < repairs->ids.n_sids; i++) {
        uint64_t id = repairs->ids.sids[i];
        const struct graph *graph = graph_of_cluster(first, id);
        if (!graph || (run->graph && run->graph != graph))
            continue;
        run->graph = graph;
        int r = sid_vector_push(&run->clusters, id);
        if (r < 0)
            return r;
    }
    return run->clusters.n_sids > 0;
}

static int compare_documents(const void *a, const void *b)
{
    const struct document *x = a, *y = b;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

/* A document in two clusters was being moved when something failed: that is completed. */
static int end_move(const struct run *run, struct document *document, uint64_t other)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    uint64_t now;
    int r = membership_cluster_of(run->graph->membership, document->sid, &now);

    if (r == 0)
        r = sid_vector_push(&sids, document->sid);
    if (r < 0 || now == 0)
        return r;
    uint64_t from = now == document->from ? other : document->from;
    document->from = now;
    run->graph->membership->repeating = true;
    r = cluster_change_move(run->graph, from, now, &sids);
    run->graph->membership->repeating = false;
    return r;
}

static int list_documents(struct run *run)
{
    for (size_t i = 0; i < run->clusters.n_sids; i++) {
        _cleanup_(sid_vector_done) struct sid_vector members = {0};
        uint64_t cluster = run->clusters.sids[i];
        int r = membership_list(run->graph->membership, cluster, 0, &members);
        if (r < 0)
            return r;
        struct document *larger =
            reallocarray(run->documents, run->n_documents + members.n_sids + 1, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        run->documents = larger;
        for (size_t k = 0; k < members.n_sids; k++)
            run->documents[run->n_documents++] =
                (struct document){.sid = members.sids[k], .from = cluster, .rank = (uint32_t)k};
    }
    if (run->n_documents)
        qsort(run->documents, run->n_documents, sizeof(*run->documents), compare_documents);
    size_t n = 0;
    for (size_t i = 0; i < run->n_documents; i++) {
        struct document *last = &run->documents[n - 1];
        int r = 0;
        if (n == 0 || last->sid != run->documents[i].sid)
            run->documents[n++] = run->documents[i];
        else
            r = end_move(run, last, run->documents[i].from);
        if (r < 0)
            return r;
    }
    run->n_documents = run->n_sets = n;
    return union_find_init(&run->sets, n);
}

int cluster_repairs_recover(struct cluster_repairs *repairs, const struct graph *first)
{
    int r = 0;

    for (const struct graph *graph = first; r >= 0 && graph; graph = graph->next) {
        struct run run = {.graph = graph};
        r = take_clusters(repairs, first, &run);
        if (r > 0)
            r = list_documents(&run);
        run_done(&run);
    }
    return r < 0 ? r : 0;
}

static int begin(struct cluster_repairs *repairs, const struct graph *first)
{
    struct run *run = &repairs->run;

    run_done(run);
    repairs->changed = false;
    int r = take_clusters(repairs, first, run);
    return r <= 0 ? r : list_documents(run);
}

/* -- a run: what belongs together -- */

static size_t place_of(const struct run *run, uint64_t sid)
{
    const struct document wanted = {.sid = sid};
    const struct document *found = run->n_documents
                                       ? bsearch(&wanted, run->documents, run->n_documents,
                                                 sizeof(*run->documents), compare_documents)
                                       : NULL;
    return found ? (size_t)(found - run->documents) : SIZE_MAX;
}

static bool is_apart(void *user, uint64_t sid, uint64_t cluster)
{
    struct run *run = user;
    size_t place = place_of(run, sid);
    (void)cluster;
    return place < SIZE_MAX && union_find_root(&run->sets, (uint32_t)place) !=
                                   union_find_root(&run->sets, (uint32_t)run->at);
}

static int join(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct run *run = user;
    size_t place = place_of(run, sid);
    (void)cluster, (void)record;
    if (place < SIZE_MAX)
        run->n_sets -= (size_t)union_find_join(&run->sets, (uint32_t)place, (uint32_t)run->at);
    return 0;
}

/* Returns 0, -ESTALE when the document is no more, or an error. */
static int look_at(struct run *run)
{
    _cleanup_(sid_vector_done) struct sid_vector class = {0};
    const struct graph *graph = run->graph;
    uint64_t sid = run->documents[run->at].sid;
    uint8_t class_id[CLASS_BYTES];
    const struct record *record;

    int r = records_get(graph->records, &sid, 1, &record);
    if (r < 0 || !record)
        return r < 0 ? r : -ESTALE;
    record_class(record, class_id);
    r = classes_list(graph->kv, class_id, 1, &class);
    if (r == 0 && class.n_sids > 0 && class.sids[0] != sid)
        r = join(run, class.sids[0], 0, NULL);
    else if (r == 0)
        r = neighbours_find(graph, &record->sketch, is_apart, join, run, NULL);
    records_put(graph->records, &record, 1);
    return r;
}

/* -- a run: who keeps which id -- */

/* to[part]: the cluster of which it has most documents, each cluster once; sizes[part]. */
static int choose_ids(struct run *run, uint64_t *to, uint32_t *sizes)
{
    _cleanup_free_ struct id_vote *votes = calloc(run->n_documents + 1, sizeof(*votes));
    _cleanup_(id_map_done) struct id_map given = {0};

    if (!votes)
        return -ENOMEM;
    for (size_t i = 0; i < run->n_documents; i++) {
        uint32_t part = union_find_root(&run->sets, (uint32_t)i);
        votes[i] = (struct id_vote){run->documents[i].from, part, run->documents[i].rank, 1};
        sizes[part]++;
    }
    return id_votes_decide(votes, id_votes_count(votes, run->n_documents), to, &given);
}

static int new_cluster(struct cluster_repairs *repairs, struct run *run, uint64_t *ret_id)
{
    const bool changed = repairs->changed;
    int r = cluster_ids_new(&run->graph->membership->ids, run->graph->kv, ret_id);
    if (r == 0)
        r = cluster_repairs_note(run->graph, *ret_id);
    if (r == 0)
        r = sid_vector_push(&run->clusters, *ret_id);
    repairs->changed = changed;
    return r;
}

static int decide(struct cluster_repairs *repairs, struct run *run)
{
    _cleanup_free_ uint64_t *to = calloc(run->n_documents + 1, sizeof(*to));
    _cleanup_free_ uint32_t *sizes = calloc(run->n_documents + 1, sizeof(*sizes));
    const size_t n_before = run->clusters.n_sids;
    int r = to && sizes ? choose_ids(run, to, sizes) : -ENOMEM;

    for (size_t i = 0; r == 0 && i < run->n_documents; i++) {
        uint32_t part = union_find_root(&run->sets, (uint32_t)i);
        if (!to[part] && sizes[part] > 1)
            r = new_cluster(repairs, run, &to[part]);
        run->documents[i].to = to[part];
    }
    for (size_t i = 0; r == 0 && i < n_before && run->n_sets > 1; i++)
        graph_split(run->graph, run->clusters.sids[i]);
    run->moving = true;
    run->at = 0;
    return r;
}

/* -- a run: its end -- */

static int move_some(struct run *run)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    const struct document *first = &run->documents[run->at];
    size_t end = run->at + MOVED_A_STEP;
    int r = 0;

    for (; r == 0 && run->at < run->n_documents && run->at < end; run->at++) {
        const struct document *document = &run->documents[run->at];
        if (document->from != first->from || document->to != first->to)
            break;
        if (document->from != document->to)
            r = sid_vector_push(&sids, document->sid);
    }
    return r == 0 && sids.n_sids ? cluster_change_move(run->graph, first->from, first->to, &sids)
                                 : r;
}

static int finish(struct cluster_repairs *repairs, struct run *run)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < run->clusters.n_sids; i++) {
        uint64_t id = run->clusters.sids[i];
        r = cluster_change_dissolve(run->graph, &id, 1);
        if (r == 0)
            r = write_row(run->graph, id, false);
        if (r == 0)
            forget(repairs, id);
    }
    run_done(run);
    return r;
}

static int go_on(struct cluster_repairs *repairs, struct run *run)
{
    int r = 0;

    if (run->moving)
        return run->at < run->n_documents ? move_some(run) : finish(repairs, run);
    for (size_t n = 0; r == 0 && n < repairs->a_step && run->at < run->n_documents; n++, run->at++)
        r = run->n_sets > 1 ? look_at(run) : 0;
    return r == 0 && run->at == run->n_documents ? decide(repairs, run) : r;
}

/* What is of no clustering that there is needs no repair. */
static int forget_others(struct cluster_repairs *repairs, const struct graph *first)
{
    for (;;) {
        uint64_t id = 0;
        {
            LOCKED(&repairs->lock);
            for (size_t i = 0; i < repairs->ids.n_sids && !id; i++)
                if (!graph_of_cluster(first, repairs->ids.sids[i]))
                    id = repairs->ids.sids[i];
        }
        int r = id ? write_row(first, id, false) : 0;
        if (r < 0 || !id)
            return r;
        forget(repairs, id);
    }
}

/* Of a cluster whose hub is looked for nothing else need be asked, if it is found. Returns 1 when
 * there was one, 0, or an error. */
static int look_for_hub(struct cluster_repairs *repairs, const struct graph *first)
{
    const struct graph *graph = NULL;
    uint64_t id = 0;
    {
        LOCKED(&repairs->lock);
        for (size_t i = 0; i < repairs->ids.n_sids && !graph; i++) {
            id = repairs->ids.sids[i];
            graph = graph_of_cluster(first, id);
            if (graph && !cluster_hubs_is_later(graph->membership->hubs, id))
                graph = NULL;
        }
    }
    int r = graph ? cluster_hubs_step(graph, id) : 0;
    if (r > 0) {
        r = write_row(graph, id, false);
        if (r == 0)
            forget(repairs, id);
    } else if (r == -EINPROGRESS) {
        r = 0;
    }
    return r < 0 ? r : graph != NULL;
}

int cluster_repairs_step(const struct graph *first)
{
    struct cluster_repairs *repairs = first->repairs;
    struct run *run = &repairs->run;
    int r = 0;

    if (cluster_repairs_count(repairs) == 0) {
        run_done(run);
        return 0;
    }
    r = look_for_hub(repairs, first);
    if (r != 0)
        return r < 0 ? r : cluster_repairs_count(repairs) > 0;
    if (repairs->changed || !run->graph)
        r = begin(repairs, first);
    else
        r = go_on(repairs, run);
    if (r == -ESTALE) { /* gone without a word: anew */
        repairs->changed = true;
        r = 0;
    }
    if (r == 0 && !run->graph)
        r = forget_others(repairs, first);
    if (r < 0)
        run_done(run);
    return r < 0 ? r : cluster_repairs_count(repairs) > 0;
}
