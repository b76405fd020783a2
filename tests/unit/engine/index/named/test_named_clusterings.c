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

#include "engine/index/members/membership.h"
#include "tests/lib/fixtures/named_clusterings_fixture.h"

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
    assert_int_equal(index_compare(f->index, &x, &y, &(struct index_query){0}, &comparison), 0);
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

static void rebuild_keeps(struct indexed_tree *f, const char *const two[2])
{
    char *error = NULL;
    uint64_t before[256], after[256];
    struct index_options options = {
        .backing = f->backing, .source = f->tree, .store_path = f->store};

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

static void test_named_clusterings__a_rebuild_keeps_them_and_their_ids(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const followed[] = {"a:components:0.8", "b:components:0.2"};
    static const char *const remade[] = {"a:components:0.8", "b:broder1997:0.2"};

    fill(f);
    rebuild_keeps(f, followed);
    rebuild_keeps(f, remade);
}

static uint64_t findings(struct indexed_tree *f, bool deep)
{
    const struct index_check_options options = {.deep = deep};
    struct index_check counts;
    assert_int_equal(index_check(f->index, &options, &counts), 0);
    return counts.findings;
}

/* Rows that agree with each other, and are said to be of now: only another batch tells. */
static void test_named_clusterings__a_repair_makes_anew_what_is_wrong(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const all = "all:exact:0.5";
    static const struct index_repair_options deep = {.deep = true};
    char *error = NULL;
    uint64_t ids[2];
    struct membership membership;
    const struct index_options options = {
        .backing = f->backing, .source = f->tree, .store_path = f->store};

    fill(f);
    reopen(f, &all, 1);
    char *right = partition_of(f, base_of(f, "all"));
    assert_int_equal(index_cluster_ids(f->index, base_of(f, "all"), 2, ids), 2);
    index_stop(f->index);
    assert_int_equal(findings(f, true), 0);
    assert_int_equal(membership_init(&membership, f->index->kv, f->index->named.wanted[0].number),
                     0);
    assert_int_equal(membership_move_all(&membership, shown_ids_read(&f->index->shown_ids, ids[0]),
                                         shown_ids_read(&f->index->shown_ids, ids[1])),
                     0);
    membership_done(&membership, false);
    assert_int_equal(findings(f, false), 0);
    assert_true(findings(f, true) > 0);
    close_index(f);
    int mending = index_repair(&options, &deep, &error);
    if (mending < 0)
        fail_msg("%s", error);
    assert_int_equal(mending, INDEX_MENDING_DERIVED);
    open_with(f, f->store, &all, 1, true);
    assert_int_equal(sketched(f), 0);
    char *mended = partition_of(f, base_of(f, "all"));
    assert_string_equal(mended, right);
    assert_int_equal(findings(f, true), 0);
    free(right);
    free(mended);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_tree(test_named_clusterings__another_threshold_is_made_without_reading),
        with_tree(test_named_clusterings__what_is_not_wanted_any_more_is_removed),
        with_tree(test_named_clusterings__centres_are_apart_and_near_their_documents),
        with_tree(test_named_clusterings__a_rebuild_keeps_them_and_their_ids),
        with_tree(test_named_clusterings__a_repair_makes_anew_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
