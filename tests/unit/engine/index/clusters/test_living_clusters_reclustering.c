/* Clusters that are dirty, clustered anew. */
#include "engine/index/clusters/living_clusters_private.h"
#include "engine/index/clusters/recluster_private.h"
#include "tests/lib/histories/cluster_histories.h"

/* What a delete leaves to be reclustered is, afterwards, what it would have made itself, ids
 * included.
 */
static void test_living_clusters__a_reclustering_does_what_a_delete_would_have_done(void **state)
{
    (void)state;
    unsigned n_reclusterings = 0;
    for (uint64_t seed = 700; seed < 720; seed++) {
        struct world world;
        world_open_reclustering(&world, seed);
        for (unsigned i = 0; i < 150; i++) {
            struct world_step step = world_choose(&world, 25);
            assert_int_equal(world_do(&world, &step), 0);
            n_reclusterings += living_clusters_n_dirty(world.clusters) > 0;
            assert_int_equal(world_recluster(&world), 0);
            assert_int_equal(living_clusters_n_dirty(world.clusters), 0);
            world_model_step(&world, &step);
            world_check(&world);
        }
        assert_int_equal(living_clusters_flush_postings(world.clusters), 0);
        assert_int_equal(world_count_rows(&world, TABLE_INTENTS), 0);
        world_close(&world);
    }
    assert_true(n_reclusterings > 50);
}

/* Changes between any two steps of a reclustering, and new processes: at its end the clusters are
 * right. In every other world it is as if many runs before had found something void.
 */
static void test_living_clusters__a_reclustering_holds_over_changes_and_restarts(void **state)
{
    (void)state;
    unsigned n_amid = 0, n_divided = 0;
    for (uint64_t i_seed = 0; i_seed < 40; i_seed++) {
        struct world world;
        world_open_reclustering(&world, i_seed < 20 ? 800 + i_seed : WORLD_DIVIDED + i_seed);
        for (unsigned i = 0; i < 200; i++) {
            struct world_step step = world_choose(&world, 25);
            assert_int_equal(world_do(&world, &step), 0);
            for (unsigned k = 0; k < step.n_new; k++)
                step.new[k]->live = true;
            for (unsigned k = 0; k < step.n_old; k++)
                step.old[k]->live = false;
            struct recluster *run = world.clusters->run;
            for (uint64_t n = world_random(&world, 12); n > 0; n--) {
                if (run->phase == RECLUSTER_NOT_BEGUN && i_seed & 2)
                    run->n_void = RECLUSTER_RUNS;
                assert_true(living_clusters_recluster(world.clusters) >= 0);
            }
            n_amid += living_clusters_n_dirty(world.clusters) > 0;
            if (i % 13 == 0) {
                world_restart(&world, NULL);
            }
            if (i % 17 == 0) {
                assert_int_equal(world_recluster(&world), 0);
                world.n_aliases = 0; /* the model does not follow */
                world_check_partition(&world);
            }
        }
        n_divided += world.n_divided;
        world_close(&world);
    }
    assert_true(n_amid > 100 && n_divided > 0);
}

/* A document was in no cluster when a list of it was looked at, and in one when the next was; then
 * another one took its place in that, which has as many as before. */
static void test_living_clusters__a_reclustering_holds_over_who_is_met_twice(void **state)
{
    struct world world;
    (void)state;
    world_open(&world, 1, &no_fault);
    struct world_document *x = write_tokens(&world, 1, 30);
    world_insert(&world, x);
    struct dirty *dirty = world.clusters->graph->dirty;
    assert_int_equal(dirty_mark_lists(dirty, x->record.sketch.values, 2), 0);
    assert_int_equal(living_clusters_recluster(world.clusters), 1);
    struct world_step steps[] = {{.new = {write_tokens(&world, 1, 30)}, .n_new = 1},
                                 {.new = {write_tokens(&world, 1, 30)}, .n_new = 1},
                                 {.old = {x}, .n_old = 1}};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(world_do(&world, &steps[i]), 0);
        world_model_step(&world, &steps[i]);
        for (unsigned k = 0; i == 0 && k < 2; k++) /* the second list, and its cluster */
            assert_int_equal(living_clusters_recluster(world.clusters), 1);
    }
    assert_int_equal(world_recluster(&world), 0);
    world_check(&world);
    world_close(&world);
}

