/* Living clusters over any history, a restart, and with a reader beside; and what joins large ones.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "engine/index/tables/classes.h"
#include "tests/lib/histories/cluster_histories.h"
#include "tests/lib/stores/kv_memory.h"

static void run(uint64_t seed, unsigned n_steps, unsigned n_target,
                const struct kv_fault_plan *plan)
{
    struct world world;

    world_open(&world, seed, plan);
    world_run(&world, n_steps, n_target);
}

static void test_living_clusters__equal_components_and_keep_ids_over_any_history(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++)
        run(seed, 250, 25, &no_fault);
    for (uint64_t seed = 1; seed <= 20; seed++)
        run(1000 + seed, 100, 8, &no_fault);
    for (uint64_t seed = 1; seed <= 12; seed++)
        run(WORLD_LONG_LISTS + seed, 200, 25, &no_fault);
}

static void test_living_clusters__hold_over_a_store_that_fails_in_passing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        run(seed, 80, 15,
            &(struct kv_fault_plan){.seed = seed,
                                    .again_per_mille = 20,
                                    .timeout_per_mille = 20,
                                    .split_batches = true,
                                    .short_pages = true});
}

static void test_living_clusters__a_restart_changes_nothing(void **state)
{
    struct world world;
    (void)state;

    world_open(&world, 77, &no_fault);
    for (unsigned i = 0; i < 200; i++) {
        struct world_step step = world_choose(&world, 20);
        assert_int_equal(world_do_all(&world, &step), 0);
        world_model_step(&world, &step);
        if (i % 7 == 0) {
            world_stop(&world);
            world_start(&world, &no_fault);
            if (i % 2) /* otherwise they recover by themselves */
                assert_int_equal(world_recover(&world, NULL), 0);
        }
        world_check(&world);
    }
    world_close(&world);
}

static void test_living_clusters__a_bridge_joins_large_clusters_and_its_end_parts_them(void **state)
{
    enum { N_LEFT = 90, N_RIGHT = 70 }; /* each more than is moved at once */
    struct world world;
    uint64_t left_id, right_id, id, size, max_id;
    struct world_document *left = NULL, *right = NULL;
    (void)state;

    world_open(&world, 1, &no_fault);
    world.policy.s = 64; /* exact: left and right are each half of the bridge */
    world.policy.v_max = 64;
    min_sketch_builder_free(world.builder);
    assert_int_equal(min_sketch_builder_new(&world.policy, &world.builder), 0);

    for (unsigned i = 0; i < N_LEFT; i++)
        world_insert(&world, left = write_tokens(&world, 1, 22));
    for (unsigned i = 0; i < N_RIGHT; i++)
        world_insert(&world, right = write_tokens(&world, 21, 22));
    world_check(&world);
    assert_int_equal(living_clusters_of(world.clusters, left->sid, &left_id, &size), 0);
    assert_int_equal(size, N_LEFT);
    assert_int_equal(living_clusters_of(world.clusters, right->sid, &right_id, &size), 0);
    assert_int_equal(size, N_RIGHT);
    assert_int_not_equal(left_id, right_id);

    struct world_document *bridge = write_tokens(&world, 1, 42);
    world_insert(&world, bridge);
    world_check(&world);
    assert_int_equal(living_clusters_of(world.clusters, right->sid, &id, &size), 0);
    assert_int_equal(id, left_id);
    assert_int_equal(size, N_LEFT + N_RIGHT + 1);
    assert_int_equal(living_clusters_flush_postings(world.clusters), 0);

    max_id = world.max_id;
    struct world_step step = {.old = {bridge}, .n_old = 1};
    assert_int_equal(world_do_all(&world, &step), 0);
    world_model_step(&world, &step);
    world_check(&world);
    assert_int_equal(living_clusters_of(world.clusters, left->sid, &id, &size), 0);
    assert_int_equal(id, left_id);
    assert_int_equal(size, N_LEFT);
    assert_int_equal(living_clusters_of(world.clusters, right->sid, &id, &size), 0);
    assert_true(id > max_id);
    assert_int_equal(size, N_RIGHT);
    world_close(&world);
}

/* Of two clusters to be merged later the other one may have become the larger when what is of both
 * is inserted again: it stays where it is. */
