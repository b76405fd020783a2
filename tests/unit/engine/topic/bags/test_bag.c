/* Bags against arrays that have a place for every word. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "engine/topic/bags/bag.h"
#include "engine/topic/bags/bag_counter.h"

enum { N_WORDS = 300, N_TRIALS = 300 };

/* The n-th word; 0 and the largest number are words like others. */
static uint64_t word_of(unsigned n)
{
    return n == 0 ? 0 : n == N_WORDS - 1 ? UINT64_MAX : mix64(n);
}

/* A random sequence of words, by how often each is in it. */
struct text {
    unsigned counts[N_WORDS];
    size_t n;
    uint64_t words[20 * N_WORDS];
};

static void make_text(uint64_t *x, unsigned most_different, struct text *ret_text)
{
    memset(ret_text, 0, sizeof(*ret_text));
    size_t n = mix64_next(x) % (10 * N_WORDS);
    unsigned different = 1 + (unsigned)(mix64_next(x) % most_different);
    for (; ret_text->n < n; ret_text->n++) {
        unsigned word = (unsigned)(mix64_next(x) % different) * (N_WORDS - 1) / different;
        word = mix64_next(x) % 50 ? word : N_WORDS - 1;
        ret_text->counts[word]++;
        ret_text->words[ret_text->n] = word_of(word);
    }
}

static struct bag bag_of(const struct text *text)
{
    static uint64_t words[20 * N_WORDS];
    struct bag bag;
    memcpy(words, text->words, text->n * sizeof(uint64_t));
    assert_int_equal(bag_count(words, text->n, &bag), 0);
    return bag;
}

/* The place of a word, by looking for it. */
static unsigned find(uint64_t word)
{
    for (unsigned i = 0; i < N_WORDS; i++)
        if (word_of(i) == word)
            return i;
    fail();
    return 0;
}

/* The bag has these weights, in order. */
static void expect(const struct bag *bag, const double *weights)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < N_WORDS; i++)
        n += weights[i] > 0;
    assert_int_equal(bag->n_words, n);
    for (uint32_t i = 0; i < bag->n_words; i++) {
        assert_true(i == 0 || bag->words[i - 1].word < bag->words[i].word);
        assert_true(bag->words[i].weight == weights[find(bag->words[i].word)]);
    }
}

static void counts_of(const struct text *text, double *ret_weights)
{
    for (unsigned i = 0; i < N_WORDS; i++)
        ret_weights[i] = text->counts[i];
}

/* F1, by both ways to count. */
static void test_bag__has_the_words_of_a_text_with_their_frequencies(void **state)
{
    (void)state;
    static struct text text;
    struct bag_counter counter = {.most_words = N_WORDS};
    double weights[N_WORDS];
    uint64_t x = 1;
    for (unsigned i = 0; i < N_TRIALS; i++) {
        make_text(&x, N_WORDS, &text);
        counts_of(&text, weights);
        struct bag bag = bag_of(&text), counted;
        expect(&bag, weights);
        for (size_t j = 0; j < text.n; j++)
            assert_true(bag_counter_add(&counter, text.words[j]) >= 0);
        assert_int_equal(bag_counter_bag(&counter, &counted), 0);
        expect(&counted, weights);
        bag_counter_clear(&counter);
        bag_done(&bag);
        bag_done(&counted);
    }
    bag_counter_done(&counter);
}

/* Words that are new when the bound is reached are not counted, others are. */
static void test_bag__counter_has_a_bound(void **state)
{
    (void)state;
    enum { MOST = 5000 };
    struct bag_counter counter = {.most_words = MOST};
    for (unsigned round = 0; round < 2; round++) { /* the second one after clearing a large one */
        struct bag bag;
        for (unsigned i = 0; i < MOST; i++)
            assert_int_equal(bag_counter_add(&counter, mix64(i)), 1);
        assert_int_equal(bag_counter_add(&counter, mix64(MOST)), -E2BIG);
        assert_int_equal(bag_counter_add(&counter, mix64(7)), 0);
        assert_int_equal(bag_counter_bag(&counter, &bag), 0);
        assert_int_equal(bag.n_words, MOST);
        for (uint32_t i = 0; i < MOST; i++)
            assert_true(bag.words[i].weight == (bag.words[i].word == mix64(7) ? 2 : 1));
        bag_done(&bag);
        bag_counter_clear(&counter);
    }
    bag_counter_done(&counter);
}

