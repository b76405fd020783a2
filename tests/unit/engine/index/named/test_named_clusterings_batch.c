/* Named clusterings that a batch makes anew. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "engine/cluster/batch.h"
#include "engine/index/clusters/remade.h"
#include "tests/lib/fixtures/named_clusterings_fixture.h"

struct documents {
    char *paths[512];
    uint32_t n;
    struct batch_writer *writer;
};

static int take_sketch(void *user, const char *path, const struct document_sketch *sketch)
{
    struct documents *documents = user;
    documents->paths[documents->n] = strdup(path);
    return batch_writer_add(documents->writer, documents->n++, sketch);
}

/* What `kinfs cluster --stored` would print, a line a cluster. */
static char *partition_of_batch(struct indexed_tree *f, enum batch_mode mode)
{
    struct documents documents = {.n = 0};
    struct batch *batch;
    const struct batch_options options = {.scratch = f->root,
                                          .memory_bytes = 64 << 20,
                                          .n_threads = 2,
                                          .mode = mode,
                                          .threshold = 0.5,
                                          .n_documents = 512};
    char *lines[512], *all = calloc(1, 1 << 16);
    size_t n = 0;
    assert_int_equal(batch_new(index_policy(f->index), &options, &batch), 0);
    assert_int_equal(batch_writer_new(batch, &documents.writer), 0);
    assert_int_equal(index_each_sketch(f->index, take_sketch, &documents), 0);
    assert_int_equal(batch_writer_flush(documents.writer), 0);
    batch_writer_free(documents.writer);
    assert_int_equal(batch_run(batch), 0);
    const uint32_t *clusters = batch_clusters(batch);
    for (uint32_t i = 0; i < documents.n; i++) {
        const char *paths[512];
        size_t n_paths = 0;
        for (uint32_t k = i; k < documents.n && clusters[i] == i; k++)
            if (clusters[k] == i)
                paths[n_paths++] = documents.paths[k];
        if (n_paths < 2)
            continue;
        qsort(paths, n_paths, sizeof(*paths), compare_lines);
        lines[n] = calloc(1, 4096);
        for (size_t k = 0; k < n_paths; k++)
            strcat(strcat(lines[n], paths[k]), " ");
        n++;
    }
    if (n)
        qsort(lines, n, sizeof(*lines), compare_lines);
    for (size_t i = 0; i < n; i++) {
        strcat(strcat(all, lines[i]), "\n");
        free(lines[i]);
    }
    for (uint32_t i = 0; i < documents.n; i++)
        free(documents.paths[i]);
    batch_free(batch);
    return all;
}

static void assert_as_batch(struct indexed_tree *f, const char *name, enum batch_mode mode)
{
    char *expected = partition_of_batch(f, mode), *found = partition_of(f, base_of(f, name));
    assert_true(strlen(found) > 10);
    assert_string_equal(found, expected);
    free(expected);
    free(found);
}

static void test_named_clusterings__a_batch_makes_them_anew_after_changes(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const three[] = {"all:exact:0.5", "paper:broder1997", "quick:fast:0.5"};
    static const enum batch_mode modes[] = {BATCH_EXACT, BATCH_BRODER1997, BATCH_FAST};
    static const char *const names[] = {"all", "paper", "quick"};
    struct index_clustering_status status;

    fill(f);
    reopen(f, three, 3);
    assert_int_equal(sketched(f), 0);
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 3; i++)
            assert_as_batch(f, names[i], modes[i]);
        char *of_default = partition_of(f, 0), *of_all = partition_of(f, base_of(f, "all"));
        assert_string_equal(of_all, of_default); /* by another way */
        free(of_default);
        free(of_all);
        if (round == 2) { /* what was made is there again, with its ids, and is current */
            uint64_t base = base_of(f, "paper"), before[256], after[256];
            int n = index_cluster_ids(f->index, base, 256, before);
            close_index(f);
            open_with(f, f->store, NULL, 0, false);
            assert_true(named_clusterings_is_idle(&f->index->named));
            assert_int_equal(base_of(f, "paper"), base);
            assert_int_equal(index_cluster_ids(f->index, base, 256, after), n);
            assert_memory_equal(after, before, (size_t)n * sizeof(*before));
            assert_int_equal(index_start(f->index), 0);
        }
        char name[16];
        for (unsigned i = 0; i < FAMILIES; i += 3) { /* some go, some change, some come */
            snprintf(name, sizeof(name), "f%u.%u", i, round);
            assert_int_equal(unlink(scratch_path(f->tree, "%s", name)), 0);
            snprintf(name, sizeof(name), "f%u.%u", i, round + 4);
            indexed_tree_write(f, name, i + 1, 50 + round, 30);
            snprintf(name, sizeof(name), "new%u.%u", i, round);
            indexed_tree_write(f, name, i, 60 + round, 10);
        }
        index_rescan(f->index);
        indexed_tree_settle(f);
    }
    assert_as_fresh(f, three[1], "paper");
    /* Before it has been made anew it is stale, and says so. */
    close_index(f);
    open_with(f, f->store, NULL, 0, false);
    uint64_t id, base = base_of(f, "paper");
    struct cluster_info info;
    const struct index_query query = {0};
    assert_int_equal(index_cluster_ids(f->index, base, 1, &id), 1);
    assert_int_equal(index_cluster(f->index, id, &query, &info, NULL), 0);
    assert_false(info.stale);
    cluster_info_done(&info);
    for (size_t i = 0; i < f->index->named.n_wanted; i++)
        assert_int_equal(remade_changed(f->index->named.wanted[i].remade), 0);
    assert_false(named_clusterings_is_idle(&f->index->named));
    assert_int_equal(index_find_clustering(f->index, "paper", &status), 0);
    assert_true(status.made && !status.current);
    assert_int_equal(index_cluster(f->index, id, &query, &info, NULL), 0);
    assert_true(info.stale);
    cluster_info_done(&info);
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    assert_int_equal(base_of(f, "paper"), base);
}

