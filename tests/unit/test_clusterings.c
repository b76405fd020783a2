/* Several clusterings over the same documents: each equals what all pairs make of its own rule,
 * whatever the history, and a crash at every write. Components (C18), super shingles
 * (C16) and CENTER (F19). */
#include "engine/index/clusters/living_clusters_private.h"
#include "tests/lib/cluster_histories.h"

static const struct world_named all_rules[] = {
    {1, {.resemblance = 0.7}, UINT64_MAX},
    {7, {.resemblance = 0.2}, UINT64_MAX},
    {31, {.resemblance = 0.5, .containment = 0.8}, UINT64_MAX},
    {2, {.super_shingle = true}, UINT64_MAX},
    {32, {.resemblance = 0.4}, UINT64_MAX}, /* these have centres */
    {63, {.resemblance = 0.2, .containment = 0.9}, UINT64_MAX},
    {3, {.resemblance = 1, .containment = 1}, UINT64_MAX}, /* equal documents */
};
enum { N_RULES = sizeof(all_rules) / sizeof(all_rules[0]) };

static void add_rules(struct world *world, uint64_t linked_sid)
{
    for (unsigned i = 0; i < N_RULES; i++) {
        world->named[i] = all_rules[i];
        world->named[i].linked_sid = linked_sid;
    }
    world->n_named = N_RULES;
}

/* Where documents have a value of V or two, to find containments by. */
static void open_world(struct world *world, uint64_t seed, const struct kv_fault_plan *plan)
{
    world_open(world, seed, &no_fault);
    min_sketch_builder_free(world->builder);
    world->policy.m = 8;
    assert_int_equal(min_sketch_builder_new(&world->policy, &world->builder), 0);
    world_stop(world);
    add_rules(world, UINT64_MAX);
    world_start(world, plan);
}

static void run(uint64_t seed, unsigned n_steps, unsigned n_target,
                const struct kv_fault_plan *plan)
{
    struct world world;

    open_world(&world, seed, plan);
    world_run(&world, n_steps, n_target);
}

static void test_clusterings__each_equals_its_rule_over_any_history(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++)
        run(seed, 200, 25, &no_fault);
    for (uint64_t seed = 1; seed <= 12; seed++)
        run(1000 + seed, 100, 8, &no_fault);
}

static void test_clusterings__hold_over_a_store_that_fails_in_passing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        run(seed, 60, 15,
            &(struct kv_fault_plan){.seed = seed,
                                    .again_per_mille = 20,
                                    .timeout_per_mille = 20,
                                    .split_batches = true,
                                    .short_pages = true});
}

/* -- crashes -- */

enum { N_STEPS = 24, N_TARGET = 9 };

static bool run_with_crash(uint64_t seed, uint64_t crash_after, bool split)
{
    struct world world;
    bool crashed = false;

    open_world(&world, seed,
               &(struct kv_fault_plan){
                   .seed = seed, .crash_after_writes = crash_after, .split_batches = split});
    for (unsigned i = 0; i < N_STEPS; i++) {
        struct world_step step = world_choose(&world, N_TARGET);
        world_do_or_restart(&world, &step, &crashed);
        world_model_step(&world, &step);
        world_check(&world);
    }
    world_close(&world);
    return crashed;
}

static void test_clusterings__a_crash_at_any_write_is_made_good(void **state)
{
    (void)state;
    for (uint64_t n = 1; run_with_crash(3, n, false); n++)
        ;
    for (uint64_t n = 1; run_with_crash(11, n, true); n++)
        ;
}

static bool run_with_failure(uint64_t seed, uint64_t n)
{
    struct world world;

    open_world(&world, seed, &(struct kv_fault_plan){.fail_call = n, .fail_error = -ENOSPC});
    return world_run_with_failure(&world, N_STEPS, N_TARGET);
}

static void test_clusterings__a_failed_call_is_made_good_by_repeating(void **state)
{
    (void)state;
    for (uint64_t n = 20; run_with_failure(5, n); n += 3) /* from after the opening on */
        ;
}

static uint64_t cluster_of(const struct world *world, unsigned number, unsigned document)
{
    uint64_t id = 0, size;
    assert_int_equal(
        living_clusters_of_in(world->reader, number, world->documents[document].sid, &id, &size),
        0);
    return id;
}

/* -- very many that contain each other -- */

enum { N_FAMILY = 440, N_BODY = 150 };

static struct world_document *write_of_family(struct world *world)
{
    struct world_document *document = world_new_document(world);
    uint64_t fingerprints[N_BODY + 2];
    for (unsigned i = 0; i < N_BODY; i++)
        fingerprints[i] = mix64(1000000 + i);
    for (unsigned i = 0; i < 2; i++)
        fingerprints[N_BODY + i] = mix64(2 * world->n_documents + i);
    document->n_tokens = N_BODY + 2;
    document->content = world->n_documents;
    world_finish_record(world, document, fingerprints, N_BODY + 2, world->n_documents);
    return document;
}

struct counting {
    unsigned n_asked, n_found;
};

