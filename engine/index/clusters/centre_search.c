#include "engine/index/clusters/centre_search.h"

#include "engine/index/clusters/centre_members.h"
#include "engine/index/clusters/neighbours_private.h"

struct searching {
    const struct graph *graph;
    const struct min_sketch *sketch;
    const struct centre_search *search;
    struct neighbour_keys keys;
    struct sid_vector clusters, sids; /* in lists with a digest; to be looked at */
};

static void searching_done(struct searching *searching)
{
    sid_vector_done(&searching->clusters);
    sid_vector_done(&searching->sids);
}

/* Candidates that only a cluster led to need not be such. */
static int found(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    const struct searching *searching = user;

    if (!neighbours_share_key(searching->graph, searching->sketch, &record->sketch))
        return 0;
    return searching->search->found(searching->search->user, sid, cluster, record);
}

static bool wanted(void *user, uint64_t sid, uint64_t cluster)
{
    const struct searching *searching = user;
    return searching->search->wanted(searching->search->user, sid, cluster);
}

/* -- which documents -- */

/* What a digest says. Returns 1; 0 where it has a cluster that is no more, whose last document may
 * be in none; or an error. */
static int take_digest(struct searching *searching, struct digest *digest)
{
    const struct graph *graph = searching->graph;
    int r = digest_tidy(graph->long_lists, digest, graph->membership);

    for (unsigned i = 0; r == 0 && i < digest->n_clusters; i++) {
        uint64_t size = 0;
        r = membership_known_size(graph->membership, digest->clusters[i], &size);
        if (r == 0 && size == 0)
            return 0;
    }
    for (unsigned i = 0; r == 0 && i < digest->n_clusters; i++)
        r = sid_vector_push_set(&searching->clusters, digest->clusters[i]);
    for (unsigned i = 0; r == 0 && i < digest->n_named; i++)
        r = sid_vector_push(&searching->sids, digest->named[i]);
    return r < 0 ? r : 1;
}

static int take_list(struct searching *searching, const struct sid_list *list)
{
    return sid_vector_push_sets(&searching->sids, list->sids, list->n_sids);
}

/* The lists by what is known of them. Of one that only the document itself was ever posted in there
 * is nothing to read. */
static int take_known(struct searching *searching)
{
    const struct graph *graph = searching->graph;
    const uint64_t *values = searching->sketch->values;
    const size_t n = postings_tier_keys(POSTINGS_TIER_R, searching->sketch);
    struct neighbour_keys *keys = &searching->keys;
    enum postings_most most[POSTINGS_TIER_R_KEYS];
    int r = 0;

    postings_at_most(graph->postings, values, n, most);
    for (size_t i = 0; r >= 0 && i < n; i++) {
        if (most[i] == POSTINGS_NONE || (most[i] == POSTINGS_ONE && searching->search->is_posted))
            continue;
        struct digest *digest = long_lists_find(graph->long_lists, POSTINGS_TIER_R, values[i]);
        r = digest ? take_digest(searching, digest) : 0;
        if (r == 0 && !digest && long_lists_is_common(graph->long_lists, values[i]))
            keys->common[keys->n_common++] = values[i];
        else if (r == 0)
            keys->plain[keys->n_plain++] = values[i];
    }
    return r < 0 ? r : 0;
}

/* Read a list, and make its digest; where it gets none all of it is looked at. */
static int read_whole(struct searching *searching, uint64_t fingerprint, bool is_taken)
{
    _cleanup_(sid_list_done) struct sid_list list = {0};
    const struct graph *graph = searching->graph;

    int r = postings_with(graph->postings, POSTINGS_TIER_R, &fingerprint, 1, 0, &list, NULL);
    neighbours_keep_linked(graph, &list);
    if (r == 0)
        r = long_lists_learn(graph->long_lists, graph->membership, POSTINGS_TIER_R, fingerprint,
                             &list);
    if (r < 0 || is_taken)
        return r;
    struct digest *digest = long_lists_find(graph->long_lists, POSTINGS_TIER_R, fingerprint);
    r = digest ? take_digest(searching, digest) : 0;
    return r == 0 ? take_list(searching, &list) : r < 0 ? r : 0;
}

static int take_others(struct searching *searching)
{
    _cleanup_(sid_list_done) struct sid_list list = {0};
    const struct graph *graph = searching->graph;
    struct neighbour_keys *keys = &searching->keys;
    const struct neighbour_keys all = *keys;
    size_t lengths[POSTINGS_TIER_R_KEYS] = {0};

    int r = postings_with(graph->postings, POSTINGS_TIER_R, keys->plain, keys->n_plain,
                          LONG_LISTS_COMMON_FROM, &list, lengths);
    neighbours_keep_linked(graph, &list);
    if (r == 0)
        r = take_list(searching, &list);
    for (size_t i = 0; r == 0 && i < all.n_plain; i++)
        if (lengths[i] <= LONG_LISTS_COMMON_FROM &&
            long_lists_wants(graph->long_lists, POSTINGS_TIER_R, all.plain[i], lengths[i]))
            r = read_whole(searching, all.plain[i], true);
    if (r == 0)
        r = neighbours_judge_long(graph, keys, lengths);
    for (size_t i = 0; r == 0 && i < keys->n_plain; i++)
        r = read_whole(searching, keys->plain[i], false);
    return r;
}

static int take_all(struct searching *searching, uint64_t cluster)
{
    struct centre_node nodes[CENTRE_NODES_AT_ONCE];
    struct place last;
    int n = centre_members_after(searching->graph, cluster, NULL, nodes);

    while (n > 0) {
        for (int i = 0; i < n; i++) {
            int r = sid_vector_push(&searching->sids, nodes[i].place.sid);
            if (r < 0)
                return r;
        }
        last = nodes[n - 1].place;
        n = centre_members_after(searching->graph, cluster, last.order, nodes);
    }
    return n;
}

static int take_clusters(struct searching *searching)
{
    int r = 0;

    sid_vector_sort_unique(&searching->clusters);
    for (size_t i = 0; r >= 0 && i < searching->clusters.n_sids; i++) {
        uint64_t cluster = searching->clusters.sids[i], sid = 0;
        r = searching->search->choose(searching->search->user, cluster, &sid);
        if (r == CENTRE_ITSELF)
            r = sid_vector_push(&searching->sids, sid);
        else if (r == CENTRE_ALL)
            r = take_all(searching, cluster);
    }
    return r < 0 ? r : 0;
}

int centre_search(const struct graph *graph, const struct min_sketch *sketch,
                  const struct centre_search *search)
{
    _cleanup_(searching_done) struct searching searching = {
        .graph = graph, .sketch = sketch, .search = search};
    const size_t n = postings_tier_keys(POSTINGS_TIER_R, sketch);

    int r = take_known(&searching);
    if (r == 0)
        r = take_others(&searching);
    if (r == 0)
        r = take_clusters(&searching);
    if (r < 0)
        return r;
    sid_vector_sort_unique(&searching.sids);
    r = neighbours_compare(graph, sketch,
                           &(struct sid_list){searching.sids.sids, searching.sids.n_sids}, wanted,
                           found, &searching, NULL);
    if (r == 0)
        r = neighbours_compare_common(graph, sketch, &searching.keys, n - searching.keys.n_common,
                                      wanted, found, &searching, NULL);
    return r < 0 ? r : neighbours_find_by_tier_c(graph, sketch, wanted, found, &searching, NULL);
}
