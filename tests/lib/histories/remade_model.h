/* What a clustering that is made anew has to be, by the definition of its mode, and the ids that
 * its clusters have to have: the slow way. */
#ifndef KINFS_TESTS_LIB_HISTORIES_REMADE_MODEL_H
#define KINFS_TESTS_LIB_HISTORIES_REMADE_MODEL_H

#include "engine/cluster/batch.h"
#include "tests/lib/histories/cluster_histories.h"

#define THRESHOLD 0.4
#define CONTAINMENT 0.8
static const struct {
    unsigned number; /* from CLUSTERING_CENTRES_FROM on they have centres */
    struct batch_options how;
} ways[] = {
    {3, {.mode = BATCH_BRODER1997, .threshold = THRESHOLD}},
    {4, {.mode = BATCH_EXACT, .threshold = THRESHOLD}},
    {5, {.mode = BATCH_FAST, .threshold = THRESHOLD, .whole = true}},
    {30, {.mode = BATCH_FAST, .threshold = THRESHOLD, .whole = true, .containment = CONTAINMENT}},
    {32, {.mode = BATCH_CENTER, .threshold = THRESHOLD}},
    {6, {.mode = BATCH_SUPERSHINGLE, .threshold = 1}},
};
enum { N_WAYS = sizeof(ways) / sizeof(ways[0]), EXACT_KEYS = 24, FAST_KEYS = 16 };
enum { SUPER_VALUES = 84, SUPER_RUN = 14 };

/* -- which documents are together -- */

static inline uint32_t count_below(const struct min_sketch *sketch, uint64_t below)
{
    uint32_t n = 0;
    while (n < sketch->n_values && sketch->values[n] <= below - 1)
        n++;
    return n;
}

/* What Broder et al. count: common values of V, at the modulus of the longer document. */
static inline bool broder_edge(const struct min_sketch *a, const struct min_sketch *b)
{
    uint64_t below = a->v_below - 1 < b->v_below - 1 ? a->v_below : b->v_below;
    uint32_t n_a = count_below(a, below), n_b = count_below(b, below), both = 0, shared = 0;
    for (uint32_t i = 0; i < min_sketch_n_v(a); i++)
        for (uint32_t k = 0; k < min_sketch_n_v(b); k++)
            shared += a->values[i] == b->values[k];
    for (uint32_t i = 0; i < n_a; i++)
        for (uint32_t k = 0; k < n_b; k++)
            both += a->values[i] == b->values[k];
    assert_int_equal(both, shared);
    return both > 0 && (double)both / (n_a + n_b - both) >= THRESHOLD;
}

/* Every run of the one against every run of the other; of few values all of them. */
static inline bool share_run(const struct min_sketch *a, const struct min_sketch *b)
{
    for (uint32_t i = 0; i + SUPER_RUN <= a->n_values && i + SUPER_RUN <= SUPER_VALUES; i++)
        for (uint32_t k = 0; k + SUPER_RUN <= b->n_values && k + SUPER_RUN <= SUPER_VALUES; k++)
            if (memcmp(a->values + i, b->values + k, SUPER_RUN * sizeof(uint64_t)) == 0)
                return true;
    return a->n_values < SUPER_RUN && a->n_values == b->n_values &&
           memcmp(a->values, b->values, a->n_values * sizeof(uint64_t)) == 0;
}

static inline bool contains(const struct min_sketch *a, const struct min_sketch *b)
{
    struct estimate estimate;
    return min_sketch_containment(a, b, &estimate) == 0 && estimate.value >= CONTAINMENT;
}

static inline bool resemble(const struct min_sketch *a, const struct min_sketch *b, uint32_t n_keys)
{
    struct estimate estimate;
    return world_share(a, n_keys, b, n_keys) && min_sketch_resemblance(a, b, &estimate) == 0 &&
           estimate.value >= THRESHOLD;
}

static inline uint32_t n_asked(const struct min_sketch *sketch)
{
    const uint32_t n_v = min_sketch_n_v(sketch);
    return n_v > FAST_KEYS ? n_v : FAST_KEYS;
}

