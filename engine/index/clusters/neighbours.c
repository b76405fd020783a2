#include "engine/index/clusters/neighbours_private.h"

/* Candidates compared at once: few at first, since the first neighbour in a large cluster makes all
 * other candidates in it unwanted. */
enum { FIRST_CHUNK = 8, CHUNK = 64 };

static int compare_one(const struct graph *graph, const struct min_sketch *sketch, uint64_t sid,
                       uint64_t cluster, const struct record *record, neighbour_found_fn found,
                       void *user)
{
    int r = graph_edge(graph->threshold, sketch, &record->sketch);

    return r > 0 ? found(user, sid, cluster, record) : r;
}

/* Both are sorted. */
static bool share_key(const struct min_sketch *a, const struct min_sketch *b)
{
    size_t n_a = postings_tier_keys(POSTINGS_TIER_R, a), i = 0;
    size_t n_b = postings_tier_keys(POSTINGS_TIER_R, b), j = 0;

    while (i < n_a && j < n_b && a->values[i] != b->values[j]) {
        const bool step = a->values[i] < b->values[j];
        i += step;
        j += !step;
    }
    return i < n_a && j < n_b;
}

int neighbours_by_tier_r(const struct graph *graph, const struct min_sketch *a,
                         const struct min_sketch *b)
{
    return share_key(a, b) ? graph_edge(graph->threshold, a, b) : 0;
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
        if (records[i])
            filter_cache_put(graph->filters, sid, &records[i]->sketch);
        if (records[i] && wanted(user, sid, cluster))
            r = compare_one(graph, sketch, sid, cluster, records[i], found, user);
        else if (!records[i] && dead)
            r = sid_vector_push(dead, sid);
    }
    records_put(graph->records, records, chunk->n);
    return r;
}

/* A document whose candidates are looked for. */
struct asking {
    const struct min_sketch *sketch;
    struct overlap_filter filter;
    overlap_scan_fn *scan;
};

static struct asking asking_of(const struct min_sketch *sketch)
{
    struct asking asking = {.sketch = sketch, .scan = overlap_scan_of(kernel_in_use())};
    overlap_filter_make(sketch, &asking.filter);
    return asking;
}

/* Drop the candidates of which it is known that they do not resemble it. */
static void refuse(const struct graph *graph, const struct asking *asking, struct chunk *chunk)
{
    static const uint32_t sets[CHUNK]; /* none is of the asking one's */
    struct overlap_filter filters[CHUNK];
    size_t places[CHUNK], n_filters = 0, n = 0;
    bool refused[CHUNK] = {false};
    uint64_t n_others = 0;

    if (asking->filter.n == 0)
        return;
    for (size_t i = 0; i < chunk->n; i++) {
        const struct overlap_filter *filter = filter_cache_find(graph->filters, chunk->sids[i]);
        if (!filter)
            continue;
        filters[n_filters] = *filter;
        places[n_filters++] = i;
        refused[i] = true;
    }
    for (size_t at = 0; at < n_filters; at++) {
        at = asking->scan(&asking->filter, 1, filters, sets, at, n_filters, asking->sketch->s,
                          graph->threshold, &n_others);
        if (at < n_filters)
            refused[places[at]] = false;
    }
    for (size_t i = 0; i < chunk->n; i++)
        if (!refused[i]) {
            chunk->sids[n] = chunk->sids[i];
            chunk->clusters[n++] = chunk->clusters[i];
        }
    chunk->n = n;
}

/* The next candidates, at most n_most: those that are wanted. */
static int take_wanted(const struct graph *graph, const struct sid_list *candidates, size_t *at,
                       size_t n_most, neighbour_wanted_fn wanted, void *user,
                       struct chunk *ret_chunk)
{
    uint64_t clusters[CHUNK], *sids = candidates->sids + *at;
    size_t n = candidates->n_sids - *at;

    ret_chunk->n = 0;
    if (n > n_most)
        n = n_most;
    *at += n;
    int r = membership_clusters_of(graph->membership, sids, n, clusters);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (wanted(user, sids[i], clusters[i])) {
            ret_chunk->sids[ret_chunk->n] = sids[i];
            ret_chunk->clusters[ret_chunk->n++] = clusters[i];
        }
    return r;
}

/* Fill a chunk with the next wanted candidates, at most n_most. */
static int next_chunk(const struct graph *graph, const struct asking *asking,
                      const struct sid_list *candidates, size_t *at, size_t n_most,
                      neighbour_wanted_fn wanted, void *user, struct chunk *ret_chunk)
{
    int r = 0;

    ret_chunk->n = 0;
    while (r == 0 && *at < candidates->n_sids && ret_chunk->n < n_most) {
        struct chunk some;
        r = take_wanted(graph, candidates, at, n_most - ret_chunk->n, wanted, user, &some);
        if (r == 0 && some.n > 0)
            refuse(graph, asking, &some);
        for (size_t i = 0; r == 0 && i < some.n; i++) {
            ret_chunk->sids[ret_chunk->n] = some.sids[i];
            ret_chunk->clusters[ret_chunk->n++] = some.clusters[i];
        }
    }
    return r;
}

int neighbours_compare(const struct graph *graph, const struct min_sketch *sketch,
                       const struct sid_list *candidates, neighbour_wanted_fn wanted,
                       neighbour_found_fn found, void *user, struct sid_vector *dead)
{
    size_t at = 0, n_most = FIRST_CHUNK;
    int r = 0;

    if (candidates->n_sids == 0)
        return 0;
    const struct asking asking = asking_of(sketch);
    while (r == 0 && at < candidates->n_sids) {
        struct chunk chunk;
        r = next_chunk(graph, &asking, candidates, &at, n_most, wanted, user, &chunk);
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
    _cleanup_(sid_list_done) struct sid_list candidates = {0}, rest = {0};
    size_t n = postings_tier_keys(POSTINGS_TIER_R, sketch), lengths[POSTINGS_TIER_R_KEYS] = {0};
    struct neighbour_keys keys = {.n_plain = 0};

    for (size_t i = 0; i < n; i++) {
        if (long_lists_is_common(graph->long_lists, sketch->values[i]))
            keys.common[keys.n_common++] = sketch->values[i];
        else
            keys.plain[keys.n_plain++] = sketch->values[i];
    }
    int r = postings_with(graph->postings, POSTINGS_TIER_R, keys.plain, keys.n_plain,
                          LONG_LISTS_COMMON_FROM, &candidates, lengths);
    if (r == 0)
        r = neighbours_judge_long(graph, &keys, lengths);
    if (r == 0)
        r = postings_with(graph->postings, POSTINGS_TIER_R, keys.plain, keys.n_plain, 0, &rest,
                          NULL);
    if (r == 0)
        r = neighbours_compare(graph, sketch, &rest, wanted, found, user, dead);
    if (r == 0)
        r = neighbours_compare(graph, sketch, &candidates, wanted, found, user, dead);
    return r < 0 ? r
                 : neighbours_compare_common(graph, sketch, &keys, n - keys.n_common, wanted, found,
                                             user, dead);
}
