/* Documents that contain another, as the index finds them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "engine/index/index_state.h"
#include "tests/lib/fixtures/index_fixture.h"
#include "tests/lib/scratch.h"

static void test_index__a_short_document_is_found_in_what_contains_it(void **state)
{
    struct indexed_tree *f = *state;
    struct index_query query = {.relation = INDEX_WHOLES, .threshold = 0.9};
    struct kin_list list;
    scratch_write(scratch_path(f->tree, "a"), "one two three four five six seven eight nine ten");
    scratch_write(scratch_path(f->tree, "b"),
                  "zero one two three four five six seven eight nine ten eleven");
    indexed_tree_start(f);
    indexed_tree_settle(f);
    struct file_key key = indexed_tree_key(f, "a");
    assert_int_equal(index_similar(f->index, &key, &query, &list), 0);
    assert_int_equal(list.n_kin, 1);
    assert_string_equal(list.kin[0].path, "b");
    assert_true(list.kin[0].containment == 0.9999); /* 1 is what is equal */
    kin_list_done(&list);
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Answers are ordered and cut by what is asked for. A book that has all of the document resembles
 * it by less than any of 30 versions do, which have parts of it; by the other route, each is
 * compared with it. */
static void test_index__what_contains_most_comes_first(void **state)
{
    enum { VERSIONS = 30, WORDS = 400 };
    struct indexed_tree *f = *state;
    const struct index_query query = {.relation = INDEX_WHOLES, .threshold = 0.3, .limit = 10};
    char *text = scratch_text(1, 0, WORDS, 0), *more = scratch_text(2, 0, 10 * WORDS, 0), *book;
    double containments[VERSIONS + 1];
    struct kin_list list;
    scratch_write(scratch_path(f->tree, "asked"), text);
    assert_true(asprintf(&book, "%s %s", text, more) > 0);
    scratch_write(scratch_path(f->tree, "zz book"), book);
    for (unsigned i = 0; i < VERSIONS; i++) {
        char *version = scratch_text(1, i + 1, WORDS, 1 + i / 2);
        scratch_write(scratch_path(f->tree, "v%02u", i), version);
        free(version);
    }
    indexed_tree_start(f);
    indexed_tree_settle(f);
    struct file_key key = indexed_tree_key(f, "asked");
    for (unsigned i = 0; i <= VERSIONS; i++) {
        char name[16] = "zz book";
        struct comparison comparison;
        if (i < VERSIONS)
            snprintf(name, sizeof(name), "v%02u", i);
        struct file_key other = indexed_tree_key(f, name);
        assert_int_equal(
            index_compare(f->index, &key, &other, &(struct index_query){0}, &comparison), 0);
        containments[i] = comparison.containment_ab;
    }
    qsort(containments, VERSIONS + 1, sizeof(*containments), compare_numbers);
    assert_int_equal(index_similar(f->index, &key, &query, &list), 0);
    assert_int_equal(list.n_kin, query.limit);
    bool has_book = false; /* whose sample may miss as much as that of a version with one edit */
    for (size_t i = 0; i < list.n_kin; i++) {
        has_book |= strcmp(list.kin[i].path, "zz book") == 0;
        assert_true(list.kin[i].containment == containments[i]);
        assert_true(i == 0 || list.kin[i - 1].containment > list.kin[i].containment ||
                    strcmp(list.kin[i - 1].path, list.kin[i].path) < 0);
    }
    assert_true(has_book);
    kin_list_done(&list);
    free(text);
    free(more);
    free(book);
}

/* count words of a numbering of their own, with commas where a sentence might have them. */
static void write_numbers(struct indexed_tree *f, const char *name, unsigned from, unsigned count)
{
    char text[8192];
    size_t n = 0;
    for (unsigned i = from; i < from + count; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "number%u%s", i, i % 7 ? " " : ", ");
    scratch_write(scratch_path(f->tree, "%s", name), text);
}

static void test_index__no_document_is_too_short_for_its_containment(void **state)
{
    enum { PAIRS = 250 }; /* by V alone one of 33 was missed */
    struct indexed_tree *f = *state;
    struct index_query query = {.relation = INDEX_WHOLES, .threshold = 0.5};
    struct kin_list list;
    char name[32], other[32];
    for (unsigned i = 0; i < PAIRS; i++) {
        snprintf(name, sizeof(name), "a%u", i);
        write_numbers(f, name, 1000 * i, 100);
        snprintf(other, sizeof(other), "b%u", i);
        write_numbers(f, other, 1000 * i + 10, 100);
    }
    indexed_tree_start(f);
    indexed_tree_settle(f);
    for (unsigned i = 0; i < PAIRS; i++) {
        snprintf(name, sizeof(name), "a%u", i);
        snprintf(other, sizeof(other), "b%u", i);
        struct file_key key = indexed_tree_key(f, name);
        assert_int_equal(index_similar(f->index, &key, &query, &list), 0);
        assert_int_equal(list.n_kin, 1);
        assert_string_equal(list.kin[0].path, other);
        kin_list_done(&list);
    }
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_index__a_short_document_is_found_in_what_contains_it),
        ON_A_TREE(test_index__what_contains_most_comes_first),
        ON_A_TREE(test_index__no_document_is_too_short_for_its_containment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