static inline bool are_equal(const struct record *x, const struct record *y)
{
    if (x->sketch.n_values == 0 || y->sketch.n_values == 0)
        return x->sketch.n_values == y->sketch.n_values &&
               memcmp(x->content_fingerprint, y->content_fingerprint, FINGERPRINT_BYTES) == 0;
    return memcmp(x->shingle_fingerprint, y->shingle_fingerprint, FINGERPRINT_BYTES) == 0;
}

static inline bool is_edge(const struct world *world, unsigned way, unsigned a, unsigned b)
{
    const struct record *x = &world->documents[a].record, *y = &world->documents[b].record;
    const struct min_sketch *p = &x->sketch, *q = &y->sketch;
    if (are_equal(x, y))
        return true;
    if (p->n_values == 0 || q->n_values == 0)
        return false;
    switch (ways[way].how.mode) {
    case BATCH_BRODER1997: return broder_edge(p, q);
    case BATCH_EXACT: return resemble(p, q, EXACT_KEYS);
    case BATCH_SUPERSHINGLE: return share_run(p, q);
    default: break;
    }
    if (ways[way].how.containment > 0 && world_share(p, n_asked(p), q, n_asked(q)) &&
        (contains(p, q) || contains(q, p) || resemble(p, q, UINT32_MAX)))
        return true;
    return resemble(p, q, FAST_KEYS);
}

/* Of the others of a component, in the order of the largest first, each goes to the first centre
 * that it resembles, or is one. */
static inline void put_stars(const struct world *world, unsigned way, unsigned root,
                             const unsigned *component, unsigned *group)
{
    unsigned nodes[WORLD_DOCUMENTS], centre[WORLD_DOCUMENTS], star[WORLD_DOCUMENTS], n = 0;
    for (unsigned d = root; d < world->n_documents; d++) {
        bool is_new = component[d] == root && world->documents[d].record.sketch.n_values > 0;
        for (unsigned k = 0; k < n && is_new; k++)
            is_new = !are_equal(&world->documents[d].record, &world->documents[nodes[k]].record);
        if (!is_new)
            continue;
        uint8_t order[ORDER_BYTES], other[ORDER_BYTES];
        unsigned at = n++;
        member_order(order, &world->documents[d].record);
        for (; at > 0; at--) {
            member_order(other, &world->documents[nodes[at - 1]].record);
            if (memcmp(order, other, ORDER_BYTES) >= 0)
                break;
            nodes[at] = nodes[at - 1];
        }
        nodes[at] = d;
    }
    for (unsigned i = 0; i < n; i++) {
        centre[i] = i;
        for (unsigned k = 0; k < i && centre[i] == i; k++)
            if (centre[k] == k && is_edge(world, way, nodes[k], nodes[i]))
                centre[i] = k;
        star[i] = UINT32_MAX;
    }
    for (unsigned d = root; d < world->n_documents && n > 0; d++) {
        unsigned i = 0;
        if (component[d] != root)
            continue;
        while (!are_equal(&world->documents[d].record, &world->documents[nodes[i]].record))
            i++;
        if (star[centre[i]] == UINT32_MAX)
            star[centre[i]] = d;
        group[d] = star[centre[i]];
    }
}

/* group[i]: the smallest document i is together with, of live ones. */
static inline void groups_of(const struct world *world, unsigned way, unsigned *group)
{
    unsigned component[WORLD_DOCUMENTS];
    for (unsigned i = 0; i < world->n_documents; i++)
        group[i] = i;
    for (unsigned i = 0; i < world->n_documents; i++)
        for (unsigned k = 0; k < i; k++) {
            const unsigned from = group[i], to = group[k];
            if (!world->documents[i].live || !world->documents[k].live || from == to ||
                !is_edge(world, way, i, k))
                continue;
            for (unsigned j = 0; j < world->n_documents; j++)
                if (group[j] == (from > to ? from : to))
                    group[j] = from > to ? to : from;
        }
    if (ways[way].how.mode != BATCH_CENTER)
        return;
    memcpy(component, group, sizeof(component));
    for (unsigned i = 0; i < world->n_documents; i++)
        if (world->documents[i].live && component[i] == i)
            put_stars(world, way, i, component, group);
}

