#include "tests/unit/engine/cluster/batch_world.h"

#include "engine/cluster/stars.h"
#include "tests/lib/documents/families.h"
#include "tests/lib/scratch.h"
#include "tests/lib/share.h"
#include "tests/lib/slow_stars.h"

/* The definition once more, slow and simple: all pairs, and stars (slow_stars.h). */

enum { KEYS = 16, HEADS = 64, MOST_COMPARED = 1000 };

static uint64_t rank_of(const struct document_sketch *document)
{
    return stars_order(&document->sketch);
}

static bool share_key(const struct document_sketch *a, const struct document_sketch *b)
{
    for (uint32_t i = 0; i < KEYS && i < a->sketch.n_values; i++)
        if (slow_has_key(&b->sketch, KEYS, a->sketch.values[i]))
            return true;
    return false;
}

static bool are_neighbours(const struct document_sketch *a, const struct document_sketch *b,
                           void *threshold)
{
    return same_content(a, b) || (share_key(a, b) && reaches(a, b, threshold));
}

static uint64_t size_of(const struct document_sketch *document)
{
    return (uint64_t)min_sketch_cardinality(&document->sketch);
}

static bool is_before(const struct document_sketch *a, const struct document_sketch *b, bool center)
{
    if (center && size_of(a) != size_of(b))
        return size_of(a) > size_of(b);
    return rank_of(a) < rank_of(b);
}

/* Different contents of a component: the first document of each, in the order of the mode. */
static uint32_t contents_of(const struct world *world, const uint32_t *cluster, uint32_t root,
                            bool center, uint32_t *ret_nodes)
{
    uint32_t n = 0;
    for (uint32_t i = root; i < world->n; i++) {
        bool is_new = cluster[i] == root && world->documents[i].sketch.n_values > 0;
        for (uint32_t j = 0; j < n && is_new; j++)
            is_new = !same_fingerprint(&world->documents[i], &world->documents[ret_nodes[j]]);
        if (!is_new)
            continue;
        uint32_t at = n++;
        for (; at > 0 &&
               is_before(&world->documents[i], &world->documents[ret_nodes[at - 1]], center);
             at--)
            ret_nodes[at] = ret_nodes[at - 1];
        ret_nodes[at] = i;
    }
    return n;
}

static void divide(const struct world *world, uint32_t *cluster, uint32_t root, double threshold,
                   bool center, struct loose_counts *counts)
{
    _cleanup_free_ uint32_t *nodes = calloc(world->n, sizeof(*nodes));
    _cleanup_free_ uint32_t *centres = calloc(world->n, sizeof(*centres));
    _cleanup_free_ const struct min_sketch **sketches = calloc(world->n, sizeof(*sketches));
    _cleanup_free_ uint32_t *first = calloc(world->n, sizeof(*first));
    _cleanup_free_ uint32_t *stars = malloc(world->n * sizeof(*stars));
    _cleanup_free_ uint32_t *sizes = calloc(world->n, sizeof(*sizes));
    assert_true(nodes && centres && sketches && first && stars && sizes);
    const uint32_t n = contents_of(world, cluster, root, center, nodes);
    const struct slow_component component = {sketches, n, KEYS, threshold};
    for (uint32_t i = 0; i < n; i++)
        sketches[i] = &world->documents[nodes[i]].sketch;
    if (n == 0 || (center ? n < 3 : !slow_is_loose(&component)))
        return;
    slow_stars(&component, center, centres);
    for (uint32_t i = 0; i < n; i++)
        first[i] = world->n;
    for (uint32_t i = 0; i < world->n; i++) {
        stars[i] = cluster[i];
        if (cluster[i] != root)
            continue;
        uint32_t node = 0;
        while (!same_fingerprint(&world->documents[i], &world->documents[nodes[node]]))
            node++;
        uint32_t *star = &first[centres[node]];
        *star = *star == world->n ? i : *star;
        stars[i] = *star;
        sizes[*star]++;
        counts->n_documents++;
    }
    for (uint32_t i = 0; i < world->n; i++)
        counts->n_alone += sizes[i] == 1;
    memcpy(cluster, stars, world->n * sizeof(*stars));
    counts->n_components++;
}

