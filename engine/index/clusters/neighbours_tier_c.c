/* Containments, and runs that begin behind the keys of tier R, are found by tier C; some documents
 * are compared a second time. Its long lists have digests as those of tier R (long_lists.h), and
 * none of them is passed over for being common. A document has up to some thousands of its keys,
 * more than there are digests: one is asked for anew each time. */
#include <errno.h>
#include <stdlib.h>

#include "engine/index/clusters/neighbours_private.h"

bool neighbours_asks_tier_c(const struct graph *graph)
{
    return graph->rule.containment > 0 || graph->rule.super_shingle;
}

int neighbours_find_by_tier_c(const struct graph *graph, const struct min_sketch *sketch,
                              neighbour_wanted_fn wanted, neighbour_found_fn found, void *user,
                              struct sid_vector *dead)
{
    _cleanup_(sid_list_done) struct sid_list list = {0};

    if (!neighbours_asks_tier_c(graph))
        return 0;
    int r = postings_candidates(graph->postings, POSTINGS_TIER_C, sketch, &list);
    if (r < 0)
        return r;
    neighbours_keep_linked(graph, &list);
    return neighbours_compare(graph, sketch, &list, wanted, found, user, dead);
}

/* -- reaching clusters -- */

struct reach {
    const struct graph *graph;
    const struct min_sketch *sketch;
    size_t n_keys;
    neighbour_wanted_fn wanted;
    neighbour_found_fn found;
    void *user;
    struct sid_vector *dead;
    uint64_t *plain;     /* keys without a digest */
    uint64_t *long_ones; /* of them those of long lists that get none */
    size_t *lengths;     /* of the lists of plain */
    size_t n_plain;
};

static void reach_done(struct reach *reach)
{
    free(reach->plain);
    free(reach->long_ones);
    free(reach->lengths);
}

static struct digest *digest_of(const struct reach *reach, uint64_t fingerprint)
{
    return long_lists_find(reach->graph->long_lists, POSTINGS_TIER_C, fingerprint);
}

static bool reach_wanted(void *user, uint64_t sid, uint64_t cluster)
{
    const struct reach *reach = user;
    return reach->wanted(reach->user, sid, cluster);
}

/* Who comes next is likely to be the neighbour of the same one. Both sketches are sorted. */
static int reach_found(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    const struct reach *reach = user;
    const uint64_t *x = reach->sketch->values, *y = record->sketch.values;
    const size_t n_y = postings_tier_keys(POSTINGS_TIER_C, &record->sketch);

    for (size_t i = 0, k = 0; i < reach->n_keys && k < n_y;) {
        struct digest *digest = x[i] == y[k] ? digest_of(reach, x[i]) : NULL;
        const bool next = x[i] <= y[k];
        if (digest)
            digest_promote(digest, cluster, sid);
        k += y[k] <= x[i];
        i += next;
    }
    return reach->found(reach->user, sid, cluster, record);
}

static int compare_listed(struct reach *reach, struct sid_list *list)
{
    return neighbours_compare(reach->graph, reach->sketch, list, reach_wanted, reach_found, reach,
                              reach->dead);
}

/* What digests name, and the examples of their clusters. */
static int compare_digests(struct reach *reach)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    const struct graph *graph = reach->graph;
    int r = 0;

    for (size_t i = 0; r == 0 && i < reach->n_keys; i++) {
        struct digest *digest = digest_of(reach, reach->sketch->values[i]);
        if (!digest) {
            reach->plain[reach->n_plain++] = reach->sketch->values[i];
            continue;
        }
        r = digest_tidy(graph->long_lists, digest, graph->membership);
        if (r == 0)
            r = digest_sids(digest, &sids);
    }
    if (r < 0)
        return r;
    sid_vector_sort_unique(&sids);
    r = compare_listed(reach, &(struct sid_list){sids.sids, sids.n_sids});
    for (size_t i = 0; r == 0 && reach->dead && i < reach->n_keys && reach->dead->n_sids; i++) {
        struct digest *digest = digest_of(reach, reach->sketch->values[i]);
        for (size_t k = 0; digest && k < reach->dead->n_sids; k++)
            digest_remove_named(digest, reach->dead->sids[k]);
    }
    return r;
}

static int read_list(const struct reach *reach, uint64_t fingerprint, struct sid_list *ret_list)
{
    int r =
        postings_with(reach->graph->postings, POSTINGS_TIER_C, &fingerprint, 1, 0, ret_list, NULL);
    neighbours_keep_linked(reach->graph, ret_list);
    return r;
}

