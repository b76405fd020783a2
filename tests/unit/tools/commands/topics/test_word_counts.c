/* Of a stream of words that does not fit into memory the counts are known within what is said, and
 * no word of many documents is missing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/mix.h"
#include "tools/commands/topics/word_counts.h"

enum { WORDS = 20000, MOST = 500, LENGTH = 200000 };

/* The first words are much more frequent than the last. */
static unsigned draw(uint64_t *seed)
{
    const double x = (double)(mix64_next(seed) >> 11) / (double)(UINT64_C(1) << 53);
    return (unsigned)(x * x * x * x * WORDS);
}

static void test_word_counts__are_exact_while_there_is_room(void **state)
{
    static const char *const words[] = {"b", "a", "b", "c", "a", "b", "ab"};
    struct word_counts counts;
    (void)state;
    assert_int_equal(word_counts_init(&counts, 4), 0);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        assert_int_equal(word_counts_add(&counts, words[i], strlen(words[i])), 0);
    assert_int_equal(word_counts_sort(&counts), 4);
    static const char *const sorted[] = {"b", "a", "ab", "c"};
    static const unsigned times[] = {3, 2, 1, 1};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(counts.slots[i].word, sorted[i]);
        assert_int_equal(counts.slots[i].n, times[i]);
        assert_int_equal(counts.slots[i].missed, 0);
    }
    word_counts_done(&counts);
}

static void test_word_counts__are_within_what_was_missed(void **state)
{
    static unsigned times[WORDS];
    static uint8_t known[WORDS];
    struct word_counts counts;
    uint64_t seed = 7;
    (void)state;
    assert_int_equal(word_counts_init(&counts, MOST), 0);
    for (unsigned i = 0; i < LENGTH; i++) {
        const unsigned number = draw(&seed);
        char word[16];
        const int n = snprintf(word, sizeof(word), "w%u", number);
        times[number]++;
        assert_int_equal(word_counts_add(&counts, word, (size_t)n), 0);
        assert_true(counts.n <= MOST);
    }
    const size_t n = word_counts_sort(&counts);
    unsigned n_missed = 0;
    for (size_t i = 0; i < n; i++) {
        const struct word_count *count = &counts.slots[i];
        unsigned number;
        assert_int_equal(sscanf(count->word, "w%u", &number), 1);
        assert_false(known[number]);
        known[number] = 1;
        assert_in_range(times[number], count->n, count->n + count->missed);
        assert_true(i == 0 || counts.slots[i - 1].n >= count->n);
        n_missed += count->missed > 0;
    }
    assert_true(counts.forgotten > 0 && n_missed > 0);
    unsigned n_frequent = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        assert_true(known[i] || times[i] <= counts.forgotten);
        n_frequent += times[i] > counts.forgotten;
    }
    assert_true(n_frequent > 10);
    /* Not much more is forgotten than has to be: a word of one document in MOST / 2 words is safe.
     */
    assert_true(counts.forgotten <= LENGTH / (MOST / 4));
    word_counts_done(&counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_word_counts__are_exact_while_there_is_room),
        cmocka_unit_test(test_word_counts__are_within_what_was_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
