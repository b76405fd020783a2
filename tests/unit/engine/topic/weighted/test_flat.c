#include "tests/unit/engine/topic/random_bags.h"

#include <errno.h>

#include "engine/topic/weighted/flat.h"
#include "engine/topic/weighted/flat_take.h"

enum { KEYS = 400, MOST = 4096, PRIME = 0x7fffffff };

static struct flat_hash *hash_of(unsigned n, double scale)
{
    uint8_t key[SKETCH_KEY_BYTES];
    struct flat_hash *hash;
    trial_key(n, key);
    assert_int_equal(flat_hash_new(key, scale, &hash), 0);
    return hash;
}

static int compare_elements(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static size_t sorted_elements(const struct flat_hash *hash, const struct bag *bag,
                              uint32_t *elements)
{
    int64_t n = flat_elements(hash, bag, elements, MOST);
    assert_true(n >= 0 && n <= MOST);
    qsort(elements, (size_t)n, sizeof(*elements), compare_elements);
    return (size_t)n;
}

static size_t count_common(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b)
{
    size_t n = 0;
    for (size_t i = 0, j = 0; i < n_a && j < n_b;) {
        n += a[i] == b[j];
        uint32_t x = a[i], y = b[j];
        i += x <= y;
        j += y <= x;
    }
    return n;
}

/* F12: of whole weights the elements in common are as many as the sum of the lesser weights, those
 * of both together as the sum of the greater ones. */
static void test_flat__keeps_the_sizes_of_what_is_common(void **state)
{
    uint64_t random = 1;
    (void)state;
    for (unsigned trial = 0; trial < 100; trial++) {
        _cleanup_(flat_hash_free_p) struct flat_hash *hash = hash_of(trial, 1);
        struct random_bag a, b;
        uint32_t of_a[MOST], of_b[MOST];
        random_bag(&random, true, &a);
        random_bag(&random, true, &b);
        size_t n_a = sorted_elements(hash, &a.bag, of_a), n_b = sorted_elements(hash, &b.bag, of_b),
               n_common = count_common(of_a, n_a, of_b, n_b);
        assert_int_equal(n_common, (size_t)sum_of_lesser(&a.bag, &b.bag));
        assert_int_equal(n_a + n_b - n_common, (size_t)sum_of_greater(&a.bag, &b.bag));
    }
}

/* F13: a signature is the least value of (ax + b) mod P of all elements. */
static void test_flat__has_the_least_values_of_its_elements(void **state)
{
    uint64_t random = 2, drawn[2 * BAG_SIGNATURES];
    (void)state;
    for (unsigned trial = 0; trial < 20; trial++) {
        _cleanup_(flat_hash_free_p) struct flat_hash *hash = hash_of(trial, 2.5);
        struct random_bag bag;
        struct bag_sketch sketch;
        uint32_t elements[MOST];
        uint8_t key[SKETCH_KEY_BYTES];
        random_bag(&random, false, &bag);
        int64_t n = flat_elements(hash, &bag.bag, elements, MOST);
        assert_int_equal(flat_sketch(hash, &bag.bag, &sketch), 0);
        trial_key(trial, key);
        assert_int_equal(sketch_key_derive(key, "functions of flat bags", drawn, sizeof(drawn)), 0);
        for (unsigned i = 0; i < BAG_SIGNATURES; i++) {
            uint64_t least = UINT64_MAX, a = 1 + drawn[2 * i] % (PRIME - 1),
                     b = drawn[2 * i + 1] % PRIME;
            for (int64_t j = 0; j < n; j++) {
                uint64_t value = (a * elements[j] + b) % PRIME;
                least = value < least ? value : least;
            }
            assert_int_equal(bag_sketch_signature(&sketch, i), least & 0xffffff);
        }
    }
}

/* Every kernel has the values of division, at the ends of all ranges, too, of any number of
 * elements. */
static void test_flat__kernels_agree_with_division(void **state)
{
    enum { ELEMENTS = 300 };
    const uint32_t ends[] = {0, 1, 2, PRIME / 2, PRIME - 2, PRIME - 1};
    struct flat_functions functions;
    uint32_t elements[ELEMENTS];
    uint64_t random = 7;
    (void)state;
    for (size_t n = 0; n <= ELEMENTS; n = n < 10 ? n + 1 : 2 * n + n / 10) {
        int32_t expected[BAG_SIGNATURES];
        for (size_t j = 0; j < n; j++)
            elements[j] = j < 6 ? ends[5 - j] : (uint32_t)(mix64_next(&random) % PRIME);
        for (unsigned i = 0; i < BAG_SIGNATURES; i++) {
            functions.a[i] = i < 30 ? ends[1 + i / 6] : (uint32_t)(1 + mix64_next(&random) % 1000);
            functions.b[i] = i < 60 ? ends[i % 6] : (uint32_t)(mix64_next(&random) % PRIME);
            expected[i] = INT32_MAX;
            for (size_t j = 0; j < n; j++) {
                uint64_t value = ((uint64_t)functions.a[i] * elements[j] + functions.b[i]) % PRIME;
                expected[i] = (int64_t)value < expected[i] ? (int32_t)value : expected[i];
            }
        }
        for (enum kernel kernel = 0; kernel < KERNEL_N; kernel++) {
            int32_t least[BAG_SIGNATURES];
            for (unsigned i = 0; i < BAG_SIGNATURES; i++)
                least[i] = INT32_MAX;
            flat_take take = flat_take_of(kernel);
            assert_int_equal(take != NULL, kernel_is_there(kernel));
            if (!take)
                continue;
            take(&functions, elements, n, least);
            assert_memory_equal(least, expected, sizeof(expected));
        }
    }
}

static void expect_similarity(bool is_whole, double scale, uint64_t seed)
{
    for (unsigned pair = 0; pair < 3; pair++) {
        struct random_bag a, b;
        struct moments agreeing = {0};
        random_bag(&seed, is_whole, &a);
        random_bag(&seed, is_whole, &b);
        for (unsigned n = 0; n < KEYS; n++) {
            _cleanup_(flat_hash_free_p) struct flat_hash *hash = hash_of(n, scale);
            struct bag_sketch of_a, of_b;
            assert_int_equal(flat_sketch(hash, &a.bag, &of_a), 0);
            assert_int_equal(flat_sketch(hash, &b.bag, &of_b), 0);
            moments_add(&agreeing, bag_sketch_agreeing(&of_a, &of_b) / (double)BAG_SIGNATURES);
        }
        expect_mean(&agreeing, similarity_of(&a.bag, &b.bag));
    }
}

/* F13: two bags agree in a signature with the probability that is their similarity. */
static void test_flat__agrees_with_the_probability_of_the_similarity(void **state)
{
    (void)state;
    expect_similarity(true, 1, 3);
}

/* G2: so do bags of any weights, by a copy more with the probability of the fraction. */
static void test_flat__takes_fractions_of_weights(void **state)
{
    (void)state;
    expect_similarity(false, 3, 4);
}

/* G2: a fraction of 0.3 is a copy in 3 of 10 words, and who has it with 0.3 has it with 0.7. */
static void test_flat__fractions_are_consistent(void **state)
{
    enum { WORDS = 50000 };
    _cleanup_(flat_hash_free_p) struct flat_hash *hash = hash_of(5, 1);
    unsigned n_lesser = 0, n_greater = 0;
    (void)state;
    for (uint64_t i = 0; i < WORDS; i++) {
        struct bag_word lesser = {i, 0.3}, greater = {i, 0.7};
        int64_t has = flat_elements(hash, &(struct bag){&lesser, 1}, NULL, 0),
                has_more = flat_elements(hash, &(struct bag){&greater, 1}, NULL, 0);
        assert_true(has <= has_more);
        n_lesser += (unsigned)has;
        n_greater += (unsigned)has_more;
    }
    expect_ratio(n_lesser, 0.3 * WORDS, 0.03);
    expect_ratio(n_greater, 0.7 * WORDS, 0.02);
}

/* F24, J7: bags without a common word agree in none of 16,000 signatures, and in a byte of 256. */
static void test_flat__of_disjoint_bags_agree_by_chance_alone(void **state)
{
    struct bag_word a[100], b[100];
    struct moments bytes = {0};
    unsigned n_agreeing = 0;
    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        a[i] = (struct bag_word){i, 1};
        b[i] = (struct bag_word){1000 + i, 1};
    }
    for (unsigned n = 0; n < 200; n++) {
        _cleanup_(flat_hash_free_p) struct flat_hash *hash = hash_of(n, 1);
        struct bag_sketch of_a, of_b;
        assert_int_equal(flat_sketch(hash, &(struct bag){a, 100}, &of_a), 0);
        assert_int_equal(flat_sketch(hash, &(struct bag){b, 100}, &of_b), 0);
        n_agreeing += bag_sketch_agreeing(&of_a, &of_b);
        moments_add(&bytes, signatures_agreeing(of_a.low, of_b.low, BAG_SIGNATURES) / 80.0);
    }
    assert_int_equal(n_agreeing, 0);
    expect_mean(&bytes, 1.0 / 256);
}

