/* Example: a document has 16 fingerprints. Twelve nobody else has, which the filters of the
 * postings know. Three are in lists of the two documents it is a version of, the last in the list
 * of 40,000 documents with the same licence, of which the 64 oldest are the heads. The
 * candidates are the two, then the 64; the first of the two resembles it and is in a component, so
 * nothing else of that is wanted; the filters refuse the 64 without a read.
 *
 * Left out: remembering which lists are of one cluster. Such a note speaks of two tables, and would
 * have to be told of all that happens in both. */
#include "engine/index/clusters/neighbours.h"

#include <errno.h>
#include <stdlib.h>

/* Candidates compared at once: few at first, since the first neighbour in a large component makes
 * all other candidates in it unwanted. */
enum { FIRST_CHUNK = 8, CHUNK = 64 };

/* -- documents met -- */

enum { SEEN_SLOTS = 1 << 16 }; /* nearly four times what 16 lists of LIST_CACHE_MOST have */

struct seen_sids {
    uint32_t round;
    struct {
        uint32_t round; /* another one: the slot is empty */
        uint64_t sid;
    } slots[SEEN_SLOTS];
};

int seen_sids_new(struct seen_sids **ret_seen)
{
    *ret_seen = calloc(1, sizeof(**ret_seen));
    return *ret_seen ? 0 : -ENOMEM;
}

void seen_sids_free(struct seen_sids *seen)
{
    free(seen);
}

static void forget_seen(struct seen_sids *seen)
{
    if (++seen->round)
        return;
    for (size_t i = 0; i < SEEN_SLOTS; i++)
        seen->slots[i].round = 0;
    seen->round = 1;
}

/* Returns whether it is new. */
static bool see(struct seen_sids *seen, uint64_t sid)
{
    size_t i = (size_t)(sid * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (SEEN_SLOTS - 1);
    while (seen->slots[i].round == seen->round && seen->slots[i].sid != sid)
        i = (i + 1) & (SEEN_SLOTS - 1);
    if (seen->slots[i].round == seen->round)
        return false;
    seen->slots[i].round = seen->round;
    seen->slots[i].sid = sid;
    return true;
}

/* -- candidates -- */

static int take_list(const struct graph *graph, uint64_t sid, uint64_t fingerprint,
                     struct number_vector *candidates, struct number_vector *grown)
{
    struct posting_list list;
    size_t n_compared;
    int r = graph_list(graph, fingerprint, &list, &n_compared);
    if (r == 0 && grown && list.n > graph->bounds.most_compared &&
        !long_lists_have(graph->long_lists, fingerprint))
        r = number_vector_push(grown, fingerprint);
    for (size_t i = 0; r == 0 && i < n_compared && list.sids[i] < sid; i++)
        if (see(graph->seen, list.sids[i]))
            r = number_vector_push(candidates, list.sids[i]);
    return r;
}

int neighbours_candidates(const struct graph *graph, uint64_t sid, const struct min_sketch *sketch,
                          struct number_vector *candidates, struct number_vector *grown)
{
    const size_t n_keys = postings_tier_keys(POSTINGS_TIER_R, sketch);
    enum postings_most most[POSTINGS_TIER_R_KEYS];
    int r = 0;

    forget_seen(graph->seen);
    postings_at_most(graph->postings, sketch->values, n_keys, most);
    for (size_t i = 0; r == 0 && i < n_keys; i++)
        if (most[i] == POSTINGS_ANY) /* one is itself */
            r = take_list(graph, sid, sketch->values[i], candidates, grown);
    return r;
}

/* Two documents are candidates by a list that is short, or of which one of them is a head. */
static int are_candidates_by(const struct graph *graph, uint64_t fingerprint, uint64_t sid_a,
                             uint64_t sid_b)
{
    const uint64_t first = sid_a < sid_b ? sid_a : sid_b;
    struct posting_list list;
    size_t n_compared;
    if (!long_lists_have(graph->long_lists, fingerprint))
        return 1;
    int r = graph_list(graph, fingerprint, &list, &n_compared);
    return r < 0 ? r : n_compared > 0 && first <= list.sids[n_compared - 1];
}

int neighbours_are_candidates(const struct graph *graph, uint64_t sid_a, const struct min_sketch *a,
                              uint64_t sid_b, const struct min_sketch *b)
{
    const size_t n_a = postings_tier_keys(POSTINGS_TIER_R, a);
    const size_t n_b = postings_tier_keys(POSTINGS_TIER_R, b);
    int r = 0;

    for (size_t i = 0, j = 0; r == 0 && i < n_a && j < n_b;) {
        if (a->values[i] == b->values[j])
            r = are_candidates_by(graph, a->values[i], sid_a, sid_b);
        const bool step_a = a->values[i] <= b->values[j], step_b = b->values[j] <= a->values[i];
        i += step_a;
        j += step_b;
    }
    return r;
}

/* -- comparing -- */

/* A document whose candidates are compared with it. */
struct comparing {
    const struct graph *graph;
    const struct min_sketch *sketch;
    struct overlap_filter filter;
    overlap_scan_fn *scan;
    neighbours_wanted_fn wanted;
    neighbour_found_fn found;
    void *user;
};

struct chunk {
    uint64_t sids[CHUNK];
    size_t n;
};

/* Drop the candidates of which it is known that they do not resemble it. */
static void refuse(const struct comparing *comparing, struct chunk *chunk)
{
    static const uint32_t sets[CHUNK]; /* none is of the asking one's */
    const struct graph *graph = comparing->graph;
    struct overlap_filter filters[CHUNK];
    size_t places[CHUNK], n_filters = 0, n = 0;
    bool refused[CHUNK] = {false};
    uint64_t n_others = 0;

    if (comparing->filter.n == 0)
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
        at = comparing->scan(&comparing->filter, 1, filters, sets, at, n_filters,
                             comparing->sketch->s, graph->threshold, &n_others);
        if (at < n_filters)
            refused[places[at]] = false;
    }
    for (size_t i = 0; i < chunk->n; i++)
        if (!refused[i])
            chunk->sids[n++] = chunk->sids[i];
    chunk->n = n;
}