/* A list that may get a digest. */
static int read_and_learn(const struct reach *reach, uint64_t fingerprint, struct sid_vector *sids)
{
    _cleanup_(sid_list_done) struct sid_list list = {0};
    const struct graph *graph = reach->graph;

    int r = read_list(reach, fingerprint, &list);
    if (r == 0)
        r = long_lists_learn(graph->long_lists, graph->membership, POSTINGS_TIER_C, fingerprint,
                             &list);
    return r < 0 ? r : sid_vector_push_sets(sids, list.sids, list.n_sids);
}

/* All lists without a digest: whoever is in them is compared once. */
static int compare_others(struct reach *reach)
{
    _cleanup_(sid_list_done) struct sid_list list = {0}, rest = {0};
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    const struct graph *graph = reach->graph;
    size_t n_rest = 0;

    int r = postings_with(graph->postings, POSTINGS_TIER_C, reach->plain, reach->n_plain,
                          POSTINGS_PIECE, &list, reach->lengths);
    if (r == 0)
        r = sid_vector_push_sets(&sids, list.sids, list.n_sids);
    for (size_t i = 0; r == 0 && i < reach->n_plain; i++) {
        if (long_lists_wants(graph->long_lists, POSTINGS_TIER_C, reach->plain[i],
                             reach->lengths[i]))
            r = read_and_learn(reach, reach->plain[i], &sids);
        else if (reach->lengths[i] > POSTINGS_PIECE)
            reach->long_ones[n_rest++] = reach->plain[i];
    }
    if (r == 0)
        r = postings_with(graph->postings, POSTINGS_TIER_C, reach->long_ones, n_rest, 0, &rest,
                          NULL);
    if (r == 0)
        r = sid_vector_push_sets(&sids, rest.sids, rest.n_sids);
    if (r < 0)
        return r;
    sid_vector_sort_unique(&sids);
    struct sid_list all = {sids.sids, sids.n_sids};
    neighbours_keep_linked(graph, &all);
    return compare_listed(reach, &all);
}

static bool is_reached(const struct reach *reach, const struct digest *digest)
{
    bool reached = true;
    for (unsigned i = 0; i < digest->n_clusters && reached; i++)
        reached = !reach->wanted(reach->user, 0, digest->clusters[i]);
    return reached;
}

/* Lists with clusters that were not reached; and those whose digest others have driven out. */
static int compare_whole(struct reach *reach, uint64_t fingerprint)
{
    _cleanup_(sid_list_done) struct sid_list list = {0};
    const struct graph *graph = reach->graph;
    const struct digest *digest = digest_of(reach, fingerprint);

    if (digest && is_reached(reach, digest))
        return 0;
    int r = read_list(reach, fingerprint, &list);
    if (r == 0 && digest) /* anew first: examples that are found below stay */
        r = long_lists_learn(graph->long_lists, graph->membership, POSTINGS_TIER_C, fingerprint,
                             &list);
    return r < 0 ? r : compare_listed(reach, &list);
}

int neighbours_reach_by_tier_c(const struct graph *graph, const struct min_sketch *sketch,
                               neighbour_wanted_fn wanted, neighbour_found_fn found, void *user,
                               struct sid_vector *dead)
{
    const size_t n =
        neighbours_asks_tier_c(graph) ? postings_tier_keys(POSTINGS_TIER_C, sketch) : 0;
    if (n == 0)
        return 0;
    _cleanup_(reach_done) struct reach reach = {.graph = graph,
                                                .sketch = sketch,
                                                .n_keys = n,
                                                .wanted = wanted,
                                                .found = found,
                                                .user = user,
                                                .dead = dead,
                                                .plain = calloc(n, sizeof(uint64_t)),
                                                .long_ones = calloc(n, sizeof(uint64_t)),
                                                .lengths = calloc(n, sizeof(size_t))};
    if (!reach.plain || !reach.long_ones || !reach.lengths)
        return -ENOMEM;
    int r = compare_digests(&reach);
    if (r == 0)
        r = compare_others(&reach);
    for (size_t i = 0, k = 0; r == 0 && i < n; i++) {
        if (k < reach.n_plain && reach.plain[k] == sketch->values[i])
            k++; /* has been read */
        else
            r = compare_whole(&reach, sketch->values[i]);
    }
    return r;
}
