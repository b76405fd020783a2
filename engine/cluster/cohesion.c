/* Cohesion is measured while a maximum spanning tree grows (Prim): the node taken last is compared
 * with all that are outside, so that each pair of nodes is compared once and contributes to the
 * means, and each node outside remembers its best link into the tree.
 *
 * Example: four versions in a row at a threshold of 0.5, neighbours resembling each other by 0.6,
 * 0.55 and 0.6, those two apart by 0.3, the ends by 0: min 0, mean 0.39, linked 3/6, diameter 3.
 * The tree is the row, and its weakest link is that of 0.55, with two members beyond it.
 *
 * The members beyond a link are those of the subtree that hangs on it: the nodes are gone through
 * in the reverse order of growing, so that a subtree is complete before its link is looked at.
 *
 * Cost: n^2/2 comparisons for n nodes; n^2/8 bytes for the links at or above the threshold, from
 * which the diameter is found by a breadth-first search with sets of bits, n^3/64 steps. Left out:
 * the minimum cut of the cluster. It costs more, and the weakest link of the tree tells a user as
 * well where a cluster would fall apart.
 */
#include "engine/cluster/cohesion.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

/* The tree: its nodes in the order in which they came, and the others behind them. For a node
 * outside, best and to are its best link so far. */
struct tree {
    size_t n, n_words;
    const uint32_t *weights;
    uint32_t *order, *to;
    double *best;
    uint64_t *beyond;
    uint64_t *linked; /* n rows of n bits: pairs at or above the threshold */
};

static void tree_done(struct tree *tree)
{
    free(tree->order);
    free(tree->to);
    free(tree->best);
    free(tree->beyond);
    free(tree->linked);
}

static int tree_init(struct tree *tree, size_t n, const uint32_t *weights)
{
    *tree = (struct tree){.n = n, .n_words = (n + 63) / 64, .weights = weights};
    tree->order = calloc(n, sizeof(*tree->order));
    tree->to = calloc(n, sizeof(*tree->to));
    tree->best = calloc(n, sizeof(*tree->best));
    tree->beyond = calloc(n, sizeof(*tree->beyond));
    tree->linked = calloc(n * tree->n_words, sizeof(*tree->linked));
    return tree->order && tree->to && tree->best && tree->beyond && tree->linked ? 0 : -ENOMEM;
}

static uint64_t *row_of(const struct tree *tree, uint32_t node)
{
    return tree->linked + node * tree->n_words;
}

static void link_pair(struct tree *tree, uint32_t a, uint32_t b)
{
    row_of(tree, a)[b / 64] |= UINT64_C(1) << b % 64;
    row_of(tree, b)[a / 64] |= UINT64_C(1) << a % 64;
}

/* -- pairs -- */

struct sums {
    double resemblance, linked, pairs;
};

static int compare_with_rest(struct tree *tree, size_t n_in, double threshold,
                             cohesion_pair_fn pair, void *user, struct cohesion *out,
                             struct sums *sums)
{
    const uint32_t node = tree->order[n_in - 1];
    for (size_t i = n_in; i < tree->n; i++) {
        const uint32_t other = tree->order[i];
        double resemblance, n = (double)tree->weights[node] * tree->weights[other];
        int r = pair(user, node, other, &resemblance);
        if (r < 0)
            return r;
        sums->pairs += n;
        sums->resemblance += n * resemblance;
        if (resemblance < out->min)
            out->min = resemblance;
        if (resemblance >= threshold) {
            sums->linked += n;
            link_pair(tree, node, other);
        }
        if (n_in == 1 || resemblance > tree->best[other]) {
            tree->best[other] = resemblance;
            tree->to[other] = node;
        }
    }
    return 0;
}

/* The node outside with the best link becomes the next in the order. */
static void take_best(struct tree *tree, size_t n_in)
{
    size_t best = n_in;
    for (size_t i = n_in + 1; i < tree->n; i++)
        if (tree->best[tree->order[i]] > tree->best[tree->order[best]])
            best = i;
    const uint32_t node = tree->order[best];
    tree->order[best] = tree->order[n_in];
    tree->order[n_in] = node;
}

