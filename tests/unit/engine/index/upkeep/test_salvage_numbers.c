/* Numbers and intents that no store has of itself are refused, and mended. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/index/index_state.h"
#include "engine/index/tables/sid.h"
#include "tests/lib/share.h"
#include "tests/lib/fixtures/salvage_fixture.h"

static void assert_refused(struct fixture *f, const char *what)
{
    const struct index_options options = options_of(f);
    _cleanup_free_ char *error = NULL;
    if (index_open(&options, &f->tree.index, &error) != -EUCLEAN)
        fail_msg("%s: not refused", what);
    assert_non_null(strstr(error, f->tree.store));
    assert_non_null(strstr(error, "kinfs check --repair"));
}

static void test_salvage__sids_that_would_be_given_twice_are_refused_and_mended(void **state)
{
    static const struct {
        const char *name;
        uint64_t value;
    } forged[] = {{"sid_end", 1},           {"sid_end", N_DOCUMENTS - 1},
                  {"sid_end", SID_MAX},     {"sid_end", NEXT_MAX + 1},
                  {"sid_end", UINT64_MAX},  {"derived_sid", (uint64_t)1 << 40},
                  {"derived_sid", SID_MAX}, {"postings_flushed", (uint64_t)1 << 40}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i += failure_step()) {
        char what[64];
        snprintf(what, sizeof(what), "%s %llx", forged[i].name,
                 (unsigned long long)forged[i].value);
        forge(f, forged[i].name, forged[i].value);
        assert_refused(f, what);
        assert_noticed(f, what);
        repair(f, what, true);
        assert_int_equal(sketched, 0);
    }
}

static void test_salvage__ids_of_clusters_that_would_run_out_are_refused_and_mended(void **state)
{
    const uint64_t forged[] = {0,
                               NEXT_MAX + 1,
                               clustering_base(1) + 1,
                               clustering_base(64),
                               SID_MAX,
                               UINT64_MAX - 10,
                               UINT64_MAX};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i += failure_step()) {
        struct cluster_ids ids = {0};
        uint64_t id;
        char what[64];
        snprintf(what, sizeof(what), "next_cluster %llx", (unsigned long long)forged[i]);
        forge(f, "next_cluster", forged[i]);
        struct kv *kv = open_rows(f);
        assert_int_equal(cluster_ids_new(&ids, kv, &id), -EUCLEAN);
        assert_int_equal(cluster_ids_pass_over(&ids, kv, 1), -EUCLEAN);
        kv_close(kv);
        assert_noticed(f, what);
        repair(f, what, true);
        kv = open_rows(f);
        assert_int_equal(cluster_ids_new(&ids, kv, &id), 0);
        assert_true(id < NEXT_MAX);
        kv_close(kv);
    }
}

static void test_salvage__intents_that_are_none_are_mended(void **state)
{
    static const char *const keys[] = {"cluster",
                                       "posted",
                                       "repair",
                                       "removed",
                                       "moved",
                                       "unknown",
                                       "moved\14twelve bytes\14twelve bytes..",
                                       "moved\14twelve bytes\14twelve bytes../../etc/passwd",
                                       "repair\200\1\1\1\1\1\1\1"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i += failure_step()) {
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
        struct kv *kv = open_rows(f);
        kv_batch_put(batch, TABLE_INTENTS, (struct kv_slice){keys[i], strlen(keys[i])},
                     (struct kv_slice){"garbage", 7});
        assert_int_equal(kv_apply(kv, batch), 0);
        kv_close(kv);
        assert_noticed(f, keys[i]);
        repair(f, keys[i], true);
        assert_int_equal(sketched, 0);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_salvage__sids_that_would_be_given_twice_are_refused_and_mended),
        CASE(test_salvage__ids_of_clusters_that_would_run_out_are_refused_and_mended),
        CASE(test_salvage__intents_that_are_none_are_mended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