static void test_living_clusters__a_bridge_that_is_inserted_again_is_in_one_cluster(void **state)
{
    enum { N_LEFT = 8, N_RIGHT = 7, N_MORE = 4 };
    struct world world;
    struct world_document *more = NULL;
    uint64_t id, size;
    (void)state;

    world_open_reclustering(&world, 1);
    world.policy.s = 64; /* exact: left and right are each half of the bridge */
    world.policy.v_max = 64;
    min_sketch_builder_free(world.builder);
    assert_int_equal(min_sketch_builder_new(&world.policy, &world.builder), 0);

    for (unsigned i = 0; i < N_LEFT; i++)
        world_insert(&world, write_tokens(&world, 1, 22));
    for (unsigned i = 0; i < N_RIGHT; i++)
        world_insert(&world, write_tokens(&world, 21, 22));
    for (unsigned i = 0; i <= N_MORE; i++) {
        more = write_tokens(&world, i ? 21 : 1, i ? 22 : 42); /* first the bridge */
        more->live = true;
        assert_int_equal(world_do(&world, &(struct world_step){.new = {more}, .n_new = 1}), 0);
    }
    world_restart(&world, NULL); /* nothing was flushed: all are inserted again */
    for (unsigned i = 0; i < 100 && living_clusters_recluster(world.clusters) > 0; i++)
        ;
    assert_int_equal(living_clusters_n_dirty(world.clusters), 0);
    world_check_partition(&world);
    assert_int_equal(living_clusters_of(world.clusters, more->sid, &id, &size), 0);
    assert_int_equal(size, N_LEFT + 1 + N_RIGHT + N_MORE);
    world_close(&world);
}

static void test_living_clusters__postings_of_the_dead_do_not_come_back(void **state)
{
    struct world world;
    struct sid_list list;
    (void)state;

    world_open(&world, 1, &no_fault);
    struct world_document *dead = write_tokens(&world, 1, 40);
    world_insert(&world, dead);
    assert_int_equal(living_clusters_flush_postings(world.clusters), 0);
    world.flushed_sid = dead->sid;
    struct world_step step = {.old = {dead}, .n_old = 1};
    assert_int_equal(world_do_all(&world, &step), 0);
    world_model_step(&world, &step);
    world_stop(&world); /* the removals are forgotten */
    world_start(&world, &no_fault);
    assert_int_equal(world_recover(&world, NULL), 0);
    assert_int_equal(
        postings_candidates(world.postings, POSTINGS_TIER_R, &dead->record.sketch, &list), 0);
    assert_int_equal(list.n_sids, 0);
    sid_list_done(&list);
    world_close(&world);
}

/* Orders in which documents of one text go. */
enum order {
    ORDER_COMING,
    ORDER_LATEST_FIRST,
    ORDER_TOGETHER,
    ORDER_EACH_AT_ONCE,     /* before the next one comes */
    ORDER_BESIDE_THE_FIRST, /* half of them as well, but while the first one stays */
    N_ORDERS
};

static bool goes_at_once(enum order order, unsigned i, unsigned n)
{
    return order == ORDER_EACH_AT_ONCE || (order == ORDER_BESIDE_THE_FIRST && i > 0 && i <= n / 2);
}

/* Documents of one text come, and go in an order: how many deleted rows are passed over. */
static uint64_t n_passed_over(enum order order, unsigned n)
{
    struct world world;
    uint64_t sids[WORLD_DOCUMENTS];
    const struct record *records[WORLD_DOCUMENTS];

    world_open(&world, 1, &no_fault);
    for (unsigned i = 0; i < n; i++) {
        const struct world_document *document = write_tokens(&world, 1, 40);
        sids[i] = document->sid;
        records[i] = &document->record;
        assert_int_equal(living_clusters_insert(world.clusters, sids[i], records[i]), 0);
        if (goes_at_once(order, i, n))
            assert_int_equal(living_clusters_delete(world.clusters, sids[i], records[i]), 0);
    }
    if (order == ORDER_TOGETHER)
        assert_int_equal(living_clusters_delete_all(world.clusters, sids, records, n), 0);
    for (unsigned i = 0; order != ORDER_TOGETHER && i < n; i++) {
        const unsigned at = order == ORDER_LATEST_FIRST ? n - 1 - i : i;
        if (!goes_at_once(order, at, n))
            assert_int_equal(living_clusters_delete(world.clusters, sids[at], records[at]), 0);
    }
    const uint64_t n_passed = kv_memory_passed(world.inner);
    assert_int_equal(world_count_rows(&world, TABLE_CLASSES), 0);
    world_close(&world);
    return n_passed;
}

