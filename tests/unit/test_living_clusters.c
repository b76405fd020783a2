#include "tests/lib/cluster_world.h"

#include <pthread.h>
#include <stdatomic.h>

#include "engine/index/classes.h"

static const struct kv_fault_plan no_fault;

static void run(uint64_t seed, unsigned n_steps, unsigned n_target,
                const struct kv_fault_plan *plan)
{
    struct world world;

    world_open(&world, seed, plan);
    for (unsigned i = 0; i < n_steps; i++) {
        struct world_step step = world_choose(&world, n_target);
        assert_int_equal(world_do(&world, &step), 0);
        world_model_step(&world, &step);
        world_check(&world);
    }
    assert_int_equal(living_clusters_flush(world.clusters), 0);
    assert_int_equal(world_count_rows(&world, TABLE_INTENTS), 0);
    world_close(&world);
}

static void test_living_clusters__equal_components_and_keep_ids_over_any_history(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++)
        run(seed, 250, 25, &no_fault);
    for (uint64_t seed = 1; seed <= 20; seed++)
        run(1000 + seed, 100, 8, &no_fault);
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
        assert_int_equal(world_do(&world, &step), 0);
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

/* -- large clusters that one document holds together -- */

static struct world_document *write_tokens(struct world *world, unsigned from, unsigned n)
{
    struct world_document *document = world_new_document(world);
    document->n_tokens = n;
    for (unsigned i = 0; i < n; i++)
        document->tokens[i] = from + i;
    document->content = world->n_documents; /* each its own */
    world_finish_document(world, document);
    return document;
}

