/* What a delete costs among many that resemble each other, counted in calls of the store; that it
 * comes to the right clusters is tested over random histories (test_living_clusters.c), of which
 * two in three have hubs in clusters of two documents and more. */
#include "engine/index/clusters/cluster_hubs.h"

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

/* The calls that the first delete took; and the most that one of some others, and of some rewrites.
 */
struct calls {
    uint64_t first, deleted, rewritten;
};

static struct calls change_some(unsigned n)
{
    struct calls most = {0};
    struct world world;

    open_world(&world);
    struct world_document *first = put_many(&world, n);
    most.first = happens(&world, first + 7, NULL);
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

    print_message("calls of the store: %llu and %llu for the first delete, %llu and %llu for a "
                  "delete, %llu and %llu for a rewrite\n",
                  (unsigned long long)few.first, (unsigned long long)many.first,
                  (unsigned long long)few.deleted, (unsigned long long)many.deleted,
                  (unsigned long long)few.rewritten, (unsigned long long)many.rewritten);
    assert_in_range(many.first, 1, many.deleted); /* the hub is known from the inserts */
    assert_in_range(many.deleted, 1, few.deleted + 5);
    assert_in_range(many.rewritten, 1, few.rewritten + 5);
}

/* After a start nothing is known of the cluster. */
static void forget(struct world *world, size_t at_once)
{
    world_stop(world);
    world_start(world, &no_fault);
    assert_int_equal(world_recover(world, NULL), 0);
    living_clusters_set_repair_bounds(world->clusters, at_once, 2);
}

static void test_cluster_hubs__one_of_very_many_is_found_in_steps(void **state)
{
    enum { AT_ONCE = 20 };
    struct world world;
    unsigned n_steps = 0;
    int r;
    (void)state;

    open_world(&world);
    struct world_document *at = put_many(&world, MANY) + 7; /* the first may have a twin */
    forget(&world, AT_ONCE);
    happens(&world, at++, NULL);
    assert_int_equal(living_clusters_n_repairing(world.clusters), 1);
    while ((r = living_clusters_repair(world.clusters)) > 0) {
        n_steps++;
        if (n_steps % 3 == 0) { /* others go and come meanwhile, perhaps the hub */
            happens(&world, at, n_steps % 2 ? write_like(&world, at, 1) : NULL);
            at++;
        }
        world_check(&world);
    }
    assert_int_equal(r, 0);
    assert_true(n_steps >= MANY / AT_ONCE - 3); /* the first is the delete's, some are gone */
    assert_int_equal(living_clusters_n_repairing(world.clusters), 0);
    for (unsigned i = 0; i < 10; i++) {
        happens(&world, at++, NULL);
        assert_int_equal(living_clusters_n_repairing(world.clusters), 0);
    }
    world_check(&world);
    world_close(&world);
}

/* FEW versions, each of which has a tenth of the one before rewritten. */
static void make_chain(struct world *world, struct world_document *documents[FEW])
{
    enum { SLICE = WORLD_TOKENS / 10 };
    for (unsigned i = 0; i < FEW; i++) {
        documents[i] = write_like(world, i ? documents[i - 1] : NULL, 0);
        for (unsigned k = 0; i && k < SLICE; k++)
            documents[i]->tokens[(i * SLICE + k) % WORLD_TOKENS] = world_random(world, 1 << 30);
        record_done(&documents[i]->record);
        world_finish_document(world, documents[i]);
        happens(world, NULL, documents[i]);
    }
}

/* Some of its middle go, after a start: it falls apart, and more is to be looked at than a delete
 * looks at itself. */
static void break_chain(struct world *world, struct world_document *documents[FEW])
{
    forget(world, 8);
    for (unsigned i = FEW / 2; i < FEW / 2 + 12; i++)
        happens(world, documents[i], NULL);
    assert_true(living_clusters_n_repairing(world->clusters) > 0);
}

/* A chain of versions has no hub: it is repaired, and falls apart where some went. */
static void test_cluster_hubs__what_has_none_is_repaired(void **state)
{
    struct world world;
    struct world_document *documents[FEW];
    uint64_t n_before, n_after, n_documents;
    (void)state;

    open_world(&world);
    make_chain(&world, documents);
    world_check(&world);
    living_clusters_count(world.clusters, &n_before, &n_documents);
    break_chain(&world, documents);
    while (living_clusters_repair(world.clusters) > 0)
        ;
    world_check(&world);
    living_clusters_count(world.clusters, &n_after, &n_documents);
    assert_true(n_after > n_before);
    world_close(&world);
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

/* A chain that falls apart is repaired in steps of which the n-th write is the last; the next
 * process changes documents before the repair goes on. Returns whether it came so far. */
static bool a_repair_ends_after_a_crash(uint64_t n)
{
    enum { STEPS = 20000 };
    struct world world;
    struct world_document *documents[FEW];
    open_world(&world);
    make_chain(&world, documents);
    break_chain(&world, documents);
    assert_int_equal(living_clusters_flush(world.clusters), 0);
    world.flushed_sid = world.n_documents - 1;
    world_stop(&world);

    world_start(&world, &(struct kv_fault_plan){.crash_after_writes = n});
    int r = world_recover(&world, NULL);
    living_clusters_set_repair_bounds(world.clusters, 8, 2);
    while (r >= 0 && (r = living_clusters_repair(world.clusters)) > 0)
        ;
    bool crashed = r == -EIO;
    world_stop(&world);

    world_start(&world, &no_fault);
    assert_int_equal(world_recover(&world, NULL), 0);
    living_clusters_set_repair_bounds(world.clusters, 8, 2);
    happens(&world, documents[FEW - 1], NULL);
    happens(&world, documents[0], NULL);
    happens(&world, documents[3], write_like(&world, documents[3], 1));
    happens(&world, documents[FEW - 4], write_like(&world, documents[FEW - 4], 1));
    for (unsigned steps = 0; (r = living_clusters_repair(world.clusters)) > 0; steps++)
        assert_true(steps < STEPS);
    assert_int_equal(r, 0);
    world_check(&world);
    world_close(&world);
    return crashed;
}

static void test_cluster_hubs__a_crash_amid_a_repair_is_made_good(void **state)
{
    (void)state;
    for (uint64_t n = 1; a_repair_ends_after_a_crash(n); n++)
        ;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cluster_hubs__a_delete_costs_the_same_among_few_and_many),
        cmocka_unit_test(test_cluster_hubs__one_of_very_many_is_found_in_steps),
        cmocka_unit_test(test_cluster_hubs__a_crash_amid_a_repair_is_made_good),
        cmocka_unit_test(test_cluster_hubs__what_has_none_is_repaired),
        cmocka_unit_test(test_cluster_hubs__any_may_be_the_hub),
        cmocka_unit_test(test_cluster_hubs__who_hung_on_what_goes_is_alone),
    };
    return cmocka_run_group_tests_name("cluster_hubs", tests, NULL, NULL);
}