static void test_flat__refuses_what_is_too_large(void **state)
{
    uint8_t key[SKETCH_KEY_BYTES] = {0};
    struct flat_hash *none;
    struct bag_sketch sketch;
    struct bag_word large = {1, 1e300}, small = {1, 1e-12};
    _cleanup_(flat_hash_free_p) struct flat_hash *hash = hash_of(6, 1);
    (void)state;
    assert_int_equal(flat_hash_new(key, 0, &none), -EINVAL);
    assert_int_equal(flat_hash_new(key, NAN, &none), -EINVAL);
    assert_int_equal(flat_sketch(hash, &(struct bag){&large, 1}, &sketch), -E2BIG);
    assert_int_equal(flat_elements(hash, &(struct bag){&large, 1}, NULL, 0), -E2BIG);
    assert_int_equal(flat_sketch(hash, &(struct bag){0}, &sketch), 0);
    assert_true(bag_sketch_is_empty(&sketch));
    assert_int_equal(flat_sketch(hash, &(struct bag){&small, 1}, &sketch), 0); /* no copy of it */
    assert_true(bag_sketch_is_empty(&sketch));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat__keeps_the_sizes_of_what_is_common),
        cmocka_unit_test(test_flat__has_the_least_values_of_its_elements),
        cmocka_unit_test(test_flat__kernels_agree_with_division),
        cmocka_unit_test(test_flat__agrees_with_the_probability_of_the_similarity),
        cmocka_unit_test(test_flat__takes_fractions_of_weights),
        cmocka_unit_test(test_flat__fractions_are_consistent),
        cmocka_unit_test(test_flat__of_disjoint_bags_agree_by_chance_alone),
        cmocka_unit_test(test_flat__refuses_what_is_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
