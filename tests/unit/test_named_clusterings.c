/* Named clusterings of an index: made from the sketches that are there, kept, taken up again, and
 * removed (Broder et al. 1997, section 6.1: other thresholds, and contained documents, by the last
 * phase alone). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "engine/index/index_private.h"
#include "tests/lib/indexed_tree.h"

enum { FAMILIES = 25, VERSIONS = 10 }; /* more than the records that are read at once */

/* As indexed_tree_open() and index_start(), with clusterings; NULL: those there are. */
static void open_with(struct indexed_tree *f, const char *store, const char *const *texts, size_t n,
                      bool start)
{
    struct index_clustering clusterings[INDEX_CLUSTERINGS_MAX];
    char *error = NULL;
    struct index_options options = {
        .backing = f->backing, .source = f->tree, .store_path = store, .create = true};
    for (size_t i = 0; texts && i < n; i++)
        assert_int_equal(index_clustering_parse(texts[i], &clusterings[i], &error), 0);
    options.clusterings = texts ? clusterings : NULL;
    options.n_clusterings = n;
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
    if (start) {
        assert_int_equal(index_start(f->index), 0);
        indexed_tree_settle(f);
    }
}

static void close_index(struct indexed_tree *f)
{
    index_close(f->index, 5000);
}

static void reopen(struct indexed_tree *f, const char *const *texts, size_t n)
{
    close_index(f);
    open_with(f, f->store, texts, n, true);
}

/* Families of versions that differ more and more, and beginnings of them. */
static void fill(struct indexed_tree *f)
{
    char name[16];
    for (unsigned i = 0; i < FAMILIES; i++) {
        for (unsigned k = 0; k < VERSIONS; k++) {
            snprintf(name, sizeof(name), "f%u.%u", i, k);
            indexed_tree_write(f, name, i, k, k * (5 + i));
        }
        char *text = scratch_text(i, 0, 600, 0);
        text[1200 + 100 * i] = '\0';
        scratch_write(scratch_path(f->tree, "part%u", i), text);
        free(text);
    }
    index_rescan(f->index);
    indexed_tree_settle(f);
}

static uint64_t sketched(struct indexed_tree *f)
{
    struct index_status status;
    index_get_status(f->index, &status);
    return status.sketched_documents;
}

static uint64_t base_of(struct indexed_tree *f, const char *name)
{
    struct index_clustering_status status;
    assert_int_equal(index_find_clustering(f->index, name, &status), 0);
    assert_true(status.current);
    assert_int_equal(status.percent, 100);
    return status.base;
}

/* The documents of all clusters, sorted: a line a cluster. */
static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_kin_paths(const void *a, const void *b)
{
    return strcmp(((const struct kin *)a)->path, ((const struct kin *)b)->path);
}

static char *partition_of(struct indexed_tree *f, uint64_t base)
{
    char *lines[256], *all = calloc(1, 1 << 16);
    uint64_t ids[256];
    int n = index_cluster_ids(f->index, base, 256, ids);
    assert_in_range(n, 0, 255);
    for (int i = 0; i < n; i++) {
        struct cluster_info info;
        struct kin_list members;
        const struct index_query query = {0};
        assert_int_equal(index_cluster(f->index, ids[i], &query, &info, &members), 0);
        assert_int_equal(info.id, ids[i]);
        assert_true(ids[i] > base && ids[i] - base <= INDEX_CLUSTER_MAX);
        assert_int_equal(index_has_cluster(f->index, ids[i]), 1);
        assert_int_equal(info.size, members.n_kin);
        qsort(members.kin, members.n_kin, sizeof(*members.kin), compare_kin_paths);
        lines[i] = calloc(1, 4096);
        for (size_t k = 0; k < members.n_kin; k++) {
            struct file_key key = indexed_tree_key(f, members.kin[k].path);
            uint64_t id;
            assert_int_equal(index_cluster_of(f->index, &key, base, &id), 0);
            assert_int_equal(id, ids[i]);
            strcat(strcat(lines[i], members.kin[k].path), " ");
        }
        kin_list_done(&members);
        cluster_info_done(&info);
    }
    qsort(lines, (size_t)n, sizeof(*lines), compare_lines);
    for (int i = 0; i < n; i++) {
        strcat(strcat(all, lines[i]), "\n");
        free(lines[i]);
    }
    return all;
}