/* Returns how many components were divided. */
static uint32_t expect_definition(const struct world *world, double threshold, bool center)
{
    struct batch_options options =
        world_options(scratch_group, world->n, center ? BATCH_CENTER : BATCH_FAST, threshold);
    _cleanup_(batch_free_p) struct batch *batch = world_batch(world, &options);
    _cleanup_free_ uint32_t *expected = world_clusters(world, are_neighbours, &threshold);
    _cleanup_free_ uint32_t *components = calloc(world->n, sizeof(*components));
    const uint32_t *clusters = batch_clusters(batch);
    const struct loose_counts *counts = &batch_totals(batch)->loose;
    struct loose_counts divided = {0};
    assert_non_null(components);
    memcpy(components, expected, world->n * sizeof(*components));
    for (uint32_t i = 0; i < world->n; i++)
        if (components[i] == i)
            divide(world, expected, i, threshold, center, &divided);
    for (uint32_t i = 0; i < world->n; i++)
        if (clusters[i] != expected[i])
            fail_msg("document %u of %u at %g: cluster %u, expected %u", i, world->n, threshold,
                     clusters[i], expected[i]);
    assert_int_equal(counts->n_components, divided.n_components);
    assert_int_equal(counts->n_documents, divided.n_documents);
    assert_int_equal(counts->n_alone, divided.n_alone);
    return (uint32_t)divided.n_components;
}

static void add_families(struct world *world, const struct families *families)
{
    char *text = malloc(families_most_bytes(families));
    assert_non_null(text);
    for (uint32_t i = 0; i < families_n_documents(families); i++)
        world_add(world, text, families_write(families, i, 0, text));
    free(text);
}

/* Versions of texts are long ways, copies are not; some documents are there twice. */
static void test_loose__chains_of_versions_become_stars(void **state)
{
    (void)state;
    const struct family plan[] = {
        {FAMILY_CHAIN, 60, 400, 8, 0, 0, 0},  {FAMILY_CHAIN, 5, 400, 8, 0, 0, 0},
        {FAMILY_CHAIN, 200, 150, 3, 0, 0, 0}, {FAMILY_STAR, 40, 400, 8, 0, 0, 0},
        {FAMILY_CHAIN, 3, 400, 12, 0, 0, 0},  {FAMILY_NONE, 50, 300, 0, 0, 0, 0},
    };
    const double thresholds[] = {0.35, 0.5, 0.8};
    _cleanup_(families_free_p) struct families *families = NULL;
    struct world world;
    struct policy policy;
    assert_int_equal(policy_preset("default", &policy), 0);
    world_begin(&world, &policy);
    assert_int_equal(families_new(7, policy.w, plan, sizeof(plan) / sizeof(plan[0]), &families), 0);
    add_families(&world, families);
    add_families(&world, families); /* each once more: equal documents are of one star */
    for (unsigned i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++)
        for (unsigned center = 0; center < 2; center++)
            assert_true(expect_definition(&world, thresholds[i], center) >= 2);
    world_end(&world);
}

/* Of short chains some are loose as seen from one end and not from the middle. */
static void test_loose__the_first_by_order_says_whether_one_is_loose(void **state)
{
    (void)state;
    struct family plan[40];
    _cleanup_(families_free_p) struct families *families = NULL;
    struct world world;
    struct policy policy;
    for (unsigned i = 0; i < sizeof(plan) / sizeof(plan[0]); i++)
        plan[i] = (struct family){FAMILY_CHAIN, 5 + i % 8, 60, 2 + i % 2, 0, 0, 0};
    assert_int_equal(policy_preset("default", &policy), 0);
    world_begin(&world, &policy);
    assert_int_equal(families_new(10, policy.w, plan, sizeof(plan) / sizeof(plan[0]), &families),
                     0);
    add_families(&world, families);
    uint32_t n_divided = expect_definition(&world, 0.5, false);
    assert_in_range(n_divided, 1, sizeof(plan) / sizeof(plan[0]) - 1);
    world_end(&world);
}

static void test_loose__real_documents(void **state)
{
    (void)state;
    struct world world;
    struct policy policy;
    uint32_t n_divided = 0;
    assert_int_equal(policy_preset("default", &policy), 0);
    world_begin(&world, &policy);
    world_add_tree(&world, SOURCE_ROOT "/engine", part_of(400));
    world_add_tree(&world, SOURCE_ROOT "/tests/unit", part_of(200));
    world_add_tree(&world, "/usr/share/doc", part_of(1500));
    n_divided += expect_definition(&world, 0.25, false);
    n_divided += expect_definition(&world, 0.5, false);
    const uint32_t n_divided_whole = expect_definition(&world, 0.5, true);
    if (part_of(2) == 2) /* among a part there need be none */
        assert_true(n_divided > 0 && n_divided_whole > 0);
    world_end(&world);
}