static int grow(struct tree *tree, double threshold, cohesion_pair_fn pair, void *user,
                struct cohesion *out)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < tree->n; i++) {
        double w = tree->weights[i], twins = w * (w - 1) / 2;
        tree->order[i] = i;
        sums.pairs += twins;
        sums.resemblance += twins;
        sums.linked += twins;
    }
    for (size_t n_in = 1; n_in < tree->n; n_in++) {
        int r = compare_with_rest(tree, n_in, threshold, pair, user, out, &sums);
        if (r < 0)
            return r;
        take_best(tree, n_in);
    }
    out->n_pairs = (uint64_t)sums.pairs;
    out->mean = sums.pairs > 0 ? sums.resemblance / sums.pairs : 1;
    out->linked = sums.pairs > 0 ? sums.linked / sums.pairs : 1;
    return 0;
}

/* -- links -- */

static void keep_weak(struct cohesion *out, const struct cohesion_link *link)
{
    size_t at = out->n_links;
    while (at > 0 && out->links[at - 1].resemblance > link->resemblance)
        at--;
    if (at == COHESION_LINKS)
        return;
    if (out->n_links < COHESION_LINKS)
        out->n_links++;
    memmove(out->links + at + 1, out->links + at, (out->n_links - 1 - at) * sizeof(*link));
    out->links[at] = *link;
}

/* The nodes are looked at from the last to come to the first, so that the members beyond a node are
 * all counted before its own link is. */
static void find_weak(struct tree *tree, double threshold, struct cohesion *out)
{
    for (size_t i = 0; i < tree->n; i++)
        tree->beyond[i] = tree->weights[i];
    for (size_t i = tree->n; i-- > 1;) {
        const uint32_t node = tree->order[i], to = tree->to[node];
        if (!(tree->best[node] >= threshold)) {
            out->n_parts++;
            continue;
        }
        keep_weak(out, &(struct cohesion_link){to, node, tree->best[node], tree->beyond[node]});
        tree->beyond[to] += tree->beyond[node];
    }
}

/* The number of links of the longest shortest path from a node. reached, now and next are sets of
 * n_words words. */
static uint32_t eccentricity(const struct tree *tree, uint32_t from, uint64_t *reached,
                             uint64_t *now, uint64_t *next)
{
    const size_t n_words = tree->n_words;
    memset(reached, 0, n_words * sizeof(*reached));
    memset(now, 0, n_words * sizeof(*now));
    now[from / 64] = reached[from / 64] = UINT64_C(1) << from % 64;
    for (uint32_t n_links = 0;; n_links++) {
        bool any = false;
        memset(next, 0, n_words * sizeof(*next));
        for (size_t word = 0; word < n_words; word++) {
            for (uint64_t left = now[word]; left; left &= left - 1) {
                const uint32_t node = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(left);
                const uint64_t *row = row_of(tree, node);
                for (size_t i = 0; i < n_words; i++)
                    next[i] |= row[i];
            }
        }
        for (size_t i = 0; i < n_words; i++) {
            next[i] &= ~reached[i];
            reached[i] |= next[i];
            now[i] = next[i];
            any |= next[i] != 0;
        }
        if (!any)
            return n_links;
    }
}

static int find_diameter(const struct tree *tree, struct cohesion *out)
{
    _cleanup_free_ uint64_t *sets = calloc(3 * tree->n_words, sizeof(*sets));
    if (!sets)
        return -ENOMEM;
    for (uint32_t node = 0; node < tree->n; node++) {
        uint32_t n = eccentricity(tree, node, sets, sets + tree->n_words, sets + 2 * tree->n_words);
        if (n > out->diameter)
            out->diameter = n;
    }
    return 0;
}

int cohesion_measure(size_t n_nodes, const uint32_t *weights, double threshold,
                     cohesion_pair_fn pair, void *user, struct cohesion *ret_cohesion)
{
    _cleanup_(tree_done) struct tree tree = {0};
    struct cohesion out = {.min = 1, .n_parts = 1};
    if (n_nodes == 0 || n_nodes > COHESION_NODES_MAX)
        return -EINVAL;
    int r = tree_init(&tree, n_nodes, weights);
    if (r == 0)
        r = grow(&tree, threshold, pair, user, &out);
    if (r < 0)
        return r;
    find_weak(&tree, threshold, &out);
    r = find_diameter(&tree, &out);
    if (r == 0)
        *ret_cohesion = out;
    return r;
}