static bool count_wanted(void *user, uint64_t sid, uint64_t cluster)
{
    struct counting *counting = user;
    (void)sid, (void)cluster;
    counting->n_asked++;
    return counting->n_found == 0;
}

static int count_found(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct counting *counting = user;
    (void)sid, (void)cluster, (void)record;
    counting->n_found++;
    return 0;
}

/* All are in one cluster, which every list of tier C that is long is known to be of: to reach it a
 * few of them are looked at, not all. */
static void test_clusterings__what_contains_very_many_looks_at_a_few(void **state)
{
    static const unsigned numbers[] = {31, 2};
    struct world world;
    (void)state;
    open_world(&world, 4, &no_fault); /* lists of two documents are long */
    for (unsigned i = 0; i < N_FAMILY; i++) {
        struct world_step step = {.new = {write_of_family(&world)}, .n_new = 1};
        assert_int_equal(world_do(&world, &step), 0);
        world_model_step(&world, &step);
    }
    world_check(&world);
    const struct world_document *late = write_of_family(&world);
    for (unsigned i = 0; i < 2; i++) {
        const struct clustering *clustering = living_clusters_find(world.clusters, numbers[i]);
        struct counting counting = {0};
        struct lists_read read;
        assert_true(min_sketch_n_v(&late->record.sketch) >= 10);
        assert_int_equal(neighbours_reach(&clustering->graph, &late->record.sketch, count_wanted,
                                          count_found, &counting, NULL, &read),
                         0);
        lists_read_done(&read);
        assert_int_equal(counting.n_found, 1);
        assert_in_range(counting.n_asked, 1, N_FAMILY / 3);
    }
    world_close(&world);
}

/* Documents of the same few shingles, and of the same sample of many, in other texts; and one that
 * has them all: who is equal is together by a rule of 1, who shares a run by super shingles. */
static void test_clusterings__equal_is_of_one_text(void **state)
{
    static const unsigned lengths[] = {3, 13, 14, 40, 400};
    struct world world;
    unsigned documents[2 * sizeof(lengths) / sizeof(*lengths)], n = 0;
    (void)state;
    open_world(&world, 5, &no_fault);
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        for (unsigned twin = 0; twin < 2; twin++) {
            struct world_stretch stretch = {1000 * (i + 1), lengths[i]};
            struct world_step step = {.new = {world_new_of_stretches(&world, &stretch, 1)},
                                      .n_new = 1};
            documents[n++] = (unsigned)(step.new[0] - world.documents);
            assert_int_equal(world_do(&world, &step), 0);
            world_model_step(&world, &step);
            world_check(&world);
        }
    }
    for (unsigned i = 0; i < n; i += 2) {
        const uint64_t super = cluster_of(&world, 2, documents[i]);
        assert_int_equal(cluster_of(&world, 3, documents[i]), 0);
        assert_int_equal(cluster_of(&world, 3, documents[i + 1]), 0);
        assert_true(super && super == cluster_of(&world, 2, documents[i + 1]));
    }
    world_close(&world);
}

static void insert_stretches(struct world *world, const struct world_stretch *stretches, unsigned n)
{
    struct world_step step = {.new = {world_new_of_stretches(world, stretches, n)}, .n_new = 1};
    assert_int_equal(world_do(world, &step), 0);
    world_model_step(world, &step);
    world_check(world);
}

/* All lists of what comes last are known to be of a cluster that it reaches; a document that
 * contains it, and is of no cluster, came when that was known already. Only tier C finds that one:
 * its smallest fingerprints are its own. */
static void test_clusterings__what_contains_one_is_found_in_lists_that_are_known(void **state)
{
    struct world world;
    (void)state;
    world_open(&world, 4, &no_fault); /* lists of two documents are long */
    min_sketch_builder_free(world.builder);
    world.policy.s = world.policy.v_max = 256;
    assert_int_equal(min_sketch_builder_new(&world.policy, &world.builder), 0);
    world_stop(&world);
    world.named[0] = (struct world_named){31, {.resemblance = 0.5, .containment = 0.8}, UINT64_MAX};
    world.n_named = 1;
    world_start(&world, &no_fault);
    for (unsigned i = 0; i < 3; i++) {
        const struct world_stretch body = {1000000 * (i + 1), 100}, part = {body.from, 60},
                                   other = {1000 + 100 * i, 60};
        for (unsigned k = 0; k < 4; k++)
            insert_stretches(
                &world, (const struct world_stretch[]){body, {body.from + 1000 + 9 * k, 3}}, 2);
        insert_stretches(&world, (const struct world_stretch[]){other, part}, 2);
        const unsigned larger = world.n_documents - 1;
        assert_int_equal(cluster_of(&world, 31, larger), 0);
        insert_stretches(&world, &part, 1);
        assert_int_not_equal(cluster_of(&world, 31, larger), 0);
        assert_int_equal(cluster_of(&world, 31, larger), cluster_of(&world, 31, larger - 1));
    }
    world_close(&world);
}

/* -- ids that clusters with centres had -- */

