/* CENTER goes through the nodes in order: one that is in no cluster yet becomes a centre, and takes
 * those near to it that are in none.
 *
 * Example: near are 1-2, 2-3, 3-4. 1 becomes a centre and takes 2; 3 is in no cluster, becomes a
 * centre and takes 4. 2 stays with 1, although it is near to 3, too.
 *
 * Why that is the first maximal independent set: when a node's turn comes, all lesser centres have
 * taken what is near to them, so it is in no cluster exactly when no lesser centre is near to it.
 *
 * Cost: a look at each relation; on the fly a question for each centre. Left out: taking a member
 * away for a nearer centre, which later centres would have to be asked about.
 */
#include "engine/topic/near/centres.h"

#include "base/sort_numbers.h"

enum { AT_ONCE = 8192 };

static void begin(uint32_t n_nodes, uint32_t *centres)
{
    memset(centres, 0xff, n_nodes * sizeof(*centres));
}

static void take(uint32_t centre, uint32_t node, uint32_t *centres)
{
    if (centres[node] == CENTRES_NONE)
        centres[node] = centre;
}

int centres_scan(struct relations *relations, unsigned least_agreeing, const uint32_t *among,
                 uint32_t n_nodes, uint32_t *ret_centres)
{
    uint64_t some[AT_ONCE];
    begin(n_nodes, ret_centres);
    for (uint64_t at = 0; at < relations->n; at += AT_ONCE) {
        size_t n = relations->n - at < AT_ONCE ? relations->n - at : AT_ONCE;
        int r = relations_read(relations, at, n, some);
        if (r < 0)
            return r;
        for (size_t i = 0; i < n; i++) {
            uint32_t u = relation_from(some[i]), v = relation_to(some[i]);
            if (relation_agreeing(some[i]) < least_agreeing ||
                (among && (among[u] != u || among[v] != v)))
                continue;
            take(u, u, ret_centres);
            if (ret_centres[u] == u)
                take(u, v, ret_centres);
        }
    }
    return 0;
}

int centres_on_the_fly(uint32_t n_nodes, centres_ask ask, void *user, uint32_t *ret_centres)
{
    begin(n_nodes, ret_centres);
    for (uint32_t u = 0; u < n_nodes; u++) {
        const uint32_t *near;
        if (ret_centres[u] != CENTRES_NONE)
            continue;
        int64_t n = ask(user, u, &near);
        if (n < 0)
            return (int)n;
        if (n > 0)
            take(u, u, ret_centres);
        for (int64_t i = 0; i < n; i++)
            take(u, near[i], ret_centres);
    }
    return 0;
}

/* -- by degree -- */

/* Of each node in how many relations it is the first, as the upper half of ~degree | node. */
static int count_degrees(struct relations *relations, uint32_t n_nodes, uint64_t *order)
{
    uint64_t some[AT_ONCE];
    for (uint32_t u = 0; u < n_nodes; u++)
        order[u] = (uint64_t)UINT32_MAX << 32 | u;
    for (uint64_t at = 0; at < relations->n; at += AT_ONCE) {
        size_t n = relations->n - at < AT_ONCE ? relations->n - at : AT_ONCE;
        int r = relations_read(relations, at, n, some);
        if (r < 0)
            return r;
        for (size_t i = 0; i < n; i++)
            order[relation_from(some[i])] -= (uint64_t)1 << 32;
    }
    return 0;
}

static int take_near(struct relations *relations, uint32_t u, uint64_t *near, size_t n,
                     uint32_t *centres)
{
    int64_t r = relations_of(relations, u, near, n);
    for (int64_t i = 0; i < r; i++)
        take(u, relation_to(near[i]), centres);
    return r < 0 ? (int)r : 0;
}

int centres_by_degree(struct relations *relations, uint32_t n_nodes, uint32_t *ret_centres)
{
    _cleanup_free_ uint64_t *order = calloc((size_t)n_nodes * 2 + 1, sizeof(*order));
    _cleanup_free_ uint64_t *near = NULL;
    begin(n_nodes, ret_centres);
    int r = order ? count_degrees(relations, n_nodes, order) : -ENOMEM;
    if (r < 0 || n_nodes == 0)
        return r;
    sort_numbers(order, n_nodes, order + n_nodes);
    const uint32_t most = UINT32_MAX - (uint32_t)(order[0] >> 32);
    near = calloc((size_t)most + 1, sizeof(*near));
    if (!near)
        return -ENOMEM;
    for (uint32_t i = 0; r == 0 && i < n_nodes; i++) {
        const uint32_t u = (uint32_t)order[i], degree = UINT32_MAX - (uint32_t)(order[i] >> 32);
        if (degree == 0)
            break;
        if (ret_centres[u] != CENTRES_NONE)
            continue;
        take(u, u, ret_centres);
        r = take_near(relations, u, near, degree, ret_centres);
    }
    return r;
}

/* -- in two steps -- */

static int take_two_steps(uint32_t u, centres_ask ask, void *user, uint32_t *centres)
{
    const uint32_t *near;
    int64_t n_first = ask(user, u, &near);
    if (n_first < 0)
        return (int)n_first;
    _cleanup_free_ uint32_t *first = malloc(((size_t)n_first + 1) * sizeof(*first));
    if (!first)
        return -ENOMEM;
    if (n_first > 0)
        memcpy(first, near, (size_t)n_first * sizeof(*first));
    take(u, u, centres);
    for (int64_t i = 0; i < n_first; i++) {
        int64_t n = ask(user, first[i], &near);
        if (n < 0)
            return (int)n;
        take(u, first[i], centres);
        for (int64_t j = 0; j < n; j++)
            take(u, near[j], centres);
    }
    return 0;
}

int centres_two_steps(uint32_t n_nodes, centres_ask ask, void *user, uint32_t *ret_centres)
{
    int r = 0;
    begin(n_nodes, ret_centres);
    for (uint32_t u = 0; r == 0 && u < n_nodes; u++)
        if (ret_centres[u] == CENTRES_NONE)
            r = take_two_steps(u, ask, user, ret_centres);
    return r;
}
