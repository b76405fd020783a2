#include "tests/lib/cluster_histories.h"

#include <pthread.h>
#include <stdatomic.h>

#include "engine/index/clusters/living_clusters_private.h"
#include "engine/index/clusters/recluster_private.h"
#include "engine/index/tables/classes.h"

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

/* Whatever comes and goes, loose components are their stars, and others are whole. */
static void test_living_clusters__loose_ones_are_divided_over_any_history(void **state)
{
    (void)state;
    unsigned n_divided = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct world world;
        world_open(&world, WORLD_DIVIDED + seed, &no_fault);
        world_run(&world, 200, 60);
        n_divided += world.n_divided;
    }
    assert_true(n_divided > 100);
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
    assert_int_equal(living_clusters_flush(world.clusters), 0);

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

    world_open_repairing(&world, 1);
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
    for (unsigned i = 0; i < 100 && living_clusters_repair(world.clusters) > 0; i++)
        ;
    assert_int_equal(living_clusters_n_repairing(world.clusters), 0);
    world_check_partition(&world);
    assert_int_equal(living_clusters_of(world.clusters, more->sid, &id, &size), 0);
    assert_int_equal(size, N_LEFT + 1 + N_RIGHT + N_MORE);
    world_close(&world);
}

/* -- clusters that come back -- */

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

/* -- repairs -- */

/* What a delete leaves to be repaired is, afterwards, what it would have made itself, ids included.
 */
static void test_living_clusters__a_repair_does_what_a_delete_would_have_done(void **state)
{
    (void)state;
    unsigned n_repairs = 0;
    for (uint64_t seed = 700; seed < 720; seed++) {
        struct world world;
        world_open_repairing(&world, seed);
        for (unsigned i = 0; i < 150; i++) {
            struct world_step step = world_choose(&world, 25);
            assert_int_equal(world_do(&world, &step), 0);
            n_repairs += living_clusters_n_repairing(world.clusters) > 0;
            assert_int_equal(world_repair(&world), 0);
            assert_int_equal(living_clusters_n_repairing(world.clusters), 0);
            world_model_step(&world, &step);
            world_check(&world);
        }
        assert_int_equal(living_clusters_flush(world.clusters), 0);
        assert_int_equal(world_count_rows(&world, TABLE_INTENTS), 0);
        world_close(&world);
    }
    assert_true(n_repairs > 50);
}

/* Changes between any two steps of a repair, and new processes: at its end the clusters are right.
 */
static void test_living_clusters__a_repair_holds_over_changes_and_restarts(void **state)
{
    (void)state;
    unsigned n_amid = 0, n_divided = 0;
    for (uint64_t i_seed = 0; i_seed < 40; i_seed++) {
        struct world world;
        world_open_repairing(&world, i_seed < 20 ? 800 + i_seed : WORLD_DIVIDED + i_seed);
        for (unsigned i = 0; i < 200; i++) {
            struct world_step step = world_choose(&world, 25);
            assert_int_equal(world_do(&world, &step), 0);
            for (unsigned k = 0; k < step.n_new; k++)
                step.new[k]->live = true;
            for (unsigned k = 0; k < step.n_old; k++)
                step.old[k]->live = false;
            for (uint64_t n = world_random(&world, 12); n > 0; n--)
                assert_true(living_clusters_repair(world.clusters) >= 0);
            n_amid += living_clusters_n_repairing(world.clusters) > 0;
            if (i % 13 == 0) {
                world_restart(&world, NULL);
            }
            if (i % 17 == 0) {
                assert_int_equal(world_repair(&world), 0);
                world.n_aliases = 0; /* the model does not follow */
                world_check_partition(&world);
            }
        }
        n_divided += world.n_divided;
        world_close(&world);
    }
    assert_true(n_amid > 100 && n_divided > 0);
}

/* Pieces of one long text come between any few steps of a repair; or others go, or both. Returns
 * how many runs were done at a stretch. */
