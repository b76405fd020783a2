/* Bags of targets, made on the disk, against a table of all targets and words. F4, F7, F8, F9, F10.
 */
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
#include "engine/topic/bags/target_bags.h"
#include "tests/lib/scratch.h"

enum { N_TARGETS = 500, N_WORDS = 800, N_FRAGMENTS = 6000, FRAGMENT_WORDS = 20 };

/* Targets and words are their own fingerprints, in ascending order; the first targets are close to
 * each other, and one is that of most fragments. */
static uint64_t targets[N_TARGETS], words[N_WORDS];
static struct {
    unsigned target, n_words, words[FRAGMENT_WORDS];
} fragments[N_FRAGMENTS];
static unsigned counts[N_TARGETS][N_WORDS];

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Words of low numbers are in many fragments. */
static void make_fragments(void)
{
    uint64_t x = 1;
    for (unsigned i = 0; i < N_TARGETS; i++)
        targets[i] = i < 10 ? 1000 + i : mix64_next(&x);
    for (unsigned i = 0; i < N_WORDS; i++)
        words[i] = mix64_next(&x);
    qsort(targets, N_TARGETS, sizeof(uint64_t), compare_numbers);
    qsort(words, N_WORDS, sizeof(uint64_t), compare_numbers);
    for (unsigned i = 0; i < N_FRAGMENTS; i++) {
        unsigned n = (unsigned)(mix64_next(&x) % (FRAGMENT_WORDS + 1)), word = 0;
        fragments[i].target = i % 3 ? (unsigned)(mix64_next(&x) % N_TARGETS) : 77;
        fragments[i].n_words = 0;
        for (unsigned j = 0; j < n; j++) { /* ascending, each once */
            word += (unsigned)(mix64_next(&x) % (1 + (N_WORDS - 1 - word) / (n - j)));
            if (word >= N_WORDS)
                break;
            fragments[i].words[fragments[i].n_words++] = word;
            counts[fragments[i].target][word] += 1 + j % 3;
            word++;
        }
    }
}

static struct bag fragment_of(unsigned i, struct bag_word *room)
{
    for (unsigned j = 0; j < fragments[i].n_words; j++)
        room[j] = (struct bag_word){words[fragments[i].words[j]], 1 + j % 3};
    return (struct bag){room, fragments[i].n_words};
}

/* What should come: of each target its weights, by the definition. */
static double expected[N_TARGETS][N_WORDS];
static uint64_t n_expected, n_all, n_known, n_used;

static void make_expected(const struct bag_weighing *weighing, enum bag_numbers numbers)
{
    uint64_t df[N_WORDS] = {0};
    n_all = n_expected = n_known = n_used = 0;
    memset(expected, 0, sizeof(expected));
    for (unsigned i = 0; i < N_TARGETS; i++) {
        bool any = false;
        for (unsigned j = 0; j < N_WORDS; j++) {
            df[j] += counts[i][j] > 0;
            any |= counts[i][j] > 0;
        }
        n_all += any;
    }
    for (unsigned j = 0; j < N_WORDS; j++) {
        n_known += df[j] > 0;
        n_used += df[j] && bag_weight(weighing, 1, df[j], n_all) > 0;
    }
    for (unsigned i = 0; i < N_TARGETS; i++) {
        struct bag_word bag_words[N_WORDS];
        struct bag bag = {bag_words, 0};
        for (unsigned j = 0; j < N_WORDS; j++) {
            double weight = counts[i][j];
            if (df[j] < weighing->least_df || (double)df[j] > weighing->most_df_share * n_all)
                weight = 0;
            if (weighing->idf && df[j])
                weight *= log((double)n_all / (double)df[j]);
            if (weight > 0)
                bag_words[bag.n_words++] = (struct bag_word){j, weight};
        }
        n_expected += bag.n_words > 0;
        if (bag.n_words == 0)
            continue;
        assert_int_equal(bag_normalise(&bag, numbers), 0);
        for (uint32_t j = 0; j < bag.n_words; j++)
            expected[i][bag.words[j].word] = bag.words[j].weight;
    }
}

