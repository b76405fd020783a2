/* In a clustering with centres: who waits to be taken in again. */
#include "engine/index/clusters/cluster_repair_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/index/clusters/cluster_centres.h"
#include "engine/index/clusters/cluster_change.h"
#include "engine/index/clusters/neighbours.h"

/* As many times what a step of a repair looks at: mostly one comparison each. */
enum {
    TAKEN_IN_A_STEP = 4,
    TAKEN_AT_ONCE = 16,
    STEP_US = 20 * 1000, /* where each of them has to be compared with very many */
};

void repair_waiting_forget(struct cluster_repairs *repairs, uint64_t cluster)
{
    for (size_t i = 0; i < repairs->n_waiting; i++)
        if (repairs->waiting[i].cluster == cluster)
            repairs->waiting[i--] = repairs->waiting[--repairs->n_waiting];
}

static struct repair_waiting *find_waiting(const struct cluster_repairs *repairs, uint64_t cluster)
{
    for (size_t i = 0; i < repairs->n_waiting; i++)
        if (repairs->waiting[i].cluster == cluster)
            return &repairs->waiting[i];
    return NULL;
}

static int set_waiting(struct cluster_repairs *repairs, uint64_t cluster, const uint8_t *order)
{
    struct repair_waiting *waiting = find_waiting(repairs, cluster);

    if (!waiting && repairs->n_waiting == repairs->max_waiting) {
        size_t max = repairs->max_waiting ? 2 * repairs->max_waiting : 8;
        struct repair_waiting *larger = reallocarray(repairs->waiting, max, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        repairs->waiting = larger;
        repairs->max_waiting = max;
    }
    if (!waiting)
        waiting = &repairs->waiting[repairs->n_waiting++];
    waiting->cluster = cluster;
    memcpy(waiting->order, order, ORDER_BYTES);
    return 0;
}

int cluster_repairs_wait(const struct graph *graph, uint64_t cluster, const uint8_t *order)
{
    struct cluster_repairs *repairs = graph->repairs;
    const struct repair_waiting *waiting = find_waiting(repairs, cluster);
    bool waits = cluster_repairs_is_waiting(repairs, cluster);

    if (waits && (!waiting || memcmp(waiting->order, order, ORDER_BYTES) <= 0))
        return 0;
    int r = set_waiting(repairs, cluster, order);
    if (waits)
        return r;
    if (r == 0)
        r = cluster_repairs_note(graph, cluster); /* behind it, or all of the cluster would wait */
    if (r < 0)
        repair_waiting_forget(repairs, cluster);
    return r;
}

int cluster_repairs_taken_in(const struct graph *graph, uint64_t cluster, const uint8_t *order)
{
    return set_waiting(graph->repairs, cluster, order);
}

bool cluster_repairs_is_waiting(const struct cluster_repairs *repairs, uint64_t cluster)
{
    return cluster_repairs_has_centre(cluster) && sid_vector_has(&repairs->ids, cluster);
}

bool cluster_repairs_waits(const struct cluster_repairs *repairs, uint64_t cluster,
                           const uint8_t *order)
{
    if (repairs->ids.n_sids == 0 || !cluster_repairs_is_waiting(repairs, cluster))
        return false;
    const struct repair_waiting *waiting = find_waiting(repairs, cluster);
    return !waiting || memcmp(order, waiting->order, ORDER_BYTES) > 0;
}

/* None waits any more. */
static int end_waiting(const struct graph *graph, uint64_t id)
{
    int r = cluster_change_dissolve(graph, &id, 1);
    if (r == 0)
        r = cluster_repairs_end(graph, id);
    return r < 0 ? r : 1;
}

/* Of a cluster of which documents wait some are taken in. Returns 1 when there was one, 0, or an
 * error. */
int repair_waiting_step(struct cluster_repairs *repairs, const struct graph *first)
{
    const struct graph *graph = NULL;
    uint64_t id = 0;

    for (size_t i = 0; i < repairs->ids.n_sids && !graph; i++) {
        id = repairs->ids.sids[i];
        graph = cluster_repairs_has_centre(id) ? graph_of_cluster(first, id) : NULL;
    }
    if (!graph)
        return 0;
    const size_t most = TAKEN_IN_A_STEP * repairs->a_step;
    const int64_t end_us = clock_now_us() + STEP_US;
    for (size_t n = 0; n < most && clock_now_us() < end_us;) {
        const struct repair_waiting *waiting = find_waiting(repairs, id);
        int taken = cluster_centres_take_in(graph, id, waiting ? waiting->order : NULL,
                                            most - n < TAKEN_AT_ONCE ? most - n : TAKEN_AT_ONCE);
        if (taken <= 0)
            return taken < 0 ? taken : end_waiting(graph, id);
        n += (size_t)taken;
    }
    return 1;
}
