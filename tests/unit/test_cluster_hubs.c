/* What a delete costs among many that resemble each other, counted in calls of the store; that it
 * comes to the right clusters is tested over random histories (test_living_clusters.c), of which
 * two in three have hubs in clusters of two documents and more. */
#include "engine/index/cluster_hubs.h"

#include "tests/lib/cluster_world.h"

static const struct kv_fault_plan no_fault;

enum { MANY = 300, FEW = 60 };

static void open_world(struct world *world)
{
    world_open(world, 1, &no_fault);
    assert_int_equal(world->limits.long_from, 2);
}

static struct world_document *write_like(struct world *world, const struct world_document *like,
                                         unsigned n_edits)
{
    struct world_document *document = world_new_document(world);
    document->n_tokens = WORLD_TOKENS;
    for (unsigned i = 0; i < WORLD_TOKENS; i++)
        document->tokens[i] = like ? like->tokens[i] : world_random(world, 1 << 30);
    world_edit(world, document, n_edits);
    world_finish_document(world, document);
    return document;
}

/* Returns the calls of the store that it took. */
static uint64_t happens(struct world *world, struct world_document *old, struct world_document *new)
{
    struct world_step step = {
        .old = {old}, .new = {new}, .n_old = old != NULL, .n_new = new != NULL};
    uint64_t before, after, n_writes;
    kv_fault_counts(world->fault, &before, &n_writes);
    assert_int_equal(world_do(world, &step), 0);
    kv_fault_counts(world->fault, &after, &n_writes);
    world_model_step(world, &step);
    return after - before;
}

static struct world_document *put_many(struct world *world, unsigned n)
{
    struct world_document *first = write_like(world, NULL, 0);
    happens(world, NULL, first);
    for (unsigned i = 1; i < n; i++)
        happens(world, NULL, write_like(world, first, 1));
    return first;
}

/* The most calls that one of some deletes took, and one of some rewrites, after the first delete.
 */
struct calls {
    uint64_t deleted, rewritten;
};

static struct calls change_some(unsigned n)
{
    struct calls most = {0};
    struct world world;

    open_world(&world);
    struct world_document *first = put_many(&world, n);
    happens(&world, first + 7, NULL);
    for (unsigned i = 10; i < 20; i++) {
        uint64_t deleted = happens(&world, first + i, NULL);
        uint64_t rewritten = happens(&world, first + i + 10, write_like(&world, first + i + 10, 1));
        most.deleted = deleted > most.deleted ? deleted : most.deleted;
        most.rewritten = rewritten > most.rewritten ? rewritten : most.rewritten;
    }
    world_check(&world);
    world_close(&world);
    return most;
}

static void test_cluster_hubs__a_delete_costs_the_same_among_few_and_many(void **state)
{
    struct calls few = change_some(FEW), many = change_some(MANY);
    (void)state;

    print_message("calls of the store: %llu and %llu for a delete, %llu and %llu for a rewrite\n",
                  (unsigned long long)few.deleted, (unsigned long long)many.deleted,
                  (unsigned long long)few.rewritten, (unsigned long long)many.rewritten);
    assert_in_range(many.deleted, 1, few.deleted + 5);
    assert_in_range(many.rewritten, 1, few.rewritten + 5);
}

/* All go, the hub among them whichever it is. */
static void test_cluster_hubs__any_may_be_the_hub(void **state)
{
    struct world world;
    (void)state;

    open_world(&world);
    struct world_document *first = put_many(&world, FEW);
    for (unsigned i = 0; i < FEW; i++) {
        happens(&world, first + i * 7 % FEW, NULL);
        world_check(&world);
    }
    world_close(&world);
}

/* Documents that resemble one of many, a third of which is its own, and not the others: when that
 * one goes they are alone. */
static void test_cluster_hubs__who_hung_on_what_goes_is_alone(void **state)
{
    struct world world;
    uint64_t id, size;
    unsigned n_alone = 0;
    (void)state;

    open_world(&world);
    struct world_document *first = put_many(&world, FEW), *hanging = NULL, *by = NULL;
    for (unsigned i = 0; i < 5; i++) {
        const bool turned = i % 2;
        by = write_like(&world, first, 0);
        for (unsigned k = 0; k < 22; k++)
            by->tokens[turned ? WORLD_TOKENS - 1 - k : k] = world_random(&world, 1 << 30);
        record_done(&by->record);
        world_finish_document(&world, by);
        happens(&world, NULL, by);
        hanging = write_like(&world, by, 0);
        for (unsigned k = 40; k < WORLD_TOKENS; k++)
            hanging->tokens[turned ? WORLD_TOKENS - 1 - k : k] = world_random(&world, 1 << 30);
        record_done(&hanging->record);
        world_finish_document(&world, hanging);
        happens(&world, NULL, hanging);
        happens(&world, first + 1 + i, NULL);
        assert_int_equal(living_clusters_of(world.clusters, hanging->sid, &id, &size), 0);
        bool hangs = id != 0;
        world_check(&world);
        happens(&world, by, NULL);
        assert_int_equal(living_clusters_of(world.clusters, hanging->sid, &id, &size), 0);
        n_alone += hangs && id == 0;
        world_check(&world);
    }
    assert_true(n_alone > 0); /* by their estimates some resemble others, too */
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cluster_hubs__a_delete_costs_the_same_among_few_and_many),
        cmocka_unit_test(test_cluster_hubs__any_may_be_the_hub),
        cmocka_unit_test(test_cluster_hubs__who_hung_on_what_goes_is_alone),
    };
    return cmocka_run_group_tests_name("cluster_hubs", tests, NULL, NULL);
}
