/* Documents that are put off, as those of a first scan are: at the end their clusters are right. */
#include "engine/index/clusters/living_clusters_private.h"
#include "engine/index/clusters/recluster_private.h"
#include "tests/lib/histories/cluster_histories.h"

/* What happened is known to the slow way; the model of ids does not follow. */
static void note_step(struct world *world, const struct world_step *step)
{
    for (unsigned k = 0; k < step->n_new; k++)
        step->new[k]->live = true;
    for (unsigned k = 0; k < step->n_old; k++)
        step->old[k]->live = false;
    world->n_aliases = 0;
}

static bool is_put_off(const struct world *world)
{
    return living_clusters_is_dirty(world->clusters, 0);
}

static void check_rested(struct world *world)
{
    assert_int_equal(world_recluster(world), 0);
    assert_false(is_put_off(world));
    assert_int_equal(living_clusters_n_dirty(world->clusters), 0);
    world_check_partition(world);
}

/* Most of what comes amid moves goes: there it is that a document may hold others together that
 * have been told where they belong. */
static struct world_step choose(struct world *world, unsigned n_target, bool is_moving)
{
    struct world_document *old = is_moving && world_random(world, 4) ? world_pick(world) : NULL;
    return old ? (struct world_step){.old = {old}, .n_old = 1} : world_choose(world, n_target);
}

/* Changes between any two steps, and new processes. Of every other run few documents move at a
 * step, so that others go amid that; of every other world very many come before the first step.
 * Whatever comes or goes, a run goes on. */
static void test_living_clusters_put_off__clusters_are_right_after_any_changes(void **state)
{
    (void)state;
    unsigned n_linking = 0, n_moving = 0, n_placing = 0, n_divided = 0;
    for (uint64_t seed = WORLD_DIVIDED; seed < WORLD_DIVIDED + 120; seed++) {
        struct world world;
        world_open(&world, seed, &no_fault);
        for (unsigned i = 0; i < 290; i++) {
            struct recluster *run = world.clusters->run;
            if (i % 80 == 0)
                assert_int_equal(living_clusters_put_off(world.clusters), 0);
            const bool is_run = is_put_off(&world) && run->phase != RECLUSTER_NOT_BEGUN;
            struct world_step step = choose(&world, seed & 8 ? 30 : 120,
                                            is_put_off(&world) && run->phase == RECLUSTER_MOVING);
            n_linking += is_put_off(&world) && run->phase == RECLUSTER_LINKING && step.n_old > 0;
            n_moving += is_put_off(&world) && run->phase == RECLUSTER_MOVING && step.n_old > 0;
            assert_int_equal(world_do(&world, &step), 0);
            note_step(&world, &step);
            assert_true(!is_run || run->phase != RECLUSTER_NOT_BEGUN);
            for (uint64_t n = i % 80 > 10 && !(i < 80 && seed & 4) ? world_random(&world, 6) : 0;
                 n > 0; n--) {
                const uint64_t placed = world.clusters->placed_sid;
                if (run->phase == RECLUSTER_MOVING && seed & 2)
                    run->plan.a_step = run->divided.a_step = 1;
                const bool was_run = run->phase != RECLUSTER_NOT_BEGUN;
                assert_true(living_clusters_recluster(world.clusters) >= 0);
                n_placing += !was_run && world.clusters->placed_sid > placed;
            }
            if (i % 67 == 66)
                world_restart(&world, NULL);
            if (i % 40 == 39 && seed % 5)
                check_rested(&world);
        }
        check_rested(&world);
        assert_int_equal(living_clusters_flush_postings(world.clusters), 0);
        assert_int_equal(world_count_rows(&world, TABLE_INTENTS), 0);
        n_divided += world.n_divided;
        world_close(&world);
    }
    assert_true(n_linking > 50 && n_moving > 50 && n_placing > 50 && n_divided > 50);
}

/* The store dies at a write, or a call fails: all is done again. Returns whether it did. */
static bool run_with_fault(uint64_t seed, const struct kv_fault_plan *plan)
{
    struct world world;
    bool failed = false;
    world_open(&world, seed, plan);
    for (unsigned i = 0; i < 40; i++) {
        struct world_step step = i % 10 < 8 ? world_choose(&world, 20) : (struct world_step){0};
        int r = 0;
        for (unsigned tries = 0; tries == 0 || r < 0; tries++) {
            assert_true(tries < 3);
            failed |= r < 0;
            if (r == -EIO)
                world_restart(&world, &step);
            r = i % 10 ? 0 : living_clusters_put_off(world.clusters);
            if (r == 0)
                r = world_do(&world, &step);
            for (unsigned n = 0; r >= 0 && n < i % 3; n++)
                r = living_clusters_recluster(world.clusters);
            r = r < 0 ? r : i % 10 < 9 ? 0 : world_recluster(&world);
        }
        note_step(&world, &step);
        if (i % 10 == 9)
            check_rested(&world);
    }
    world_close(&world);
    return failed;
}

static void test_living_clusters_put_off__crashes_and_failures_are_made_good(void **state)
{
    (void)state;
    for (uint64_t seed = WORLD_DIVIDED; seed < WORLD_DIVIDED + 8; seed++) {
        for (uint64_t n = 1; run_with_fault(seed, &(struct kv_fault_plan){.crash_after_writes = n});
             n += 3)
            ;
        for (uint64_t n = 9;
             run_with_fault(seed, &(struct kv_fault_plan){.fail_call = n, .fail_error = -ENOSPC});
             n += 7)
            ;
    }
}

