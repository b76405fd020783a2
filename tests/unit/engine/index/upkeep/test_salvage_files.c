/* The rows of files are lost, or a file that has a table, so that no index can be opened. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "engine/index/index_state.h"
#include "engine/index/tables/sid.h"
#include "tests/lib/fixtures/indexed_tree.h"
#include "tests/lib/fixtures/salvage_fixture.h"

static void put_number(struct fixture *f, const char *name, const uint64_t *number)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    const struct kv_slice key = {name, strlen(name)};
    uint8_t value[8];
    struct kv *kv = open_rows(f);
    if (number) {
        put_be64(value, *number);
        kv_batch_put(batch, TABLE_META, key, (struct kv_slice){value, sizeof(value)});
    } else {
        kv_batch_delete(batch, TABLE_META, key);
    }
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_close(kv);
}

static void lose_table_file(struct fixture *f, unsigned table)
{
    const struct index_options options = options_of(f);
    char path[PATH_MAX], *error = NULL;
    move_to_a_file(f, table, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(scratch_path(f->tree.store, "db/SEAL")), 0); /* a crash, too */
    assert_int_equal(index_open(&options, &f->tree.index, &error), -EUCLEAN);
    free(error);
}

/* A record says of which file it is, and how that was. */
static void test_salvage__lost_rows_of_files_are_known_from_records(void **state)
{
    struct fixture *f = *state;
    for (unsigned damage = 0; damage < N_DAMAGES; damage++) {
        damage_table(f, TABLE_FILES, damage);
        repair(f, "rows of files", true);
        assert_int_equal(sketched, 0);
    }
    lose_table_file(f, TABLE_FILES);
    repair(f, "the file of files", true);
    assert_int_equal(sketched, 0);

    /* But not whether another change followed at once, of what was changed since the store was. */
    give_a_late_sid(f);
    damage_table(f, TABLE_FILES, LOST);
    repair(f, "of one that changed", true);
    assert_int_equal(sketched, 1);
    /* What a file is called and who may read it changes its times. */
    assert_int_equal(chmod(scratch_path(f->tree.tree, "2-0"), 0640), 0);
    damage_table(f, TABLE_FILES, LOST);
    repair(f, "of another with other times", true);
    assert_int_equal(sketched, 2);
}

/* Then nothing is known of when documents were read. */
static void test_salvage__without_the_time_of_its_making_lost_files_are_read(void **state)
{
    struct fixture *f = *state;
    const uint64_t future = clock_real_ns() + UINT64_C(3600000000000), long_ago = 1;
    const uint64_t *const mades[] = {NULL, &future, &long_ago};
    for (size_t i = 0; i < sizeof(mades) / sizeof(mades[0]); i++) {
        put_number(f, META_MADE, mades[i]);
        damage_table(f, TABLE_FILES, LOST);
        repair(f, "unknown times", true);
        assert_int_equal(sketched, N_DOCUMENTS);
    }
}

/* Which cluster of a clustering each document is in. */
static void print_named(struct fixture *f, const char *name, char ret_text[512])
{
    struct index_clustering_status clustering;
    size_t n = 0;
    open_index(f);
    assert_int_equal(index_find_clustering(f->tree.index, name, &clustering), 0);
    assert_true(clustering.clusters > 0);
    for (size_t i = 0; names[i]; i++) {
        const struct file_key key = indexed_tree_key(&f->tree, names[i]);
        uint64_t id;
        assert_int_equal(index_cluster_of(f->tree.index, &key, clustering.base, &id), 0);
        n += (size_t)snprintf(ret_text + n, 512 - n, "%llu ",
                              (unsigned long long)(id & INDEX_CLUSTER_MAX));
    }
    close_index(f);
}

static void test_salvage__named_clusterings_keep_their_ids(void **state)
{
    static const char *const texts[] = {"near:components:0.3", "tight:center:0.3", "all:exact:0.3"};
    static const unsigned lost[] = {TABLE_FILES, TABLE_RECORDS, TABLE_NAMES};
    enum { N_NAMED = 3 };
    struct fixture *f = *state;
    struct index_clustering clusterings[N_NAMED];
    struct index_options options = options_of(f);
    char expected[N_NAMED][512], found_now[512];
    for (size_t i = 0; i < N_NAMED; i++)
        assert_int_equal(index_clustering_parse(texts[i], &clusterings[i], NULL), 0);
    options.clusterings = clusterings;
    options.n_clusterings = N_NAMED;
    assert_int_equal(index_open(&options, &f->tree.index, NULL), 0);
    assert_int_equal(index_start(f->tree.index), 0);
    indexed_tree_settle(&f->tree);
    close_index(f);
    for (size_t i = 0; i < N_NAMED; i++)
        print_named(f, clusterings[i].name, expected[i]);
    for (size_t k = 0; k < sizeof(lost) / sizeof(lost[0]); k++) {
        lose_table_file(f, lost[k]);
        repair(f, schema_tables[lost[k]].name, true);
        assert_int_equal(sketched, lost[k] == TABLE_RECORDS ? N_DOCUMENTS : 0);
        for (size_t i = 0; i < N_NAMED; i++) {
            print_named(f, clusterings[i].name, found_now);
            assert_string_equal(found_now, expected[i]);
        }
    }
    forge(f, "next_cluster.1", UINT64_MAX);
    assert_noticed(f, "next_cluster.1");
    repair(f, "next_cluster.1", true);
    print_named(f, clusterings[0].name, found_now);
    assert_string_equal(found_now, expected[0]);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_salvage__lost_rows_of_files_are_known_from_records),
        CASE(test_salvage__without_the_time_of_its_making_lost_files_are_read),
        CASE(test_salvage__named_clusterings_keep_their_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
