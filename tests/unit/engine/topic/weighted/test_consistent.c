#include "tests/unit/engine/topic/random_bags.h"

#include "engine/topic/weighted/consistent.h"

enum { KEYS = 150 };

static struct moments agreeing(enum consistent_kind kind, const struct bag *a, const struct bag *b,
                               unsigned n_keys)
{
    struct moments agreeing = {0};
    for (unsigned n = 0; n < n_keys; n++) {
        _cleanup_(consistent_hash_free_p) struct consistent_hash *hash = NULL;
        struct bag_sketch of_a, of_b;
        uint8_t key[SKETCH_KEY_BYTES];
        trial_key(n, key);
        assert_int_equal(consistent_hash_new(key, &hash), 0);
        consistent_sketch(hash, kind, a, &of_a);
        consistent_sketch(hash, kind, b, &of_b);
        moments_add(&agreeing, bag_sketch_agreeing(&of_a, &of_b) / (double)BAG_SIGNATURES);
    }
    return agreeing;
}

/* G3: ICWS agrees with the probability of the similarity, whatever the weights. */
static void test_consistent__agrees_with_the_probability_of_the_similarity(void **state)
{
    uint64_t random = 1;
    (void)state;
    for (unsigned pair = 0; pair < 2; pair++) {
        struct random_bag a, b;
        random_bag(&random, false, &a);
        random_bag(&random, false, &b);
        struct moments of_a_and_b = agreeing(CONSISTENT_ICWS, &a.bag, &b.bag, KEYS);
        expect_mean(&of_a_and_b, similarity_of(&a.bag, &b.bag));
        /* and tiny and huge ones */
        for (uint32_t i = 0; i < a.bag.n_words; i++)
            a.words[i].weight *= 1e-100;
        for (uint32_t i = 0; i < b.bag.n_words; i++)
            b.words[i].weight *= 0.5e-100;
        of_a_and_b = agreeing(CONSISTENT_ICWS, &a.bag, &b.bag, KEYS);
        expect_mean(&of_a_and_b, similarity_of(&a.bag, &b.bag));
    }
}

/* G3: the weights 1, 1 and 1, 2 have a similarity of 2/3. I2CWS agrees with 7/12: in both bags the
 * first word is chosen with 1/3, and then agrees; the second with 1/2, and then agrees with 1/2. */
static void test_consistent__i2cws_agrees_less(void **state)
{
    struct bag_word a[] = {{1, 1}, {2, 1}}, b[] = {{1, 1}, {2, 2}};
    const struct bag of_a = {a, 2}, of_b = {b, 2};
    struct moments icws = agreeing(CONSISTENT_ICWS, &of_a, &of_b, 1000),
                   i2cws = agreeing(CONSISTENT_I2CWS, &of_a, &of_b, 1000);
    (void)state;
    expect_mean(&icws, 2.0 / 3);
    expect_mean(&i2cws, 7.0 / 12);
    /* two samples of errors: their means are further apart than chance has it */
    double error = sqrt((pow(moments_sd(&icws), 2) + pow(moments_sd(&i2cws), 2)) / icws.n);
    assert_true(moments_mean(&icws) - moments_mean(&i2cws) > 20 * error);
    /* where all weights are the same they are the same: a set */
    b[1].weight = 1;
    b[0].word = 3;
    i2cws = agreeing(CONSISTENT_I2CWS, &of_a, &of_b, 1000);
    icws = agreeing(CONSISTENT_ICWS, &of_a, &of_b, 1000);
    expect_mean(&i2cws, 1.0 / 3);
    expect_mean(&icws, 1.0 / 3);
}

static void test_consistent__of_nothing_is_empty(void **state)
{
    struct bag_word word = {1, 3.5};
    (void)state;
    struct moments none = agreeing(CONSISTENT_ICWS, &(struct bag){0}, &(struct bag){0}, 1),
                   one = agreeing(CONSISTENT_ICWS, &(struct bag){&word, 1}, &(struct bag){&word, 1},
                                  1);
    assert_true(moments_mean(&none) == 0);
    assert_true(moments_mean(&one) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_consistent__agrees_with_the_probability_of_the_similarity),
        cmocka_unit_test(test_consistent__i2cws_agrees_less),
        cmocka_unit_test(test_consistent__of_nothing_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
