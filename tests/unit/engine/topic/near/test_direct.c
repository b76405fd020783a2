#include "tests/unit/engine/topic/near/planted_sketches.h"

#include <errno.h>

#include "engine/topic/near/centres.h"
#include "engine/topic/near/direct.h"

enum { N = 5000, FAMILY = 25 };

static struct bag_sketch sketches[N];

static void open_both(const char *scratch, uint32_t heads, struct relations *ret_relations,
                      struct direct **ret_direct)
{
    _cleanup_(signatures_done) struct signatures signatures;
    struct near_options options = near_options_of(scratch, N);
    struct near_totals totals;
    options.heads = heads;
    for (uint32_t i = 0; i < N; i++)
        plant_sketch(i, FAMILY, i / 500 * 5 + 50, &sketches[i]);
    put_sketches(sketches, N, 0, scratch, &signatures);
    assert_int_equal(near_find(&signatures, &options, ret_relations, &totals), 0);
    assert_int_equal(direct_new(&signatures, &options, ret_direct), 0);
}

/* F18: what is asked one by one is what sorted pairs have, to the bit, also where each is paired
 * with heads alone. */
static void test_direct__finds_what_pairs_have(void **state)
{
    const uint32_t heads[] = {N, 4, 1};
    for (unsigned i = 0; i < 3; i++) {
        _cleanup_(relations_done) struct relations relations = {0};
        _cleanup_(direct_free_p) struct direct *direct = NULL;
        open_both(*state, heads[i], &relations, &direct);
        for (uint32_t node = 0; node < N; node++) {
            uint64_t expected[FAMILY + 10];
            const uint64_t *found;
            int64_t n = relations_of(&relations, node, expected, FAMILY + 10);
            assert_true(n <= FAMILY + 10);
            assert_int_equal(direct_of(direct, node, &found), n);
            assert_memory_equal(found, expected, (size_t)n * sizeof(*found));
        }
    }
}

/* F19: CENTER on the fly is CENTER by a scan, bit for bit. */
static void test_direct__centres_are_those_of_the_scan(void **state)
{
    static uint32_t by_scan[N], on_the_fly[N];
    uint32_t n_centres = 0;
    _cleanup_(relations_done) struct relations relations = {0};
    _cleanup_(direct_free_p) struct direct *direct = NULL;
    open_both(*state, N, &relations, &direct);
    assert_int_equal(centres_scan(&relations, 0, NULL, N, by_scan), 0);
    assert_int_equal(centres_on_the_fly(N, direct_ask, direct, on_the_fly), 0);
    assert_memory_equal(on_the_fly, by_scan, sizeof(by_scan));
    for (uint32_t node = 0; node < N; node++)
        n_centres += by_scan[node] == node;
    assert_true(n_centres >= N / FAMILY && n_centres < N / 2);
}

/* A bag that is no node is near to its copy, and to what that is near to. */
static void test_direct__finds_what_is_near_to_any_bag(void **state)
{
    _cleanup_(relations_done) struct relations relations = {0};
    _cleanup_(direct_free_p) struct direct *direct = NULL;
    struct bag_sketch empty;
    const uint64_t *found;
    open_both(*state, N, &relations, &direct);
    for (uint32_t node = 0; node < N; node += 10) {
        uint64_t near[FAMILY + 10];
        int64_t n = relations_of(&relations, node, near, FAMILY + 10);
        size_t n_found = direct_near(direct, &sketches[node], &found);
        if (node % 97 == 96) {
            assert_int_equal(n_found, 0);
            continue;
        }
        assert_int_equal(n_found, n + 1);
        assert_int_equal(relation_to(found[0]), node);
        assert_int_equal(relation_agreeing(found[0]), BAG_SIGNATURES);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(relation_to(found[i + 1]), relation_to(near[i]));
    }
    bag_sketch_empty(&empty);
    assert_int_equal(direct_near(direct, &empty, &found), 0);
}

static void test_direct__refuses_what_is_out_of_range(void **state)
{
    _cleanup_(signatures_done) struct signatures none;
    struct near_options options = near_options_of(*state, 1);
    struct direct *direct = NULL;
    put_sketches(sketches, 0, UINT64_MAX, *state, &none);
    options.k = 0;
    assert_int_equal(direct_new(&none, &options, &direct), -EINVAL);
    options.k = 3;
    options.heads = 0;
    assert_int_equal(direct_new(&none, &options, &direct), -EINVAL);
    options.heads = 1;
    assert_int_equal(direct_new(&none, &options, &direct), 0);
    direct_free(direct);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct__finds_what_pairs_have),
        cmocka_unit_test(test_direct__centres_are_those_of_the_scan),
        cmocka_unit_test(test_direct__finds_what_is_near_to_any_bag),
        cmocka_unit_test(test_direct__refuses_what_is_out_of_range),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
