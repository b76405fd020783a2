/* Ids that became others lead on. */
#include "tests/lib/histories/cluster_histories.h"

static void test_living_clusters__an_id_lost_in_a_merge_leads_on(void **state)
{
    struct world world;
    uint64_t ids[3], id;
    (void)state;

    /* Three clusters of a chain, of three, two and four documents; then the documents between them.
     */
    world_open(&world, 1, &no_fault);
    world.policy.s = 64;
    world.policy.v_max = 64;
    min_sketch_builder_free(world.builder);
    assert_int_equal(min_sketch_builder_new(&world.policy, &world.builder), 0);
    struct world_document *ends[3], *bridges[2];
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < (i == 0 ? 3 : i == 1 ? 2 : 4); k++)
            world_insert(&world, ends[i] = write_tokens(&world, 1 + 20 * i, 22));
        world_check(&world);
        ids[i] = world_id_of(&world, ends[i]);
        assert_int_equal(living_clusters_alias(world.clusters, ids[i], &id), -ENOENT);
    }
    for (unsigned i = 0; i < 2; i++) {
        world_insert(&world, bridges[i] = write_tokens(&world, 1 + 20 * i, 42));
        world_check(&world);
    }
    /* The second into the first, which then has six; and the last into that: straight. */
    for (unsigned i = 1; i < 3; i++) {
        assert_int_equal(living_clusters_alias(world.clusters, ids[i], &id), 0);
        assert_int_equal(id, ids[0]);
    }
    assert_int_equal(living_clusters_alias(world.clusters, ids[0], &id), -ENOENT);
    /* Another id for it all; then again what it had. */
    assert_int_equal(living_clusters_rename(world.clusters, ids[0], 5000), 0);
    for (unsigned i = 1; i < 3; i++) {
        assert_int_equal(living_clusters_alias(world.clusters, ids[i], &id), 0);
        assert_int_equal(id, 5000);
    }
    assert_int_equal(living_clusters_alias(world.clusters, ids[0], &id), -ENOENT);
    /* One that leads to it becomes its own. */
    assert_int_equal(living_clusters_rename(world.clusters, 5000, ids[1]), 0);
    assert_int_equal(living_clusters_alias(world.clusters, ids[1], &id), -ENOENT);
    assert_int_equal(living_clusters_alias(world.clusters, ids[2], &id), 0);
    assert_int_equal(id, ids[1]);
    /* What a rebuild keeps: not where there is no such cluster, or the id is one. */
    assert_int_equal(living_clusters_keep_alias(world.clusters, 77, 78), 0);
    assert_int_equal(living_clusters_alias(world.clusters, 77, &id), -ENOENT);
    assert_int_equal(living_clusters_keep_alias(world.clusters, ids[1], ids[1]), 0);
    assert_int_equal(living_clusters_alias(world.clusters, ids[1], &id), -ENOENT);
    assert_int_equal(living_clusters_keep_alias(world.clusters, 77, ids[1]), 0);
    assert_int_equal(living_clusters_alias(world.clusters, 77, &id), 0);
    /* It goes with the cluster. */
    for (unsigned i = 0; i < world.n_documents; i++)
        if (world.documents[i].live)
            assert_int_equal(living_clusters_delete(world.clusters, world.documents[i].sid,
                                                    &world.documents[i].record),
                             0);
    assert_int_equal(world_recluster(&world), 0);
    assert_int_equal(living_clusters_alias(world.clusters, ids[2], &id), -ENOENT);
    assert_int_equal(living_clusters_alias(world.clusters, 77, &id), -ENOENT);
    assert_int_equal(world_count_rows(&world, TABLE_MEMBERS), 0);
    world_close(&world);
}

