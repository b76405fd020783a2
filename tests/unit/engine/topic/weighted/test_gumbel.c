#include "tests/unit/engine/topic/random_bags.h"

#include "engine/topic/weighted/gumbel.h"

static struct gumbel_hash hash_of(unsigned n)
{
    uint8_t key[SKETCH_KEY_BYTES];
    struct gumbel_hash hash;
    trial_key(n, key);
    assert_int_equal(gumbel_hash_init(key, &hash), 0);
    return hash;
}

/* G4: drawing what can be least gives what drawing all gives, to the bit: of few words and of many,
 * of weights that are alike and of others. */
static void test_gumbel__fast_is_naive_to_the_bit(void **state)
{
    enum { MOST = 1000 };
    static struct bag_word words[MOST];
    const uint32_t sizes[] = {1, 2, 3, 5, 10, 30, 100, MOST};
    uint64_t random = 1;
    (void)state;
    for (unsigned trial = 0; trial < 400; trial++) {
        struct gumbel_hash hash = hash_of(trial / 8);
        struct bag bag = {words, sizes[trial % 8]};
        struct bag_sketch fast, naive;
        for (uint32_t i = 0; i < bag.n_words; i++) {
            double number = (double)(mix64_next(&random) >> 11) * 0x1p-53;
            words[i] = (struct bag_word){i, trial % 2 ? 1 + number : exp(100 * (number - 0.5))};
        }
        gumbel_sketch(&hash, &bag, &fast);
        gumbel_sketch_naive(&hash, &bag, &naive);
        assert_memory_equal(&fast, &naive, sizeof(fast));
        assert_false(bag_sketch_is_empty(&fast));
        /* nor does a factor change it */
        for (uint32_t i = 0; i < bag.n_words; i++)
            words[i].weight *= 0x1p40;
        gumbel_sketch(&hash, &bag, &fast);
        assert_memory_equal(&fast, &naive, sizeof(fast));
    }
    struct bag_sketch none;
    struct gumbel_hash hash = hash_of(0);
    gumbel_sketch(&hash, &(struct bag){0}, &none);
    assert_true(bag_sketch_is_empty(&none));
}

static double probability_jaccard(const struct bag *a, const struct bag *b)
{
    double sum = 0;
    for (uint64_t i = 1; i <= RANDOM_BAG_WORDS; i++) {
        double in_a = weight_in(a, i), in_b = weight_in(b, i), others = 0;
        for (uint64_t j = 1; in_a > 0 && in_b > 0 && j <= RANDOM_BAG_WORDS; j++)
            others += fmax(weight_in(a, j) / in_a, weight_in(b, j) / in_b);
        if (others > 0)
            sum += 1 / others;
    }
    return sum;
}

/* G4: two bags agree with their probability Jaccard similarity, which is no less than that of their
 * weights. */
static void test_gumbel__agrees_with_the_probability_jaccard_similarity(void **state)
{
    uint64_t random = 2;
    (void)state;
    for (unsigned pair = 0; pair < 4; pair++) {
        struct random_bag a, b;
        struct moments agreeing = {0};
        random_bag(&random, false, &a);
        random_bag(&random, false, &b);
        for (unsigned n = 0; n < 1000; n++) {
            struct gumbel_hash hash = hash_of(n);
            struct bag_sketch of_a, of_b;
            gumbel_sketch(&hash, &a.bag, &of_a);
            gumbel_sketch(&hash, &b.bag, &of_b);
            moments_add(&agreeing, bag_sketch_agreeing(&of_a, &of_b) / (double)BAG_SIGNATURES);
        }
        double exact = probability_jaccard(&a.bag, &b.bag);
        expect_mean(&agreeing, exact);
        assert_true(exact >= similarity_of(&a.bag, &b.bag));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gumbel__fast_is_naive_to_the_bit),
        cmocka_unit_test(test_gumbel__agrees_with_the_probability_jaccard_similarity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
