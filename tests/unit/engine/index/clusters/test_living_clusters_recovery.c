/* Living clusters over a process that dies, or a store that fails, at every point of a history. */
#include "engine/index/clusters/living_clusters_private.h"
#include "tests/lib/histories/cluster_histories.h"
#include "tests/lib/share.h"

enum { N_STEPS = 28, N_TARGET = 10 };

/* Among them those in which ids once depended on where it died. */
static const uint64_t seeds[] = {1, 28, WORLD_LONG_LISTS + 3, WORLD_DIVIDED + 4},
                      split_seeds[] = {11, 80, WORLD_LONG_LISTS + 5, WORLD_DIVIDED + 1},
                      recovery_seeds[] = {42, 67, 80, WORLD_DIVIDED + 7},
                      failure_seeds[] = {80, WORLD_LONG_LISTS + 7, WORLD_DIVIDED + 6},
                      deleted_seeds[] = {11, WORLD_LONG_LISTS + 39, WORLD_DIVIDED + 8},
                      reclustered_seeds[] = {WORLD_LONG_LISTS + 188};
#define N_OF(array) (sizeof(array) / sizeof(*(array)))

/* A history over a store that dies at its n-th write. After the death: a new process over what
 * survived, which finishes, inserts again what may not have been, and does the step again. Returns
 * whether the store died at all. */
static bool run_with_crash(uint64_t seed, uint64_t crash_after, bool split, bool reclusters)
{
    struct world world;
    bool crashed = false;

    world_open(&world, seed,
               &(struct kv_fault_plan){
                   .seed = seed, .crash_after_writes = crash_after, .split_batches = split});
    world.bounds.at_once = reclusters ? 1 : 64;
    for (unsigned i = 0; i < N_STEPS; i++) {
        struct world_step step = world_choose(&world, N_TARGET);
        world_do_or_restart(&world, &step, &crashed);
        int r = world_recluster(&world);
        if (r == -EIO && !crashed) {
            crashed = true;
            world_restart(&world, NULL);
            r = world_recluster(&world);
        }
        assert_int_equal(r, 0);
        world_model_step(&world, &step);
        world_check(&world);
    }
    world_close(&world);
    return crashed;
}

static void test_living_clusters_recovery__a_crash_at_any_write_is_made_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(seeds); i++)
        for (uint64_t n = 1; run_with_crash(seeds[i], n, false, false); n += failure_share())
            ;
}

static void test_living_clusters_recovery__a_crash_within_a_batch_is_made_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(split_seeds); i++)
        for (uint64_t n = 1; run_with_crash(split_seeds[i], n, true, false); n += failure_share())
            ;
}

static void test_living_clusters_recovery__a_crash_amid_a_reclustering_is_made_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(seeds); i++)
        for (uint64_t n = 1; run_with_crash(seeds[i], n, i > 0, true); n += failure_share())
            ;
}

/* After that death, each new process dies a little later than the one before it, until one has
 * recovered; and so on for each step. */
static void run_with_crashes(uint64_t seed, uint64_t crash_after)
{
    struct world world;

    world_open(&world, seed, &(struct kv_fault_plan){.crash_after_writes = crash_after});
    for (unsigned i = 0; i < N_STEPS; i++) {
        struct world_step step = world_choose(&world, N_TARGET);
        int r = world_do_all(&world, &step);
        for (uint64_t again = 1; r == -EIO; again += failure_step()) {
            world_stop(&world);
            world_start(&world, &(struct kv_fault_plan){.crash_after_writes = again});
            r = world_recover(&world, &step);
            if (r == 0)
                r = world_do_all(&world, &step);
        }
        assert_int_equal(r, 0);
        world_model_step(&world, &step);
        world_check(&world);
    }
    world_close(&world);
}

static void test_living_clusters_recovery__a_crash_while_recovering_is_made_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(recovery_seeds); i++)
        for (uint64_t n = 1; n < 400; n += 10 * failure_share())
            run_with_crashes(recovery_seeds[i], n);
}

static bool run_with_failure(uint64_t seed, uint64_t n)
{
    struct world world;

    world_open(&world, seed, &(struct kv_fault_plan){.fail_call = n, .fail_error = -ENOSPC});
    return world_run_with_failure(&world, N_STEPS, N_TARGET);
}

static void test_living_clusters_recovery__a_failed_call_is_made_good_by_repeating(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(failure_seeds); i++)
        for (uint64_t n = 9; run_with_failure(failure_seeds[i], n); n += 2 * failure_share())
            ;
}

/* What fails to be inserted, with some of it written, is deleted instead; or it is done again, when
 * what is dirty has been clustered anew. Returns whether anything failed. */
