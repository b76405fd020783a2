/* The same graph as neighbours.h has, walked breadth first: two documents are neighbours if they
 * are of one class, or have a fingerprint of tier R in common, by which they would find each other,
 * and the rule joins them. */
#include "engine/index/small_cluster.h"

#include <string.h>

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

/* From the first of them. What is reached goes to the front. */
static int are_connected(const struct graph *graph, const struct record **records, size_t n)
{
    size_t n_reached = 1;

    for (size_t at = 0; at < n_reached && n_reached < n; at++)
        for (size_t i = n_reached; i < n; i++) {
            int r = are_neighbours(graph, records[at], records[i]);
            if (r < 0)
                return r;
            if (r == 0)
                continue;
            const struct record *reached = records[i];
            records[i] = records[n_reached];
            records[n_reached++] = reached;
        }
    return n_reached == n;
}

int small_cluster_holds(const struct graph *graph, uint64_t cluster, uint64_t size,
                        const struct sid_vector *leaving)
{
    _cleanup_(sid_vector_done) struct sid_vector members = {0};
    const struct record *records[SMALL_CLUSTER_MAX];
    size_t n = 0;
    bool all = true;

    if (size > graph->small_cluster || graph->rule.containment > 0 || graph->rule.super_shingle)
        return 0;
    int r = membership_list(graph->membership, cluster, SMALL_CLUSTER_MAX, &members);
    if (r < 0)
        return r;
    for (size_t i = 0; i < members.n_sids; i++)
        if (!sid_vector_finds(leaving, members.sids[i]))
            members.sids[n++] = members.sids[i];
    if (n < 2)
        return 1;
    r = records_get(graph->records, members.sids, n, records);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        all &= records[i] != NULL;
    r = all ? are_connected(graph, records, n) : 0;
    records_put(graph->records, records, n);
    return r;
}
