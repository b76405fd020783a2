#include "engine/index/clusters/graph.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/index/tables/schema.h"

int graph_edge(double threshold, const struct min_sketch *a, const struct min_sketch *b)
{
    struct estimate estimate;
    int r = threshold < 1 ? min_sketch_reaches(a, b, threshold, &estimate) : 0;
    return r == -ENODATA ? 0 : r;
}

/* A document comes into its lists: in those of another cluster it is a stray. */
static int posted_short(const struct graph *graph, uint64_t sid, const struct min_sketch *sketch)
{
    uint64_t sids[1 + POSTINGS_TIER_R_KEYS] = {sid}, clusters[1 + POSTINGS_TIER_R_KEYS];
    uint64_t fingerprints[1 + POSTINGS_TIER_R_KEYS];
    size_t n_keys = postings_tier_keys(POSTINGS_TIER_R, sketch), n = 1;

    for (size_t i = 0; i < n_keys; i++) {
        fingerprints[n] = sketch->values[i];
        sids[n] = short_lists_find(graph->short_lists, sketch->values[i]);
        n += sids[n] != 0;
    }
    if (n == 1)
        return 0;
    int r = membership_clusters_of(graph->membership, sids, n, clusters);
    for (size_t i = 1; i < n; i++)
        if (r < 0 || !short_lists_vouches(graph->short_lists, fingerprints[i], clusters[i]))
            short_lists_drop(graph->short_lists, fingerprints[i]);
        else if (clusters[i] != clusters[0])
            short_lists_stray(graph->short_lists, fingerprints[i], sid);
    return r;
}

int graph_post(const struct graph *graph, uint64_t sid, const struct min_sketch *sketch)
{
    long_lists_posted(graph->long_lists, sid, sketch);
    int r = posted_short(graph, sid, sketch);
    if (r < 0)
        return r;
    filter_cache_put(graph->filters, sid, sketch);
    return postings_add(graph->postings, sid, sketch);
}

void graph_joined(const struct graph *graph, uint64_t from, uint64_t to)
{
    long_lists_joined(graph->long_lists, from, to);
    if (graph->short_lists)
        short_lists_split(graph->short_lists, from);
}

void graph_split(const struct graph *graph, uint64_t cluster)
{
    long_lists_split(graph->long_lists, cluster);
    if (graph->short_lists)
        short_lists_split(graph->short_lists, cluster);
}

void graph_moved(const struct graph *graph, uint64_t from, uint64_t to)
{
    if (to == 0)
        graph_split(graph, from);
    else if (from)
        long_lists_moved(graph->long_lists, from, to);
    if (to && graph->short_lists)
        short_lists_split(graph->short_lists, from);
}

void graph_forget(const struct graph *graph)
{
    long_lists_forget(graph->long_lists);
    if (graph->short_lists)
        short_lists_forget(graph->short_lists);
}

const struct graph *graph_of_cluster(const struct graph *first, uint64_t cluster)
{
    const struct graph *graph = first;

    while (graph && graph->membership->clustering != cluster_clustering(cluster))
        graph = graph->next;
    return graph;
}

int graph_record(const struct graph *graph, uint64_t sid, struct record *ret_record)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[8];

    put_be64(key, sid);
    int r = kv_get(graph->kv, TABLE_RECORDS, (struct kv_slice){key, 8}, &value);
    return r < 0 ? r : record_decode(value.data, value.size_bytes, ret_record);
}
