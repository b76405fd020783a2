/* The same graph as neighbours.h has, walked breadth first: two documents are neighbours if they
 * are of one class, or have a fingerprint of tier R in common, by which they would find each other,
 * and an edge.
 *
 * A search of the postings may find some that this does not: where lists are common others are read
 * in their place, and so two may meet who have no fingerprint of tier R in common. So parts count
 * as such only where no two documents of them have an edge, however they meet. */
#include "engine/index/clusters/small_cluster.h"

#include <stdlib.h>
#include <string.h>

/* What is left, in order of rank. */
struct rest {
    uint64_t sids[SMALL_CLUSTER_MAX];
    const struct record *records[SMALL_CLUSTER_MAX];
    size_t parts[SMALL_CLUSTER_MAX]; /* numbered in order of their first in rank */
    size_t n, n_parts;
};

struct part {
    size_t number, n_documents;
    uint64_t first_sid; /* the smallest: the first of its class, which has the postings */
};

static int are_neighbours(const struct graph *graph, const struct record *a, const struct record *b)
{
    uint8_t class_a[CLASS_BYTES], class_b[CLASS_BYTES];

    int r = neighbours_by_tier_r(graph, &a->sketch, &b->sketch);
    if (r != 0)
        return r;
    record_class(a, class_a);
    record_class(b, class_b);
    return memcmp(class_a, class_b, CLASS_BYTES) == 0;
}

static int find_parts(const struct graph *graph, struct rest *rest)
{
    size_t queue[SMALL_CLUSTER_MAX], at = 0, n_queued = 0;
    const size_t none = SMALL_CLUSTER_MAX;

    for (size_t i = 0; i < rest->n; i++)
        rest->parts[i] = none;
    for (size_t first = 0; first < rest->n; first++) {
        if (rest->parts[first] != none)
            continue;
        queue[n_queued++] = first;
        rest->parts[first] = rest->n_parts;
        for (; at < n_queued && n_queued < rest->n; at++)
            for (size_t i = first + 1; i < rest->n; i++) {
                int r = rest->parts[i] != none
                            ? 0
                            : are_neighbours(graph, rest->records[queue[at]], rest->records[i]);
                if (r < 0)
                    return r;
                if (r == 0)
                    continue;
                rest->parts[i] = rest->n_parts;
                queue[n_queued++] = i;
            }
        rest->n_parts++;
    }
    return 0;
}

/* Whether two documents of different parts may find each other otherwise. Returns 1, 0, or an
 * error. */
static int may_meet(const struct graph *graph, const struct rest *rest)
{
    int r = 0;
    for (size_t i = 0; i < rest->n; i++)
        for (size_t k = i + 1; r == 0 && k < rest->n; k++)
            if (rest->parts[i] != rest->parts[k])
                r = graph_edge(graph->threshold, &rest->records[i]->sketch,
                               &rest->records[k]->sketch);
    return r;
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return (x->first_sid > y->first_sid) - (x->first_sid < y->first_sid);
}

static int split_off(const struct graph *graph, const struct rest *rest, const struct part *part,
                     struct cluster_split *split)
{
    _cleanup_(sid_vector_done) struct sid_vector documents = {0};
    uint64_t id = 0;
    int r = part->n_documents > 1 ? cluster_ids_new(&graph->membership->ids, graph->kv, &id) : 0;

    for (size_t i = 0; r == 0 && i < rest->n; i++)
        if (rest->parts[i] == part->number)
            r = sid_vector_push(&documents, rest->sids[i]);
    return r < 0 ? r : cluster_split_add_part(split, id, part->first_sid, &documents);
}

/* The part of most documents keeps the id, of such the first in rank. */
static int plan_parts(const struct graph *graph, const struct rest *rest,
                      struct cluster_split *split)
{
    struct part parts[SMALL_CLUSTER_MAX] = {0};
    size_t best = 0;
    int r = 0;

    for (size_t i = 0; i < rest->n; i++) {
        struct part *part = &parts[rest->parts[i]];
        part->number = rest->parts[i];
        if (part->n_documents++ == 0 || rest->sids[i] < part->first_sid)
            part->first_sid = rest->sids[i];
    }
    for (size_t i = 1; i < rest->n_parts; i++)
        if (parts[i].n_documents > parts[best].n_documents)
            best = i;
    parts[best] = parts[rest->n_parts - 1];
    qsort(parts, rest->n_parts - 1, sizeof(*parts), compare_parts);
    for (size_t i = 0; r == 0 && i + 1 < rest->n_parts; i++)
        r = split_off(graph, rest, &parts[i], split);
    return r;
}

/* Returns 1 when split has what is left, 0 when that is not known, or an error. */
static int plan(const struct graph *graph, struct rest *rest, struct cluster_split *split)
{
    int r = 0;

    for (size_t i = 0; i < rest->n; i++)
        if (!rest->records[i])
            return 0;
    r = find_parts(graph, rest);
    if (r < 0 || rest->n_parts < 2)
        return r < 0 ? r : 1;
    r = may_meet(graph, rest);
    if (r != 0)
        return r < 0 ? r : 0;
    r = plan_parts(graph, rest, split);
    return r < 0 ? r : 1;
}

int small_cluster_plan(const struct graph *graph, uint64_t size, struct cluster_split *split)
{
    _cleanup_(sid_vector_done) struct sid_vector members = {0};
    struct rest rest;

    if (size > graph->small_cluster)
        return 0;
    rest.n = rest.n_parts = 0;
    int r = membership_list(graph->membership, split->cluster, SMALL_CLUSTER_MAX, &members);
    if (r < 0)
        return r;
    for (size_t i = 0; i < members.n_sids; i++)
        if (!sid_vector_finds(&split->leaving, members.sids[i]))
            rest.sids[rest.n++] = members.sids[i];
    if (rest.n < 2)
        return 1;
    r = records_get(graph->records, rest.sids, rest.n, rest.records);
    if (r < 0)
        return r;
    r = plan(graph, &rest, split);
    records_put(graph->records, rest.records, rest.n);
    return r;
}
