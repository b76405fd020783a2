/* Components by union-find (union_find.h), for callers that have all pairs. A document that is
 * identical to an earlier one is not a node: its pairs are those of the earlier one, and it gets
 * the label of that one.
 *
 * Example of five documents at a threshold of 0.5: the pairs 0-1 (0.8), 1-2 (0.6) and 3-4 (0.4)
 * give the labels 0 0 0 3 4 and one cluster. 0 and 2 are in it though nobody compared them.
 *
 * Cost: nearly linear in documents plus pairs, 5 bytes a document. Left out: dividing components
 * that hang together loosely (loose.h), and bounded memory (batch.h).
 */
#include "engine/cluster/components.h"

#include <errno.h>

#include "base/cleanup.h"
#include "engine/cluster/large/union_find.h"

static int check(const struct resembling_pair *pairs, size_t n_pairs, const uint32_t *same_as,
                 size_t n_documents)
{
    for (size_t i = 0; i < n_pairs; i++)
        if (pairs[i].a >= n_documents || pairs[i].b >= n_documents)
            return -EINVAL;
    for (size_t i = 0; same_as && i < n_documents; i++)
        if (same_as[i] > i || same_as[same_as[i]] != same_as[i])
            return -EINVAL;
    return 0;
}

/* Labels each document with the root of its set, and counts the sets of two or more: each of these
 * has exactly one first document that is not its root. */
static int64_t label(struct union_find *sets, const uint32_t *same_as, size_t n_documents,
                     uint32_t *ret_cluster)
{
    _cleanup_free_ uint8_t *counted = calloc(n_documents ? n_documents : 1, 1);
    if (!counted)
        return -ENOMEM;

    int64_t n_clusters = 0;
    for (size_t i = 0; i < n_documents; i++) {
        uint32_t root = union_find_root(sets, same_as ? same_as[i] : (uint32_t)i);
        ret_cluster[i] = root;
        if (root != i && !counted[root]) {
            counted[root] = 1;
            n_clusters++;
        }
    }
    return n_clusters;
}

int64_t components_of_pairs(const struct resembling_pair *pairs, size_t n_pairs, double threshold,
                            const uint32_t *same_as, size_t n_documents, uint32_t *ret_cluster)
{
    int r = check(pairs, n_pairs, same_as, n_documents);
    if (r < 0)
        return r;

    _cleanup_(union_find_done) struct union_find sets = {0};
    r = union_find_init(&sets, n_documents);
    if (r < 0)
        return r;

    /* Only first documents are nodes; a pair of two identical documents joins nothing. */
    for (size_t i = 0; i < n_pairs; i++) {
        if (!(pairs[i].resemblance >= threshold))
            continue;
        uint32_t a = pairs[i].a, b = pairs[i].b;
        union_find_join(&sets, same_as ? same_as[a] : a, same_as ? same_as[b] : b);
    }
    return label(&sets, same_as, n_documents, ret_cluster);
}
