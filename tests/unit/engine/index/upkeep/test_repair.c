/* A cluster too large to be clustered anew within a delete, in an index. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "engine/index/index_state.h"
#include "engine/index/clusters/living_clusters_private.h"
#include "engine/index/intake/commit.h"
#include "tests/lib/fixtures/indexed_tree.h"

enum { N = 20, GOES = 8 };

static size_t put_words(char *text, char of, unsigned n)
{
    size_t at = 0;
    for (unsigned i = 0; i < n; i++)
        at += (size_t)sprintf(text + at, "%c%u ", of, i);
    return at;
}

/* Documents before GOES and those behind it have 60 of 100 words in common; it has all words of
 * both, so that they are one cluster. */
static void write_parts(struct indexed_tree *f)
{
    char text[1200];
    for (unsigned i = 0; i < N; i++) {
        size_t at = i <= GOES ? put_words(text, 'a', 40) : 0;
        at += put_words(text + at, 'b', 60);
        at += i >= GOES ? put_words(text + at, 'c', 40) : 0;
        sprintf(text + at, "d%u", i);
        scratch_write(scratch_path(f->tree, "%03u", i), text);
    }
}

static struct document_info info_of(struct indexed_tree *f, unsigned i)
{
    struct document_info info;
    char name[8];
    snprintf(name, sizeof(name), "%03u", i);
    const struct file_key key = indexed_tree_key(f, name);
    assert_int_equal(index_document(f->index, &key, &(struct index_query){.wait_ms = 1000}, &info),
                     0);
    return info;
}

static uint64_t n_repairing(struct indexed_tree *f)
{
    struct index_status status;
    index_get_status(f->index, &status);
    return status.repairing;
}

static bool cluster_is_repairing(struct indexed_tree *f, uint64_t id)
{
    struct cluster_info info;
    const struct index_query query = {0};
    assert_int_equal(index_cluster(f->index, id, &query, &info, NULL), 0);
    bool repairing = info.repairing;
    cluster_info_done(&info);
    return repairing;
}

/* The parts are known, and say that they are. */
static void expect_parts(struct indexed_tree *f, uint64_t id)
{
    for (unsigned i = 0; i < N; i++) {
        if (i == GOES)
            continue;
        struct document_info info = info_of(f, i);
        assert_false(info.repairing);
        assert_int_equal(info.cluster_size, i < GOES ? GOES : N - GOES - 1);
        assert_int_equal(info.cluster_id == id, i > GOES);
    }
    assert_int_equal(n_repairing(f), 0);
    assert_false(cluster_is_repairing(f, id));
}

static uint64_t take_out(struct indexed_tree *f)
{
    char name[8];
    write_parts(f);
    index_rescan(f->index);
    indexed_tree_settle(f);
    uint64_t id = info_of(f, 0).cluster_id;
    assert_int_equal(info_of(f, N - 1).cluster_id, id);
    assert_int_equal(info_of(f, N - 1).cluster_size, N);
    snprintf(name, sizeof(name), "%03u", GOES);
    const struct file_key key = indexed_tree_key(f, name);
    index_stop(f->index); /* from here on this thread is the committer */
    f->index->clusters->graph->bounds.at_once = 1;
    assert_int_equal(unlink(scratch_path(f->tree, "%s", name)), 0);
    assert_int_equal(commit_drop_document(f->index, &key), 0);
    return id;
}

static void test_repair__is_told_of_until_it_is_over(void **state)
{
    struct indexed_tree *f = *state;
    uint64_t id = take_out(f);
    unsigned n_steps = 0;
    int r;
    do {
        assert_true(info_of(f, 0).repairing && info_of(f, N - 1).repairing);
        assert_true(cluster_is_repairing(f, id));
        assert_true(n_repairing(f) > 0);
        n_steps++;
        assert_true((r = living_clusters_recluster(f->index->clusters)) >= 0);
    } while (r > 0);
    assert_true(n_steps > 2); /* in pieces */
    expect_parts(f, id);
}

static void test_repair__is_done_by_the_next_process_and_waited_for(void **state)
{
    struct indexed_tree *f = *state;
    uint64_t id = take_out(f);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(living_clusters_recluster(f->index->clusters), 1);
    index_close(f->index, 0);
    indexed_tree_open(f);
    assert_int_equal(n_repairing(f), 1); /* also where nothing runs yet */
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    expect_parts(f, id);
}

#define ON_A_TREE(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, indexed_tree_setup, indexed_tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_repair__is_told_of_until_it_is_over),
        ON_A_TREE(test_repair__is_done_by_the_next_process_and_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