static unsigned stream_into_a_loose_one(uint64_t seed, bool goes_too, unsigned *n_divided)
{
    enum { PIECES = 110, CHANGES = 120, LENGTH = 24, STEP = 3 };
    struct world world;
    unsigned n_stretches = 0;
    world_open(&world, seed, &no_fault);
    world_stop(&world);
    world.bounds.at_once = 1;
    world_start(&world, &no_fault);
    for (unsigned i = 0; i < PIECES + CHANGES; i++) {
        const unsigned from = 1 + STEP * (unsigned)(i < PIECES ? i : world_random(&world, PIECES));
        const bool goes = goes_too && i >= PIECES && world_random(&world, 3);
        struct world_step step = {0};
        if (goes)
            step.old[step.n_old++] = world_pick(&world);
        if (!goes || world_random(&world, 2))
            step.new[step.n_new++] = write_tokens(&world, from, LENGTH - (unsigned)(i % 2));
        assert_int_equal(world_do(&world, &step), 0);
        for (unsigned k = 0; k < step.n_new; k++)
            step.new[k]->live = true;
        for (unsigned k = 0; k < step.n_old; k++)
            step.old[k]->live = false;
        if (i + 1 == PIECES || i % 40 == 0) {
            assert_int_equal(world_repair(&world), 0);
            world_check_partition(&world);
        }
        const struct recluster *run = world.clusters->run;
        for (uint64_t n = i < PIECES && !goes_too ? 0 : world_random(&world, 80); n > 0; n--) {
            n_stretches += !run->began && run->n_void >= RECLUSTER_RUNS;
            assert_true(living_clusters_repair(world.clusters) >= 0);
        }
    }
    assert_int_equal(world_repair(&world), 0);
    world_check_partition(&world);
    world_restart(&world, NULL); /* and inserts all again */
    assert_int_equal(living_clusters_n_repairing(world.clusters), 0);
    world_check_partition(&world);
    *n_divided += world.n_divided;
    world_close(&world);
    return n_stretches;
}

/* A component that changes all the time holds nothing up, and is divided all the same. */
static void test_living_clusters__a_stream_into_a_loose_one_is_no_work_at_a_stretch(void **state)
{
    unsigned n_divided = 0, n_stretches = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        n_stretches += stream_into_a_loose_one(WORLD_DIVIDED + seed, false, &n_divided);
        (void)stream_into_a_loose_one(WORLD_DIVIDED + seed, true, &n_divided);
    }
    assert_int_equal(n_stretches, 0);
    assert_true(n_divided > 100);
}

/* All have their smallest values in common, and otherwise pieces of one long text; so each centre
 * has the same keys, and nodes that are far from the first of them are by themselves. */
static void test_living_clusters__of_very_many_centres_with_a_key_the_first_are_asked(void **state)
{
    enum { N = 400, STEP = 6, LENGTH = 20 };
    struct world world;
    unsigned cluster[WORLD_DOCUMENTS], n_in_divided = 0, n_alone = 0;
    (void)state;
    world_open(&world, WORLD_DIVIDED, &no_fault);
    world.policy.s = world.policy.v_max = 64; /* exact */
    min_sketch_builder_free(world.builder);
    assert_int_equal(min_sketch_builder_new(&world.policy, &world.builder), 0);
    for (unsigned i = 0; i < N; i++) {
        const struct world_stretch stretches[] = {{1, POSTINGS_TIER_R_KEYS},
                                                  {1000 + i * STEP, LENGTH}};
        const struct world_step step = {.new = {world_new_of_stretches(&world, stretches, 2)},
                                        .n_new = 1};
        assert_int_equal(world_do(&world, &step), 0);
        step.new[0]->live = true;
    }
    assert_int_equal(world_repair(&world), 0);
    world_check_partition(&world);
    assert_int_equal(world_clusters(&world, cluster, &n_in_divided), 1);
    assert_int_equal(n_in_divided, N);
    for (unsigned i = 1; i <= N; i++) { /* which would not be, were all asked */
        unsigned n = 0;
        for (unsigned k = 1; k <= N; k++)
            n += cluster[k] == cluster[i];
        n_alone += n == 1;
    }
    assert_in_range(n_alone, N / 10, N);
    world_close(&world);
}

/* Of one text, but for a word. */
static struct world_document *write_version(struct world *world, unsigned number)
{
    struct world_document *document = write_tokens(world, 1, 30);
    record_done(&document->record);
    document->tokens[number % 30] = 1000 + number;
    world_finish_document(world, document);
    return document;
}

/* In a cluster of more documents than are looked at during an insert. Returns whether it comes
 * before all others by rank, so that these are looked at behind. */
