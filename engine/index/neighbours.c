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
    int r = edge_rule_holds(&graph->rule, sketch, &record->sketch);

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

static int compare_all(const struct graph *graph, const struct min_sketch *sketch,
                       const struct sid_list *candidates, neighbour_wanted_fn wanted,
                       neighbour_found_fn found, void *user, struct sid_vector *dead)
{
    size_t at = 0, n_most = FIRST_CHUNK;
    int r = 0;

    while (r == 0 && at < candidates->n_sids) {
        struct chunk chunk;
        r = next_chunk(graph, candidates, &at, n_most, wanted, user, &chunk);
        if (r == 0 && chunk.n > 0)
            r = compare_chunk(graph, sketch, &chunk, wanted, found, user, dead);
        n_most = CHUNK;
    }
    return r;
}

int neighbours_find(const struct graph *graph, const struct min_sketch *sketch,
                    neighbour_wanted_fn wanted, neighbour_found_fn found, void *user,
                    struct sid_vector *dead)
{
    _cleanup_(sid_list_done) struct sid_list candidates = {0};

    int r = postings_candidates(graph->postings, POSTINGS_TIER_R, sketch, &candidates);
    return r < 0 ? r : compare_all(graph, sketch, &candidates, wanted, found, user, dead);
}

/* -- reaching clusters -- */

/* The posting lists of one document: those with a digest, and the others. */
struct reach {
    const struct graph *graph;
    const struct min_sketch *sketch;
    neighbour_wanted_fn wanted;
    neighbour_found_fn found;
    void *user;
    struct sid_vector *dead;
    struct digest *digests[POSTINGS_TIER_R_KEYS];
    uint64_t others[POSTINGS_TIER_R_KEYS];
    size_t n_digests, n_others;
};

static bool has_fingerprint(const struct min_sketch *sketch, uint64_t fingerprint)
{
    size_t n = postings_tier_keys(POSTINGS_TIER_R, sketch);

    for (size_t i = 0; i < n; i++)
        if (sketch->values[i] == fingerprint)
            return true;
    return false;
}

static bool reach_wanted(void *user, uint64_t sid, uint64_t cluster)
{
    const struct reach *reach = user;
    return reach->wanted(reach->user, sid, cluster);
}

/* Who comes next is likely to resemble the same one. */
static int reach_found(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct reach *reach = user;

    for (size_t i = 0; i < reach->n_digests; i++)
        if (has_fingerprint(&record->sketch, reach->digests[i]->fingerprint))
            digest_promote(reach->digests[i], cluster, sid);
    return reach->found(reach->user, sid, cluster, record);
}

static int compare_listed(struct reach *reach, const struct sid_list *list)
{
    return compare_all(reach->graph, reach->sketch, list, reach_wanted, reach_found, reach,
                       reach->dead);
}

static int compare_digests(struct reach *reach)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < reach->n_digests; i++) {
        r = digest_tidy(reach->graph->long_lists, reach->digests[i], reach->graph->membership);
        if (r == 0)
            r = digest_sids(reach->digests[i], &sids);
    }
    if (r < 0)
        return r;
    sid_vector_sort_unique(&sids);
    r = compare_listed(reach, &(struct sid_list){sids.sids, sids.n_sids});
    for (size_t i = 0; r == 0 && reach->dead && i < reach->dead->n_sids; i++)
        for (size_t k = 0; k < reach->n_digests; k++)
            digest_remove_named(reach->digests[k], reach->dead->sids[i]);
    return r;
}

/* Read a list for the sake of clusters of it that were not reached. */
static int compare_whole(struct reach *reach, const struct digest *digest)
{
    _cleanup_(sid_list_done) struct sid_list list = {0};
    const struct graph *graph = reach->graph;
    bool reached = true;

    for (unsigned i = 0; i < digest->n_clusters && reached; i++)
        reached = !reach->wanted(reach->user, 0, digest->clusters[i]);
    if (reached)
        return 0;
    int r = postings_with(graph->postings, POSTINGS_TIER_R, &digest->fingerprint, 1, &list, NULL);
    if (r == 0) /* anew first: examples that are found below stay */
        r = long_lists_learn(graph->long_lists, graph->membership, digest->fingerprint, &list);
    return r < 0 ? r : compare_listed(reach, &list);
}

static int compare_others(struct reach *reach, size_t lengths[POSTINGS_TIER_R_KEYS])
{
    _cleanup_(sid_list_done) struct sid_list list = {0};

    int r = postings_with(reach->graph->postings, POSTINGS_TIER_R, reach->others, reach->n_others,
                          &list, lengths);
    return r < 0 ? r : compare_listed(reach, &list);
}

/* Those that are long enough get a digest. */
static int learn_others(struct reach *reach, const size_t lengths[POSTINGS_TIER_R_KEYS])
{
    const struct graph *graph = reach->graph;
    int r = 0;

    for (size_t i = 0; r == 0 && i < reach->n_others; i++) {
        _cleanup_(sid_list_done) struct sid_list list = {0};
        if (!long_lists_wants(graph->long_lists, reach->others[i], lengths[i]))
            continue;
        r = postings_with(graph->postings, POSTINGS_TIER_R, &reach->others[i], 1, &list, NULL);
        if (r == 0)
            r = long_lists_learn(graph->long_lists, graph->membership, reach->others[i], &list);
    }
    return r;
}

int neighbours_reach(const struct graph *graph, const struct min_sketch *sketch,
                     neighbour_wanted_fn wanted, neighbour_found_fn found, void *user,
                     struct sid_vector *dead)
{
    struct reach reach = {.graph = graph,
                          .sketch = sketch,
                          .wanted = wanted,
                          .found = found,
                          .user = user,
                          .dead = dead};
    size_t n = postings_tier_keys(POSTINGS_TIER_R, sketch), lengths[POSTINGS_TIER_R_KEYS] = {0};

    for (size_t i = 0; i < n; i++) {
        struct digest *digest = long_lists_find(graph->long_lists, sketch->values[i]);
        if (digest)
            reach.digests[reach.n_digests++] = digest;
        else
            reach.others[reach.n_others++] = sketch->values[i];
    }
    int r = compare_digests(&reach);
    if (r == 0)
        r = compare_others(&reach, lengths);
    for (size_t i = 0; r == 0 && i < reach.n_digests; i++)
        r = compare_whole(&reach, reach.digests[i]);
    return r < 0 ? r : learn_others(&reach, lengths);
}

int graph_post(const struct graph *first, uint64_t sid, const struct min_sketch *sketch)
{
    for (const struct graph *graph = first; graph; graph = graph->next)
        long_lists_posted(graph->long_lists, sid, sketch);
    return postings_add(first->postings, sid, sketch);
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