static bool run_with_late_failure(uint64_t seed, uint64_t n, bool deletes)
{
    const struct kv_fault_plan plan = {
        .seed = seed, .split_batches = true, .late_failure = n, .fail_error = -ENOSPC};
    struct world world;
    bool failed = false;

    world_open(&world, seed, &plan);
    for (unsigned i = 0; i < N_STEPS; i++) {
        struct world_step step = world_choose(&world, N_TARGET);
        int r = world_do_all(&world, &step);
        if (r == -ENOSPC) {
            failed = true;
            if (!deletes)
                assert_int_equal(world_recluster(&world), 0);
            for (unsigned k = 0; deletes && k < step.n_new && step.n_old == 0; k++)
                step.old[k] = step.new[k];
            if (deletes && step.n_old == 0) {
                step.n_old = step.n_new;
                step.n_new = 0;
                step.new[0] = NULL;
            }
            r = world_do_all(&world, &step);
        }
        assert_int_equal(r, 0);
        for (unsigned k = 0; k < step.n_new; k++)
            step.new[k]->live = true;
        for (unsigned k = 0; k < step.n_old; k++)
            step.old[k]->live = false;
        world_check_partition(&world); /* the model of ids does not follow */
    }
    world_close(&world);
    return failed;
}

static void test_living_clusters_recovery__a_failed_insert_is_made_good_by_a_delete(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(deleted_seeds); i++)
        for (uint64_t n = 1; run_with_late_failure(deleted_seeds[i], n, true); n += failure_share())
            ;
}

static void
test_living_clusters_recovery__a_failed_insert_is_made_good_after_a_reclustering(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(reclustered_seeds); i++)
        for (uint64_t n = 1; run_with_late_failure(reclustered_seeds[i], n, false);
             n += failure_share())
            ;
}

/* A copy of a document comes and goes, under the next sid. */
static void copy_and_delete(struct world *world, const struct record *record, uint64_t sid)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct record_key key;
    assert_int_equal(record_encode(record, &value), 0);
    kv_batch_put(batch, TABLE_RECORDS, record_key(&key, sid), kv_buf_slice(&value));
    assert_int_equal(kv_apply(world->kv, batch), 0);
    assert_int_equal(living_clusters_insert(world->clusters, sid, record), 0);
    assert_int_equal(living_clusters_delete(world->clusters, sid, record), 0);
}

/* Copies have no postings, which would have them flushed. Intents are bounded all the same, and
 * those count that another process has left. */
static void test_living_clusters_recovery__intents_of_copies_that_go_are_bounded(void **state)
{
    enum { MOST = LIVING_CLUSTERS_DELETED_MAX, BEFORE = 100, MORE = 1000 };
    struct world world;
    unsigned n_flushed = 0;
    (void)state;
    world_open(&world, 1, &no_fault);
    struct world_document *document = write_tokens(&world, 1, 30);
    world_insert(&world, document);
    struct record copy = document->record;
    copy.key.bytes[0] ^= 1;
    for (uint64_t i = 1; i <= MOST + MORE; i++) {
        copy_and_delete(&world, &copy, document->sid + i);
        if (i == BEFORE) {
            world_stop(&world);
            world_start(&world, &no_fault);
            assert_int_equal(living_clusters_recover(world.clusters), 0);
            assert_int_equal(world.clusters->n_deleted, BEFORE);
        }
        if (!living_clusters_flush_due(world.clusters))
            continue;
        n_flushed++;
        assert_int_equal(i, MOST);
        assert_int_equal(living_clusters_flush_postings(world.clusters), 0);
        assert_int_equal(world_count_rows(&world, TABLE_INTENTS), 0);
    }
    assert_int_equal(n_flushed, 1);
    assert_int_equal(world_count_rows(&world, TABLE_INTENTS), MORE);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_living_clusters_recovery__a_crash_at_any_write_is_made_good),
        cmocka_unit_test(test_living_clusters_recovery__a_crash_within_a_batch_is_made_good),
        cmocka_unit_test(test_living_clusters_recovery__a_crash_amid_a_reclustering_is_made_good),
        cmocka_unit_test(test_living_clusters_recovery__a_crash_while_recovering_is_made_good),
        cmocka_unit_test(test_living_clusters_recovery__a_failed_call_is_made_good_by_repeating),
        cmocka_unit_test(test_living_clusters_recovery__a_failed_insert_is_made_good_by_a_delete),
        cmocka_unit_test(
            test_living_clusters_recovery__a_failed_insert_is_made_good_after_a_reclustering),
        cmocka_unit_test(test_living_clusters_recovery__intents_of_copies_that_go_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