static void test_living_clusters__ids_that_lead_to_a_cluster_are_bounded(void **state)
{
    enum { N = 3 * CLUSTER_ALIASES_MAX };
    struct world world;
    uint64_t id;
    (void)state;

    world_open(&world, 1, &no_fault);
    for (uint64_t i = 1; i <= N; i++) {
        assert_int_equal(cluster_aliases_add(world.kv, i, 1000), 0);
        assert_int_equal(cluster_aliases_add(world.kv, i, 1000), 0);
    }
    for (uint64_t i = 1; i <= N; i++) /* the youngest */
        assert_int_equal(cluster_aliases_find(world.kv, i, &id),
                         i + CLUSTER_ALIASES_MAX > N ? 0 : -ENOENT);
    assert_int_equal(world_count_rows(&world, TABLE_MEMBERS), 2 * CLUSTER_ALIASES_MAX);
    /* With those of another one. */
    for (uint64_t i = N + 1; i < 1000; i++)
        assert_int_equal(cluster_aliases_add(world.kv, i, 2000), 0);
    assert_int_equal(cluster_aliases_add(world.kv, 1000, 2000), 0);
    assert_int_equal(world_count_rows(&world, TABLE_MEMBERS), 2 * CLUSTER_ALIASES_MAX);
    assert_int_equal(cluster_aliases_find(world.kv, 1000, &id), 0);
    assert_int_equal(id, 2000);
    assert_int_equal(cluster_aliases_drop(world.kv, 2000), 0);
    assert_int_equal(world_count_rows(&world, TABLE_MEMBERS), 0);
    world_close(&world);
}

/* A merge that fails with some of it written, the aliases of one cluster with another; then both
 * end, or the other one becomes part of the first. Returns whether it failed. */
static bool fail_to_lead(uint64_t seed, uint64_t n, bool turned_round)
{
    struct world world;
    struct kv *kv;
    uint64_t id;

    world_open(&world, 1, &no_fault);
    assert_int_equal(kv_fault_open(world.inner,
                                   &(struct kv_fault_plan){.seed = seed,
                                                           .split_batches = true,
                                                           .late_failure = n,
                                                           .fail_error = -ENOSPC},
                                   &kv),
                     0);
    assert_int_equal(cluster_aliases_add(world.inner, 9, 1), 0);
    const bool failed = cluster_aliases_add(kv, 1, 2) < 0;
    if (turned_round) {
        assert_int_equal(cluster_aliases_add(world.inner, 2, 1), 0);
        assert_int_equal(cluster_aliases_find(world.inner, 1, &id), -ENOENT);
        for (uint64_t alias = 2; alias <= 9; alias += 7) {
            assert_int_equal(cluster_aliases_find(world.inner, alias, &id), 0);
            assert_int_equal(id, 1);
        }
    } else {
        assert_int_equal(cluster_aliases_drop(world.inner, 2), 0);
    }
    assert_int_equal(cluster_aliases_drop(world.inner, 1), 0);
    assert_int_equal(world_count_rows(&world, TABLE_MEMBERS), 0);
    kv_close(kv);
    world_close(&world);
    return failed;
}

static void
test_living_clusters__no_id_leads_to_what_is_gone_after_a_merge_that_failed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++)
        for (uint64_t n = 1, failed = 1; failed; n++)
            failed = fail_to_lead(seed, n, false) + fail_to_lead(seed, n, true);
}

static int take_alias(void *user, uint64_t alias, uint64_t cluster)
{
    (void)cluster;
    *(uint64_t *)user += alias;
    return *(uint64_t *)user > 1000; /* the walk began anew */
}

/* Rows that no kinfs wrote, where those of aliases are: too short to be one, and of the largest
 * number. */
static void test_living_clusters__other_rows_beside_aliases_do_no_harm(void **state)
{
    enum { N = 300 };
    struct world world;
    uint64_t sum = 0;
    uint8_t key[16];
    (void)state;

    world_open(&world, 1, &no_fault);
    assert_int_equal(cluster_aliases_add(world.kv, 7, 1000), 0);
    struct kv_batch *batch = kv_batch_new();
    memset(key, 0xff, sizeof(key));
    for (unsigned i = 0; i < N; i++) {
        put_be16(key + 14, (uint16_t)i);
        kv_batch_put(batch, TABLE_MEMBERS, (struct kv_slice){key, 16}, (struct kv_slice){"", 0});
        put_be16(key + 1, (uint16_t)i);
        kv_batch_put(batch, TABLE_MEMBERS, (struct kv_slice){key, 3}, (struct kv_slice){"", 0});
        memset(key + 1, 0xff, 2);
    }
    assert_int_equal(kv_apply(world.kv, batch), 0);
    kv_batch_free(batch);
    assert_int_equal(cluster_aliases_each(world.kv, take_alias, &sum), 0);
    assert_int_equal(sum, 7);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_living_clusters__an_id_lost_in_a_merge_leads_on),
        cmocka_unit_test(test_living_clusters__ids_that_lead_to_a_cluster_are_bounded),
        cmocka_unit_test(
            test_living_clusters__no_id_leads_to_what_is_gone_after_a_merge_that_failed),
        cmocka_unit_test(test_living_clusters__other_rows_beside_aliases_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