/* Whatever memory and threads there are, sketches in memory or not, in either order. */
static void test_loose__stars_do_not_depend_on_memory_or_threads(void **state)
{
    (void)state;
    const struct family plan[] = {{FAMILY_CHAIN, 3000, 200, 4, 0, 0, 0},
                                  {FAMILY_CHAIN, 500, 200, 4, 1, 40, 20},
                                  {FAMILY_STAR, 500, 200, 4, 1, 40, 20}};
    _cleanup_(families_free_p) struct families *families = NULL;
    struct world world;
    struct policy policy;
    assert_int_equal(policy_preset("default", &policy), 0);
    world_begin(&world, &policy);
    assert_int_equal(families_new(8, policy.w, plan, 3, &families), 0);
    add_families(&world, families);
    struct batch_options options = world_options(scratch_group, world.n, BATCH_FAST, 0.5);
    _cleanup_(batch_free_p) struct batch *once = world_batch(&world, &options);
    assert_true(batch_totals(once)->loose.n_components > 0);
    assert_true(batch_totals(once)->loose.n_documents >= 3000);
    options.memory_bytes = batch_least_memory(world.n);
    options.n_threads = 1;
    _cleanup_(batch_free_p) struct batch *again = world_batch(&world, &options);
    assert_memory_equal(batch_clusters(once), batch_clusters(again), world.n * sizeof(uint32_t));
    world_end(&world);
}

/* -- containment -- */

struct ask {
    double resemblance, containment;
};

static bool has_value(const struct document_sketch *a, uint64_t value)
{
    const uint32_t n_v = min_sketch_n_v(&a->sketch), n = n_v > KEYS ? n_v : KEYS;
    for (uint32_t i = 0; i < n && i < a->sketch.n_values; i++)
        if (a->sketch.values[i] == value)
            return true;
    return false;
}

static bool contains(const struct document_sketch *a, const struct document_sketch *b, double share)
{
    struct estimate estimate;
    return min_sketch_containment(&a->sketch, &b->sketch, &estimate) == 0 &&
           estimate.value >= share;
}

static bool are_related(const struct document_sketch *a, const struct document_sketch *b,
                        void *user)
{
    const struct ask *ask = user;
    bool share = false;
    if (same_content(a, b))
        return true;
    for (uint32_t i = 0; i < a->sketch.n_values && has_value(a, a->sketch.values[i]); i++)
        share = share || has_value(b, a->sketch.values[i]);
    return share && ((ask->resemblance < 1 &&
                      slow_resemblance(&a->sketch, &b->sketch) >= ask->resemblance) ||
                     contains(a, b, ask->containment) || contains(b, a, ask->containment));
}

/* Parts of long documents, each of another length. */
static void add_parts(struct world *world)
{
    enum { LONG = 200000, PARTS = 4 };
    char *text = malloc(LONG * 8);
    assert_non_null(text);
    for (unsigned whole = 0; whole < 4; whole++) {
        size_t n = 0;
        for (unsigned i = 0; i < LONG / 8; i++)
            n += (size_t)sprintf(text + n, "w%u ", (whole * 7919 + i * 104729) % 99991);
        world_add(world, text, n);
        for (unsigned part = 1; part <= PARTS; part++)
            world_add(world, text + part * 500, n >> 2 * part);
    }
    free(text);
}

static void test_loose__parts_are_joined_to_what_contains_them(void **state)
{
    (void)state;
    const struct ask asks[] = {{0.5, 0.9}, {0.9, 0.5}, {1, 0.9}};
    struct world world;
    struct policy policy;
    assert_int_equal(policy_preset("default", &policy), 0);
    world_begin(&world, &policy);
    add_parts(&world);
    world_add_tree(&world, SOURCE_ROOT "/engine", 300);
    for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
        struct ask ask = asks[i];
        struct batch_options options =
            world_options(scratch_group, world.n, BATCH_FAST, ask.resemblance);
        options.whole = true;
        _cleanup_(batch_free_p) struct batch *without = world_batch(&world, &options);
        options.containment = ask.containment;
        _cleanup_(batch_free_p) struct batch *batch = world_batch(&world, &options);
        _cleanup_free_ uint32_t *expected = world_clusters(&world, are_related, &ask);
        assert_true(batch_totals(batch)->n_clustered > batch_totals(without)->n_clustered);
        for (uint32_t k = 0; k < world.n; k++)
            if (batch_clusters(batch)[k] != expected[k])
                fail_msg("document %u, ask %zu: cluster %u, expected %u", k, i,
                         batch_clusters(batch)[k], expected[k]);
    }
    world_end(&world);
}

