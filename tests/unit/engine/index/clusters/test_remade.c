/* Clusterings that a batch makes anew from the stored sketches (C18): equal to the definition of
 * their mode over any history, ids stay as docs/design/clusters.md says (Ids), and whatever is
 * written last before a crash, nothing is taken for current that is not. */
#include <unistd.h>

#include "base/background_task.h"
#include "base/clock.h"
#include "engine/index/named/remaking.h"
#include "tests/lib/share.h"
#include "tests/lib/histories/remade_model.h"
#include "tests/lib/scratch.h"

static char scratch_dir[64];
static struct niceness niceness;

static void open_world(struct world *world, uint64_t seed, const struct kv_fault_plan *plan)
{
    world_open(world, seed, &no_fault);
    min_sketch_builder_free(world->builder);
    world->policy.m = 3; /* so that documents have some values of V, the longest those of a V_i */
    world->policy.s = world->policy.v_max = 12;
    assert_int_equal(min_sketch_builder_new(&world->policy, &world->builder), 0);
    world_stop(world);
    for (unsigned i = 0; i < N_WAYS; i++)
        world->named[i] = ways[i].number;
    world->n_named = N_WAYS;
    world_start(world, plan);
}

/* -- making anew -- */

/* What follows may meet the store's death. Returns 0 or -EIO. */
static int make_anew(struct world *world, unsigned i, bool with_changes)
{
    struct remade *remade = world->remades[i][0];
    struct background_task *remaking;
    const uint64_t n_changes = remade_n_changes(remade);
    struct remaking_task task = {.kv = world->kv,
                                 .policy = &world->policy,
                                 .scratch = scratch_dir,
                                 .number = ways[i].number,
                                 .how = ways[i].how,
                                 .a_step = 1 + world->random % 3};
    assert_int_equal(background_task_start(&niceness, remaking_work, &task, &remaking), 0);
    while (!background_task_is_ready(remaking))
        usleep(500);
    int r = background_task_result(remaking);
    assert_int_equal(r, 0);
    while ((r = living_clusters_remake(world->clusters, ways[i].number, &task.plan)) > 0) {
        if (with_changes && world_random(world, 2)) {
            struct world_step step = world_choose(world, 14);
            assert_int_equal(world_do_all(world, &step), 0);
            world_model_step(world, &step);
            world_check(world);
        }
    }
    if (r == 0)
        r = remade_complete(remade, n_changes, &task.loss, 1);
    background_task_free(remaking);
    move_plan_done(&task.plan);
    return r;
}

static bool is_current(const struct world *world, unsigned i)
{
    struct remade *stored;
    assert_int_equal(remade_open(world->inner, ways[i].number, &stored), 0);
    bool current = remade_is_current(stored);
    remade_close(stored);
    return current;
}

/* The first of a cluster with centres is its centre. */
static void check_centre(const struct world *world, unsigned i, uint64_t cluster)
{
    struct sid_list members;
    assert_int_equal(living_clusters_members(world->reader, cluster, 0, &members), 0);
    for (size_t k = 1; k < members.n_sids; k++)
        assert_true(is_edge(world, i, (unsigned)members.sids[0], (unsigned)members.sids[k]));
    sid_list_done(&members);
}

/* Documents are as the mode has them. */
static void check_groups(const struct world *world, unsigned i, const unsigned *group)
{
    unsigned n_clusters = 0, n_documents = 0;
    uint64_t n, n_in;
    for (unsigned d = 0; d < world->n_documents; d++) {
        if (!world->documents[d].live)
            continue;
        const uint64_t id = cluster_of(world, i, d);
        const unsigned size = size_of(world, group, group[d]);
        assert_int_equal(id != 0, size > 1);
        if (id && ways[i].how.mode == BATCH_CENTER)
            check_centre(world, i, id);
        n_documents += size > 1;
        n_clusters += size > 1 && group[d] == d;
        for (unsigned k = 0; k < d; k++)
            if (world->documents[k].live && id)
                assert_int_equal(cluster_of(world, i, k) == id, group[k] == group[d]);
    }
    living_clusters_count_in(world->clusters, ways[i].number, &n, &n_in);
    assert_int_equal(n, n_clusters);
    assert_int_equal(n_in, n_documents);
}

static void check_ids(const struct world *world, unsigned i, const struct before *before,
                      const unsigned *group)
{
    uint64_t ids[WORLD_DOCUMENTS] = {0};
    keep_ids(world, before, group, ids);
    for (unsigned d = 0; d < world->n_documents; d++) {
        if (!world->documents[d].live || size_of(world, group, group[d]) < 2)
            continue;
        const uint64_t id = cluster_of(world, i, d);
        if (ids[group[d]])
            assert_int_equal(id, ids[group[d]]);
        for (unsigned k = 0; k < world->n_documents && !ids[group[d]]; k++)
            assert_int_not_equal(id, before->cluster[k]);
    }
    for (unsigned d = 0; d < world->n_documents; d++) {
        unsigned n, rank;
        uint64_t leads_to;
        if (before->cluster[d] == 0 || is_given(ids, world->n_documents, before->cluster[d]))
            continue;
        unsigned g = heaviest(world, before, group, before->cluster[d], NULL, &n, &rank);
        int r = living_clusters_alias(world->reader, before->cluster[d], &leads_to);
        assert_int_equal(r, n ? 0 : -ENOENT);
        if (n)
            assert_int_equal(leads_to, cluster_of(world, i, g));
    }
    world_check_aliases((struct world *)world);
}

