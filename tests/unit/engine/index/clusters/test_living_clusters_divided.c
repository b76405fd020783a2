/* Components of living clusters that are large and loose are divided. */
#include "engine/index/clusters/living_clusters_private.h"
#include "engine/index/clusters/recluster_private.h"
#include "tests/lib/histories/cluster_histories.h"
#include "tests/lib/share.h"

enum { SEEDS = 12 };

/* Whatever comes and goes, loose components are their stars, and others are whole. */
static void test_living_clusters__loose_ones_are_divided_over_any_history(void **state)
{
    (void)state;
    unsigned n_divided = 0;
    for (uint64_t seed = 1; seed <= part_of(SEEDS); seed++) {
        struct world world;
        world_open(&world, WORLD_DIVIDED + seed, &no_fault);
        world_run(&world, 200, 60);
        n_divided += world.n_divided;
    }
    assert_true(n_divided > part_of(100));
}

/* A step. Returns whether it was a whole run. */
static bool step_is_a_run(struct world *world)
{
    const struct recluster *run = world->clusters->run;
    const bool begins =
        run->phase == RECLUSTER_NOT_BEGUN && living_clusters_n_dirty(world->clusters) > 0;
    assert_true(living_clusters_recluster(world->clusters) >= 0);
    return begins && run->phase == RECLUSTER_NOT_BEGUN;
}

/* Pieces of one long text come between any few steps of a reclustering; or others go, or both.
 * Returns how many runs were done at a stretch. */
static unsigned stream_into_a_loose_one(uint64_t seed, bool goes_too, unsigned *n_divided)
{
    enum { PIECES = 110, CHANGES = 120, LENGTH = 24, STEP = 3 };
    struct world world;
    unsigned n_stretches = 0;
    world_open(&world, seed, &no_fault);
    world_stop(&world);
    world.bounds.at_once = 1;
    world_start(&world, &no_fault);
    for (unsigned i = 0; i < PIECES + CHANGES; i++) {
        const unsigned from = 1 + STEP * (unsigned)(i < PIECES ? i : world_random(&world, PIECES));
        const bool goes = goes_too && i >= PIECES && world_random(&world, 3);
        struct world_step step = {0};
        if (goes)
            step.old[step.n_old++] = world_pick(&world);
        if (!goes || world_random(&world, 2))
            step.new[step.n_new++] = write_tokens(&world, from, LENGTH - (unsigned)(i % 2));
        assert_int_equal(world_do(&world, &step), 0);
        for (unsigned k = 0; k < step.n_new; k++)
            step.new[k]->live = true;
        for (unsigned k = 0; k < step.n_old; k++)
            step.old[k]->live = false;
        if (i + 1 == PIECES || i % 40 == 0) {
            assert_int_equal(world_recluster(&world), 0);
            world_check_partition(&world);
        }
        for (uint64_t n = i < PIECES && !goes_too ? 0 : world_random(&world, 80); n > 0; n--)
            n_stretches += step_is_a_run(&world);
    }
    assert_int_equal(world_recluster(&world), 0);
    world_check_partition(&world);
    world_restart(&world, NULL); /* and inserts all again */
    assert_int_equal(living_clusters_n_dirty(world.clusters), 0);
    world_check_partition(&world);
    *n_divided += world.n_divided;
    world_close(&world);
    return n_stretches;
}

/* A component that changes all the time holds nothing up, and is divided all the same. */
static void test_living_clusters__a_stream_into_a_loose_one_is_no_work_at_a_stretch(void **state)
{
    unsigned n_divided = 0, n_stretches = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= part_of(SEEDS); seed++) {
        n_stretches += stream_into_a_loose_one(WORLD_DIVIDED + seed, false, &n_divided);
        n_stretches += stream_into_a_loose_one(WORLD_DIVIDED + seed, true, &n_divided);
    }
    assert_int_equal(n_stretches, 0);
    assert_true(n_divided > part_of(100));
}

/* A version of one half takes the place of another between any few steps, so that all of these
 * find something changed. The halves are one cluster by a document of both, which has gone. */
static void test_living_clusters__nor_is_one_into_a_cluster_that_falls_apart(void **state)
{
    enum { HALF = 20, STEPS = 4, CHANGES = 400 };
    struct world world;
    struct world_document *left[HALF], *right = NULL;
    unsigned n_changes = 0;
    (void)state;
    world_open_reclustering(&world, 1);
    world.policy.s = world.policy.v_max = 64; /* exact */
    min_sketch_builder_free(world.builder);
    assert_int_equal(min_sketch_builder_new(&world.policy, &world.builder), 0);
    for (unsigned i = 0; i < HALF; i++)
        world_insert(&world, left[i] = write_tokens(&world, 1, 22 - i % 2));
    for (unsigned i = 0; i < HALF; i++)
        world_insert(&world, right = write_tokens(&world, 21, 22 - i % 2));
    struct world_document *bridge = write_tokens(&world, 1, 42);
    world_insert(&world, bridge);
    const uint64_t id = world_id_of(&world, right);
    assert_int_equal(world_id_of(&world, left[0]), id);
    struct world_step step = {.old = {bridge}, .n_old = 1};
    assert_int_equal(world_do(&world, &step), 0);
    bridge->live = false;
    for (; n_changes < CHANGES &&
           world_id_of(&world, right) == world_id_of(&world, left[n_changes % HALF]);
         n_changes++) {
        struct world_document **old = &left[(n_changes + 1) % HALF];
        for (unsigned k = 0; k < STEPS; k++)
            assert_false(step_is_a_run(&world));
        step = (struct world_step){.old = {*old}, .n_old = 1, .n_new = 1};
        step.new[0] = write_tokens(&world, 1, 22 - n_changes % 2);
        assert_int_equal(world_do(&world, &step), 0);
        (*old)->live = false;
        *old = step.new[0];
        (*old)->live = true;
        assert_true(living_clusters_n_dirty(world.clusters) > 0);
    }
    assert_in_range(n_changes, 1, CHANGES - 1); /* the halves are apart, and nothing ever rested */
    assert_int_equal(world_recluster(&world), 0);
    world_check_partition(&world);
    world_close(&world);
}

