/* The weightiest votes come first, and each gives an id where both its cluster and its part are
 * still without.
 *
 * Example: from the clusters 7 of a b c d and 9 of e f come the parts {a b}, {c d e} and {f}. Votes
 * are 7 for the first (2, from rank 0), 7 for the second (2, from rank 2), 9 for the second (1) and
 * 9 for the third (1). So {a b} keep 7, {c d e} get 9, and {f} has no vote left.
 *
 * Cost: two sorts of the votes. Left out: the assignment by which most documents keep their id,
 * which would have to be looked for. */
#include "engine/index/clusters/id_votes.h"

#include <stdlib.h>

static int by_part(const void *a, const void *b)
{
    const struct id_vote *x = a, *y = b;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

static int by_weight(const void *a, const void *b)
{
    const struct id_vote *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    if (x->cluster != y->cluster)
        return x->cluster < y->cluster ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return by_part(a, b);
}

size_t id_votes_count(struct id_vote *votes, size_t n)
{
    size_t n_votes = 0;

    if (n)
        qsort(votes, n, sizeof(*votes), by_part);
    for (size_t i = 0; i < n; i++) {
        struct id_vote *last = n_votes ? &votes[n_votes - 1] : NULL;
        if (!last || by_part(last, &votes[i]) != 0) {
            votes[n_votes++] = votes[i];
            continue;
        }
        last->n += votes[i].n;
        last->rank = votes[i].rank < last->rank ? votes[i].rank : last->rank;
    }
    if (n_votes)
        qsort(votes, n_votes, sizeof(*votes), by_weight);
    return n_votes;
}

int id_votes_decide(const struct id_vote *votes, size_t n, uint64_t *to, struct id_map *given)
{
    for (size_t i = 0; i < n; i++) {
        if (to[votes[i].part] || id_map_find(given, votes[i].cluster) != ID_MAP_NONE)
            continue;
        to[votes[i].part] = votes[i].cluster;
        int r = id_map_add(given, votes[i].cluster, votes[i].part);
        if (r < 0)
            return r;
    }
    return 0;
}