static void check(const struct world *world, unsigned i, const struct before *before)
{
    unsigned group[WORLD_DOCUMENTS];
    groups_of(world, i, group);
    check_groups(world, i, group);
    if (before)
        check_ids(world, i, before, group);
}

/* -- histories -- */

static void step(struct world *world, unsigned n_target)
{
    struct world_step chosen = world_choose(world, n_target);
    assert_int_equal(world_do_all(world, &chosen), 0);
    world_model_step(world, &chosen);
    world_check(world);
}

/* The default clustering goes on beside, as ever. */
static void run(uint64_t seed, unsigned n_steps, unsigned n_target,
                const struct kv_fault_plan *plan)
{
    struct world world;
    struct before before;

    open_world(&world, seed, plan);
    for (unsigned n = 0; n < n_steps; n++) {
        step(&world, n_target);
        if (world_random(&world, 3))
            continue;
        for (unsigned i = 0; i < N_WAYS; i++) {
            const bool with_changes = world_random(&world, 3) == 0;
            take_before(&world, i, &before);
            assert_int_equal(make_anew(&world, i, with_changes), 0);
            if (is_current(&world, i))
                check(&world, i, with_changes ? NULL : &before);
            else
                assert_true(with_changes);
        }
    }
    world_close(&world);
}

static void test_remade__equals_its_mode_and_keeps_ids_over_any_history(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= part_of(6); seed++)
        run(seed, 90, seed % 2 ? 24 : 8, &no_fault);
}

static void test_remade__holds_over_a_store_that_fails_in_passing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= part_of(2); seed++)
        run(seed, 40, 14,
            &(struct kv_fault_plan){.seed = seed,
                                    .again_per_mille = 20,
                                    .timeout_per_mille = 20,
                                    .split_batches = true,
                                    .short_pages = true});
}

static void test_remade__says_at_any_moment_whether_it_is_current(void **state)
{
    struct world world;
    (void)state;
    open_world(&world, 5, &no_fault);
    for (unsigned n = 0; n < 12; n++)
        step(&world, 12);
    assert_false(is_current(&world, 0));
    assert_int_equal(make_anew(&world, 0, false), 0);
    assert_true(is_current(&world, 0));
    assert_false(is_current(&world, 1));
    /* A change says so before anything else is written. */
    const uint64_t n_changes = remade_n_changes(world.remades[0][0]);
    for (unsigned n = 0; n < 4; n++)
        step(&world, 12);
    assert_true(remade_n_changes(world.remades[0][0]) > n_changes);
    assert_false(is_current(&world, 0));
    /* One that began before the last change, or the like, is none of now. */
    const struct index_clustering_loss loss = {7, 6, 5, 4};
    struct index_clustering_loss stored;
    assert_int_equal(remade_complete(world.remades[0][0], n_changes, &loss, 1), 0);
    assert_false(is_current(&world, 0));
    assert_true(remade_get_loss(world.remades[0][0], &stored));
    assert_memory_equal(&stored, &loss, sizeof(loss));
    world_close(&world);
}

