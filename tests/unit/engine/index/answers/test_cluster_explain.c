/* How a cluster hangs together (C8): beside the comparison of all pairs, one by one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "tests/lib/fixtures/indexed_tree.h"

enum { STEP = 7, VERSIONS = 24, MANY = 2300, COMPARED_MAX = 2048 };

static uint64_t cluster_of(struct indexed_tree *f, const char *name)
{
    struct file_key key = indexed_tree_key(f, name);
    struct document_info info;
    assert_int_equal(index_document(f->index, &key, &(struct index_query){.wait_ms = 0}, &info), 0);
    return info.cluster_id;
}

static void name_of(unsigned i, char name[16])
{
    snprintf(name, 16, "v%02u", i);
}

static double resemblance_of(struct indexed_tree *f, const char *a, const char *b)
{
    struct file_key x = indexed_tree_key(f, a), y = indexed_tree_key(f, b);
    struct comparison comparison;
    assert_int_equal(index_compare(f->index, &x, &y, &(struct index_query){0}, &comparison), 0);
    return comparison.resemblance;
}

/* Words 7 i to 7 i + 200 for version i: each resembles its neighbours, the first and the last
 * little. Version 0 is there three times. */
static void fill_chain(struct indexed_tree *f)
{
    char name[16], *text = malloc(VERSIONS * STEP * 8 + 2000);
    for (unsigned i = 0; i < VERSIONS; i++) {
        text[0] = '\0';
        for (unsigned word = STEP * i, at = 0; word < STEP * i + 200; word++)
            at += (unsigned)sprintf(text + at, "w%u ", word);
        name_of(i, name);
        scratch_write(scratch_path(f->tree, "%s", name), text);
        if (i == 0) {
            scratch_write(scratch_path(f->tree, "twin"), text);
            scratch_write(scratch_path(f->tree, "again"), text);
        }
    }
    free(text);
    index_rescan(f->index);
    indexed_tree_settle(f);
}

static void test_cluster_explain__is_that_of_all_pairs(void **state)
{
    struct indexed_tree *f = *state;
    struct cluster_explanation found;
    const char *names[VERSIONS + 2] = {"twin", "again"};
    char versions[VERSIONS][16];
    double sum = 0, min = 1, linked = 0;
    unsigned n_pairs = 0;
    fill_chain(f);
    for (unsigned i = 0; i < VERSIONS; i++) {
        name_of(i, versions[i]);
        names[i + 2] = versions[i];
    }
    for (unsigned a = 0; a < VERSIONS + 2; a++) {
        for (unsigned b = 0; b < a; b++, n_pairs++) {
            double r = resemblance_of(f, names[a], names[b]);
            sum += r;
            linked += r >= 0.5;
            min = fmin(min, r);
        }
    }
    assert_int_equal(index_explain(f->index, cluster_of(f, "v00"), &found), 0);
    assert_int_equal(found.size, VERSIONS + 2);
    assert_int_equal(found.n_classes, VERSIONS);
    assert_int_equal(found.n_classes_compared, VERSIONS);
    assert_int_equal(found.n_pairs, n_pairs);
    assert_true(found.resemblance_min == min && min < 0.3);
    assert_true(fabs(found.resemblance_mean - sum / n_pairs) < 1e-9);
    assert_true(fabs(found.linked - linked / n_pairs) < 1e-9);
    assert_int_equal(found.n_parts, 1);
    assert_true(found.diameter >= 2 && found.diameter < VERSIONS / 3);
    assert_int_equal(found.n_links, CLUSTER_LINKS);
    for (size_t i = 0; i < found.n_links; i++) {
        const struct cluster_link *link = &found.links[i];
        assert_true(link->resemblance == resemblance_of(f, link->path_a, link->path_b));
        assert_true(link->resemblance >= 0.5);
        assert_true(link->n_beyond > 0 && link->n_beyond < found.size);
    }
    cluster_explanation_done(&found);
}

static void test_cluster_explain__takes_some_of_very_many(void **state)
{
    struct indexed_tree *f = *state;
    struct cluster_explanation found;
    char name[16];
    for (unsigned i = 0; i < MANY; i++) {
        char *text = scratch_text(1, i, 80, 1 + i % 3);
        snprintf(name, sizeof(name), "m%u", i);
        scratch_write(scratch_path(f->tree, "%s", name), text);
        free(text);
    }
    index_rescan(f->index);
    indexed_tree_settle(f);
    uint64_t id = cluster_of(f, "m0");
    assert_int_equal(index_explain(f->index, id, &found), 0);
    assert_true(found.size > MANY * 9 / 10);
    assert_true(found.n_classes > COMPARED_MAX && found.n_classes <= found.size);
    assert_int_equal(found.n_classes_compared, COMPARED_MAX);
    assert_true(found.n_pairs >= COMPARED_MAX * (COMPARED_MAX - 1) / 2);
    assert_true(found.resemblance_mean > 0.5 && found.resemblance_mean < 1);
    cluster_explanation_done(&found);
}

static void test_cluster_explain__knows_what_is_no_cluster(void **state)
{
    struct indexed_tree *f = *state;
    struct cluster_explanation found;
    assert_int_equal(index_explain(f->index, 0, &found), -ENOENT);
    assert_int_equal(index_explain(f->index, 12345, &found), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cluster_explain__is_that_of_all_pairs,
                                        indexed_tree_setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_cluster_explain__takes_some_of_very_many,
                                        indexed_tree_setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_cluster_explain__knows_what_is_no_cluster,
                                        indexed_tree_setup, indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
