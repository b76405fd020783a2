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

int graph_post(const struct graph *graph, uint64_t sid, const struct min_sketch *sketch)
{
    filter_cache_put(graph->filters, sid, sketch);
    return postings_add(graph->postings, sid, sketch);
}

int graph_list(const struct graph *graph, uint64_t fingerprint, struct posting_list *ret_list,
               size_t *ret_n_compared)
{
    const struct cluster_bounds *bounds = &graph->bounds;
    int r = postings_list(graph->postings, fingerprint, ret_list);
    if (r < 0)
        return r;
    const bool is_long =
        ret_list->n > bounds->most_compared || long_lists_have(graph->long_lists, fingerprint);
    *ret_n_compared = is_long && bounds->n_heads < ret_list->n ? bounds->n_heads : ret_list->n;
    return 0;
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