/* Four documents with one fingerprint in common, of which more than three make a list long: when
 * one goes, the last two are compared. After some steps one of these goes as well, or is rewritten.
 */
static void recluster_amid_loners(unsigned n_steps, bool rewritten)
{
    const struct world_stretch texts[4][3] = {{{1, 1}, {1000, 40}, {0}},
                                              {{1, 1}, {2000, 40}, {0}},
                                              {{1, 1}, {100, 20}, {5000, 40}},
                                              {{1, 1}, {200, 20}, {5000, 40}}};
    struct world_document *documents[4];
    struct world world;
    world_open(&world, WORLD_LONG_LISTS, &no_fault);
    world_stop(&world);
    world.bounds = (struct cluster_bounds){.most_compared = 3, .n_heads = 1, 64};
    world.policy.s = world.policy.v_max = 128; /* exact */
    min_sketch_builder_free(world.builder);
    assert_int_equal(min_sketch_builder_new(&world.policy, &world.builder), 0);
    world_start(&world, &no_fault);
    for (unsigned i = 0; i < 4; i++)
        world_insert(&world, documents[i] = world_new_of_stretches(&world, texts[i], 3));
    assert_int_equal(world_id_of(&world, documents[3]), 0);
    struct world_step step = {.old = {documents[1]}, .n_old = 1};
    assert_int_equal(world_do(&world, &step), 0);
    world_model_step(&world, &step);
    for (unsigned i = 0; i < n_steps; i++)
        assert_true(living_clusters_recluster(world.clusters) >= 0);
    step = (struct world_step){.old = {documents[2]}, .n_old = 1, .n_new = rewritten};
    if (rewritten)
        step.new[0] = world_new_of_stretches(&world, texts[2], 3);
    assert_int_equal(world_do(&world, &step), 0);
    world_model_step(&world, &step);
    assert_int_equal(world_recluster(&world), 0);
    assert_int_equal(world_id_of(&world, documents[3]) != 0, rewritten);
    world_check_partition(&world);
    world_close(&world);
}

static void
test_living_clusters__a_reclustering_holds_over_who_is_in_no_cluster_and_goes(void **state)
{
    (void)state;
    for (unsigned n_steps = 0; n_steps < 8; n_steps++) {
        recluster_amid_loners(n_steps, false);
        recluster_amid_loners(n_steps, true);
    }
}

/* Two clusters are to be one by a document of both. When they are gathered, very many documents
 * come into the smaller one; and it is as if many runs before had found something void. */
static void test_living_clusters__no_step_moves_all_that_has_come_since(void **state)
{
    enum { N_LEFT = 8, N_RIGHT = 7, N_MORE = MOVE_PLAN_STEP_MAX + 190 };
    struct world world;
    uint64_t before, after, id;
    struct world_document *left = NULL, *right = NULL;
    (void)state;
    world_open_reclustering(&world, 1);
    world.policy.s = world.policy.v_max = 64; /* exact */
    min_sketch_builder_free(world.builder);
    assert_int_equal(min_sketch_builder_new(&world.policy, &world.builder), 0);
    for (unsigned i = 0; i < N_LEFT; i++)
        world_insert(&world, left = write_tokens(&world, 1, 22));
    for (unsigned i = 0; i < N_RIGHT; i++)
        world_insert(&world, right = write_tokens(&world, 21, 22));
    struct recluster *run = world.clusters->run;
    for (unsigned i = 0; i <= N_MORE; i++) {
        const struct world_step step = {.new = {write_tokens(&world, i ? 21 : 1, i ? 22 : 42)},
                                        .n_new = 1};
        assert_int_equal(world_do(&world, &step), 0); /* first the document of both */
        step.new[0]->live = true;
        while (i == 0 && run->phase != RECLUSTER_LINKING)
            assert_int_equal(living_clusters_recluster(world.clusters), 1);
    }
    run->n_void = RECLUSTER_RUNS;
    id = world_id_of(&world, left);
    assert_int_not_equal(world_id_of(&world, right), id);
    while (run->phase != RECLUSTER_NOT_BEGUN) {
        assert_int_equal(membership_size(world.clusters->graph->membership, id, &before), 0);
        assert_int_equal(living_clusters_recluster(world.clusters), 1);
        assert_int_equal(membership_size(world.clusters->graph->membership, id, &after), 0);
        assert_in_range(after, before, before + MOVE_PLAN_STEP_MAX);
    }
    assert_int_equal(world_recluster(&world), 0);
    world_check_partition(&world);
    world_close(&world);
}