/* Words that have most bits in common, as who knows the key of their fingerprints can make them,
 * are counted as soon as others: where each passed all others it took hours. */
static void test_bag__counter_takes_words_that_were_chosen(void **state)
{
    (void)state;
    enum { MOST = 1 << 20 };
    struct bag_counter counter = {.most_words = MOST};
    for (unsigned shift = 20; shift <= 44; shift += 8)
        for (uint64_t i = 0; i < MOST / 4; i++)
            assert_int_equal(bag_counter_add(&counter, i << shift | shift), 1);
    for (unsigned i = 0; i < 4 * MOST; i++)
        assert_int_equal(bag_counter_add(&counter, UINT64_C(0x3ffff) << 20 | 20), 0);
    bag_counter_done(&counter);
}

static void test_bag__of_two_is_their_sum(void **state)
{
    (void)state;
    static struct text a, b;
    double weights[N_WORDS];
    uint64_t x = 2;
    for (unsigned i = 0; i < N_TRIALS; i++) {
        make_text(&x, N_WORDS, &a);
        make_text(&x, 1 + i % N_WORDS, &b);
        struct bag of_a = bag_of(&a), of_b = bag_of(&b), sum;
        for (unsigned j = 0; j < N_WORDS; j++)
            weights[j] = a.counts[j] + b.counts[j];
        assert_int_equal(bag_merge(&of_a, &of_b, &sum), 0);
        expect(&sum, weights);
        bag_done(&of_a);
        bag_done(&of_b);
        bag_done(&sum);
    }
}

/* F11, F12: the sum of minima by that of maxima, and |A n B| / |A u B| of the sets that have of a
 * word w its copies w1 .. wf. */
static void test_bag__resemblance_is_that_of_the_flattened_sets(void **state)
{
    (void)state;
    static struct text a, b;
    uint64_t x = 3;
    for (unsigned i = 0; i < N_TRIALS; i++) {
        make_text(&x, N_WORDS, &a);
        make_text(&x, 1 + i % N_WORDS, &b);
        struct bag of_a = bag_of(&a), of_b = bag_of(&b);
        unsigned both = 0, either = 0;
        for (unsigned j = 0; j < N_WORDS; j++)
            for (unsigned copy = 1; copy <= a.counts[j] + b.counts[j]; copy++) {
                both += copy <= a.counts[j] && copy <= b.counts[j];
                either += copy <= a.counts[j] || copy <= b.counts[j];
            }
        double value = -1, back = -1;
        int r = bag_resemblance(&of_a, &of_b, &value);
        assert_int_equal(r, either ? 0 : -ENODATA);
        assert_int_equal(bag_resemblance(&of_b, &of_a, &back), r);
        assert_true(value == back && (r < 0 || value == (double)both / either));
        bag_done(&of_a);
        bag_done(&of_b);
    }
}

static void test_bag__resemblance_by_hand(void **state)
{
    (void)state;
    struct bag_word a[] = {{1, 2}, {2, 1}, {3, 2}}, b[] = {{1, 1}, {3, 1}}, c[] = {{4, .5}};
    const struct bag x = {a, 3}, y = {b, 2}, z = {c, 1}, none = {0};
    double value;
    assert_int_equal(bag_resemblance(&x, &y, &value), 0);
    assert_float_equal(value, .4, 0);
    assert_int_equal(bag_resemblance(&x, &x, &value), 0);
    assert_float_equal(value, 1, 0);
    assert_int_equal(bag_resemblance(&x, &z, &value), 0);
    assert_float_equal(value, 0, 0);
    assert_int_equal(bag_resemblance(&none, &z, &value), 0);
    assert_float_equal(value, 0, 0);
    assert_int_equal(bag_resemblance(&none, &none, &value), -ENODATA);
}

