/* What must happen to the ids of clusters, by the rules in living_clusters.h. */
#include "tests/lib/histories/cluster_world_private.h"

static unsigned world_count_id(const struct world *world, uint64_t id)
{
    unsigned n = 0;
    for (unsigned i = 0; i < world->n_documents; i++)
        n += world->documents[i].live && world->documents[i].model_id == id;
    return n;
}

static void world_model_merge(struct world *world, uint64_t from, uint64_t to)
{
    unsigned i = 0;
    if (from == 0 || from == to)
        return;
    for (unsigned k = 0; k < world->n_aliases; k++)
        if (world->aliases[k].leads_to == from)
            world->aliases[k].leads_to = to;
    if (from >= WORLD_FRESH) /* never seen */
        return;
    while (i < world->n_aliases && world->aliases[i].id != from)
        i++;
    assert_in_range(i, 0, WORLD_DOCUMENTS - 1);
    world->aliases[i] = (struct world_alias){from, to};
    world->n_aliases += i == world->n_aliases;
}

static void world_model_end(struct world *world, uint64_t id)
{
    for (unsigned k = 0; k < world->n_aliases; k++)
        if (world->aliases[k].leads_to == id)
            world->aliases[k--] = world->aliases[--world->n_aliases];
}

static void world_model_insert(struct world *world, struct world_document *document)
{
    unsigned component[WORLD_DOCUMENTS], place = (unsigned)(document - world->documents), n = 0;
    uint64_t best = 0;
    unsigned best_size = 0;

    document->live = true;
    world_components(world, component);
    for (unsigned i = 0; i < world->n_documents; i++) {
        const struct world_document *other = &world->documents[i];
        if (!other->live || component[i] != component[place])
            continue;
        n++;
        if (i == place || other->model_id == 0)
            continue;
        unsigned size = world_count_id(world, other->model_id);
        if (size > best_size || (size == best_size && other->model_id < best)) {
            best = other->model_id;
            best_size = size;
        }
    }
    if (n < 2)
        return;
    if (best == 0)
        best = world->fresh++;
    for (unsigned i = 0; i < world->n_documents; i++) {
        if (!world->documents[i].live || component[i] != component[place])
            continue;
        world_model_merge(world, world->documents[i].model_id, best);
        world->documents[i].model_id = best;
    }
}

/* What becomes of a cluster that documents have left. */
static void world_model_shrink(struct world *world, uint64_t id)
{
    unsigned component[WORLD_DOCUMENTS], size[WORLD_DOCUMENTS] = {0};
    uint64_t ids[WORLD_DOCUMENTS];
    const struct world_document *first = NULL;

    world_components(world, component);
    for (unsigned i = 0; i < world->n_documents; i++)
        if (world->documents[i].live && world->documents[i].model_id == id)
            size[component[i]]++;
    for (unsigned i = 0; i < world->n_documents; i++) {
        const struct world_document *other = &world->documents[i];
        ids[i] = size[i] > 1 ? world->fresh++ : 0;
        if (!other->live || other->model_id != id)
            continue;
        unsigned mine = size[component[i]],
                 best = first ? size[component[first - world->documents]] : 0;
        if (mine > best || (mine == best && world_before(&other->record, &first->record)))
            first = other;
    }
    if (!first) {
        world_model_end(world, id);
        return;
    }
    unsigned keeps = component[first - world->documents];
    if (size[keeps] > 1)
        ids[keeps] = id;
    else if (id < WORLD_FRESH)
        world->documents[keeps].dissolved_id = id;
    if (size[keeps] == 1)
        world_model_end(world, id);
    for (unsigned i = 0; i < world->n_documents; i++)
        if (world->documents[i].live && world->documents[i].model_id == id)
            world->documents[i].model_id = ids[component[i]];
}

/* Those that leave a cluster together leave it at once. */
static void world_model_delete(struct world *world, struct world_document *const *documents,
                               unsigned n)
{
    uint64_t ids[WORLD_DOCUMENTS];

    for (unsigned i = 0; i < n; i++) {
        ids[i] = documents[i]->model_id;
        documents[i]->live = false;
        documents[i]->model_id = 0;
    }
    for (unsigned i = 0; i < n; i++)
        if (ids[i])
            world_model_shrink(world, ids[i]);
}

void world_model_step(struct world *world, const struct world_step *step)
{
    if (step->n_new && step->n_old)
        step->new[0]->dissolved_id = step->old[0]->dissolved_id;
    for (unsigned i = 0; i < step->n_new; i++)
        world_model_insert(world, step->new[i]);
    if (step->n_old)
        world_model_delete(world, step->old, step->n_old);
}
