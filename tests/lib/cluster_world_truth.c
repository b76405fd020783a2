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
static bool world_edge(const struct world *world, unsigned x, unsigned y)
{
    struct estimate estimate;
    const struct min_sketch *p = &world->documents[x].record.sketch;
    const struct min_sketch *q = &world->documents[y].record.sketch;
    return x == y ||
           (world_share(p, POSTINGS_TIER_R_KEYS, q, POSTINGS_TIER_R_KEYS) &&
            min_sketch_resemblance(p, q, &estimate) == 0 && estimate.value >= WORLD_THRESHOLD);
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
                    world_edge(world, first[x], first[y])) {
                    component[y] = i;
                    queue[n++] = y;
                }
        }
    }
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