static void do_step(struct world *world, struct world_document *new, struct world_document *old)
{
    const struct world_step step = {.new = {new}, .old = {old}, .n_new = !!new, .n_old = !!old};
    assert_int_equal(world_do(world, &step), 0);
    note_step(world, &step);
}

/* Documents with one fingerprint in common, of which x and y have a long text in common besides,
 * which none of their smallest fingerprints is of: they are candidates while the list is short. */
enum { A, X, Y, W, Z, N_TEXTS };
static const struct world_stretch texts[N_TEXTS][3] = {[A] = {{1, 1}, {1000, 40}, {0}},
                                                       [X] = {{1, 1}, {100, 20}, {5000, 40}},
                                                       [Y] = {{1, 1}, {200, 20}, {5000, 40}},
                                                       [W] = {{1, 1}, {2000, 40}, {0}},
                                                       [Z] = {{1, 1}, {3000, 40}, {0}}};

static void open_put_off(struct world *world, size_t most_compared)
{
    world_open(world, WORLD_LONG_LISTS, &no_fault);
    world_stop(world);
    world->bounds = (struct cluster_bounds){.most_compared = most_compared, .n_heads = 1, 64};
    world->policy.s = world->policy.v_max = 128; /* exact */
    min_sketch_builder_free(world->builder);
    assert_int_equal(min_sketch_builder_new(&world->policy, &world->builder), 0);
    world_start(world, &no_fault);
    assert_int_equal(living_clusters_put_off(world->clusters), 0);
}

/* It is known to be long when it is short again. */
static void test_living_clusters_put_off__a_list_becomes_long(void **state)
{
    struct world world;
    struct world_document *documents[N_TEXTS];
    (void)state;
    open_put_off(&world, 3);
    for (unsigned i = A; i <= W; i++)
        do_step(&world, documents[i] = world_new_of_stretches(&world, texts[i], 3), NULL);
    check_rested(&world);
    assert_int_equal(world_id_of(&world, documents[X]), 0);
    do_step(&world, NULL, documents[W]);
    check_rested(&world);
    assert_int_not_equal(world_id_of(&world, documents[X]), 0);
    world_close(&world);
}

/* x and y were linked by it when it was short. */
static void test_living_clusters_put_off__a_list_becomes_long_amid_a_run(void **state)
{
    enum { OTHERS = 64 };
    struct world world;
    struct world_document *documents[N_TEXTS];
    (void)state;
    open_put_off(&world, 4);
    for (unsigned i = A; i <= Y; i++)
        do_step(&world, documents[i] = world_new_of_stretches(&world, texts[i], 3), NULL);
    for (unsigned i = 0; i < OTHERS; i++) {
        const struct world_stretch other = {100000 + 100 * i, 30};
        do_step(&world, world_new_of_stretches(&world, &other, 1), NULL);
    }
    do_step(&world, world_new_of_stretches(&world, texts[W], 3), NULL);
    struct recluster *run = world.clusters->run;
    while (run->phase != RECLUSTER_LINKING || run->at == 0)
        assert_int_equal(living_clusters_recluster(world.clusters), 1);
    do_step(&world, world_new_of_stretches(&world, texts[Z], 3), NULL);
    check_rested(&world);
    assert_int_equal(world_id_of(&world, documents[X]), 0);
    world_close(&world);
}

/* It is in no cluster, and says that this may change; the clusters are those of a run over all. */
static void test_living_clusters_put_off__a_document_is_dirty_until_it_is_placed(void **state)
{
    struct world world;
    (void)state;
    world_open(&world, WORLD_DIVIDED, &no_fault);
    assert_int_equal(living_clusters_put_off(world.clusters), 0);
    struct world_document *documents[2];
    for (unsigned i = 0; i < 2; i++)
        do_step(&world, documents[i] = write_tokens(&world, 1, 30), NULL);
    assert_int_equal(world_id_of(&world, documents[1]), 0);
    assert_true(living_clusters_is_dirty(world.clusters, 0));
    assert_int_equal(living_clusters_n_dirty(world.clusters), 1);
    const uint64_t last = world.clusters->last_sid;
    const struct {
        uint64_t placed, last;
        enum living_clusters_due due;
    } moments[] = {{0, 1023, CLUSTERS_LATER},         {0, 1024, CLUSTERS_DUE},
                   {1024, 8191, CLUSTERS_LATER},      {1024, 8192, CLUSTERS_DUE},
                   {1 << 19, 1 << 20, CLUSTERS_FULL}, {0, last, CLUSTERS_LATER}};
    for (size_t i = 0; i < sizeof(moments) / sizeof(*moments); i++) {
        world.clusters->placed_sid = moments[i].placed;
        world.clusters->last_sid = moments[i].last;
        assert_int_equal(living_clusters_due(world.clusters), moments[i].due);
    }
    check_rested(&world);
    assert_int_not_equal(world_id_of(&world, documents[0]), 0);
    assert_int_equal(living_clusters_due(world.clusters), CLUSTERS_DUE);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_living_clusters_put_off__clusters_are_right_after_any_changes),
        cmocka_unit_test(test_living_clusters_put_off__crashes_and_failures_are_made_good),
        cmocka_unit_test(test_living_clusters_put_off__a_list_becomes_long),
        cmocka_unit_test(test_living_clusters_put_off__a_list_becomes_long_amid_a_run),
        cmocka_unit_test(test_living_clusters_put_off__a_document_is_dirty_until_it_is_placed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