/* What a store of the same policy has that was made with that clustering from the beginning. */
static void assert_as_fresh(struct indexed_tree *f, const char *text, const char *name)
{
    struct indexed_tree fresh = *f;
    struct index_clustering clustering;
    char store[128], *error = NULL;
    const struct index_options options = {.backing = f->backing,
                                          .source = f->tree,
                                          .store_path = store,
                                          .create = true,
                                          .clusterings = &clustering,
                                          .n_clusterings = 1};
    snprintf(store, sizeof(store), "%s/fresh", f->root);
    assert_int_equal(mkdir(store, 0700), 0);
    assert_int_equal(index_clustering_parse(text, &clustering, &error), 0);
    if (index_open_db(&options, "db", &f->index->policy, &fresh.index, &error) < 0)
        fail_msg("%s", error);
    assert_int_equal(index_start(fresh.index), 0);
    indexed_tree_settle(&fresh);
    char *expected = partition_of(&fresh, base_of(&fresh, name));
    char *found = partition_of(f, base_of(f, name));
    assert_true(strlen(found) > 10);
    assert_string_equal(found, expected);
    close_index(&fresh);
    scratch_remove(store);
    free(expected);
    free(found);
}

static void test_named_clusterings__another_threshold_is_made_without_reading(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const near = "near:components:0.8", *const loose = "near:components:0.3",
                             *const parts = "parts:components:0.5:containment:0.9";
    const char *const both[] = {parts, near};

    fill(f);
    assert_true(sketched(f) >= FAMILIES * VERSIONS);
    char *of_default = partition_of(f, 0);
    reopen(f, &near, 1);
    assert_int_equal(sketched(f), 0);
    assert_as_fresh(f, near, "near");
    char *of_near = partition_of(f, base_of(f, "near"));
    assert_string_not_equal(of_near, of_default);
    /* The same name, another threshold. */
    reopen(f, &loose, 1);
    assert_int_equal(sketched(f), 0);
    assert_as_fresh(f, loose, "near");
    /* And containment, of the beginnings that resemble what they are of by less than one half. */
    reopen(f, both, 2);
    assert_int_equal(sketched(f), 0);
    assert_as_fresh(f, parts, "parts");
    /* And centres. */
    static const char *const tight = "tight:center:0.6";
    reopen(f, &tight, 1);
    assert_int_equal(sketched(f), 0);
    assert_as_fresh(f, tight, "tight");
    static const char *const super = "super:supershingle";
    reopen(f, &super, 1);
    assert_int_equal(sketched(f), 0);
    assert_as_fresh(f, super, "super");
    reopen(f, both, 2);
    char *of_parts = partition_of(f, base_of(f, "parts")), *again = partition_of(f, 0);
    assert_string_not_equal(of_parts, of_default);
    assert_string_equal(again, of_default);
    free(of_default);
    free(of_near);
    free(of_parts);
    free(again);
}

static size_t count_rows(struct indexed_tree *f, unsigned table, bool of_named)
{
    struct kv_range range = {.from = {"", 0}};
    struct kv_page page;
    size_t n = 0;
    assert_int_equal(kv_scan(f->index->kv, table, &range, 1 << 20, &page), 0);
    for (size_t i = 0; i < page.n_entries; i++) {
        const struct kv_slice *key = &page.entries[i].key;
        bool is_named = table == TABLE_CLUSTER_OF ? key->size_bytes == 9
                        : table == TABLE_MEMBERS  ? *(const uint8_t *)key->data != 0
                                                  : memchr(key->data, '.', key->size_bytes) != NULL;
        n += is_named == of_named;
    }
    kv_page_done(&page);
    return n;
}

