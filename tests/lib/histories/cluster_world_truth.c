/* Which documents are together, by the definitions and the slow way. */
#include "tests/lib/histories/cluster_world_private.h"

#include "engine/cluster/stars.h"
#include "tests/lib/slow_stars.h"

bool world_share(const struct min_sketch *a, uint32_t n_a, const struct min_sketch *b, uint32_t n_b)
{
    for (uint32_t i = 0; i < a->n_values && i < n_a; i++)
        for (uint32_t k = 0; k < b->n_values && k < n_b; k++)
            if (a->values[i] == b->values[k])
                return true;
    return false;
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

/* Whether one of two documents is a candidate of the other by a key both have: more than so many
 * firsts of classes have it only where one of the two is among the first of these. */
static bool world_key_counts(const struct world *world, const unsigned *first, uint64_t key,
                             unsigned x, unsigned y)
{
    unsigned n = 0, rank_x = 0, rank_y = 0;
    for (unsigned i = 0; i < world->n_documents; i++) {
        if (!world->documents[i].live || first[i] != i ||
            !slow_has_key(&world->documents[i].record.sketch, POSTINGS_TIER_R_KEYS, key))
            continue;
        rank_x += i < x;
        rank_y += i < y;
        n++;
    }
    return n <= world->bounds.most_compared || rank_x < world->bounds.n_heads ||
           rank_y < world->bounds.n_heads;
}

static bool world_are_candidates(const struct world *world, const unsigned *first, unsigned x,
                                 unsigned y)
{
    const struct min_sketch *p = &world->documents[x].record.sketch;
    const struct min_sketch *q = &world->documents[y].record.sketch;
    for (uint32_t i = 0; i < p->n_values && i < POSTINGS_TIER_R_KEYS; i++)
        if (slow_has_key(q, POSTINGS_TIER_R_KEYS, p->values[i]) &&
            world_key_counts(world, first, p->values[i], x, y))
            return true;
    return false;
}

/* Between the first documents of two classes. */
static bool world_edge(const struct world *world, const unsigned *first, unsigned x, unsigned y)
{
    struct estimate estimate;
    return x == y ||
           (min_sketch_resemblance(&world->documents[x].record.sketch,
                                   &world->documents[y].record.sketch, &estimate) == 0 &&
            estimate.value >= WORLD_THRESHOLD && world_are_candidates(world, first, x, y));
}

void world_components(const struct world *world, unsigned component[WORLD_DOCUMENTS])
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
                    world_edge(world, first, first[x], first[y])) {
                    component[y] = i;
                    queue[n++] = y;
                }
        }
    }
}

/* -- stars -- */

static uint64_t world_rank(const struct world *world, unsigned i)
{
    return stars_order(&world->documents[i].record.sketch);
}

/* The firsts of the classes of a component that have shingles, in their order. */
static unsigned world_nodes(const struct world *world, const unsigned *component,
                            const unsigned *first, unsigned of, unsigned nodes[WORLD_DOCUMENTS])
{
    unsigned n = 0;
    for (unsigned i = 0; i < world->n_documents; i++) {
        unsigned at = n;
        if (component[i] != of || first[i] != i || world->documents[i].record.sketch.n_values == 0)
            continue;
        for (; at > 0 && world_rank(world, i) < world_rank(world, nodes[at - 1]); at--)
            nodes[at] = nodes[at - 1];
        nodes[at] = i;
        n++;
    }
    return n;
}

unsigned world_clusters(const struct world *world, unsigned cluster[WORLD_DOCUMENTS],
                        unsigned *ret_n)
{
    unsigned component[WORLD_DOCUMENTS], first[WORLD_DOCUMENTS], nodes[WORLD_DOCUMENTS];
    unsigned star[WORLD_DOCUMENTS], n_divided = 0;
    const struct min_sketch *sketches[WORLD_DOCUMENTS];
    uint32_t centres[WORLD_DOCUMENTS];
    world_firsts(world, first);
    world_components(world, component);
    memcpy(cluster, component, sizeof(component));
    for (unsigned of = 0; of < world->n_documents && !world->bounds.whole; of++) {
        const unsigned n =
            component[of] == of ? world_nodes(world, component, first, of, nodes) : 0;
        const struct slow_component loose = {sketches, n, POSTINGS_TIER_R_KEYS, WORLD_THRESHOLD};
        for (unsigned i = 0; i < n; i++)
            sketches[i] = &world->documents[nodes[i]].record.sketch;
        if (n == 0 || !slow_is_loose(&loose))
            continue;
        n_divided++;
        slow_stars(&loose, false, centres);
        for (unsigned i = 0; i < n; i++)
            star[nodes[i]] = nodes[centres[i]];
        for (unsigned i = 0; i < world->n_documents; i++) {
            if (component[i] != of)
                continue;
            ++*ret_n;
            cluster[i] = i; /* or the first that is with it */
            for (unsigned k = i; k-- > 0;)
                if (component[k] == of && star[first[k]] == star[first[i]])
                    cluster[i] = k;
        }
    }
    return n_divided;
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