/* Fill a chunk with the next wanted candidates, at most n_most. */
static int next_chunk(const struct comparing *comparing, const struct number_vector *candidates,
                      size_t *at, size_t n_most, struct chunk *chunk)
{
    chunk->n = 0;
    while (*at < candidates->n_numbers && chunk->n < n_most) {
        struct chunk some = {.n = 0};
        bool wanted[CHUNK];
        size_t n = candidates->n_numbers - *at;
        n = n < n_most - chunk->n ? n : n_most - chunk->n;
        int r = comparing->wanted(comparing->user, candidates->numbers + *at, n, wanted);
        if (r < 0)
            return r;
        for (size_t i = 0; i < n; i++)
            if (wanted[i])
                some.sids[some.n++] = candidates->numbers[*at + i];
        *at += n;
        refuse(comparing, &some);
        for (size_t i = 0; i < some.n; i++)
            chunk->sids[chunk->n++] = some.sids[i];
    }
    return 0;
}

static int compare_one(const struct comparing *comparing, uint64_t sid, const struct record *record)
{
    const struct graph *graph = comparing->graph;
    bool wanted = false;
    int r = comparing->wanted(comparing->user, &sid, 1, &wanted);
    if (r == 0 && wanted)
        r = graph_edge(graph->threshold, comparing->sketch, &record->sketch);
    return r > 0 ? comparing->found(comparing->user, sid) : r;
}

/* The posting of a document that is gone, which a crash brought back, has no record. */
static int compare_chunk(const struct comparing *comparing, const struct chunk *chunk)
{
    const struct graph *graph = comparing->graph;
    const struct record *records[CHUNK];
    int r = records_borrow(graph->records, chunk->sids, chunk->n, records);
    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < chunk->n; i++) {
        if (!records[i])
            continue;
        filter_cache_put(graph->filters, chunk->sids[i], &records[i]->sketch);
        r = compare_one(comparing, chunk->sids[i], records[i]);
    }
    records_return(graph->records, records, chunk->n);
    return r;
}

int neighbours_compare(const struct graph *graph, const struct min_sketch *sketch,
                       const struct number_vector *candidates, neighbours_wanted_fn wanted,
                       neighbour_found_fn found, void *user)
{
    struct comparing comparing = {.graph = graph,
                                  .sketch = sketch,
                                  .scan = overlap_scan_of(kernel_in_use()),
                                  .wanted = wanted,
                                  .found = found,
                                  .user = user};
    size_t at = 0, n_most = FIRST_CHUNK;
    int r = 0;

    if (candidates->n_numbers)
        overlap_filter_make(sketch, &comparing.filter);
    while (r == 0 && at < candidates->n_numbers) {
        struct chunk chunk;
        r = next_chunk(&comparing, candidates, &at, n_most, &chunk);
        if (r == 0 && chunk.n > 0)
            r = compare_chunk(&comparing, &chunk);
        n_most = CHUNK;
    }
    return r;
}