static void test_named_clusterings__what_is_not_wanted_any_more_is_removed(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const two[] = {"a:components:0.8", "b:components:0.2"};
    struct index_clustering_status status;

    fill(f);
    size_t n_members = count_rows(f, TABLE_MEMBERS, false);
    reopen(f, two, 2);
    uint64_t b = base_of(f, "b");
    char *before = partition_of(f, b);
    assert_true(count_rows(f, TABLE_MEMBERS, true) > 0);
    /* b stays as it is, with its ids. */
    uint64_t first, again;
    assert_int_equal(index_cluster_ids(f->index, b, 1, &first), 1);
    reopen(f, two + 1, 1);
    assert_int_equal(index_find_clustering(f->index, "a", &status), -ENOENT);
    assert_int_equal(base_of(f, "b"), b);
    assert_int_equal(index_cluster_ids(f->index, b, 1, &again), 1);
    assert_int_equal(again, first);
    /* Who says nothing keeps what there is. */
    reopen(f, NULL, 0);
    char *after = partition_of(f, base_of(f, "b"));
    assert_string_equal(after, before);
    reopen(f, two, 0);
    assert_int_equal(index_find_clustering(f->index, "b", &status), -ENOENT);
    assert_int_equal(count_rows(f, TABLE_MEMBERS, true), 0);
    assert_int_equal(count_rows(f, TABLE_CLUSTER_OF, true), 0);
    assert_int_equal(count_rows(f, TABLE_META, true), 0);
    assert_int_equal(count_rows(f, TABLE_MEMBERS, false), n_members);
    assert_int_equal(index_has_cluster(f->index, first), 0);
    free(before);
    free(after);
}

/* F19: no two centres are neighbours, and each document is the neighbour of its centre, by
 * comparisons of documents with each other. */
static double resemblance_of(struct indexed_tree *f, const char *a, const char *b)
{
    struct file_key x = indexed_tree_key(f, a), y = indexed_tree_key(f, b);
    struct comparison comparison;
    assert_int_equal(index_compare(f->index, &x, &y, &comparison), 0);
    return comparison.resemblance;
}

static void test_named_clusterings__centres_are_apart_and_near_their_documents(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const tight = "tight:center:0.6";
    uint64_t ids[256];
    char *centres[256];
    const struct index_query query = {0};

    fill(f);
    reopen(f, &tight, 1);
    for (unsigned round = 0; round < 2; round++) {
        int n = index_cluster_ids(f->index, base_of(f, "tight"), 256, ids);
        assert_in_range(n, FAMILIES / 2, 255);
        for (int i = 0; i < n; i++) {
            struct cluster_info info;
            struct kin_list members;
            assert_int_equal(index_cluster(f->index, ids[i], &query, &info, &members), 0);
            assert_true(info.size >= 2);
            centres[i] = strdup(info.representative.path);
            for (size_t k = 0; k < members.n_kin; k++)
                assert_true(resemblance_of(f, centres[i], members.kin[k].path) >= 0.6);
            for (int k = 0; k < i; k++)
                assert_true(resemblance_of(f, centres[i], centres[k]) < 0.6);
            kin_list_done(&members);
            cluster_info_done(&info);
        }
        for (int i = 0; i < n; i++) { /* the centres go, or become something else */
            if (i % 2)
                assert_int_equal(unlink(scratch_path(f->tree, "%s", centres[i])), 0);
            else
                indexed_tree_write(f, centres[i], 100 + round, (unsigned)i, 3);
            free(centres[i]);
        }
        index_rescan(f->index);
        indexed_tree_settle(f);
    }
    assert_as_fresh(f, tight, "tight");
}

static void test_named_clusterings__making_one_is_taken_up_again(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const near = "near:components:0.7";
    struct index_clustering_status status;

    fill(f);
    close_index(f);
    /* Some of it, by nobody's thread, and a clean end. */
    open_with(f, f->store, &near, 1, false);
    assert_false(named_clusterings_is_idle(f->index));
    assert_int_equal(named_clusterings_step(f->index), 0);
    assert_int_equal(index_find_clustering(f->index, "near", &status), 0);
    assert_false(status.current);
    assert_in_range(status.percent, 1, 99);
    const uint64_t base = status.base;
    close_index(f);
    open_with(f, f->store, &near, 1, false);
    assert_int_equal(index_find_clustering(f->index, "near", &status), 0);
    assert_int_equal(status.base, base);
    assert_in_range(status.percent, 1, 99);
    /* An end that is none: anew, under another number; what there was goes. */
    f->index->store_error = -EIO;
    close_index(f);
    open_with(f, f->store, &near, 1, false);
    assert_int_equal(index_find_clustering(f->index, "near", &status), 0);
    assert_int_not_equal(status.base, base);
    assert_int_equal(status.percent, 0);
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    assert_true(named_clusterings_is_idle(f->index));
    assert_as_fresh(f, near, "near");
}

