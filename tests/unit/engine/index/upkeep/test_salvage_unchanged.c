/* Stores that a repair leaves as they are. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/index_state.h"
#include "tests/lib/fixtures/salvage_fixture.h"

/* It is whole, and not this version's to mend. */
static void test_salvage__a_store_of_another_version_is_not_taken_for_a_damaged_one(void **state)
{
    static const uint64_t schemas[] = {1, SCHEMA_VERSION + 1, UINT64_MAX};
    struct fixture *f = *state;
    const struct index_options options = options_of(f);
    const struct kv_slice key = {"schema", 6};
    uint8_t value[8];
    for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
        _cleanup_(kv_buf_done) struct kv_buf stays = {0};
        char *error = NULL, said[32];
        struct kv *kv = open_rows(f);
        put_be64(value, schemas[i]);
        kv_batch_put(batch, TABLE_META, key, (struct kv_slice){value, sizeof(value)});
        assert_int_equal(kv_apply(kv, batch), 0);
        kv_close(kv);
        snprintf(said, sizeof(said), "schema %llu", (unsigned long long)schemas[i]);
        assert_int_equal(index_open(&options, &f->tree.index, &error), -EPROTO);
        assert_true(strstr(error, said) && strstr(error, "kinfs scan --store=") &&
                    strstr(error, f->tree.tree));
        free(TAKE_PTR(error));
        assert_int_equal(index_repair(&options, &(struct index_repair_options){0}, &error),
                         -EPROTO);
        assert_non_null(strstr(error, said));
        free(TAKE_PTR(error));
        assert_int_equal(index_rebuild(&options, NULL, NULL, NULL), -EPROTO);
        kv = open_rows(f);
        assert_int_equal(kv_get(kv, TABLE_META, key, &stays), 0);
        assert_memory_equal(stays.data, value, sizeof(value));
        kv_close(kv);
    }
}

/* Nothing is wrong: nothing is made. */
static void test_salvage__a_sound_store_is_left_as_it_is(void **state)
{
    struct fixture *f = *state;
    const uint64_t sid = give_a_late_sid(f);
    repair(f, "a sound store", true);
    assert_int_equal(outcome, INDEX_MENDING_NONE);
    assert_int_equal(checked.findings, 0);
    assert_int_equal(checked.documents, N_DOCUMENTS);
    assert_string_equal(stages, "checking;");
    assert_int_equal(last_sid(f), sid);
}

/* Whoever is told can end it, at whatever stage; then what was there stands. */
static int end_there(void *user, const char *stage, const char *table, uint64_t n_rows)
{
    (void)table, (void)n_rows;
    return strcmp(stage, user) == 0 ? -ECANCELED : 0;
}

static void test_salvage__a_repair_that_is_ended_changed_nothing(void **state)
{
    struct fixture *f = *state;
    const uint64_t sid = give_a_late_sid(f);
    const struct index_options options = options_of(f);
    static const char *const ends[] = {"checking", "copying", "deriving postings",
                                       "checking what was made"};
    damage_table(f, TABLE_TIER_C, HALF_LOST);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const struct index_repair_options wanted = {.stage = end_there, .user = (void *)ends[i]};
        char *error = NULL;
        assert_int_equal(index_repair(&options, &wanted, &error), -ECANCELED);
        assert_non_null(strstr(error, "what was there stands"));
        free(error);
        assert_int_equal(last_sid(f), sid);
        assert_noticed(f, ends[i]);
    }
    repair(f, "after repairs that were ended", true);
    assert_int_equal(outcome, INDEX_MENDING_DERIVED);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_salvage__a_store_of_another_version_is_not_taken_for_a_damaged_one),
        CASE(test_salvage__a_sound_store_is_left_as_it_is),
        CASE(test_salvage__a_repair_that_is_ended_changed_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