/* -- who has to keep which id -- */

struct before {
    uint64_t cluster[WORLD_DOCUMENTS];
    unsigned rank[WORLD_DOCUMENTS];
};

static inline uint64_t cluster_of(const struct world *world, unsigned i, unsigned document)
{
    uint64_t id = 0, size;
    assert_int_equal(living_clusters_of_in(world->reader, ways[i].number,
                                           world->documents[document].sid, &id, &size),
                     0);
    return id;
}

static inline void take_before(const struct world *world, unsigned i, struct before *before)
{
    memset(before, 0, sizeof(*before));
    for (unsigned d = 0; d < world->n_documents; d++) {
        struct sid_list members;
        if (!world->documents[d].live || !(before->cluster[d] = cluster_of(world, i, d)))
            continue;
        assert_int_equal(living_clusters_members(world->reader, before->cluster[d], 0, &members),
                         0);
        while (members.sids[before->rank[d]] != world->documents[d].sid)
            before->rank[d]++;
        sid_list_done(&members);
    }
}

/* Documents of a cluster in a group, and the first of them. */
static inline unsigned weigh(const struct world *world, const struct before *before,
                             const unsigned *group, uint64_t cluster, unsigned g,
                             unsigned *ret_rank)
{
    unsigned n = 0;
    *ret_rank = UINT32_MAX;
    for (unsigned d = 0; d < world->n_documents; d++) {
        if (!world->documents[d].live || group[d] != g || before->cluster[d] != cluster)
            continue;
        n++;
        *ret_rank = before->rank[d] < *ret_rank ? before->rank[d] : *ret_rank;
    }
    return n;
}

static inline unsigned size_of(const struct world *world, const unsigned *group, unsigned g)
{
    unsigned n = 0;
    for (unsigned d = 0; d < world->n_documents; d++)
        n += world->documents[d].live && group[d] == g;
    return n;
}

/* The group with most documents of a cluster among those without an id; or of all. */
static inline unsigned heaviest(const struct world *world, const struct before *before,
                                const unsigned *group, uint64_t cluster, const uint64_t *ids,
                                unsigned *ret_n, unsigned *ret_rank)
{
    unsigned best = UINT32_MAX;
    *ret_n = 0;
    *ret_rank = UINT32_MAX;
    for (unsigned d = 0; d < world->n_documents; d++) {
        unsigned rank, g = group[d];
        if (!world->documents[d].live || before->cluster[d] != cluster ||
            size_of(world, group, g) < 2 || (ids && ids[g]))
            continue;
        unsigned n = weigh(world, before, group, cluster, g, &rank);
        if (n > *ret_n || (n == *ret_n && rank < *ret_rank)) {
            best = g;
            *ret_n = n;
            *ret_rank = rank;
        }
    }
    return best;
}

static inline bool is_given(const uint64_t *ids, unsigned n, uint64_t id)
{
    for (unsigned g = 0; g < n; g++)
        if (ids[g] == id)
            return true;
    return false;
}

/* Again and again the pair of a cluster and a group with most documents in common. */
static inline void keep_ids(const struct world *world, const struct before *before,
                            const unsigned *group, uint64_t *ids)
{
    for (;;) {
        uint64_t best = 0;
        unsigned best_group = 0, best_n = 0;
        for (unsigned d = 0; d < world->n_documents; d++) {
            unsigned n, rank = 0;
            const uint64_t cluster = before->cluster[d];
            if (cluster == 0 || is_given(ids, world->n_documents, cluster))
                continue;
            unsigned g = heaviest(world, before, group, cluster, ids, &n, &rank);
            if (n > best_n || (n && n == best_n && cluster < best)) {
                best = cluster;
                best_group = g;
                best_n = n;
            }
        }
        if (best_n == 0)
            return;
        ids[best_group] = best;
    }
}

#endif
