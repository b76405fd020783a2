/* Which clusters are to be repaired. */
#include "engine/index/clusters/cluster_repair_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "engine/index/clusters/cluster_change.h"
#include "engine/index/clusters/cluster_hubs.h"
#include "engine/index/clusters/neighbours.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"

enum {
    AT_ONCE = 2048, /* nodes; no more than a quarter second */
    A_STEP = 64,
    PREFIX_BYTES = 6,
    KEY_BYTES = PREFIX_BYTES + 8,
    PAGE = 256,
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

void cluster_repairs_free(struct cluster_repairs *repairs)
{
    if (!repairs)
        return;
    repair_run_done(&repairs->run);
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
            r = sid_decode((const uint8_t *)key->data + PREFIX_BYTES, &next);
            if (r == 0)
                r = remember(repairs, next++);
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

int cluster_repairs_end(const struct graph *graph, uint64_t cluster)
{
    int r = write_row(graph, cluster, false);
    if (r == 0)
        forget(graph->repairs, cluster);
    return r;
}

/* -- what happens elsewhere -- */

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
    /* Documents of it may have been moved already: a hub would not find those. */
    if (!cluster_hubs_is_later(graph->membership->hubs, from))
        cluster_hubs_give_up(graph->membership->hubs, to);
    int r = cluster_repairs_note(graph, to);
    return r < 0 ? r : cluster_repairs_end(graph, from);
}

/* -- a step -- */

int cluster_repairs_take(struct cluster_repairs *repairs, const struct graph *first,
                         struct repair_run *run)
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
        int r = id ? cluster_repairs_end(first, id) : 0;
        if (r < 0 || !id)
            return r;
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
        r = cluster_change_dissolve(graph, &id, 1); /* who is alone holds together, too */
        if (r == 0)
            r = cluster_repairs_end(graph, id);
    }
    return r < 0 && r != -EINPROGRESS ? r : graph != NULL;
}

int cluster_repairs_step(const struct graph *first)
{
    struct cluster_repairs *repairs = first->repairs;
    struct repair_run *run = &repairs->run;
    int r = 0;

    if (cluster_repairs_count(repairs) == 0) {
        repair_run_done(run);
        return 0;
    }
    r = look_for_hub(repairs, first);
    if (r != 0)
        return r < 0 ? r : cluster_repairs_count(repairs) > 0;
    if (repairs->changed || !run->graph)
        r = repair_run_begin(repairs, first);
    else
        r = repair_run_go_on(repairs);
    if (r == -ESTALE) { /* gone without a word: anew */
        repairs->changed = true;
        r = 0;
    }
    if (r == 0 && !run->graph)
        r = forget_others(repairs, first);
    if (r < 0)
        repair_run_done(run);
    return r < 0 ? r : cluster_repairs_count(repairs) > 0;
}
