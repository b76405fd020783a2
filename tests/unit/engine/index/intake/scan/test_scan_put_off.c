/* The clusters of what a first scan brings are made behind it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "engine/index/clusters/living_clusters_private.h"
#include "tests/lib/fixtures/check_fixture.h"

enum { FILES = 1500, OF_A_TEXT = 3, WORDS = 60 };

/* Files of one text differ in a word. */
static void write_files(struct indexed_tree *f)
{
    for (unsigned i = 0; i < FILES; i++) {
        char text[16 * WORDS] = "";
        size_t n = 0;
        for (unsigned k = 0; k < WORDS; k++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "w%u ",
                                  k ? i / OF_A_TEXT * WORDS + k : 1000000 + i);
        scratch_write(scratch_path(f->tree, "%u", i), text);
    }
}

static void assert_all_clustered(struct indexed_tree *f)
{
    uint64_t n_clusters, n_documents;
    living_clusters_count(f->index->clusters, &n_clusters, &n_documents);
    assert_int_equal(n_documents, FILES);
    assert_int_equal(n_clusters, FILES / OF_A_TEXT);
    assert_int_equal(living_clusters_n_dirty(f->index->clusters), 0);
    assert_right(f, true);
}

static void test_scan_put_off__clusters_are_there_when_it_has_settled(void **state)
{
    struct indexed_tree *f = *state;
    indexed_tree_settle(f);
    assert_true(f->index->clusters->placed_sid > 0);
    assert_all_clustered(f);
}

/* Ended as soon as anything is put off, it is gone on with. */
static void test_scan_put_off__what_was_put_off_is_so_in_the_next_process(void **state)
{
    struct indexed_tree *f = *state;
    while (!living_clusters_is_dirty(f->index->clusters, 0) &&
           index_settle(f->index, INDEX_LANE_ALL, 0) < 0)
        usleep(100);
    index_stop(f->index);
    indexed_tree_stop(f);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_all_clustered(f);
}

/* Where few are found they are in their clusters at once, as those that users write are. */
static void test_scan_put_off__a_few_are_not_put_off(void **state)
{
    struct indexed_tree *f = *state;
    indexed_tree_settle(f);
    const uint64_t placed = f->index->clusters->placed_sid;
    assert_int_equal(mkdir(scratch_path(f->tree, "more"), 0755), 0);
    for (unsigned i = 0; i < FILES / 2; i++)
        scratch_write(scratch_path(f->tree, "more/%u", i), "other words than there were before");
    index_rescan(f->index);
    indexed_tree_settle(f);
    assert_int_equal(f->index->clusters->placed_sid, placed);
    assert_right(f, true);
}

static int setup(void **state)
{
    struct indexed_tree *f = calloc(1, sizeof(*f));
    indexed_tree_make(f);
    write_files(f);
    indexed_tree_start(f);
    *state = f;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_scan_put_off__clusters_are_there_when_it_has_settled,
                                        setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(
            test_scan_put_off__what_was_put_off_is_so_in_the_next_process, setup,
            indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_scan_put_off__a_few_are_not_put_off, setup,
                                        indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