struct taken {
    unsigned at; /* targets before it have been seen */
    uint64_t n_bags, n_words;
    int answer;
};

static int take(void *user, uint64_t target, const struct bag *bag)
{
    struct taken *taken = user;
    assert_true(bag->n_words > 0);
    while (taken->at < N_TARGETS && targets[taken->at] != target)
        taken->at++;
    assert_true(taken->at < N_TARGETS);
    const double *weights = expected[taken->at++];
    for (uint32_t i = 0, j = 0; j < N_WORDS; j++) {
        if (i < bag->n_words && bag->words[i].word == words[j])
            assert_true(bag->words[i++].weight == weights[j]);
        else
            assert_true(weights[j] == 0);
    }
    taken->n_bags++;
    taken->n_words += bag->n_words;
    return taken->answer;
}

/* Words that are used come in their order, each with as many targets as have it. */
struct used_words {
    unsigned at;
    uint64_t n;
};

static int take_used(void *user, uint64_t word, uint64_t df)
{
    struct used_words *used = user;
    uint64_t n = 0;
    while (used->at < N_WORDS && words[used->at] != word)
        used->at++;
    assert_true(used->at < N_WORDS);
    for (unsigned i = 0; i < N_TARGETS; i++)
        n += counts[i][used->at] > 0;
    assert_int_equal(n, df);
    used->at++;
    used->n++;
    return 0;
}

static struct target_bags *bags_of(const struct target_bags_options *options, unsigned first)
{
    struct target_bags *bags;
    struct bag_word room[FRAGMENT_WORDS];
    assert_int_equal(target_bags_new(options, &bags), 0);
    for (unsigned i = 0; i < N_FRAGMENTS; i++) {
        unsigned which = (first + i * 7) % N_FRAGMENTS; /* 7 and 6000 have no divisor in common */
        const struct bag fragment = fragment_of(which, room);
        assert_int_equal(target_bags_add(bags, targets[fragments[which].target], &fragment), 0);
    }
    return bags;
}

/* The same bags to the bit, whatever the number of buckets, the memory and the order. */
static void expect_all(const char *directory, const struct bag_weighing *weighing,
                       enum bag_numbers numbers)
{
    static const uint32_t buckets[] = {1, 7, 256, TARGET_BAGS_MOST_BUCKETS};
    make_expected(weighing, numbers);
    for (unsigned i = 0; i < 8; i++) {
        uint32_t n_buckets = buckets[i / 2];
        struct target_bags_options options = {.directory = directory,
                                              .n_buckets = n_buckets,
                                              .memory_bytes =
                                                  i % 2 ? 64 << 20 : target_bags_least(n_buckets),
                                              .weighing = *weighing,
                                              .numbers = numbers};
        struct target_bags_counts counted;
        struct used_words used = {0};
        options.word = i % 3 ? take_used : NULL;
        options.word_user = &used;
        struct taken taken = {0};
        _cleanup_(target_bags_free_p) struct target_bags *bags = bags_of(&options, i * 100);
        assert_int_equal(target_bags_finish(bags, take, &taken, &counted), 0);
        assert_int_equal(taken.n_bags, n_expected);
        assert_int_equal(counted.n_bags, n_expected);
        assert_int_equal(counted.n_bag_words, taken.n_words);
        assert_int_equal(counted.n_targets, n_all);
        assert_true(counted.n_records > counted.n_pairs);
        assert_int_equal(counted.n_words, n_known);
        assert_int_equal(counted.n_used_words, n_used);
        assert_int_equal(used.n, i % 3 ? n_used : 0);
        assert_true((counted.most_file_bytes > 0) == (i % 2 == 0));
    }
}

static void test_target_bags__are_those_of_the_table(void **state)
{
    expect_all(*state, &(struct bag_weighing){.most_df_share = 1}, BAG_WHOLE);
    expect_all(*state, &(struct bag_weighing){.most_df_share = 1, .idf = true}, BAG_REAL);
}