static void test_named_clusterings__a_rebuild_keeps_them_and_their_ids(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const two[] = {"a:components:0.8", "b:components:0.2"};
    char *error = NULL;
    uint64_t before[256], after[256];
    struct index_options options = {
        .backing = f->backing, .source = f->tree, .store_path = f->store};

    fill(f);
    reopen(f, two, 2);
    reopen(f, two + 1, 1); /* so that b has not the first number */
    uint64_t old_base = base_of(f, "b");
    int n = index_cluster_ids(f->index, old_base, 256, before);
    char *old = partition_of(f, old_base);
    close_index(f);
    if (index_rebuild(&options, NULL, NULL, &error) < 0)
        fail_msg("%s", error);
    open_with(f, f->store, NULL, 0, true);
    uint64_t base = base_of(f, "b");
    char *new = partition_of(f, base);
    assert_string_equal(new, old);
    assert_int_equal(index_cluster_ids(f->index, base, 256, after), n);
    for (int i = 0; i < n; i++)
        assert_int_equal(after[i] - base, before[i] - old_base);
    free(old);
    free(new);
}

static void test_named_clusterings__texts_are_read_and_printed(void **state)
{
    static const struct {
        const char *text, *printed;
    } good[] = {{"near:components:0.95", "near:components:0.95"},
                {"a-b_9:components:1.0", "a-b_9:components:1"},
                {"x:components:.5:containment:9e-1", "x:components:0.5:containment:0.9"},
                {"c:center:0.25", "c:center:0.25"},
                {"s:supershingle", "s:supershingle"}};
    static const char *const bad[] = {"",
                                      "near",
                                      "near:",
                                      "7:components:0.5",
                                      "a/b:components:0.5",
                                      "CACHEDIR.TAG:components:0.5",
                                      "size:components:0.5",
                                      ":components:0.5",
                                      "near:component:0.5",
                                      "near:components",
                                      "near:components:",
                                      "near:components:0",
                                      "near:components:1.1",
                                      "near:components:nan",
                                      "near:components:0.5x",
                                      "near:components:0.5:containment",
                                      "near:components:0.5:containment:0",
                                      "near:components:0.5:containment:0.9:x",
                                      "near:components:0.5:0.9",
                                      "near:center",
                                      "near:supershingle:0.9",
                                      "near:center:2",
                                      "near:center:0.5:containment:0.9",
                                      "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn:components:0.5"};
    struct index_clustering clustering;
    char printed[INDEX_CLUSTERING_TEXT_BYTES];
    (void)state;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(index_clustering_parse(good[i].text, &clustering, NULL), 0);
        index_clustering_print(&clustering, printed);
        assert_string_equal(printed, good[i].printed);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *error = NULL;
        assert_int_equal(index_clustering_parse(bad[i], &clustering, &error), -EINVAL);
        assert_non_null(error);
        assert_non_null(strstr(error, "clustering"));
        assert_null(strchr(error, '\n'));
        free(error);
    }
}

#define with_tree(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, indexed_tree_setup, indexed_tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_tree(test_named_clusterings__another_threshold_is_made_without_reading),
        with_tree(test_named_clusterings__what_is_not_wanted_any_more_is_removed),
        with_tree(test_named_clusterings__centres_are_apart_and_near_their_documents),
        with_tree(test_named_clusterings__making_one_is_taken_up_again),
        with_tree(test_named_clusterings__a_rebuild_keeps_them_and_their_ids),
        cmocka_unit_test(test_named_clusterings__texts_are_read_and_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
