/* Rows of bags: what is kept of many words, by sorting all of them; rows that are damaged. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mix.h"
#include "engine/index/tables/bags.h"

enum { MOST = 1000 };

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    const uint64_t m = x & BAGS_COUNT_MOST, n = y & BAGS_COUNT_MOST;
    if (m != n)
        return m < n ? 1 : -1;
    return (x > y) - (x < y);
}

/* The count that a word has among the most frequent ones, 0: it is not among them. */
static uint64_t kept(const uint64_t *sorted, size_t n, uint64_t word)
{
    for (size_t i = 0; i < n && i < BAGS_MOST_WORDS; i++)
        if (bags_word(sorted[i]) == word)
            return sorted[i] & BAGS_COUNT_MOST;
    return 0;
}

static void test_bags__the_most_frequent_words_are_kept(void **state)
{
    static const size_t numbers[] = {0, 1, 2, 255, 256, 257, 700, MOST};
    static uint64_t counted[MOST], sorted[MOST], scratch[MOST];
    uint64_t seed = 1;
    (void)state;
    for (unsigned most = 1; most < 100000; most *= 7)
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
            _cleanup_(bag_done) struct bag bag = {0};
            uint8_t row[BAGS_ROW_MAX_BYTES];
            const size_t n = numbers[k];
            for (size_t i = 0; i < n; i++)
                counted[i] = bags_word(mix64_next(&seed)) | (1 + mix64_next(&seed) % most);
            memcpy(sorted, counted, sizeof(sorted));
            qsort(sorted, n, sizeof(*sorted), compare);
            const size_t size_bytes = bags_encode(counted, n, scratch, row);
            assert_int_equal(bags_decode((struct kv_slice){row, size_bytes}, &bag), 0);
            assert_int_equal(bag.n_words, n < BAGS_MOST_WORDS ? n : BAGS_MOST_WORDS);
            for (uint32_t i = 0; i < bag.n_words; i++) {
                const uint64_t count = kept(sorted, n, bag.words[i].word);
                assert_true(count > 0);
                assert_true(bag.words[i].weight == (double)(count < 65535 ? count : 65535));
            }
        }
}

static int decode(const uint8_t *row, size_t size_bytes)
{
    _cleanup_(bag_done) struct bag bag = {0};
    return bags_decode((struct kv_slice){row, size_bytes}, &bag);
}

static void test_bags__damaged_rows_are_refused(void **state)
{
    uint64_t counted[] = {bags_word(UINT64_MAX / 3) | 5, bags_word(UINT64_MAX / 2) | 1}, scratch[2];
    uint8_t row[BAGS_ROW_MAX_BYTES];
    (void)state;
    const size_t n = bags_encode(counted, 2, scratch, row);
    assert_int_equal(decode(row, n), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(decode(row, i), i == 1 || i == 1 + BAGS_ENTRY_BYTES ? 0 : -EUCLEAN);
    row[0] = 2;
    assert_int_equal(decode(row, n), -EUCLEAN);
    row[0] = 1;
    put_be16(row + 1 + BAGS_WORD_BYTES, 0);
    assert_int_equal(decode(row, n), -EUCLEAN); /* a word that it has not */
    put_be16(row + 1 + BAGS_WORD_BYTES, 5);
    memcpy(row + 1, row + 1 + BAGS_ENTRY_BYTES, BAGS_WORD_BYTES);
    assert_int_equal(decode(row, n), -EUCLEAN); /* a word twice */
}

static void test_bags__what_too_many_have_weighs_nothing(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {2, 64, 65, 100, 512, 513, 1000000, 10000000};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const uint64_t n = numbers[i];
        const struct bag_weighing weighing = bags_weighing(n);
        const uint64_t half = n / 2, most = half < 64 ? 64 : half > 65536 ? 65536 : half;
        assert_true(bag_weight(&weighing, 3, 1, n) == 0);
        assert_true(bag_weight(&weighing, 3, n, n) == 0);
        if (most < n) {
            assert_true(bag_weight(&weighing, 3, most, n) > 0);
            assert_true(bag_weight(&weighing, 3, most + 1, n) == 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bags__the_most_frequent_words_are_kept),
        cmocka_unit_test(test_bags__damaged_rows_are_refused),
        cmocka_unit_test(test_bags__what_too_many_have_weighs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
