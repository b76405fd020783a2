#include "engine/index/neighbours.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/index/schema.h"

/* Candidates compared at once: few at first, since the first neighbour in a large cluster makes all
 * other candidates in it unwanted. */
enum { FIRST_CHUNK = 8, CHUNK = 64 };

static int compare_one(const struct graph *graph, const struct min_sketch *sketch, uint64_t sid,
                       uint64_t cluster, const struct record *record, neighbour_found_fn found,
                       void *user)
{
    struct estimate estimate;

    int r = min_sketch_reaches(sketch, &record->sketch, graph->threshold, &estimate);
    if (r == -ENODATA)
        return 0;
    return r > 0 ? found(user, sid, cluster, record) : r;
}

struct chunk {
    uint64_t sids[CHUNK], clusters[CHUNK];
    size_t n;
};

static int compare_chunk(const struct graph *graph, const struct min_sketch *sketch,
                         const struct chunk *chunk, neighbour_wanted_fn wanted,
                         neighbour_found_fn found, void *user, struct sid_vector *dead)
{
    const struct record *records[CHUNK];

    int r = records_get(graph->records, chunk->sids, chunk->n, records);
    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < chunk->n; i++) {
        uint64_t sid = chunk->sids[i], cluster = chunk->clusters[i];
        if (records[i] && wanted(user, sid, cluster))
            r = compare_one(graph, sketch, sid, cluster, records[i], found, user);
        else if (!records[i] && dead)
            r = sid_vector_push(dead, sid);
    }
    records_put(graph->records, records, chunk->n);
    return r;
}

/* Fill a chunk with the next wanted candidates, at most n_most. */
static int next_chunk(const struct graph *graph, const struct sid_list *candidates, size_t *at,
                      size_t n_most, neighbour_wanted_fn wanted, void *user,
                      struct chunk *ret_chunk)
{
    ret_chunk->n = 0;
    while (*at < candidates->n_sids && ret_chunk->n < n_most) {
        uint64_t clusters[CHUNK], *sids = candidates->sids + *at;
        size_t n = candidates->n_sids - *at;
        if (n > n_most - ret_chunk->n)
            n = n_most - ret_chunk->n;
        int r = membership_clusters_of(graph->membership, sids, n, clusters);
        if (r < 0)
            return r;
        for (size_t i = 0; i < n; i++) {
            if (!wanted(user, sids[i], clusters[i]))
                continue;
            ret_chunk->sids[ret_chunk->n] = sids[i];
            ret_chunk->clusters[ret_chunk->n++] = clusters[i];
        }
        *at += n;
    }
    return 0;
}

int neighbours_find(const struct graph *graph, const struct min_sketch *sketch,
                    neighbour_wanted_fn wanted, neighbour_found_fn found, void *user,
                    struct sid_vector *dead)
{
    _cleanup_(sid_list_done) struct sid_list candidates = {0};
    size_t at = 0, n_most = FIRST_CHUNK;

    int r = postings_candidates(graph->postings, POSTINGS_TIER_R, sketch, &candidates);
    while (r == 0 && at < candidates.n_sids) {
        struct chunk chunk;
        r = next_chunk(graph, &candidates, &at, n_most, wanted, user, &chunk);
        if (r == 0 && chunk.n > 0)
            r = compare_chunk(graph, sketch, &chunk, wanted, found, user, dead);
        n_most = CHUNK;
    }
    return r;
}

int graph_record(const struct graph *graph, uint64_t sid, struct record *ret_record)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[8];

    put_be64(key, sid);
    int r = kv_get(graph->kv, TABLE_RECORDS, (struct kv_slice){key, 8}, &value);
    return r < 0 ? r : record_decode(value.data, value.size_bytes, ret_record);
}
