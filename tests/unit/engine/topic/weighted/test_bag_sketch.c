#include "tests/lib/trials.h"

#include "engine/topic/weighted/bag_sketch.h"

/* F14: 80 signatures of 3 bytes are 240 bytes, and are read as they were set. */
static void test_bag_sketch__is_80_signatures_of_3_bytes(void **state)
{
    struct bag_sketch sketch;
    uint64_t random = 1, again = 1;
    (void)state;
    assert_int_equal(sizeof(sketch), 240);
    bag_sketch_empty(&sketch);
    assert_true(bag_sketch_is_empty(&sketch));
    for (unsigned i = 0; i < BAG_SIGNATURES; i++)
        bag_sketch_set(&sketch, i, mix64_next(&random));
    for (unsigned i = 0; i < BAG_SIGNATURES; i++)
        assert_int_equal(bag_sketch_signature(&sketch, i), mix64_next(&again) & 0xffffff);
    assert_false(bag_sketch_is_empty(&sketch));
}

/* Eight bytes at a time count as one at a time does, for every number of bytes and wherever they
 * differ, by one bit or more. */
static void test_bag_sketch__counts_what_agrees(void **state)
{
    uint64_t random = 2;
    (void)state;
    for (unsigned trial = 0; trial < 20000; trial++) {
        struct bag_sketch a, b;
        unsigned n = trial % (BAG_SIGNATURES + 1), agreeing = 0, agreeing_whole = 0;
        for (unsigned i = 0; i < BAG_SIGNATURES; i++) {
            uint64_t value = mix64_next(&random), change = mix64_next(&random);
            bag_sketch_set(&a, i, value);
            bag_sketch_set(&b, i, change % 3 ? value ^ 1u << change / 3 % 24 : value);
        }
        for (unsigned i = 0; i < BAG_SIGNATURES; i++) {
            agreeing += i < n && a.low[i] == b.low[i];
            agreeing_whole += bag_sketch_signature(&a, i) == bag_sketch_signature(&b, i);
        }
        assert_int_equal(signatures_agreeing(a.low, b.low, n), agreeing);
        assert_int_equal(bag_sketch_agreeing(&a, &b), agreeing_whole);
    }
    struct bag_sketch empty;
    bag_sketch_empty(&empty);
    assert_int_equal(bag_sketch_agreeing(&empty, &empty), 0);
}

/* F17: from lowest bytes, which agree by chance, the similarity comes without bias, with the error
 * of binomial numbers; of 20, 40 and 80 of them. */
static void test_bag_sketch__lowest_bytes_estimate_without_bias(void **state)
{
    enum { TRIALS = 20000 };
    const unsigned numbers[] = {20, 40, 80};
    uint64_t random = 3;
    (void)state;
    for (unsigned j = 0; j < 3; j++)
        for (unsigned percent = 0; percent <= 100; percent += 20) {
            struct moments estimates = {0};
            for (unsigned trial = 0; trial < TRIALS; trial++) {
                unsigned agreeing = 0;
                for (unsigned i = 0; i < numbers[j]; i++)
                    agreeing +=
                        mix64_next(&random) % 100 < percent || mix64_next(&random) % 256 == 0;
                moments_add(&estimates, signatures_similarity(agreeing, numbers[j]));
            }
            double chance = percent / 100.0 + (1 - percent / 100.0) / 256;
            expect_mean(&estimates, percent / 100.0);
            if (percent < 100)
                expect_ratio(moments_sd(&estimates),
                             sqrt(chance * (1 - chance) / numbers[j]) / (1 - 1.0 / 256), 0.06);
            assert_true(moments_sd(&estimates) <= 0.52 / sqrt(numbers[j]));
        }
    assert_int_equal(signatures_expected(0.2, 80), 16); /* F16: a fifth */
    assert_int_equal(signatures_expected(0.2, 40), 8);
    assert_int_equal(signatures_expected(0.2, 20), 4);
    assert_int_equal(signatures_expected(0.1, 80), 8);
    assert_int_equal(signatures_expected(1, 80), 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bag_sketch__is_80_signatures_of_3_bytes),
        cmocka_unit_test(test_bag_sketch__counts_what_agrees),
        cmocka_unit_test(test_bag_sketch__lowest_bytes_estimate_without_bias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
