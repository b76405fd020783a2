/* Resemblances of all pairs of some documents, beside the comparison of two. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/fixtures/index_fixture.h"

enum { VERSIONS = 8, STEP = 12, MEMBERS = VERSIONS + 1, LENGTH = 200 };

static void write_words(struct indexed_tree *f, const char *name, unsigned first)
{
    char text[LENGTH * 8] = "";
    for (unsigned i = 0, at = 0; i < LENGTH; i++)
        at += (unsigned)sprintf(text + at, "w%u ", first + i);
    scratch_write(scratch_path(f->tree, "%s", name), text);
}

/* Each version shares most of its words with the one before; there are two of the first. */
static struct kin_list make_cluster(struct indexed_tree *f)
{
    struct cluster_info info = {0};
    struct kin_list members = {0};
    char name[16];
    for (unsigned i = 0; i < VERSIONS; i++) {
        snprintf(name, sizeof(name), "v%u", i);
        write_words(f, name, i * STEP);
    }
    write_words(f, "twin", 0);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_int_equal(
        index_cluster(f->index, cluster_of(f, "v0"), &(struct index_query){0}, &info, &members), 0);
    cluster_info_done(&info);
    assert_int_equal(members.n_kin, MEMBERS);
    return members;
}

static void test_comparison__of_all_pairs_is_that_of_each_two(void **state)
{
    struct indexed_tree *f = *state;
    struct kin_list members = make_cluster(f);
    uint64_t sids[MEMBERS];
    double all[MEMBERS * MEMBERS];
    unsigned n_equal = 0;
    for (size_t i = 0; i < MEMBERS; i++)
        sids[i] = members.kin[i].sid;
    assert_int_equal(index_resemblances(f->index, sids, MEMBERS, all), 0);
    for (size_t i = 0; i < MEMBERS; i++)
        for (size_t j = 0; j < MEMBERS; j++) {
            struct comparison two;
            assert_int_equal(index_compare(f->index, &members.kin[i].key, &members.kin[j].key,
                                           &(struct index_query){0}, &two),
                             0);
            assert_true(all[i * MEMBERS + j] == two.resemblance);
            n_equal += i != j && two.resemblance == 1;
        }
    assert_int_equal(n_equal, 2); /* v0 and twin, both ways */
    kin_list_done(&members);
}

static void test_comparison__knows_nothing_of_what_has_gone(void **state)
{
    struct indexed_tree *f = *state;
    struct kin_list members = make_cluster(f);
    uint64_t sids[MEMBERS];
    double all[MEMBERS * MEMBERS];
    size_t gone = MEMBERS;
    for (size_t i = 0; i < MEMBERS; i++) {
        sids[i] = members.kin[i].sid;
        if (strcmp(members.kin[i].path, "v3") == 0)
            gone = i;
    }
    assert_int_equal(unlink(scratch_path(f->tree, "v3")), 0);
    note_gone(f, "v3");
    assert_int_equal(index_resemblances(f->index, sids, MEMBERS, all), 0);
    for (size_t i = 0; i < MEMBERS; i++)
        for (size_t j = 0; j < MEMBERS; j++)
            assert_int_equal(isnan(all[i * MEMBERS + j]), i == gone || j == gone);
    kin_list_done(&members);
}

static void test_comparison__of_too_many_is_refused(void **state)
{
    struct indexed_tree *f = *state;
    uint64_t sids[INDEX_RESEMBLANCES_MAX + 1] = {0};
    double nothing = 7;
    indexed_tree_start(f);
    assert_int_equal(index_resemblances(f->index, sids, INDEX_RESEMBLANCES_MAX + 1, &nothing),
                     -EINVAL);
    assert_int_equal(index_resemblances(f->index, sids, 0, &nothing), 0);
    assert_true(nothing == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_comparison__of_all_pairs_is_that_of_each_two, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_comparison__knows_nothing_of_what_has_gone, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_comparison__of_too_many_is_refused, setup,
                                        indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
