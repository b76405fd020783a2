/* What the clusters say, against the model and the slow way. */
#include "tests/lib/histories/cluster_world_private.h"

static void world_check_cluster(struct world *world, uint64_t id, const struct world_document *best,
                                unsigned n)
{
    struct sid_list members;
    uint64_t of, size;

    assert_int_equal(living_clusters_members(world->reader, id, 0, &members), 0);
    assert_int_equal(members.n_sids, n);
    assert_int_equal(members.sids[0], best->sid);
    for (size_t i = 0; i < members.n_sids; i++) {
        assert_true(members.sids[i] < world->n_documents);
        assert_true(world->documents[members.sids[i]].live);
        assert_int_equal(living_clusters_of(world->reader, members.sids[i], &of, &size), 0);
        assert_int_equal(of, id);
        assert_int_equal(size, n);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(members.sids[i], members.sids[k]);
    }
    sid_list_done(&members);
}

size_t world_count_rows(struct world *world, unsigned table)
{
    struct kv_range range = {.from = {"", 0}};
    struct kv_page page;
    assert_int_equal(kv_scan(world->inner, table, &range, 1 << 20, &page), 0);
    size_t n = page.n_entries;
    kv_page_done(&page);
    return n;
}

/* Whether a new cluster may have an id that was seen before: that of one which dissolved. It need
 * not, where a crash came between. */
static bool world_came_back(const struct world *world, const unsigned *component, unsigned place,
                            uint64_t id)
{
    for (unsigned i = 0; i < world->n_documents; i++)
        if (component[i] == place && world->documents[i].dissolved_id == id)
            return true;
    return false;
}

static int world_check_alias(void *user, uint64_t alias, uint64_t id)
{
    struct world *world = user;
    struct sid_list first;
    assert_int_not_equal(alias, id);
    assert_int_equal(living_clusters_members(world->reader, id, 1, &first), 0); /* it is there */
    sid_list_done(&first);
    world->n_alias_rows += 2;
    return 0;
}

void world_check_aliases(struct world *world)
{
    for (unsigned k = 0; k < world->n_aliases; k++) {
        uint64_t id = 0;
        assert_int_equal(living_clusters_alias(world->reader, world->aliases[k].id, &id), 0);
        assert_int_equal(id, world->aliases[k].leads_to);
    }
    world->n_alias_rows = 0;
    assert_int_equal(cluster_aliases_each(world->inner, world_check_alias, world), 0);
}

void world_check(struct world *world)
{
    unsigned component[WORLD_DOCUMENTS];
    unsigned n_clusters = 0, n_in_clusters = 0, n_live = 0;
    uint64_t max_id = world->max_id, n, n_documents, ids[WORLD_DOCUMENTS];

    if (world->bounds.most_compared < WORLD_DOCUMENTS || !world->bounds.whole) {
        /* the model does not follow */
        world->n_aliases = 0;
        world_check_partition(world);
        return;
    }
    world_components(world, component);
    for (unsigned i = 0; i < world->n_documents; i++) {
        struct world_document *document = &world->documents[i], *best = document;
        uint64_t id, size, model_id = document->model_id;
        unsigned n_members = 0;
        if (!document->live)
            continue;
        n_live++;
        if (component[i] != i)
            continue;
        for (unsigned k = i; k < world->n_documents; k++) {
            if (component[k] != i)
                continue;
            n_members++;
            assert_int_equal(world->documents[k].model_id, model_id);
            if (world_before(&world->documents[k].record, &best->record))
                best = &world->documents[k];
        }
        assert_int_equal(living_clusters_of(world->reader, document->sid, &id, &size), 0);
        if (n_members == 1) {
            assert_int_equal(id, 0);
            assert_int_equal(size, 0);
            continue;
        }
        if (model_id >= WORLD_FRESH) {
            assert_true(id > world->max_id || world_came_back(world, component, i, id));
            for (unsigned k = i; k < world->n_documents; k++)
                if (component[k] == i)
                    world->documents[k].model_id = id;
            for (unsigned k = 0; k < world->n_aliases; k++)
                if (world->aliases[k].leads_to == model_id)
                    world->aliases[k].leads_to = id;
        } else {
            assert_int_equal(id, model_id);
        }
        max_id = id > max_id ? id : max_id;
        n_clusters++;
        n_in_clusters += n_members;
        world_check_cluster(world, id, best, n_members);
    }
    world->max_id = max_id;

    living_clusters_count(world->clusters, &n, &n_documents);
    assert_int_equal(n, n_clusters);
    assert_int_equal(n_documents, n_in_clusters);
    assert_int_equal(living_clusters_ids(world->reader, 0, WORLD_DOCUMENTS, ids), n_clusters);
    world_check_aliases(world);
    if (world->n_named == 0) {
        assert_int_equal(world_count_rows(world, TABLE_MEMBERS),
                         n_clusters + n_in_clusters + world->n_alias_rows);
        assert_int_equal(world_count_rows(world, TABLE_CLUSTER_OF), n_in_clusters);
    }
    assert_int_equal(world_count_rows(world, TABLE_CLASSES), n_live);
    assert_int_equal(world_count_rows(world, TABLE_RECORDS), n_live);
}

void world_check_partition(struct world *world)
{
    unsigned component[WORLD_DOCUMENTS], n_in_clusters = 0, n_clusters = 0, n_in_divided = 0;
    const unsigned n_divided = world_clusters(world, component, &n_in_divided);
    world->n_divided += n_divided;
    for (unsigned i = 0; i < world->n_documents; i++) {
        uint64_t id, size, other;
        unsigned n = 0;
        if (!world->documents[i].live)
            continue;
        assert_int_equal(living_clusters_of(world->reader, i, &id, &size), 0);
        for (unsigned k = 0; k < world->n_documents; k++)
            n += world->documents[k].live && component[k] == component[i];
        assert_int_equal(size, n > 1 ? n : 0);
        n_in_clusters += n > 1;
        n_clusters += n > 1 && component[i] == i;
        for (unsigned k = 0; id && k < i; k++) {
            if (!world->documents[k].live)
                continue;
            assert_int_equal(living_clusters_of(world->reader, k, &other, &size), 0);
            assert_int_equal(other == id, component[k] == component[i]);
        }
    }
    world_check_aliases(world);
    if (world->n_named)
        return;
    assert_int_equal(world_count_rows(world, TABLE_MEMBERS),
                     n_clusters + n_in_clusters + n_divided + n_in_divided + world->n_alias_rows);
    assert_int_equal(world_count_rows(world, TABLE_CLUSTER_OF), n_in_clusters + n_in_divided);
}
