/* What is known of short posting lists, from those that were read and those that were not. */
#include "engine/index/clusters/neighbours_private.h"

#include <errno.h>

bool neighbours_has_fingerprint(const struct min_sketch *sketch, uint64_t fingerprint)
{
    size_t n = postings_tier_keys(POSTINGS_TIER_R, sketch);

    for (size_t i = 0; i < n; i++)
        if (sketch->values[i] == fingerprint)
            return true;
    return false;
}

int neighbours_clusters_of_known(const struct graph *graph, const struct lists_read *read,
                                 uint64_t clusters[POSTINGS_TIER_R_KEYS])
{
    uint64_t sids[POSTINGS_TIER_R_KEYS];

    for (size_t i = 0; i < read->n_known; i++)
        sids[i] = read->known[i].by;
    return read->n_known ? membership_clusters_of(graph->membership, sids, read->n_known, clusters)
                         : 0;
}

void lists_read_done(struct lists_read *read)
{
    sid_list_done(&read->list);
}

enum { STRAYS_MAX = 32 };

/* Those that are not in the cluster. Returns how many, of which STRAYS_MAX are given, or an error.
 */
static int strays_of(const struct graph *graph, const struct sid_list *list, uint64_t cluster,
                     uint64_t strays[STRAYS_MAX])
{
    int n_strays = 0;

    for (size_t at = 0; at < list->n_sids && n_strays <= STRAYS_MAX; at += MEMBERS_AT_ONCE) {
        uint64_t clusters[MEMBERS_AT_ONCE], *sids = list->sids + at;
        size_t n = list->n_sids - at < MEMBERS_AT_ONCE ? list->n_sids - at : MEMBERS_AT_ONCE;
        int r = membership_clusters_of(graph->membership, sids, n, clusters);
        if (r < 0)
            return r;
        for (size_t i = 0; i < n; i++)
            if (clusters[i] != cluster && n_strays++ < STRAYS_MAX)
                strays[n_strays - 1] = sids[i];
    }
    return n_strays;
}

/* Lists that were read, with those as strays that have the fingerprint and are elsewhere. Nothing
 * is learnt where a record is damaged: who has to compare with it says so. */
static int learn_read(const struct graph *graph, uint64_t sid, uint64_t cluster,
                      const struct lists_read *read)
{
    const struct record *records[STRAYS_MAX];
    uint64_t strays[STRAYS_MAX];

    int n = read->n_fingerprints ? strays_of(graph, &read->list, cluster, strays) : 0;
    if (n < 0 || n > STRAYS_MAX)
        return n < 0 ? n : 0;
    int r = n ? records_get(graph->records, strays, (size_t)n, records) : 0;
    if (r < 0)
        return r == -EUCLEAN ? 0 : r;
    for (size_t i = 0; i < read->n_fingerprints; i++) {
        uint64_t some[SHORT_LISTS_STRAYS + 1];
        size_t n_some = 0;
        for (int k = 0; k < n && n_some <= SHORT_LISTS_STRAYS; k++)
            if (records[k] &&
                neighbours_has_fingerprint(&records[k]->sketch, read->fingerprints[i]))
                some[n_some++] = strays[k];
        if (n_some <= SHORT_LISTS_STRAYS) /* else it may be known as another cluster's */
            short_lists_learn(graph->short_lists, read->fingerprints[i], sid, cluster, some,
                              n_some);
    }
    records_put(graph->records, records, (size_t)n);
    return 0;
}

int neighbours_learn(const struct graph *graph, uint64_t sid, const struct lists_read *read)
{
    uint64_t cluster;

    if (!graph->short_lists || read->n_fingerprints + read->n_known == 0)
        return 0;
    int r = membership_clusters_of(graph->membership, &sid, 1, &cluster);
    if (r < 0 || cluster == 0)
        return r;
    r = learn_read(graph, sid, cluster, read);
    if (r < 0 || read->n_known == 0)
        return r;
    /* It may have another id since. */
    uint64_t clusters[POSTINGS_TIER_R_KEYS];
    r = neighbours_clusters_of_known(graph, read, clusters);
    for (size_t i = 0; r == 0 && i < read->n_known; i++) {
        const struct known_list *known = &read->known[i];
        if (clusters[i] == cluster)
            short_lists_learn(graph->short_lists, known->fingerprint, known->by, cluster,
                              known->strays, known->n_strays);
    }
    return r;
}