/* -- long lists -- */

struct keyed {
    uint64_t key;
    uint32_t document;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

/* Joins each document of a list with the first n_held. */
static void join_list(const struct world *world, const struct keyed *list, uint32_t n,
                      uint32_t n_held, double threshold, uint32_t *cluster)
{
    for (uint32_t i = 0; i < n_held; i++)
        for (uint32_t j = i + 1; j < n; j++) {
            uint32_t a = cluster[list[i].document], b = cluster[list[j].document];
            if (a == b || !reaches(&world->documents[list[i].document],
                                   &world->documents[list[j].document], &threshold))
                continue;
            for (uint32_t x = 0; x < world->n; x++)
                if (cluster[x] == (a > b ? a : b))
                    cluster[x] = a > b ? b : a;
        }
}

/* The edges of the definition, list by list: in one of more than `most` documents each has edges
 * to the first ones alone. */
static uint32_t *clusters_by_lists(const struct world *world, uint32_t most, double threshold)
{
    uint32_t *cluster = calloc(world->n, sizeof(*cluster));
    struct keyed *lists = calloc((size_t)world->n * KEYS, sizeof(*lists));
    size_t n_lists = 0;
    assert_true(cluster && lists);
    for (uint32_t i = 0; i < world->n; i++) {
        cluster[i] = i;
        for (uint32_t k = 0; k < KEYS && k < world->documents[i].sketch.n_values; k++)
            lists[n_lists++] = (struct keyed){world->documents[i].sketch.values[k], i};
    }
    qsort(lists, n_lists, sizeof(*lists), by_key);
    for (size_t at = 0, end; at < n_lists; at = end) {
        for (end = at + 1; end < n_lists && lists[end].key == lists[at].key;)
            end++;
        const uint32_t n = (uint32_t)(end - at);
        join_list(world, lists + at, n, n > most ? HEADS : n, threshold, cluster);
    }
    free(lists);
    return cluster;
}

/* Documents that begin alike, and little else: one list of them all, and its heads,
 * whether it comes in one piece or, of more documents than a thread has room for, in several. */
static void expect_by_heads(uint32_t n_alone, uint32_t n_chain, uint32_t most)
{
    const struct family plan[] = {{FAMILY_NONE, n_alone, 20, 0, 1, 12, 0},
                                  {FAMILY_CHAIN, n_chain, 30, 1, 1, 12, 0}};
    _cleanup_(families_free_p) struct families *families = NULL;
    struct world world;
    struct policy policy;
    assert_int_equal(policy_preset("default", &policy), 0);
    world_begin(&world, &policy);
    assert_int_equal(families_new(9, policy.w, plan, 2, &families), 0);
    add_families(&world, families);
    struct batch_options options = world_options(scratch_group, world.n, BATCH_FAST, 0.5);
    options.whole = true;
    options.most_compared = most;
    _cleanup_(batch_free_p) struct batch *batch = world_batch(&world, &options);
    _cleanup_free_ uint32_t *expected = clusters_by_lists(&world, most, 0.5);
    assert_true(batch_totals(batch)->lists.n_shortened > 0);
    assert_true(batch_totals(batch)->n_clusters > 0);
    for (uint32_t i = 0; i < world.n; i++)
        if (batch_clusters(batch)[i] != expected[i])
            fail_msg("document %u: cluster %u, expected %u", i, batch_clusters(batch)[i],
                     expected[i]);
    world_end(&world);
}

static void test_loose__a_long_list_is_compared_with_its_heads(void **state)
{
    (void)state;
    expect_by_heads(1200, 300, MOST_COMPARED);
}

static void test_loose__a_list_in_several_pieces_has_the_heads_of_all(void **state)
{
    (void)state;
    expect_by_heads(9000, 300, MOST_COMPARED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loose__chains_of_versions_become_stars),
        cmocka_unit_test(test_loose__the_first_by_order_says_whether_one_is_loose),
        cmocka_unit_test(test_loose__real_documents),
        cmocka_unit_test(test_loose__stars_do_not_depend_on_memory_or_threads),
        cmocka_unit_test(test_loose__parts_are_joined_to_what_contains_them),
        cmocka_unit_test(test_loose__a_long_list_is_compared_with_its_heads),
        cmocka_unit_test(test_loose__a_list_in_several_pieces_has_the_heads_of_all),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