/* Of documents that were in a cluster how many are in another one now; 0: in none. */
static unsigned count_in(const struct world *world, unsigned number, const uint64_t *before,
                         uint64_t cluster, uint64_t now)
{
    unsigned n = 0;
    for (unsigned i = 0; i < world->n_documents; i++)
        n +=
            world->documents[i].live && before[i] == cluster && cluster_of(world, number, i) == now;
    return n;
}

/* One document came or went. Returns whether the id is gone and leads somewhere. */
static bool check_former(const struct world *world, unsigned number, const uint64_t *before,
                         uint64_t cluster)
{
    struct sid_list members;
    uint64_t leads_to = 0;
    unsigned n_most = 0;
    if (living_clusters_members(world->reader, cluster, 1, &members) == 0) {
        sid_list_done(&members);
        return false;
    }
    for (unsigned i = 0; i < world->n_documents; i++) {
        const uint64_t now =
            world->documents[i].live && before[i] == cluster ? cluster_of(world, number, i) : 0;
        const unsigned n = now ? count_in(world, number, before, cluster, now) : 0;
        n_most = n > n_most ? n : n_most;
    }
    int r = living_clusters_alias(world->reader, cluster, &leads_to);
    assert_true(r == 0 || r == -ENOENT);
    if (r == 0)
        assert_int_equal(count_in(world, number, before, cluster, leads_to), n_most);
    else /* some are alone, or none is left */
        assert_true(n_most == 0 || count_in(world, number, before, cluster, 0) > 0);
    return r == 0;
}

static void
test_clusterings__the_id_of_a_centre_that_is_none_any_more_leads_to_its_documents(void **state)
{
    static const unsigned numbers[] = {32, 63};
    unsigned n_led = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct world world;
        open_world(&world, 500 + seed, &no_fault);
        for (unsigned n = 0; n < 150; n++) {
            uint64_t before[2][WORLD_DOCUMENTS] = {{0}};
            struct world_step step = world_choose(&world, 20);
            for (unsigned i = 0; i < 2; i++)
                for (unsigned d = 0; d < world.n_documents; d++)
                    before[i][d] = world.documents[d].live ? cluster_of(&world, numbers[i], d) : 0;
            assert_int_equal(world_do(&world, &step), 0);
            world_model_step(&world, &step);
            world_check(&world);
            for (unsigned i = 0; i < 2 && step.n_old + step.n_new == 1; i++)
                for (unsigned d = 0; d < world.n_documents; d++)
                    if (before[i][d])
                        n_led += check_former(&world, numbers[i], before[i], before[i][d]);
        }
        world_close(&world);
    }
    assert_in_range(n_led, 5, 1u << 20);
}

/* -- one that comes later -- */

/* Documents come, change and go while others are taken in, a few at a time; then all are in it, and
 * it is kept like those that were there from the beginning. */
static void run_later(uint64_t seed, unsigned n_before, size_t n_at_once)
{
    struct world world;
    unsigned n_left = N_RULES;

    open_world(&world, seed, &no_fault);
    world_stop(&world);
    world.n_named = 0;
    world_start(&world, &no_fault);
    for (unsigned i = 0; i < n_before + 60; i++) {
        struct world_step step = world_choose(&world, 30);
        assert_int_equal(world_do(&world, &step), 0);
        world_model_step(&world, &step);
        if (i == n_before) {
            assert_int_equal(living_clusters_flush(world.clusters), 0);
            world.flushed_sid = world.n_documents - 1;
            world_stop(&world);
            add_rules(&world, 0);
            world_start(&world, &no_fault);
        }
        for (unsigned k = 0; i >= n_before && k < N_RULES; k++) {
            bool was_linked =
                living_clusters_linked(world.clusters, world.named[k].number) == UINT64_MAX;
            int r = living_clusters_link_more(world.clusters, world.named[k].number, n_at_once + k);
            assert_in_range(r, 0, 1);
            n_left -= r == 0 && !was_linked;
        }
        world_check(&world);
    }
    assert_int_equal(n_left, 0);
    world_close(&world);
}

static void test_clusterings__one_that_comes_later_gets_all_documents(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++)
        run_later(seed, 60, 2 + seed % 4);
    run_later(77, 80, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clusterings__each_equals_its_rule_over_any_history),
        cmocka_unit_test(test_clusterings__hold_over_a_store_that_fails_in_passing),
        cmocka_unit_test(test_clusterings__a_crash_at_any_write_is_made_good),
        cmocka_unit_test(test_clusterings__a_failed_call_is_made_good_by_repeating),
        cmocka_unit_test(test_clusterings__what_contains_very_many_looks_at_a_few),
        cmocka_unit_test(test_clusterings__equal_is_of_one_text),
        cmocka_unit_test(test_clusterings__what_contains_one_is_found_in_lists_that_are_known),
        cmocka_unit_test(
            test_clusterings__the_id_of_a_centre_that_is_none_any_more_leads_to_its_documents),
        cmocka_unit_test(test_clusterings__one_that_comes_later_gets_all_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
