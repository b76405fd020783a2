/* The third phase as the paper has it: lists, pairs and counts, and the cap on lists. */
#include "tests/unit/engine/cluster/batch_world.h"

#include "tests/lib/scratch.h"

struct literal {
    const struct world *world;
    double threshold;
    uint32_t cap;
};

/* In how many documents, of which equal ones count once, a value of V is. */
static uint32_t frequency(const struct world *world, uint64_t value)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < world->n; i++) {
        const struct document_sketch *document = &world->documents[i];
        bool has = false, first = true;
        for (uint32_t j = 0, n_v = min_sketch_n_v(&document->sketch); j < n_v && !has; j++)
            has = document->sketch.values[j] == value;
        for (uint32_t j = 0; has && first && j < i; j++)
            first = !same_fingerprint(document, &world->documents[j]);
        n += has && first;
    }
    return n;
}

/* By the definition, at the longer one's modulus: the common values of V among all, |V| + |V| less
 * the common ones; of which those that more documents than the cap have are left out. */
static bool resembles_literally(const struct document_sketch *a, const struct document_sketch *b,
                                void *user)
{
    const struct literal *literal = user;
    const struct min_sketch *x = &a->sketch, *y = &b->sketch;
    if (x->n_values == 0 || y->n_values == 0)
        return same_content(a, b);
    if (same_fingerprint(a, b))
        return true;
    uint64_t below = x->v_below - 1 < y->v_below - 1 ? x->v_below : y->v_below;
    uint32_t both = 0, n_x = 0, n_y = 0;
    while (n_x < x->n_values && x->values[n_x] <= below - 1)
        n_x++;
    while (n_y < y->n_values && y->values[n_y] <= below - 1)
        n_y++;
    for (uint32_t i = 0; i < n_x; i++)
        for (uint32_t j = 0; j < n_y; j++)
            both += x->values[i] == y->values[j] &&
                    (literal->cap >= literal->world->n ||
                     frequency(literal->world, x->values[i]) <= literal->cap);
    return both > 0 && (double)both / (n_x + n_y - both) >= literal->threshold;
}

/* C3, C4, C5, C17: lists, pairs and counts give what counting the common values of all pairs gives,
 * also where long documents have V of a smaller modulus (B9), and with a cap (C11) */
static void test_batch__broder1997_is_counting_common_values(void **state)
{
    (void)state;
    const uint32_t caps[] = {1000, 3};
    struct policy policy = preset("broder1997");
    policy.m = 4; /* V of more than v_max values: of another modulus */
    policy.v_max = policy.s;
    struct world world;
    _cleanup_(planted_free_p) struct planted *planted = NULL;
    world_begin(&world, &policy);
    assert_int_equal(planted_new(4, 3000, policy.w, &planted), 0);
    unsigned other_modulus = 0;
    for (uint32_t i = 0; i < 3000 && world.n < 160; i++) {
        struct planted_document document;
        planted_describe(planted, i, &document);
        if (document.cluster_size < 6)
            continue;
        world_add_planted(&world, planted, i, 1);
        other_modulus += world.documents[world.n - 1].sketch.v_below == (uint64_t)1 << 61;
    }
    assert_true(world.n == 160 && other_modulus > 10 && other_modulus < 150);
    for (unsigned i = 0; i < 2; i++) {
        struct batch_options options = world_options(scratch_group, world.n, BATCH_BRODER1997, 0.5);
        options.cap = caps[i];
        _cleanup_(batch_free_p) struct batch *batch = world_batch_together(&world, &options);
        struct literal literal = {&world, 0.5, caps[i]};
        _cleanup_free_ uint32_t *expected = world_clusters(&world, resembles_literally, &literal);
        expect_clusters(batch, expected, world.n);
        const struct batch_totals *totals = batch_totals(batch);
        assert_true(totals->n_clusters > 5 && totals->lists.n_counted > 50);
        assert_true(totals->lists.n_pairs > totals->lists.n_counted);
        assert_int_equal(totals->lists.n_left_out > 0, caps[i] == 3);
    }
    world_end(&world);
}