/* Twice in its class, and twice in its cluster. */
static void
test_living_clusters__an_equal_document_that_is_gone_is_passed_over_a_few_times(void **state)
{
    enum { N = 400, TIMES = 4 };
    (void)state;
    for (enum order order = 0; order < N_ORDERS; order++)
        assert_in_range(n_passed_over(order, N), 0, TIMES * N);
}

static void add_to_class(struct classes *classes, uint8_t name, uint64_t sid)
{
    const uint8_t class_id[1][CLASS_BYTES] = {{name}};
    const bool is_alone = false;
    uint64_t first;
    assert_int_equal(classes_add(classes, class_id, &sid, &is_alone, 1, &first), 0);
}

static void test_living_clusters__the_first_of_a_class_are_listed_alone(void **state)
{
    enum { N = 600 }; /* more than one page */
    static const size_t limits[] = {1, 2, 256, 300, N, N + 1};
    const uint8_t class_id[CLASS_BYTES] = {'C'};
    struct classes classes;
    struct world world;
    (void)state;

    world_open(&world, 1, &no_fault);
    assert_int_equal(classes_init(&classes, world.inner), 0);
    add_to_class(&classes, 'D', 1);
    for (uint64_t sid = 1; sid <= N; sid++)
        add_to_class(&classes, 'C', 3 * sid);
    classes_done(&classes);
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        struct number_vector sids = {0};
        assert_int_equal(classes_list(world.inner, class_id, 0, limits[i], &sids), 0);
        assert_int_equal(sids.n_numbers, limits[i] < N ? limits[i] : N);
        for (size_t k = 0; k < sids.n_numbers; k++)
            assert_int_equal(sids.numbers[k], 3 * (k + 1));
        number_vector_done(&sids);
    }
    world_close(&world);
}

struct race {
    struct living_clusters *clusters;
    atomic_bool stop;
    atomic_uint n_wrong;
};

static void *read_on(void *user)
{
    struct race *race = user;
    uint64_t sid = 0;

    while (!race->stop) {
        uint64_t id, size, n, n_documents, ids[64];
        struct sid_list members;
        uint8_t class_id[CLASS_BYTES] = {'C'};
        sid = sid % 300 + 1;
        if (living_clusters_of(race->clusters, sid, &id, &size) < 0 || (id == 0) != (size == 0))
            race->n_wrong++;
        int n_ids = living_clusters_ids(race->clusters, sid, 64, ids);
        if (n_ids < 0)
            race->n_wrong++;
        for (int i = 0; i < n_ids; i++) {
            if (ids[i] <= sid || (i > 0 && ids[i] <= ids[i - 1]))
                race->n_wrong++;
            int r = living_clusters_members(race->clusters, ids[i], 0, &members);
            if (r == 0)
                sid_list_done(&members);
            else if (r != -ENOENT)
                race->n_wrong++;
        }
        if (living_clusters_class(race->clusters, class_id, 0, 0, &members) < 0)
            race->n_wrong++;
        else
            sid_list_done(&members);
        living_clusters_count(race->clusters, &n, &n_documents);
    }
    return NULL;
}

static void test_living_clusters__can_be_read_while_they_change(void **state)
{
    struct world world;
    struct race race = {0};
    pthread_t reader;
    (void)state;

    world_open(&world, 3, &no_fault);
    race.clusters = world.clusters;
    assert_int_equal(pthread_create(&reader, NULL, read_on, &race), 0);
    for (unsigned i = 0; i < 400; i++) {
        struct world_step step = world_choose(&world, 40);
        assert_int_equal(world_do_all(&world, &step), 0);
        world_model_step(&world, &step);
        world_check(&world);
    }
    race.stop = true;
    pthread_join(reader, NULL);
    assert_int_equal(race.n_wrong, 0);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_living_clusters__equal_components_and_keep_ids_over_any_history),
        cmocka_unit_test(test_living_clusters__hold_over_a_store_that_fails_in_passing),
        cmocka_unit_test(test_living_clusters__a_restart_changes_nothing),
        cmocka_unit_test(
            test_living_clusters__a_bridge_joins_large_clusters_and_its_end_parts_them),
        cmocka_unit_test(test_living_clusters__a_bridge_that_is_inserted_again_is_in_one_cluster),
        cmocka_unit_test(test_living_clusters__postings_of_the_dead_do_not_come_back),
        cmocka_unit_test(
            test_living_clusters__an_equal_document_that_is_gone_is_passed_over_a_few_times),
        cmocka_unit_test(test_living_clusters__the_first_of_a_class_are_listed_alone),
        cmocka_unit_test(test_living_clusters__can_be_read_while_they_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
