/* What hangs on directories that are gone is taken away, step by step. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/index/index_state.h"
#include "engine/index/tables/schema.h"
#include "tests/lib/fixtures/scan_fixture.h"
#include "tests/lib/share.h"
#include "tests/lib/stores/kv_memory.h"

static void test_scan__a_large_directory_that_goes_is_taken_away_in_many_steps(void **state)
{
    struct fixture *f = *state;
    char *path = NULL;
    scan(f, 0, NULL);
    struct file_key file = key_of(f, "large/0007");
    move_out(f);
    reconcile_noted(f);
    assert_int_equal(n_entries(f), FILES);
    assert_int_equal(index_path(f->index, &file, &path), -ENOENT); /* no answer has it any more */
    assert_true(take_away(f, UINT_MAX) > FILES / 256);
    assert_int_equal(n_entries(f), 0);
}

/* Once more than they went, at the end; those in directories below likewise. */
static void test_scan__of_a_directory_that_goes_no_entry_is_passed_over_many_times(void **state)
{
    struct fixture *f = *state;
    enum { N = 4000, N_BELOW = 3 };
    struct kv *kv = f->index->kv, *memory;
    const struct kv_options options = {.tables = schema_tables, .n_tables = SCHEMA_N_TABLES};
    struct file_key key = f->large;
    assert_int_equal(kv_memory_open(&options, &memory), 0);
    f->index->kv = f->index->counts.kv = f->index->past.kv = memory;
    for (unsigned i = 0; i < N; i++) {
        struct kv_batch *batch = kv_batch_new();
        struct file_key below;
        char name[16];
        snprintf(name, sizeof(name), "%04u", i);
        put_be32(key.bytes + key.size_bytes - 4, i);
        catalogue_put(batch, &f->large, name, &key, i % 4 ? ENTRY_FILE : ENTRY_DIRECTORY);
        for (unsigned k = 0; i % 4 == 0 && k < N_BELOW; k++) {
            below = key;
            below.bytes[below.size_bytes - 5] ^= (uint8_t)(k + 1);
            catalogue_put(batch, &key, (char[]){(char)('a' + k), '\0'}, &below, ENTRY_FILE);
        }
        assert_int_equal(kv_apply(memory, batch), 0);
        kv_batch_free(batch);
    }
    assert_int_equal(directory_removal_add(f->index, &f->large, NULL), 0);
    take_away(f, UINT_MAX);
    assert_in_range(kv_memory_passed(memory), 0, 4 * N);
    f->index->kv = f->index->counts.kv = f->index->past.kv = kv;
    kv_close(memory);
}

static void test_scan__a_directory_that_comes_back_before_all_is_taken_away_is_whole(void **state)
{
    struct fixture *f = *state;
    scan(f, 0, NULL);
    move_out(f);
    reconcile_noted(f);
    unsigned n_steps = take_away(f, UINT_MAX);
    for (unsigned at = 0; at <= n_steps; at += failure_step()) {
        move_in(f);
        scan(f, 0, NULL);
        assert_catalogue_is(f, "tree/large");
        move_out(f);
        reconcile_noted(f);
        take_away(f, at);
        move_in(f);
        reconcile_noted(f);
        while (!scan_is_idle(f->index)) /* which its name has begun */
            step(f);
        take_away(f, UINT_MAX);
        assert_catalogue_is(f, "tree/large");
        move_out(f);
        reconcile_noted(f);
        take_away(f, UINT_MAX);
    }
}

static void test_scan__what_is_not_taken_away_yet_is_after_the_next_start(void **state)
{
    struct fixture *f = *state;
    char *error = NULL;
    scan(f, 0, NULL);
    move_out(f);
    reconcile_noted(f);
    take_away(f, 2);
    assert_true(n_entries(f) > 0);
    index_close(f->index, 0);
    struct index_options options = {
        .backing = f->backing, .source = f->tree, .store_path = f->store};
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
    assert_int_equal(index_start(f->index), 0);
    assert_int_equal(index_settle(f->index, INDEX_LANE_ALL, 600000), 0);
    assert_int_equal(n_entries(f), 0);
}

/* Somebody removes another directory at each step. */
static void test_scan__a_directory_that_goes_does_not_wait_for_those_after_it(void **state)
{
    struct fixture *f = *state;
    enum { STEPS_MAX = 1000 };
    for (unsigned i = 0; i < STEPS_MAX; i++)
        assert_int_equal(mkdir(scratch_path(f->tree, "%u", i), 0755), 0);
    scan(f, 0, NULL);
    move_out(f);
    reconcile_noted(f);
    unsigned n_steps = 0;
    for (; n_entries(f) > 0 && n_steps < STEPS_MAX; n_steps++) {
        char name[16];
        snprintf(name, sizeof(name), "%u", n_steps);
        assert_int_equal(rmdir(scratch_path(f->tree, "%s", name)), 0);
        note(f, backing_root_key(f->backing), name);
        reconcile_noted(f);
        take_away(f, 1);
    }
    assert_int_equal(n_entries(f), 0);
    assert_false(directory_removal_is_idle(f->index)); /* those are to come */
    take_away(f, UINT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_scan__a_large_directory_that_goes_is_taken_away_in_many_steps),
        ON_A_TREE(test_scan__a_directory_that_comes_back_before_all_is_taken_away_is_whole),
        ON_A_TREE(test_scan__of_a_directory_that_goes_no_entry_is_passed_over_many_times),
        ON_A_TREE(test_scan__what_is_not_taken_away_yet_is_after_the_next_start),
        ON_A_TREE(test_scan__a_directory_that_goes_does_not_wait_for_those_after_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