static bool insert_version(struct world *world, struct world_document *document)
{
    bool is_first = true;
    for (unsigned i = 0; i < world->n_documents; i++)
        if (world->documents[i].live)
            is_first &= stars_rank(&document->record.sketch) <
                        stars_rank(&world->documents[i].record.sketch);
    const struct world_step step = {.new = {document}, .n_new = 1};
    assert_int_equal(world_do(world, &step), 0);
    document->live = true;
    return is_first;
}

/* A copy of each document takes its place, and a new version comes; then a new process does it all
 * again. */
static void test_living_clusters__what_is_known_of_a_large_cluster_outlives_copies(void **state)
{
    enum { N = 300, N_COPIED = 40 };
    struct world world;
    struct world_document *versions[N];
    (void)state;
    world_open(&world, WORLD_DIVIDED, &no_fault);
    for (unsigned i = 0; i < N; i++) {
        (void)insert_version(&world, versions[i] = write_version(&world, i));
        assert_int_equal(world_repair(&world), 0);
    }
    for (unsigned i = 1; i < N; i++) /* the first by rank is among those that go */
        if (stars_rank(&versions[i]->record.sketch) < stars_rank(&versions[0]->record.sketch)) {
            struct world_document *version = versions[i];
            versions[i] = versions[0];
            versions[0] = version;
        }
    for (unsigned i = 0; i < N_COPIED; i++) {
        struct world_document *copy = world_new_document(&world);
        copy->n_tokens = versions[i]->n_tokens;
        memcpy(copy->tokens, versions[i]->tokens, sizeof(copy->tokens));
        copy->content = world.n_documents;
        world_finish_document(&world, copy);
        (void)insert_version(&world, copy);
        const struct world_step step = {.old = {versions[i]}, .n_old = 1};
        assert_int_equal(world_do(&world, &step), 0);
        versions[i]->live = false;
        assert_int_equal(living_clusters_n_repairing(world.clusters), 0);
        const bool is_first = insert_version(&world, write_version(&world, N + i));
        assert_int_equal(living_clusters_n_repairing(world.clusters), is_first);
        assert_int_equal(world_repair(&world), 0);
    }
    world_restart(&world, NULL);
    assert_int_equal(living_clusters_n_repairing(world.clusters), 0);
    world_check_partition(&world);
    world_close(&world);
}

/* A document was in no cluster when a list of it was looked at, and in one when the next was; then
 * another one took its place in that, which has as many as before. */
static void test_living_clusters__a_repair_holds_over_who_is_met_twice(void **state)
{
    struct world world;
    (void)state;
    world_open(&world, 1, &no_fault);
    struct world_document *x = write_tokens(&world, 1, 30);
    world_insert(&world, x);
    struct dirty *dirty = world.clusters->graph->dirty;
    assert_int_equal(dirty_mark_lists(dirty, x->record.sketch.values, 2), 0);
    assert_int_equal(living_clusters_repair(world.clusters), 1);
    struct world_step steps[] = {{.new = {write_tokens(&world, 1, 30)}, .n_new = 1},
                                 {.new = {write_tokens(&world, 1, 30)}, .n_new = 1},
                                 {.old = {x}, .n_old = 1}};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(world_do(&world, &steps[i]), 0);
        world_model_step(&world, &steps[i]);
        for (unsigned k = 0; i == 0 && k < 2; k++) /* the second list, and its cluster */
            assert_int_equal(living_clusters_repair(world.clusters), 1);
    }
    assert_int_equal(world_repair(&world), 0);
    world_check(&world);
    world_close(&world);
}

/* Four documents with one fingerprint in common, of which more than three make a list long: when
 * one goes, the last two are compared. After some steps one of these goes as well, or is rewritten.
 */
static void repair_amid_loners(unsigned n_steps, bool rewritten)
{
    const struct world_stretch texts[4][3] = {{{1, 1}, {1000, 40}, {0}},
                                              {{1, 1}, {2000, 40}, {0}},
                                              {{1, 1}, {100, 20}, {5000, 40}},
                                              {{1, 1}, {200, 20}, {5000, 40}}};
    struct world_document *documents[4];
    struct world world;
    world_open(&world, WORLD_LONG_LISTS, &no_fault);
    world_stop(&world);
    world.bounds = (struct cluster_bounds){.most_compared = 3, .n_representatives = 1, 64};
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
        assert_true(living_clusters_repair(world.clusters) >= 0);
    step = (struct world_step){.old = {documents[2]}, .n_old = 1, .n_new = rewritten};
    if (rewritten)
        step.new[0] = world_new_of_stretches(&world, texts[2], 3);
    assert_int_equal(world_do(&world, &step), 0);
    world_model_step(&world, &step);
    assert_int_equal(world_repair(&world), 0);
    assert_int_equal(world_id_of(&world, documents[3]) != 0, rewritten);
    world_check_partition(&world);
    world_close(&world);
}