/* C11: a cluster of more near-identical documents than the cap loses all its pairs, and says so;
 * the other modes find it, also where they compare with heads only */
static void test_batch__cap_loses_a_large_cluster(void **state)
{
    (void)state;
    enum { N = 300 };
    struct world world;
    const struct policy policy = preset("default");
    world_begin(&world, &policy);
    for (unsigned i = 0; i < N; i++) {
        char *text = scratch_text(7, i, 800, 20);
        world_add(&world, text, strlen(text));
        free(text);
    }
    for (enum batch_mode mode = 0; mode < BATCH_N_MODES; mode++) {
        struct batch_options options = world_options(scratch_group, world.n, mode, 0.5);
        options.cap = 100;
        options.most_compared = 50;
        _cleanup_(batch_free_p) struct batch *batch = world_batch_together(&world, &options);
        const struct batch_totals *totals = batch_totals(batch);
        assert_int_equal(totals->equivalence.n_nodes, N);
        if (mode == BATCH_SUPERSHINGLE)
            continue; /* compares nothing, and has no cap */
        if (mode == BATCH_BRODER1997) {
            assert_int_equal(totals->n_clusters, 0);
            assert_true(totals->lists.n_left_out > 10);
            assert_true(totals->lists.n_postings_left_out > 100 * totals->lists.n_left_out);
        } else {
            assert_int_equal(totals->n_clusters, 1);
            assert_int_equal(totals->largest, N);
            assert_true(totals->lists.n_shortened > 0);
        }
    }
    world_end(&world);
}

/* C11: the paper's cap of 1,000, where none is given: what so many documents share is counted, what
 * one more has is left out. Each has 4 shingles of 10 words, of which it shares 3 with all. */
static void test_batch__cap_is_1000_documents(void **state)
{
    (void)state;
    for (unsigned n = 1000; n <= 1001; n++) {
        struct world world;
        struct policy policy = preset("broder1997");
        policy.m = 1;
        world_begin(&world, &policy);
        for (unsigned i = 0; i < n; i++) {
            char text[128];
            int size = snprintf(text, sizeof(text), "a b c d e f g h i j k l own%u", i);
            world_add(&world, text, (size_t)size);
        }
        struct batch_options options = world_options(scratch_group, world.n, BATCH_BRODER1997, 0.5);
        _cleanup_(batch_free_p) struct batch *batch = world_batch_together(&world, &options);
        const struct batch_totals *totals = batch_totals(batch);
        bool counted = n == 1000;
        assert_int_equal(totals->largest, counted ? n : 0);
        assert_int_equal(totals->lists.n_left_out, counted ? 0 : 3);
        assert_int_equal(totals->lists.n_postings_left_out, counted ? 0 : 3 * n);
        assert_int_equal(totals->lists.n_pairs, counted ? 3 * (n * (n - 1) / 2) : 0);
        world_end(&world);
    }
}

/* C5: each pair has its own count: of 3 documents any two have 3 of 5 shingles in common. */
static void test_batch__broder1997_counts_each_pair_by_itself(void **state)
{
    (void)state;
    struct world world;
    struct policy policy = preset("broder1997");
    policy.m = 1;
    world_begin(&world, &policy);
    world_add(&world, "a b c d e f g h i j k l one", 27);
    world_add(&world, "a b c d e f g h i j k l two", 27);
    world_add(&world, "a b c d e f g h i j k l six", 27);
    for (unsigned above = 0; above < 2; above++) {
        struct batch_options options =
            world_options(scratch_group, world.n, BATCH_BRODER1997, above ? 0.601 : 0.6);
        _cleanup_(batch_free_p) struct batch *batch = world_batch_together(&world, &options);
        assert_int_equal(batch_totals(batch)->n_clustered, above ? 0 : 3);
    }
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch__broder1997_is_counting_common_values),
        cmocka_unit_test(test_batch__cap_loses_a_large_cluster),
        cmocka_unit_test(test_batch__cap_is_1000_documents),
        cmocka_unit_test(test_batch__broder1997_counts_each_pair_by_itself),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
