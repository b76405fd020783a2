/* F11: what tests/bench/topics has of all pairs is what comparing two bags says. */
#include "tests/unit/engine/topic/random_bags.h"

#include "tests/bench/topics/all_pairs.h"

enum { BAGS = 40 };

static void test_all_pairs__are_those_of_two_bags_compared(void **state)
{
    (void)state;
    static struct random_bag random_bags[BAGS];
    struct bag bags[BAGS];
    struct all_pairs *pairs;
    uint8_t common[BAGS];
    uint64_t random = 1;
    for (unsigned i = 0; i < BAGS; i++) {
        random_bag(&random, false, &random_bags[i]);
        bags[i] = random_bags[i].bag;
        if (i % 7 == 3)
            bags[i].n_words = 0;
        else
            assert_int_equal(bag_normalise(&bags[i], BAG_WHOLE), 0);
    }
    assert_int_equal(all_pairs_new(bags, BAGS, &pairs), 0);
    for (unsigned i = 0; i < BAGS; i++) {
        all_pairs_of(pairs, i, common);
        assert_int_equal(common[i], 0);
        for (unsigned j = 0; j < BAGS; j++) {
            double value;
            if (j != i && bag_resemblance(&bags[i], &bags[j], &value) == 0)
                assert_true(fabs(common_resemblance(common[j]) - value) < 1e-12);
        }
    }
    all_pairs_free(pairs);
}

/* x/(200 - x) is a tenth or more from 18.2 on, and a fifth from 33.3. */
static void test_all_pairs__the_least_in_common_of_a_resemblance(void **state)
{
    (void)state;
    assert_int_equal(common_least(0), 0);
    assert_int_equal(common_least(0.10), 19);
    assert_int_equal(common_least(0.20), 34);
    assert_int_equal(common_least(1), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs__are_those_of_two_bags_compared),
        cmocka_unit_test(test_all_pairs__the_least_in_common_of_a_resemblance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