static void test_living_clusters__a_repair_holds_over_who_is_in_no_cluster_and_goes(void **state)
{
    (void)state;
    for (unsigned n_steps = 0; n_steps < 8; n_steps++) {
        repair_amid_loners(n_steps, false);
        repair_amid_loners(n_steps, true);
    }
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
        r = living_clusters_repair(world.clusters);
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

    world_open_repairing(&world, 800);
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
    for (unsigned i = 0; i < 100 && (r = living_clusters_repair(world.clusters)) > 0; i++)
        ;
    assert_int_equal(r, -EUCLEAN);
    world_close(&world);
}

/* -- ids stay -- */

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

/* -- ids that became others -- */

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
    assert_int_equal(world_repair(&world), 0);
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

/* -- the rest -- */

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

static void test_living_clusters__postings_of_the_dead_do_not_come_back(void **state)
{
    struct world world;
    struct sid_list list;
    (void)state;

    world_open(&world, 1, &no_fault);
    struct world_document *dead = write_tokens(&world, 1, 40);
    world_insert(&world, dead);
    assert_int_equal(living_clusters_flush(world.clusters), 0);
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
        assert_int_equal(classes_list(world.inner, class_id, 0, limits[i], &sids), 0);
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
        cmocka_unit_test(test_living_clusters__loose_ones_are_divided_over_any_history),
        cmocka_unit_test(test_living_clusters__hold_over_a_store_that_fails_in_passing),
        cmocka_unit_test(test_living_clusters__a_restart_changes_nothing),
        cmocka_unit_test(
            test_living_clusters__a_bridge_joins_large_clusters_and_its_end_parts_them),
        cmocka_unit_test(test_living_clusters__a_bridge_that_is_inserted_again_is_in_one_cluster),
        cmocka_unit_test(test_living_clusters__one_that_dissolved_comes_back_under_its_id),
        cmocka_unit_test(test_living_clusters__one_comes_back_to_a_document_that_was_replaced),
        cmocka_unit_test(test_living_clusters__an_id_in_use_does_not_come_back),
        cmocka_unit_test(test_living_clusters__a_repair_does_what_a_delete_would_have_done),
        cmocka_unit_test(test_living_clusters__a_repair_holds_over_changes_and_restarts),
        cmocka_unit_test(test_living_clusters__a_stream_into_a_loose_one_is_no_work_at_a_stretch),
        cmocka_unit_test(test_living_clusters__of_very_many_centres_with_a_key_the_first_are_asked),
        cmocka_unit_test(test_living_clusters__what_is_known_of_a_large_cluster_outlives_copies),
        cmocka_unit_test(test_living_clusters__a_repair_holds_over_who_is_met_twice),
        cmocka_unit_test(test_living_clusters__a_repair_holds_over_who_is_in_no_cluster_and_goes),
        cmocka_unit_test(test_living_clusters__a_posting_too_many_is_no_work_without_end),
        cmocka_unit_test(test_living_clusters__a_row_too_many_is_no_work_without_end),
        cmocka_unit_test(test_living_clusters__ids_change_on_smaller_sides_only),
        cmocka_unit_test(test_living_clusters__rewriting_a_document_as_it_is_changes_no_id),
        cmocka_unit_test(test_living_clusters__a_member_more_changes_no_id),
        cmocka_unit_test(test_living_clusters__an_id_lost_in_a_merge_leads_on),
        cmocka_unit_test(test_living_clusters__ids_that_lead_to_a_cluster_are_bounded),
        cmocka_unit_test(
            test_living_clusters__no_id_leads_to_what_is_gone_after_a_merge_that_failed),
        cmocka_unit_test(test_living_clusters__other_rows_beside_aliases_do_no_harm),
        cmocka_unit_test(test_living_clusters__a_rename_keeps_the_members_and_spends_the_id),
        cmocka_unit_test(test_living_clusters__postings_of_the_dead_do_not_come_back),
        cmocka_unit_test(test_living_clusters__the_first_of_a_class_are_listed_alone),
        cmocka_unit_test(test_living_clusters__can_be_read_while_they_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
