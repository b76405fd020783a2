/* The ids of living clusters: they stay, and come back. */
#include "tests/lib/histories/cluster_histories.h"

static void test_living_clusters__one_that_dissolved_comes_back_under_its_id(void **state)
{
    struct world world;
    (void)state;

    world_open(&world, 1, &no_fault);
    struct world_document *stays = write_tokens(&world, 1, 30);
    world_insert(&world, stays);
    struct world_document *saved = write_tokens(&world, 1, 30);
    world_insert(&world, saved);
    world_check(&world);
    uint64_t id = world_id_of(&world, saved);
    for (unsigned i = 0; i < 5; i++) {
        world_delete(&world, saved);
        world_check(&world);
        assert_int_equal(world_id_of(&world, stays), 0);
        world_insert(&world, saved = write_tokens(&world, 1 + i % 2, 30));
        world_check(&world);
        assert_int_equal(world_id_of(&world, stays), id);
        assert_int_equal(world_id_of(&world, saved), id);
    }
    world_close(&world);
}

static void test_living_clusters__one_comes_back_to_a_document_that_was_replaced(void **state)
{
    struct world world;
    (void)state;

    world_open(&world, 1, &no_fault);
    struct world_document *stays = write_tokens(&world, 1, 30);
    world_insert(&world, stays);
    struct world_document *gone = write_tokens(&world, 1, 30);
    world_insert(&world, gone);
    world_check(&world);
    uint64_t id = world_id_of(&world, stays);
    world_delete(&world, gone);
    struct world_step step = {
        .old = {stays}, .n_old = 1, .new = {write_tokens(&world, 2, 30)}, .n_new = 1};
    assert_int_equal(world_do_all(&world, &step), 0);
    world_model_step(&world, &step);
    world_check(&world);
    world_insert(&world, write_tokens(&world, 2, 30));
    world_check(&world);
    assert_int_equal(world_id_of(&world, step.new[0]), id);
    world_close(&world);
}

static void test_living_clusters__an_id_in_use_does_not_come_back(void **state)
{
    struct world world;
    (void)state;

    world_open(&world, 1, &no_fault);
    struct world_document *a = write_tokens(&world, 1, 30), *b;
    world_insert(&world, a);
    world_insert(&world, b = write_tokens(&world, 1, 30));
    world_check(&world);
    uint64_t id = world_id_of(&world, a);
    world_delete(&world, b);
    struct world_document *c = write_tokens(&world, 100, 30), *d = write_tokens(&world, 100, 30);
    world_insert(&world, c);
    world_insert(&world, d);
    world_check(&world);
    uint64_t max_id = world.max_id;
    /* As a rebuild may do. */
    assert_int_equal(living_clusters_rename(world.clusters, world_id_of(&world, c), id), 0);
    c->model_id = d->model_id = id;
    world_insert(&world, write_tokens(&world, 1, 30));
    world_check(&world);
    assert_true(world_id_of(&world, a) > max_id);
    assert_int_equal(world_id_of(&world, c), id);
    world_close(&world);
}

static uint64_t *ids_of_all(struct world *world)
{
    uint64_t *ids = calloc(WORLD_DOCUMENTS, sizeof(*ids));
    assert_non_null(ids);
    for (unsigned i = 0; i < world->n_documents; i++)
        if (world->documents[i].live)
            ids[i] = world_id_of(world, &world->documents[i]);
    return ids;
}

static unsigned count(const struct world *world, const uint64_t *ids, uint64_t id)
{
    unsigned n = 0;
    for (unsigned i = 0; i < world->n_documents; i++)
        n += world->documents[i].live && ids[i] == id;
    return n;
}

/* Of those that were in a cluster before and are in one after. */
static unsigned n_changed(const struct world *world, const uint64_t *before, const uint64_t *after)
{
    unsigned n = 0;
    for (unsigned i = 0; i < world->n_documents; i++)
        n += world->documents[i].live && before[i] && after[i] && before[i] != after[i];
    return n;
}

/* What had one id and has several, or had several and has one: all but the largest of it. */
static unsigned n_smaller_sides(const struct world *world, const uint64_t *a, const uint64_t *b)
{
    unsigned n = 0;
    for (unsigned i = 0; i < world->n_documents; i++) {
        unsigned here = 0, largest = 0;
        if (!world->documents[i].live || !a[i])
            continue;
        bool first = true;
        for (unsigned k = 0; k < i && first; k++)
            first = !world->documents[k].live || a[k] != a[i];
        for (unsigned k = i; first && k < world->n_documents; k++) {
            if (!world->documents[k].live || a[k] != a[i] || !b[k])
                continue;
            unsigned size = 0;
            for (unsigned l = i; l < world->n_documents; l++)
                size += world->documents[l].live && a[l] == a[i] && b[l] == b[k];
            here++;
            largest = size > largest ? size : largest;
        }
        n += first ? here - largest : 0;
    }
    return n;
}