static void test_remade__waits_in_proportion_to_what_it_costs(void **state)
{
    struct world world;
    const struct index_clustering_loss none = {0};
    (void)state;
    open_world(&world, 5, &no_fault);
    struct remade *remade = world.remades[0][0];
    step(&world, 12);
    assert_int_equal(remade_complete(remade, remade_n_changes(remade), &none, 10000), 0);
    assert_true(remade_is_idle(remade));
    assert_false(remade_is_due(remade, true, true, INT64_MAX));
    const int64_t now_ms = clock_now_ms();
    assert_int_equal(remade_changed(remade), 0);
    assert_false(remade_is_idle(remade));
    assert_true(remade_is_due(remade, true, true, now_ms)); /* somebody waits */
    assert_false(remade_is_due(remade, false, true, now_ms));
    assert_false(remade_is_due(remade, true, false, now_ms + 9000));
    assert_true(remade_is_due(remade, true, false, now_ms + 11000));
    assert_false(remade_is_due(remade, false, false, now_ms + 190000));
    assert_true(remade_is_due(remade, false, false, now_ms + 210000)); /* it never rests */
    /* What cannot be made is not tried again and again. */
    assert_int_equal(remade_error(remade), 0);
    remade_failed(remade, -ENOSPC);
    assert_int_equal(remade_error(remade), -ENOSPC);
    assert_true(remade_is_idle(remade));
    assert_false(remade_is_due(remade, true, true, now_ms + 210000));
    assert_false(remade_is_current(remade));
    assert_int_equal(remade_changed(remade), 0);
    assert_true(remade_is_due(remade, true, true, now_ms));
    /* Nor is it forgotten why, until it could; who asks has it tried once more. */
    remade_failed(remade, -ENOMEM);
    assert_false(remade_is_due(remade, true, true, now_ms));
    assert_true(remade_retry(remade));
    assert_false(remade_retry(remade));
    assert_true(remade_is_due(remade, true, true, now_ms));
    assert_int_equal(remade_error(remade), -ENOMEM);
    assert_int_equal(remade_complete(remade, remade_n_changes(remade), &none, 10000), 0);
    assert_int_equal(remade_error(remade), 0);
    /* The longer it cannot, the longer it waits, but half a minute more at most; until it could. */
    for (unsigned i = 0; i < 100; i++) {
        const int64_t wait_ms = 10000 + (i == 0 ? 0 : INT64_C(500) << (i < 6 ? i : 6));
        const int64_t before_ms = clock_now_ms();
        assert_int_equal(remade_changed(remade), 0);
        assert_false(remade_is_due(remade, true, false, before_ms + wait_ms - 1));
        assert_true(remade_is_due(remade, true, false, clock_now_ms() + wait_ms));
        assert_true(remade_is_due(remade, true, true, before_ms));
        remade_failed(remade, -ENOENT);
    }
    assert_int_equal(remade_complete(remade, remade_n_changes(remade), &none, 10000), 0);
    assert_int_equal(remade_changed(remade), 0);
    assert_true(remade_is_due(remade, true, false, clock_now_ms() + 10000));
    world_close(&world);
}

/* -- crashes -- */

/* A history over a store that dies at its n-th write; steps before the first one, or plans made,
 * may be lost. Returns whether it died at all. */
static bool run_with_crash(uint64_t seed, uint64_t crash_after, bool split)
{
    struct world world;
    struct before before;
    bool crashed = false;

    open_world(&world, seed,
               &(struct kv_fault_plan){
                   .seed = seed, .crash_after_writes = crash_after, .split_batches = split});
    for (unsigned n = 0; n < 20; n++) {
        struct world_step chosen = world_choose(&world, 12);
        world_do_or_restart(&world, &chosen, &crashed);
        world_model_step(&world, &chosen);
        if (n % 10 != 9)
            continue;
        take_before(&world, 0, &before);
        int r = make_anew(&world, 0, false);
        if (r == -EIO && !crashed) {
            crashed = true;
            world_restart(&world, NULL);
            if (is_current(&world, 0))
                check(&world, 0, &before);
            r = make_anew(&world, 0, false);
        }
        assert_int_equal(r, 0);
        assert_true(is_current(&world, 0));
        check(&world, 0, &before);
    }
    world_check(&world);
    world_close(&world);
    return crashed;
}

static void test_remade__a_crash_at_any_write_is_made_good(void **state)
{
    static const uint64_t seeds[] = {1, 2};
    (void)state;
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
        for (uint64_t n = 1; run_with_crash(seeds[i], n, i % 2 == 1); n += failure_share())
            ;
}

/* -- stopping, and failing -- */

static void test_remade__a_thread_is_stopped_or_says_what_is_wrong(void **state)
{
    struct world world;
    struct background_task *remaking;
    (void)state;
    open_world(&world, 3, &no_fault);
    for (unsigned n = 0; n < 12; n++)
        step(&world, 12);
    struct remaking_task task = {.kv = world.kv,
                                 .policy = &world.policy,
                                 .scratch = scratch_dir,
                                 .number = 3,
                                 .how = ways[0].how};
    for (unsigned n = 0; n < 40; n++) {
        assert_int_equal(background_task_start(&niceness, remaking_work, &task, &remaking), 0);
        usleep(n * 100);
        background_task_free(remaking);
        move_plan_done(&task.plan);
    }
    task.scratch = "/nonexistent";
    assert_int_equal(background_task_start(&niceness, remaking_work, &task, &remaking), 0);
    while (!background_task_is_ready(remaking))
        usleep(500);
    assert_int_equal(background_task_result(remaking), -ENOENT);
    background_task_free(remaking);
    world_close(&world);
}

static int make_scratch(void **state)
{
    (void)state;
    scratch_make(scratch_dir);
    niceness_init(&niceness);
    return 0;
}

static int remove_scratch(void **state)
{
    (void)state;
    niceness_done(&niceness);
    scratch_remove(scratch_dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remade__equals_its_mode_and_keeps_ids_over_any_history),
        cmocka_unit_test(test_remade__holds_over_a_store_that_fails_in_passing),
        cmocka_unit_test(test_remade__says_at_any_moment_whether_it_is_current),
        cmocka_unit_test(test_remade__waits_in_proportion_to_what_it_costs),
        cmocka_unit_test(test_remade__a_crash_at_any_write_is_made_good),
        cmocka_unit_test(test_remade__a_thread_is_stopped_or_says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
