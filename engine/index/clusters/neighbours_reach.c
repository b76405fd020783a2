/* At least one neighbour in each cluster that has one: what is known of posting lists stands in for
 * reading them. */
#include "engine/index/clusters/neighbours_private.h"

/* The posting lists of one document: those with a digest, and the others. */
struct reach {
    const struct graph *graph;
    const struct min_sketch *sketch;
    neighbour_wanted_fn wanted;
    neighbour_found_fn found;
    void *user;
    struct sid_vector *dead;
    struct digest *digests[POSTINGS_TIER_R_KEYS];
    size_t n_digests;
    struct lists_read *read;
    struct neighbour_keys keys;                    /* the others */
    enum postings_most most[POSTINGS_TIER_R_KEYS]; /* of each of the sketch's */
};

static enum postings_most most_of(const struct reach *reach, uint64_t fingerprint)
{
    size_t i = 0;

    while (reach->sketch->values[i] != fingerprint)
        i++;
    return reach->most[i];
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
        if (neighbours_has_fingerprint(&record->sketch, reach->digests[i]->fingerprint))
            digest_promote(reach->digests[i], cluster, sid);
    return reach->found(reach->user, sid, cluster, record);
}

static int compare_listed(struct reach *reach, const struct sid_list *list)
{
    return neighbours_compare(reach->graph, reach->sketch, list, reach_wanted, reach_found, reach,
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

/* Of a list of at most one document, which was compared, there is nothing to read: these lists go
 * over from the plain ones to the known ones. */
static int explain(struct reach *reach, const struct sid_list *compared)
{
    enum { LOOKED_AT = 4 };
    const struct record *records[LOOKED_AT];
    struct lists_read *read = reach->read;
    struct neighbour_keys *keys = &reach->keys;
    size_t n_records = compared->n_sids < LOOKED_AT ? compared->n_sids : LOOKED_AT, n = 0;

    if (n_records == 0)
        return 0;
    int r = records_get(reach->graph->records, compared->sids, n_records, records);
    if (r < 0)
        return r;
    for (size_t i = 0; i < keys->n_plain; i++) {
        const bool single = most_of(reach, keys->plain[i]) == POSTINGS_ONE;
        size_t k = single ? 0 : n_records;
        while (k < n_records &&
               (!records[k] || !neighbours_has_fingerprint(&records[k]->sketch, keys->plain[i])))
            k++;
        if (k == n_records) {
            keys->plain[n++] = keys->plain[i];
            continue;
        }
        read->known[read->n_known++] =
            (struct known_list){.fingerprint = keys->plain[i], .by = compared->sids[k]};
    }
    keys->n_plain = n;
    records_put(reach->graph->records, records, n_records);
    return 0;
}

/* Strays that are dead are none any more. Their postings went with them: only a crash forgets that,
 * and it forgets what is known, too. */
static void leave_out(struct known_list *known, const struct sid_vector *gone)
{
    size_t n = 0;

    for (size_t i = 0; i < known->n_strays; i++)
        if (!sid_vector_has(gone, known->strays[i]))
            known->strays[n++] = known->strays[i];
    known->n_strays = n;
}

/* Who stands for the lists that are vouched for, and besides their strays: both ascending. */
static int take_named(struct reach *reach, const uint64_t clusters[], bool vouched[],
                      struct sid_vector *known_by, struct sid_vector *all)
{
    struct short_lists *lists = reach->graph->short_lists;
    int r = 0;

    for (size_t i = 0; r == 0 && i < reach->read->n_known; i++) {
        struct known_list *known = &reach->read->known[i];
        vouched[i] = short_lists_vouches(lists, known->fingerprint, clusters[i]);
        if (!vouched[i])
            continue;
        known->n_strays = short_lists_strays(lists, known->fingerprint, known->strays);
        r = sid_vector_push_set(known_by, known->by);
        if (r == 0)
            r = sid_vector_push_sets(all, known->strays, known->n_strays);
    }
    if (r == 0)
        r = sid_vector_push_sets(all, known_by->sids, known_by->n_sids);
    sid_vector_sort_unique(known_by);
    sid_vector_sort_unique(all);
    return r;
}

/* The lists of one cluster: where it was not reached by the document that is known of a list, the
 * list is read. */
static int compare_known(struct reach *reach)
{
    _cleanup_(sid_vector_done) struct sid_vector known_by = {0}, all = {0}, gone = {0};
    struct lists_read *read = reach->read;
    uint64_t clusters[POSTINGS_TIER_R_KEYS];
    bool vouched[POSTINGS_TIER_R_KEYS];
    size_t n = 0;

    int r = neighbours_clusters_of_known(reach->graph, read, clusters);
    if (r == 0)
        r = take_named(reach, clusters, vouched, &known_by, &all);
    if (r == 0)
        r = neighbours_compare(reach->graph, reach->sketch,
                               &(struct sid_list){all.sids, all.n_sids}, reach_wanted, reach_found,
                               reach, &gone);
    for (size_t i = 0; r == 0 && i < read->n_known; i++) {
        leave_out(&read->known[i], &gone);
        if (vouched[i] && !reach->wanted(reach->user, 0, clusters[i]))
            read->known[n++] = read->known[i];
        else
            reach->keys.plain[reach->keys.n_plain++] = read->known[i].fingerprint;
    }
    read->n_known = n;
    return r < 0 ? r : explain(reach, &(struct sid_list){known_by.sids, known_by.n_sids});
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
    int r =
        postings_with(graph->postings, POSTINGS_TIER_R, &digest->fingerprint, 1, 0, &list, NULL);
    if (r == 0) /* anew first: examples that are found below stay */
        r = long_lists_learn(graph->long_lists, graph->membership, POSTINGS_TIER_R,
                             digest->fingerprint, &list);
    return r < 0 ? r : compare_listed(reach, &list);
}

static int learn(const struct graph *graph, uint64_t fingerprint, struct sid_list *ret_list)
{
    int r = postings_with(graph->postings, POSTINGS_TIER_R, &fingerprint, 1, 0, ret_list, NULL);
    return r < 0 ? r
                 : long_lists_learn(graph->long_lists, graph->membership, POSTINGS_TIER_R,
                                    fingerprint, ret_list);
}

/* The first list of one document: it mostly has other lists of the sixteen as well. */
static int compare_single(struct reach *reach)
{
    _cleanup_(sid_list_done) struct sid_list list = {0};
    const struct neighbour_keys *keys = &reach->keys;
    size_t n_single = 0, at = 0;

    for (size_t i = keys->n_plain; i-- > 0;)
        if (most_of(reach, keys->plain[i]) == POSTINGS_ONE) {
            n_single++;
            at = i;
        }
    if (n_single < 2)
        return 0;
    int r =
        postings_with(reach->graph->postings, POSTINGS_TIER_R, &keys->plain[at], 1, 0, &list, NULL);
    if (r == 0)
        r = compare_listed(reach, &list);
    return r < 0 ? r : explain(reach, &list);
}

/* Those that are long enough get a digest, at the end: examples that were found stay. */
static int compare_others(struct reach *reach)
{
    struct lists_read *read = reach->read;
    const struct graph *graph = reach->graph;
    struct neighbour_keys *keys = &reach->keys, all = *keys;
    size_t lengths[POSTINGS_TIER_R_KEYS] = {0};

    int r = postings_with(graph->postings, POSTINGS_TIER_R, keys->plain, keys->n_plain,
                          LONG_LISTS_COMMON_FROM, &read->list, lengths);
    for (size_t i = 0; r == 0 && i < keys->n_plain; i++)
        if (lengths[i] > 0 && lengths[i] <= LONG_LISTS_COMMON_FROM)
            read->fingerprints[read->n_fingerprints++] = keys->plain[i];
    if (r == 0)
        r = neighbours_judge_long(graph, keys, lengths);
    if (r == 0)
        r = compare_listed(reach, &read->list);
    for (size_t i = 0; r == 0 && i < keys->n_plain; i++) {
        _cleanup_(sid_list_done) struct sid_list whole = {0};
        r = learn(graph, keys->plain[i], &whole);
        if (r == 0)
            r = compare_listed(reach, &whole);
    }
    for (size_t i = 0; r == 0 && i < all.n_plain; i++) {
        _cleanup_(sid_list_done) struct sid_list whole = {0};
        if (lengths[i] <= LONG_LISTS_COMMON_FROM &&
            long_lists_wants(graph->long_lists, POSTINGS_TIER_R, all.plain[i], lengths[i]))
            r = learn(graph, all.plain[i], &whole);
    }
    return r;
}

static bool note_known(const struct graph *graph, uint64_t fingerprint, struct lists_read *read)
{
    uint64_t sid = graph->short_lists ? short_lists_find(graph->short_lists, fingerprint) : 0;

    if (sid == 0)
        return false;
    read->known[read->n_known++] = (struct known_list){.fingerprint = fingerprint, .by = sid};
    return true;
}

int neighbours_reach(const struct graph *graph, const struct min_sketch *sketch,
                     neighbour_wanted_fn wanted, neighbour_found_fn found, void *user,
                     struct sid_vector *dead, struct lists_read *ret_read)
{
    struct reach reach = {.graph = graph,
                          .sketch = sketch,
                          .wanted = wanted,
                          .found = found,
                          .user = user,
                          .dead = dead,
                          .read = ret_read};
    size_t n = postings_tier_keys(POSTINGS_TIER_R, sketch);
    struct neighbour_keys *keys = &reach.keys;

    *ret_read = (struct lists_read){.n_known = 0};

    for (size_t i = 0; i < n && graph->short_lists; i++)
        short_lists_expect(graph->short_lists, sketch->values[i]);
    postings_at_most(graph->postings, sketch->values, n, reach.most);
    for (size_t i = 0; i < n; i++) {
        if (reach.most[i] == POSTINGS_NONE)
            continue;
        struct digest *digest =
            long_lists_find(graph->long_lists, POSTINGS_TIER_R, sketch->values[i]);
        if (digest)
            reach.digests[reach.n_digests++] = digest;
        else if (long_lists_is_common(graph->long_lists, sketch->values[i]))
            keys->common[keys->n_common++] = sketch->values[i];
        else if (!note_known(graph, sketch->values[i], ret_read))
            keys->plain[keys->n_plain++] = sketch->values[i];
    }
    int r = compare_digests(&reach);
    if (r == 0)
        r = compare_known(&reach);
    if (r == 0)
        r = compare_single(&reach);
    if (r == 0)
        r = compare_others(&reach);
    for (size_t i = 0; r == 0 && i < reach.n_digests; i++)
        r = compare_whole(&reach, reach.digests[i]);
    if (r == 0)
        r = neighbours_compare_common(graph, sketch, keys, n - keys->n_common, reach_wanted,
                                      reach_found, &reach, dead);
    return r;
}