/* As a posting of a document that is no more: it is passed over. */
static void test_living_clusters__a_posting_too_many_is_no_work_without_end(void **state)
{
    struct world world;
    int r = 1;
    (void)state;
    world_open(&world, 1, &no_fault);
    struct world_document *document = write_tokens(&world, 1, 30);
    world_insert(&world, document);
    const struct min_sketch *sketch = &document->record.sketch;
    assert_int_equal(postings_add(world.postings, 77, sketch), 0);
    assert_int_equal(dirty_mark_lists(world.clusters->graph->dirty, sketch->values, 1), 0);
    for (unsigned i = 0; i < 100 && r > 0; i++)
        r = living_clusters_recluster(world.clusters);
    assert_int_equal(r, 0);
    world_check(&world);
    world_close(&world);
}

/* A row of a cluster that nothing else knows of: clustering it anew comes to nothing, which is said
 * rather than tried for ever. */
static void test_living_clusters__a_row_too_many_is_no_work_without_end(void **state)
{
    enum { N = 4 };
    struct world world;
    struct world_document *documents[N];
    struct member member;
    uint8_t key[MEMBER_KEY_MAX_BYTES];
    int r;
    (void)state;

    world_open_reclustering(&world, 800);
    for (unsigned i = 0; i < N; i++)
        world_insert(&world, documents[i] = write_tokens(&world, 1 + i, 30));
    struct world_document *elsewhere = write_tokens(&world, 100, 30);
    world_insert(&world, elsewhere);
    world_check(&world);
    member_init(&member, elsewhere->sid, &elsewhere->record);
    struct kv_batch *batch = kv_batch_new();
    kv_batch_put(batch, TABLE_MEMBERS, member_key(key, world_id_of(&world, documents[0]), &member),
                 (struct kv_slice){"", 0});
    assert_int_equal(kv_apply(world.inner, batch), 0);
    kv_batch_free(batch);
    const struct world_step step = {.old = {documents[N - 1]}, .n_old = 1};
    assert_int_equal(world_do(&world, &step), 0);
    for (unsigned i = 0; i < 100 && (r = living_clusters_recluster(world.clusters)) > 0; i++)
        ;
    assert_int_equal(r, -EUCLEAN);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_living_clusters__a_reclustering_does_what_a_delete_would_have_done),
        cmocka_unit_test(test_living_clusters__a_reclustering_holds_over_changes_and_restarts),
        cmocka_unit_test(test_living_clusters__a_reclustering_holds_over_who_is_met_twice),
        cmocka_unit_test(
            test_living_clusters__a_reclustering_holds_over_who_is_in_no_cluster_and_goes),
        cmocka_unit_test(test_living_clusters__no_step_moves_all_that_has_come_since),
        cmocka_unit_test(test_living_clusters__a_posting_too_many_is_no_work_without_end),
        cmocka_unit_test(test_living_clusters__a_row_too_many_is_no_work_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