/* Over any history: a document that comes or goes changes the ids of no more others than are on the
 * smaller sides of what it joins or parts. */
static void test_living_clusters__ids_change_on_smaller_sides_only(void **state)
{
    (void)state;
    unsigned n_all = 0;
    for (uint64_t seed = 500; seed < 512; seed++) {
        struct world world;
        world_open(&world, seed, &no_fault);
        for (unsigned i = 0; i < 150; i++) {
            uint64_t *before = ids_of_all(&world);
            struct world_step step = world_choose(&world, 30);
            assert_int_equal(world_do_all(&world, &step), 0);
            world_model_step(&world, &step);
            uint64_t *after = ids_of_all(&world);
            unsigned n = n_changed(&world, before, after);
            unsigned n_most =
                n_smaller_sides(&world, before, after) + n_smaller_sides(&world, after, before);
            if (step.n_old + step.n_new != 1) /* several changes: each may have its sides */
                n = 0;
            if (n > n_most)
                fail_msg("seed %lu step %u: %u ids changed, at most %u may", (unsigned long)seed, i,
                         n, n_most);
            n_all += n;
            free(before);
            free(after);
        }
        world_close(&world);
    }
    assert_true(n_all > 0);
}

static void test_living_clusters__rewriting_a_document_as_it_is_changes_no_id(void **state)
{
    (void)state;
    for (uint64_t seed = 600; seed < 606; seed++) {
        struct world world;
        world_open(&world, seed, &no_fault);
        for (unsigned i = 0; i < 60; i++) {
            struct world_step step = world_choose(&world, 30);
            assert_int_equal(world_do_all(&world, &step), 0);
            world_model_step(&world, &step);
        }
        for (unsigned i = 0; i < 40; i++) {
            uint64_t *before = ids_of_all(&world);
            struct world_document *old = world_pick(&world), *new = world_new_document(&world);
            new->n_tokens = old->n_tokens;
            new->content = old->content;
            memcpy(new->tokens, old->tokens, sizeof(new->tokens));
            world_finish_document(&world, new);
            struct world_step step = {.old = {old}, .n_old = 1, .new = {new}, .n_new = 1};
            assert_int_equal(world_do_all(&world, &step), 0);
            world_model_step(&world, &step);
            before[new - world.documents] = before[old - world.documents];
            uint64_t *after = ids_of_all(&world);
            for (unsigned k = 0; k < world.n_documents; k++)
                if (world.documents[k].live)
                    assert_int_equal(after[k], before[k]);
            free(before);
            free(after);
        }
        world_close(&world);
    }
}

static void test_living_clusters__a_member_more_changes_no_id(void **state)
{
    struct world world;
    (void)state;

    world_open(&world, 9, &no_fault);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 2 + i; k++)
            world_insert(&world, write_tokens(&world, 1 + 100 * i, 30));
    world_check(&world);
    for (unsigned i = 0; i < 20; i++) {
        uint64_t *before = ids_of_all(&world);
        struct world_document *more = write_tokens(&world, 1 + 100 * (i % 3) + i % 2, 30);
        world_insert(&world, more);
        world_check(&world);
        uint64_t *after = ids_of_all(&world);
        assert_int_equal(n_changed(&world, before, after), 0);
        assert_true(count(&world, before, world_id_of(&world, more)) >= 2);
        free(before);
        free(after);
    }
    world_close(&world);
}

static void test_living_clusters__a_rename_keeps_the_members_and_spends_the_id(void **state)
{
    struct world world;
    uint64_t id, size;
    (void)state;

    world_open(&world, 1, &no_fault);
    struct world_document *document = write_tokens(&world, 1, 30);
    world_insert(&world, document);
    world_insert(&world, write_tokens(&world, 1, 30));
    world_insert(&world, write_tokens(&world, 100, 30));
    world_insert(&world, write_tokens(&world, 100, 30));
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
    world_insert(&world, write_tokens(&world, 200, 30));
    world_insert(&world, write_tokens(&world, 200, 30));
    world.max_id = 5000;
    world_check(&world);
    assert_true(world.max_id > 5000);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_living_clusters__one_that_dissolved_comes_back_under_its_id),
        cmocka_unit_test(test_living_clusters__one_comes_back_to_a_document_that_was_replaced),
        cmocka_unit_test(test_living_clusters__an_id_in_use_does_not_come_back),
        cmocka_unit_test(test_living_clusters__ids_change_on_smaller_sides_only),
        cmocka_unit_test(test_living_clusters__rewriting_a_document_as_it_is_changes_no_id),
        cmocka_unit_test(test_living_clusters__a_member_more_changes_no_id),
        cmocka_unit_test(test_living_clusters__a_rename_keeps_the_members_and_spends_the_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