/* F9: the largest remainder, by whole numbers and looking for the largest again and again. */
static void shares_of(const struct text *text, double *ret_weights)
{
    uint64_t rests[N_WORDS], missing = 100;
    unsigned order[N_WORDS]; /* by the word */
    for (unsigned i = 0; i < N_WORDS; i++) {
        rests[i] = text->counts[i] * 100 % text->n;
        ret_weights[i] = (double)(text->counts[i] * 100 / text->n);
        missing -= text->counts[i] * 100 / text->n;
        unsigned at = i;
        for (; at > 0 && word_of(order[at - 1]) > word_of(i); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    while (missing-- > 0) {
        unsigned best = order[0];
        for (unsigned i = 1; i < N_WORDS; i++)
            if (rests[order[i]] > rests[best])
                best = order[i];
        ret_weights[best]++;
        rests[best] = 0;
    }
}

static void test_bag__in_whole_numbers_sums_to_100(void **state)
{
    (void)state;
    static struct text text;
    double weights[N_WORDS];
    unsigned n_long = 0;
    uint64_t x = 4;
    for (unsigned i = 0; i < N_TRIALS; i++) {
        make_text(&x, i % 2 ? N_WORDS : 12, &text);
        if (text.n == 0)
            continue;
        struct bag bag = bag_of(&text);
        n_long += bag.n_words > 100;
        shares_of(&text, weights);
        assert_int_equal(bag_normalise(&bag, BAG_WHOLE), 0);
        expect(&bag, weights);
        double sum = 0;
        for (uint32_t j = 0; j < bag.n_words; j++)
            sum += bag.words[j].weight;
        assert_true(sum == 100 && bag.n_words <= 100);
        bag_done(&bag);
    }
    assert_true(n_long > N_TRIALS / 10);
}

/* F9: a long bag keeps the 100 heaviest words; of equal ones the smaller. */
static void test_bag__of_more_than_100_words_keeps_the_heaviest(void **state)
{
    (void)state;
    struct bag bag = {calloc(1000, sizeof(struct bag_word)), 1000};
    for (uint32_t i = 0; i < 1000; i++)
        bag.words[i] = (struct bag_word){i, i % 20 == 7 ? 3 : 2}; /* 50 of them */
    assert_int_equal(bag_normalise(&bag, BAG_WHOLE), 0);
    assert_int_equal(bag.n_words, 100);
    uint32_t n_heavy = 0;
    for (uint32_t i = 0; i < 100; i++) {
        assert_true(bag.words[i].weight == 1);
        bool heavy = bag.words[i].word % 20 == 7;
        n_heavy += heavy;
        assert_true(heavy || bag.words[i].word < 53); /* 0..52 without 7, 27, 47 are 50 */
    }
    assert_int_equal(n_heavy, 50);
    bag_done(&bag);
}

static void test_bag__in_reals_sums_to_100(void **state)
{
    (void)state;
    static struct text text;
    uint64_t x = 5;
    for (unsigned i = 0; i < N_TRIALS; i++) {
        make_text(&x, N_WORDS, &text);
        struct bag bag = bag_of(&text);
        assert_int_equal(bag_normalise(&bag, BAG_REAL), 0);
        double sum = 0;
        for (uint32_t j = 0; j < bag.n_words; j++) {
            sum += bag.words[j].weight;
            assert_float_equal(bag.words[j].weight,
                               100.0 * text.counts[find(bag.words[j].word)] / (double)text.n,
                               1e-10);
        }
        assert_true(text.n == 0 || fabs(sum - 100) < 1e-9);
        bag_done(&bag);
    }
}

/* F7, F8 */
static void test_bag__weights_are_by_how_many_bags_have_a_word(void **state)
{
    (void)state;
    const struct bag_weighing plain = {.most_df_share = 1}, idf = {.most_df_share = 1, .idf = true},
                              bounds = {.least_df = 2, .most_df_share = .25};
    for (uint64_t df = 1; df <= 100; df++) {
        assert_float_equal(bag_weight(&plain, 3, df, 100), 3, 0);
        assert_float_equal(bag_weight(&idf, 3, df, 100), 3 * (log(100) - log((double)df)), 1e-12);
        assert_float_equal(bag_weight(&bounds, 3, df, 100), df >= 2 && df <= 25 ? 3 : 0, 0);
    }
    assert_float_equal(bag_weight(&idf, 3, 100, 100), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bag__has_the_words_of_a_text_with_their_frequencies),
        cmocka_unit_test(test_bag__counter_has_a_bound),
        cmocka_unit_test(test_bag__counter_takes_words_that_were_chosen),
        cmocka_unit_test(test_bag__of_two_is_their_sum),
        cmocka_unit_test(test_bag__resemblance_is_that_of_the_flattened_sets),
        cmocka_unit_test(test_bag__resemblance_by_hand),
        cmocka_unit_test(test_bag__in_whole_numbers_sums_to_100),
        cmocka_unit_test(test_bag__of_more_than_100_words_keeps_the_heaviest),
        cmocka_unit_test(test_bag__in_reals_sums_to_100),
        cmocka_unit_test(test_bag__weights_are_by_how_many_bags_have_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