/* 1,005 documents share most of their shingles: more than the cap, so that nobody is joined. */
static void test_named_clusterings__what_broder1997_leaves_out_is_told(void **state)
{
    enum { N = 1005 };
    struct indexed_tree *f = *state;
    static const char *const paper = "paper:broder1997";
    struct index_clustering_status status, again;
    char *common = scratch_text(0, 0, 400, 0);

    for (unsigned i = 0; i < N; i++) {
        char *own = scratch_text(i + 1, 0, 100, 0), *text;
        assert_true(asprintf(&text, "%s %s", common, own) > 0);
        scratch_write(scratch_path(f->tree, "%u", i), text);
        free(own);
        free(text);
    }
    free(common);
    indexed_tree_write(f, "a", 7, 0, 0); /* as in a cluster of another clustering */
    indexed_tree_write(f, "b", 7, 0, 0);
    index_rescan(f->index);
    indexed_tree_settle(f);
    reopen(f, &paper, 1);
    base_of(f, "paper");
    assert_int_equal(index_find_clustering(f->index, "paper", &status), 0);
    assert_int_equal(status.clusters, 1);
    assert_in_range(status.loss.lists_left_out, 3, 60); /* of 391 shingles one in 25 */
    assert_int_equal(status.loss.postings_left_out, N * status.loss.lists_left_out);
    assert_true(status.loss.lists >= status.loss.lists_left_out);
    assert_true(status.loss.postings > status.loss.postings_left_out);
    struct cluster_explanation explanation;
    uint64_t id;
    assert_int_equal(index_cluster_ids(f->index, status.base, 1, &id), 1);
    assert_int_equal(index_explain(f->index, id, &explanation), 0);
    assert_true(explanation.has_loss);
    assert_memory_equal(&explanation.loss, &status.loss, sizeof(status.loss));
    cluster_explanation_done(&explanation);
    assert_int_equal(index_cluster_ids(f->index, 0, 1, &id), 1);
    assert_int_equal(index_explain(f->index, id, &explanation), 0);
    assert_false(explanation.has_loss);
    cluster_explanation_done(&explanation);
    reopen(f, NULL, 0);
    assert_int_equal(index_find_clustering(f->index, "paper", &again), 0);
    assert_memory_equal(&again.loss, &status.loss, sizeof(again.loss));
}

/* An end in the midst of it: the next start makes it anew, under the same number and ids. */
static void test_named_clusterings__making_one_anew_ends_with_the_process(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const paper = "paper:broder1997";

    fill(f);
    close_index(f);
    open_with(f, f->store, &paper, 1, false);
    assert_int_equal(named_clusterings_step(&f->index->named, true, true),
                     0); /* it is on its way */
    assert_non_null(f->index->named.remaking);
    const unsigned number = f->index->named.wanted[0].number;
    f->index->store_error = -EIO;
    close_index(f);
    open_with(f, f->store, &paper, 1, true);
    assert_int_equal(f->index->named.wanted[0].number, number);
    assert_as_batch(f, "paper", BATCH_BRODER1997);
}

static void change(struct indexed_tree *f, unsigned i)
{
    char name[16];
    snprintf(name, sizeof(name), "more%u", i);
    indexed_tree_write(f, name, i, 1, 0);
    index_rescan(f->index);
    indexed_tree_settle(f);
}

static atomic_uint n_errors;

static void count_errors(void *user, enum index_log_level level, const char *message)
{
    (void)user;
    (void)message;
    atomic_fetch_add(&n_errors, level == INDEX_LOG_ERROR);
}

/* Somebody moves the store away under the index, which goes on in it: a directory for what does not
 * fit into memory is not found. The store has not failed. */
static void test_named_clusterings__a_store_that_has_gone_is_told_once(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const paper = "paper:broder1997";
    struct index_clustering_status clustering;
    struct index_status status;

    fill(f);
    reopen(f, &paper, 1);
    f->index->messages.log = count_errors;
    _cleanup_free_ char *moved = strdup(scratch_path(f->root, "moved"));
    assert_int_equal(rename(f->store, moved), 0);
    for (unsigned i = 0; i < 3; i++) {
        change(f, i);
        index_get_status(f->index, &status);
        assert_int_equal(atomic_load(&n_errors), 1);
        assert_int_equal(atomic_load(&f->index->n_failed), 0);
        assert_string_equal(f->index->failure, "");
        assert_non_null(strstr(status.last_error, "unmount and mount again"));
        assert_int_equal(index_find_clustering(f->index, "paper", &clustering), 0);
        assert_true(clustering.made && !clustering.current);
    }
    assert_int_equal(rename(moved, f->store), 0);
    change(f, 3);
    index_get_status(f->index, &status);
    assert_string_equal(status.last_error, "");
    base_of(f, "paper");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_tree(test_named_clusterings__a_batch_makes_them_anew_after_changes),
        with_tree(test_named_clusterings__what_broder1997_leaves_out_is_told),
        with_tree(test_named_clusterings__making_one_anew_ends_with_the_process),
        with_tree(test_named_clusterings__a_store_that_has_gone_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