static void test_target_bags__leave_out_rare_and_frequent_words(void **state)
{
    expect_all(*state, &(struct bag_weighing){3, .1, true}, BAG_WHOLE);
    expect_all(*state, &(struct bag_weighing){.least_df = N_TARGETS, .most_df_share = 1}, BAG_REAL);
}

/* A page that is not there has what others say of it; one that nobody links to has its own words.
 */
static int take_by_hand(void *user, uint64_t target, const struct bag *bag)
{
    unsigned *n = user;
    static const struct bag_word missing[] = {{5, 75}, {9, 25}}, page[] = {{5, 50}, {7, 50}};
    const struct bag_word *expect = target == 2 ? missing : page;
    assert_int_equal(target, ++*n == 1 ? 1 : 2);
    assert_int_equal(bag->n_words, 2);
    for (unsigned i = 0; i < 2; i++)
        assert_true(bag->words[i].word == expect[i].word &&
                    bag->words[i].weight == expect[i].weight);
    return 0;
}

static void test_target_bags__of_missing_pages_are_of_what_is_said_of_them(void **state)
{
    const struct target_bags_options options = {.directory = *state,
                                                .n_buckets = TARGET_BAGS_BUCKETS,
                                                .memory_bytes = 8 << 20,
                                                .weighing = {.most_df_share = 1}};
    struct bag_word content[] = {{5, 1}, {7, 1}}, one[] = {{5, 1}, {9, 1}}, other[] = {{5, 2}};
    struct target_bags *bags;
    struct target_bags_counts counted;
    unsigned n = 0;
    assert_int_equal(target_bags_new(&options, &bags), 0);
    assert_int_equal(target_bags_add(bags, 1, &(struct bag){content, 2}), 0);
    assert_int_equal(target_bags_add(bags, 2, &(struct bag){one, 2}), 0);
    assert_int_equal(target_bags_add(bags, 2, &(struct bag){other, 1}), 0);
    assert_int_equal(target_bags_add(bags, 3, &(struct bag){NULL, 0}), 0);
    assert_int_equal(target_bags_finish(bags, take_by_hand, &n, &counted), 0);
    assert_int_equal(n, 2);
    assert_int_equal(counted.n_targets, 2);
    target_bags_free(bags);
}

static void test_target_bags__end_early(void **state)
{
    bool stop = true;
    struct target_bags_options options = {.directory = *state,
                                          .n_buckets = TARGET_BAGS_BUCKETS,
                                          .memory_bytes = 8 << 20,
                                          .weighing = {.most_df_share = 1}};
    struct target_bags_counts counted;
    struct taken taken = {.answer = -EPIPE};
    struct target_bags *bags;
    make_expected(&options.weighing, BAG_WHOLE);
    bags = bags_of(&options, 0);
    assert_int_equal(target_bags_finish(bags, take, &taken, &counted), -EPIPE);
    assert_int_equal(taken.n_bags, 1);
    target_bags_free(bags);
    options.stop = &stop;
    bags = bags_of(&options, 0);
    assert_int_equal(target_bags_finish(bags, take, &taken, &counted), -ECANCELED);
    target_bags_free(bags);
    target_bags_free(bags_of(&options, 0)); /* not finished */
    options.memory_bytes = target_bags_least(options.n_buckets) - 1;
    assert_int_equal(target_bags_new(&options, &bags), -E2BIG);
    options.memory_bytes = 64 << 20;
    options.n_buckets = TARGET_BAGS_MOST_BUCKETS + 1;
    assert_int_equal(target_bags_new(&options, &bags), -EINVAL);
    options.n_buckets = 0;
    assert_int_equal(target_bags_new(&options, &bags), -EINVAL);
    options.n_buckets = 1;
    options.directory = "/nowhere";
    assert_int_equal(target_bags_new(&options, &bags), -ENOENT);
}

static int set_up(void **state)
{
    make_fragments();
    return scratch_group_make(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_target_bags__are_those_of_the_table),
        cmocka_unit_test(test_target_bags__leave_out_rare_and_frequent_words),
        cmocka_unit_test(test_target_bags__of_missing_pages_are_of_what_is_said_of_them),
        cmocka_unit_test(test_target_bags__end_early),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_group_remove);
}
