/* Which documents are together, by the definitions and the slow way. */
#include "tests/lib/cluster_world_private.h"

bool world_share(const struct min_sketch *a, uint32_t n_a, const struct min_sketch *b, uint32_t n_b)
{
    for (uint32_t i = 0; i < a->n_values && i < n_a; i++)
        for (uint32_t k = 0; k < b->n_values && k < n_b; k++)
            if (a->values[i] == b->values[k])
                return true;
    return false;
}

/* Every run of the one against every run of the other. */
static bool world_share_run(const struct min_sketch *a, const struct min_sketch *b)
{
    for (uint32_t i = 0; i + SUPER_RUN <= a->n_values && i + SUPER_RUN <= SUPER_VALUES; i++)
        for (uint32_t k = 0; k + SUPER_RUN <= b->n_values && k + SUPER_RUN <= SUPER_VALUES; k++)
            if (memcmp(a->values + i, b->values + k, SUPER_RUN * sizeof(uint64_t)) == 0)
                return true;
    return a->n_values > 0 && a->n_values < SUPER_RUN && a->n_values == b->n_values &&
           memcmp(a->values, b->values, a->n_values * sizeof(uint64_t)) == 0;
}

static bool world_is_contained(const struct min_sketch *a, const struct min_sketch *b,
                               double at_least)
{
    struct estimate estimate;
    return min_sketch_containment(a, b, &estimate) == 0 && fmin(estimate.value, 0.9999) >= at_least;
}

/* first[i]: the first live document of the class of i, for live ones. */
static void world_firsts(const struct world *world, unsigned first[WORLD_DOCUMENTS])
{
    uint8_t classes[WORLD_DOCUMENTS][CLASS_BYTES];
    for (unsigned i = 0; i < world->n_documents; i++) {
        if (!world->documents[i].live)
            continue;
        record_class(&world->documents[i].record, classes[i]);
        first[i] = i;
        for (unsigned k = 0; k < i && first[i] == i; k++)
            if (world->documents[k].live && memcmp(classes[i], classes[k], CLASS_BYTES) == 0)
                first[i] = k;
    }
}

/* Between the first documents of two classes. */
static bool world_edge(const struct world *world, const struct edge_rule *rule, unsigned x,
                       unsigned y)
{
    struct estimate estimate;
    const struct min_sketch *p = &world->documents[x].record.sketch;
    const struct min_sketch *q = &world->documents[y].record.sketch;
    if (x == y)
        return true;
    if (!world_share(p, POSTINGS_TIER_R_KEYS, q, POSTINGS_TIER_R_KEYS) &&
        ((rule->containment == 0 && !rule->super_shingle) ||
         !world_share(p, min_sketch_n_v(p), q, min_sketch_n_v(q))))
        return false;
    if (rule->super_shingle)
        return world_share_run(p, q);
    /* Other texts: whatever the sketches say, they are not equal. */
    return (min_sketch_resemblance(p, q, &estimate) == 0 &&
            fmin(estimate.value, 0.9999) >= rule->resemblance) ||
           (rule->containment > 0 && (world_is_contained(p, q, rule->containment) ||
                                      world_is_contained(q, p, rule->containment)));
}

void world_components_by(const struct world *world, const struct edge_rule *rule,
                         unsigned *component)
{
    unsigned queue[WORLD_DOCUMENTS], first[WORLD_DOCUMENTS];
    world_firsts(world, first);
    for (unsigned i = 0; i < world->n_documents; i++)
        component[i] = UINT32_MAX;
    for (unsigned i = 0; i < world->n_documents; i++) {
        unsigned n = 0, at = 0;
        if (!world->documents[i].live || component[i] != UINT32_MAX)
            continue;
        component[i] = i;
        queue[n++] = i;
        while (at < n) {
            unsigned x = queue[at++];
            for (unsigned y = 0; y < world->n_documents; y++)
                if (world->documents[y].live && component[y] == UINT32_MAX &&
                    world_edge(world, rule, first[x], first[y])) {
                    component[y] = i;
                    queue[n++] = y;
                }
        }
    }
}

void world_components(const struct world *world, unsigned component[WORLD_DOCUMENTS])
{
    world_components_by(world, &(const struct edge_rule){.resemblance = WORLD_THRESHOLD},
                        component);
}

bool world_before(const struct record *a, const struct record *b)
{
    if (a->sketch.n_tokens != b->sketch.n_tokens)
        return a->sketch.n_tokens > b->sketch.n_tokens;
    int order = memcmp(a->content_fingerprint, b->content_fingerprint, FINGERPRINT_BYTES);
    if (order == 0)
        order = (int)a->key.size_bytes - (int)b->key.size_bytes;
    if (order == 0)
        order = memcmp(a->key.bytes, b->key.bytes, a->key.size_bytes);
    return order < 0;
}

bool world_before_in(const struct world_named *named, const struct record *a,
                     const struct record *b)
{
    uint8_t x[ORDER_BYTES], y[ORDER_BYTES];
    member_order(x, a);
    member_order(y, b);
    int order = memcmp(x, y, ORDER_BYTES);
    return clustering_has_centres(named->number) && order ? order < 0 : world_before(a, b);
}

void world_centres_by(const struct world *world, const struct edge_rule *rule, unsigned *component)
{
    unsigned first[WORLD_DOCUMENTS], centre[WORLD_DOCUMENTS], order[WORLD_DOCUMENTS], n = 0;
    const struct world_named as = {.number = CLUSTERING_CENTRES_FROM};

    world_firsts(world, first);
    for (unsigned i = 0; i < world->n_documents; i++)
        if (world->documents[i].live && first[i] == i)
            order[n++] = i;
    for (unsigned i = 1; i < n; i++) /* by insertion */
        for (unsigned k = i; k > 0 && world_before_in(&as, &world->documents[order[k]].record,
                                                      &world->documents[order[k - 1]].record);
             k--) {
            unsigned swapped = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swapped;
        }
    for (unsigned i = 0; i < n; i++) {
        unsigned node = order[i];
        centre[node] = node;
        for (unsigned k = 0; k < i && centre[node] == node; k++)
            if (centre[order[k]] == order[k] && world_edge(world, rule, order[k], node))
                centre[node] = order[k];
    }
    for (unsigned i = 0; i < world->n_documents; i++)
        component[i] = UINT32_MAX;
    for (unsigned i = 0; i < world->n_documents; i++)
        for (unsigned k = 0; k <= i && world->documents[i].live; k++)
            if (world->documents[k].live && centre[first[k]] == centre[first[i]]) {
                component[i] = k;
                break;
            }
}