static void insert(struct world *world, struct world_document *document)
{
    struct world_step step = {.new = {document}, .n_new = 1};
    assert_int_equal(world_do(world, &step), 0);
    world_model_step(world, &step);
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
        insert(&world, left = write_tokens(&world, 1, 22));
    for (unsigned i = 0; i < N_RIGHT; i++)
        insert(&world, right = write_tokens(&world, 21, 22));
    world_check(&world);
    assert_int_equal(living_clusters_of(world.clusters, left->sid, &left_id, &size), 0);
    assert_int_equal(size, N_LEFT);
    assert_int_equal(living_clusters_of(world.clusters, right->sid, &right_id, &size), 0);
    assert_int_equal(size, N_RIGHT);
    assert_int_not_equal(left_id, right_id);

    struct world_document *bridge = write_tokens(&world, 1, 42);
    insert(&world, bridge);
    world_check(&world);
    assert_int_equal(living_clusters_of(world.clusters, right->sid, &id, &size), 0);
    assert_int_equal(id, left_id);
    assert_int_equal(size, N_LEFT + N_RIGHT + 1);
    assert_int_equal(living_clusters_flush(world.clusters), 0);

    max_id = world.max_id;
    struct world_step step = {.old = {bridge}, .n_old = 1};
    assert_int_equal(world_do(&world, &step), 0);
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

/* -- clusters that come back -- */

static void delete_document(struct world *world, struct world_document *document)
{
    struct world_step step = {.old = {document}, .n_old = 1};
    assert_int_equal(world_do(world, &step), 0);
    world_model_step(world, &step);
}

static uint64_t id_of(struct world *world, const struct world_document *document)
{
    uint64_t id, size;
    assert_int_equal(living_clusters_of(world->clusters, document->sid, &id, &size), 0);
    return id;
}

/* What an editor does that writes a new file and renames it over the old one. */
static void test_living_clusters__one_that_dissolved_comes_back_under_its_id(void **state)
{
    struct world world;
    (void)state;

    world_open(&world, 1, &no_fault);
    struct world_document *stays = write_tokens(&world, 1, 30);
    insert(&world, stays);
    struct world_document *saved = write_tokens(&world, 1, 30);
    insert(&world, saved);
    world_check(&world);
    uint64_t id = id_of(&world, saved);
    for (unsigned i = 0; i < 5; i++) {
        delete_document(&world, saved);
        world_check(&world);
        assert_int_equal(id_of(&world, stays), 0);
        insert(&world, saved = write_tokens(&world, 1 + i % 2, 30));
        world_check(&world);
        assert_int_equal(id_of(&world, stays), id);
        assert_int_equal(id_of(&world, saved), id);
    }
    world_close(&world);
}

static void test_living_clusters__one_comes_back_to_a_document_that_was_replaced(void **state)
{
    struct world world;
    (void)state;

    world_open(&world, 1, &no_fault);
    struct world_document *stays = write_tokens(&world, 1, 30);
    insert(&world, stays);
    struct world_document *gone = write_tokens(&world, 1, 30);
    insert(&world, gone);
    world_check(&world);
    uint64_t id = id_of(&world, stays);
    delete_document(&world, gone);
    struct world_step step = {
        .old = {stays}, .n_old = 1, .new = {write_tokens(&world, 2, 30)}, .n_new = 1};
    assert_int_equal(world_do(&world, &step), 0);
    world_model_step(&world, &step);
    world_check(&world);
    insert(&world, write_tokens(&world, 2, 30));
    world_check(&world);
    assert_int_equal(id_of(&world, step.new[0]), id);
    world_close(&world);
}

static void test_living_clusters__an_id_in_use_does_not_come_back(void **state)
{
    struct world world;
    (void)state;

    world_open(&world, 1, &no_fault);
    struct world_document *a = write_tokens(&world, 1, 30), *b;
    insert(&world, a);
    insert(&world, b = write_tokens(&world, 1, 30));
    world_check(&world);
    uint64_t id = id_of(&world, a);
    delete_document(&world, b);
    struct world_document *c = write_tokens(&world, 100, 30), *d = write_tokens(&world, 100, 30);
    insert(&world, c);
    insert(&world, d);
    world_check(&world);
    uint64_t max_id = world.max_id;
    /* As a rebuild may do. */
    assert_int_equal(living_clusters_rename(world.clusters, id_of(&world, c), id), 0);
    c->model_id = d->model_id = id;
    insert(&world, write_tokens(&world, 1, 30));
    world_check(&world);
    assert_true(id_of(&world, a) > max_id);
    assert_int_equal(id_of(&world, c), id);
    world_close(&world);
}

/* -- the rest -- */

static void test_living_clusters__a_rename_keeps_the_members_and_spends_the_id(void **state)
{
    struct world world;
    uint64_t id, size;
    (void)state;

    world_open(&world, 1, &no_fault);
    struct world_document *document = write_tokens(&world, 1, 30);
    insert(&world, document);
    insert(&world, write_tokens(&world, 1, 30));
    insert(&world, write_tokens(&world, 100, 30));
    insert(&world, write_tokens(&world, 100, 30));
    world_check(&world);
    assert_int_equal(living_clusters_of(world.clusters, document->sid, &id, &size), 0);
    assert_int_equal(living_clusters_rename(world.clusters, id, id + 1), -EEXIST);
    assert_int_equal(living_clusters_rename(world.clusters, 9999, 5000), -ENOENT);
    assert_int_equal(living_clusters_rename(world.clusters, id, 0), -EINVAL);
    assert_int_equal(living_clusters_rename(world.clusters, id, id), 0);
    assert_int_equal(living_clusters_rename(world.clusters, id, 5000), 0);
    for (unsigned i = 0; i < world.n_documents; i++)
        if (world.documents[i].model_id == id)
            world.documents[i].model_id = 5000;
    world_check(&world);
    /* The next new cluster has a larger id. */
    insert(&world, write_tokens(&world, 200, 30));
    insert(&world, write_tokens(&world, 200, 30));
    world.max_id = 5000;
    world_check(&world);
    assert_true(world.max_id > 5000);
    world_close(&world);
}

static void test_living_clusters__postings_of_the_dead_are_dropped_on_the_way(void **state)
{
    struct world world;
    struct sid_list list;
    (void)state;

    world_open(&world, 1, &no_fault);
    struct world_document *dead = write_tokens(&world, 1, 40);
    insert(&world, dead);
    assert_int_equal(living_clusters_flush(world.clusters), 0);
    world.flushed_sid = dead->sid;
    struct world_step step = {.old = {dead}, .n_old = 1};
    assert_int_equal(world_do(&world, &step), 0);
    world_model_step(&world, &step);
    world_stop(&world); /* the removals are forgotten */
    world_start(&world, &no_fault);
    assert_int_equal(world_recover(&world, NULL), 0);
    assert_int_equal(
        postings_candidates(world.postings, POSTINGS_TIER_R, &dead->record.sketch, &list), 0);
    assert_int_equal(list.n_sids, 1);
    sid_list_done(&list);

    struct world_document *other = write_tokens(&world, 1, 40);
    insert(&world, other);
    world_check(&world);
    assert_int_equal(
        postings_candidates(world.postings, POSTINGS_TIER_R, &dead->record.sketch, &list), 0);
    assert_int_equal(list.n_sids, 1);
    assert_int_equal(list.sids[0], other->sid);
    sid_list_done(&list);
    world_close(&world);
}

static void test_living_clusters__the_first_of_a_class_are_listed_alone(void **state)
{
    enum { N = 600 }; /* more than one page */
    static const size_t limits[] = {1, 2, 256, 300, N, N + 1};
    const uint8_t class_id[CLASS_BYTES] = {'C'}, other[CLASS_BYTES] = {'D'};
    struct world world;
    (void)state;

    world_open(&world, 1, &no_fault);
    assert_int_equal(classes_add(world.inner, other, 1), 0);
    for (uint64_t sid = 1; sid <= N; sid++)
        assert_int_equal(classes_add(world.inner, class_id, 3 * sid), 0);
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        struct sid_vector sids = {0};
        assert_int_equal(classes_list(world.inner, class_id, limits[i], &sids), 0);
        assert_int_equal(sids.n_sids, limits[i] < N ? limits[i] : N);
        for (size_t k = 0; k < sids.n_sids; k++)
            assert_int_equal(sids.sids[k], 3 * (k + 1));
        sid_vector_done(&sids);
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
        if (living_clusters_class(race->clusters, class_id, &members) < 0)
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
        assert_int_equal(world_do(&world, &step), 0);
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
        cmocka_unit_test(test_living_clusters__one_that_dissolved_comes_back_under_its_id),
        cmocka_unit_test(test_living_clusters__one_comes_back_to_a_document_that_was_replaced),
        cmocka_unit_test(test_living_clusters__an_id_in_use_does_not_come_back),
        cmocka_unit_test(test_living_clusters__a_rename_keeps_the_members_and_spends_the_id),
        cmocka_unit_test(test_living_clusters__postings_of_the_dead_are_dropped_on_the_way),
        cmocka_unit_test(test_living_clusters__the_first_of_a_class_are_listed_alone),
        cmocka_unit_test(test_living_clusters__can_be_read_while_they_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
