/* A list that is common (long_lists.h), boilerplate mostly, is not read where enough others are:
 * who has its fingerprint alone of so many in common with the document does not resemble it at the
 * threshold but by a chance of one in thousands. Instead of its key further ones of the sketch are
 * asked for, in tier C, in which all documents have all of theirs. */
#include "engine/index/clusters/neighbours_private.h"

enum {
    KEYS_ENOUGH = 12,
    /* Of a longer list that has to be read the first documents stand for all. */
    COMMON_READ = 16384,
};

int neighbours_judge_long(const struct graph *graph, struct neighbour_keys *keys,
                          const size_t *lengths)
{
    size_t n = 0;
    int r = 0;

    for (size_t i = 0; r >= 0 && i < keys->n_plain; i++) {
        _cleanup_(sid_list_done) struct sid_list first = {0};
        r = 0;
        if (lengths[i] > LONG_LISTS_COMMON_FROM)
            r = postings_first(graph->postings, POSTINGS_TIER_R, keys->plain[i],
                               LONG_LISTS_COMMON_FROM, &first);
        if (r == 0 && lengths[i] > LONG_LISTS_COMMON_FROM)
            r = long_lists_judge(graph->long_lists, graph->membership, keys->plain[i], &first);
        if (r > 0)
            keys->common[keys->n_common++] = keys->plain[i];
        else if (lengths[i] > LONG_LISTS_COMMON_FROM)
            keys->plain[n++] = keys->plain[i];
    }
    keys->n_plain = n;
    return r < 0 ? r : 0;
}

/* What stands in for common lists: further keys of the sketch, as many. */
static int read_further(const struct graph *graph, const struct min_sketch *sketch,
                        const struct neighbour_keys *keys, struct sid_list *ret_list)
{
    size_t n_v = postings_tier_keys(POSTINGS_TIER_C, sketch), at = POSTINGS_TIER_R_KEYS;
    size_t n = n_v > at ? n_v - at : 0;

    return postings_with(graph->postings, POSTINGS_TIER_C, sketch->values + at,
                         n < keys->n_common ? n : keys->n_common, POSTINGS_PIECE, ret_list, NULL);
}

int neighbours_compare_common(const struct graph *graph, const struct min_sketch *sketch,
                              const struct neighbour_keys *keys, size_t n_other,
                              neighbour_wanted_fn wanted, neighbour_found_fn found, void *user,
                              struct sid_vector *dead)
{
    _cleanup_(sid_list_done) struct sid_list further = {0};
    _cleanup_(sid_vector_done) struct sid_vector all = {0};
    size_t n_read = 0;

    if (keys->n_common == 0)
        return 0;
    int r = read_further(graph, sketch, keys, &further);
    if (r == 0)
        r = neighbours_compare(graph, sketch, &further, wanted, found, user, dead);
    for (size_t i = 0; r == 0 && i < keys->n_common && n_read < COMMON_READ; i++) {
        _cleanup_(sid_list_done) struct sid_list list = {0};
        if (n_other + i >= KEYS_ENOUGH)
            break;
        r = postings_first(graph->postings, POSTINGS_TIER_R, keys->common[i], COMMON_READ, &list);
        if (r == 0)
            r = sid_vector_push_sets(&all, list.sids, list.n_sids);
        n_read += list.n_sids;
    }
    if (r < 0 || all.n_sids == 0)
        return r;
    /* Who is in several of them is compared once. */
    sid_vector_sort_unique(&all);
    struct sid_list list = {all.sids, all.n_sids};
    return neighbours_compare(graph, sketch, &list, wanted, found, user, dead);
}