/* All have their smallest values in common, and otherwise pieces of one long text; so each centre
 * has the same keys, and nodes that are far from the first of them are by themselves. */
static void test_living_clusters__of_very_many_centres_with_a_key_the_first_are_asked(void **state)
{
    enum { N = 400, STEP = 6, LENGTH = 20 };
    struct world world;
    unsigned cluster[WORLD_DOCUMENTS], n_in_divided = 0, n_alone = 0;
    (void)state;
    world_open(&world, WORLD_DIVIDED, &no_fault);
    world.policy.s = world.policy.v_max = 64; /* exact */
    min_sketch_builder_free(world.builder);
    assert_int_equal(min_sketch_builder_new(&world.policy, &world.builder), 0);
    for (unsigned i = 0; i < N; i++) {
        const struct world_stretch stretches[] = {{1, POSTINGS_TIER_R_KEYS},
                                                  {1000 + i * STEP, LENGTH}};
        const struct world_step step = {.new = {world_new_of_stretches(&world, stretches, 2)},
                                        .n_new = 1};
        assert_int_equal(world_do(&world, &step), 0);
        step.new[0]->live = true;
    }
    assert_int_equal(world_recluster(&world), 0);
    world_check_partition(&world);
    assert_int_equal(world_clusters(&world, cluster, &n_in_divided), 1);
    assert_int_equal(n_in_divided, N);
    for (unsigned i = 1; i <= N; i++) { /* which would not be, were all asked */
        unsigned n = 0;
        for (unsigned k = 1; k <= N; k++)
            n += cluster[k] == cluster[i];
        n_alone += n == 1;
    }
    assert_in_range(n_alone, N / 10, N);
    world_close(&world);
}

/* Of one text, but for a word. */
static struct world_document *write_version(struct world *world, unsigned number)
{
    struct world_document *document = write_tokens(world, 1, 30);
    record_done(&document->record);
    document->tokens[number % 30] = 1000 + number;
    world_finish_document(world, document);
    return document;
}

/* In a cluster of more documents than are looked at during an insert. Returns whether it comes
 * before all others by rank, so that these are looked at behind. */
static bool insert_version(struct world *world, struct world_document *document)
{
    bool is_first = true;
    for (unsigned i = 0; i < world->n_documents; i++)
        if (world->documents[i].live)
            is_first &= stars_order(&document->record.sketch) <
                        stars_order(&world->documents[i].record.sketch);
    const struct world_step step = {.new = {document}, .n_new = 1};
    assert_int_equal(world_do(world, &step), 0);
    document->live = true;
    return is_first;
}

/* A copy of each document takes its place, and a new version comes; then a new process does it all
 * again. */
static void test_living_clusters__what_is_known_of_a_large_cluster_outlives_copies(void **state)
{
    enum { N = 300, N_COPIED = 40 };
    struct world world;
    struct world_document *versions[N];
    (void)state;
    world_open(&world, WORLD_DIVIDED, &no_fault);
    for (unsigned i = 0; i < N; i++) {
        (void)insert_version(&world, versions[i] = write_version(&world, i));
        assert_int_equal(world_recluster(&world), 0);
    }
    for (unsigned i = 1; i < N; i++) /* the first by order is among those that go */
        if (stars_order(&versions[i]->record.sketch) < stars_order(&versions[0]->record.sketch)) {
            struct world_document *version = versions[i];
            versions[i] = versions[0];
            versions[0] = version;
        }
    for (unsigned i = 0; i < N_COPIED; i++) {
        struct world_document *copy = world_new_document(&world);
        copy->n_tokens = versions[i]->n_tokens;
        memcpy(copy->tokens, versions[i]->tokens, sizeof(copy->tokens));
        copy->content = world.n_documents;
        world_finish_document(&world, copy);
        (void)insert_version(&world, copy);
        const struct world_step step = {.old = {versions[i]}, .n_old = 1};
        assert_int_equal(world_do(&world, &step), 0);
        versions[i]->live = false;
        assert_int_equal(living_clusters_n_dirty(world.clusters), 0);
        const bool is_first = insert_version(&world, write_version(&world, N + i));
        assert_int_equal(living_clusters_n_dirty(world.clusters), is_first);
        assert_int_equal(world_recluster(&world), 0);
    }
    world_restart(&world, NULL);
    assert_int_equal(living_clusters_n_dirty(world.clusters), 0);
    world_check_partition(&world);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_living_clusters__loose_ones_are_divided_over_any_history),
        cmocka_unit_test(test_living_clusters__a_stream_into_a_loose_one_is_no_work_at_a_stretch),
        cmocka_unit_test(test_living_clusters__nor_is_one_into_a_cluster_that_falls_apart),
        cmocka_unit_test(test_living_clusters__of_very_many_centres_with_a_key_the_first_are_asked),
        cmocka_unit_test(test_living_clusters__what_is_known_of_a_large_cluster_outlives_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
