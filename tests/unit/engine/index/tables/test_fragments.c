/* Rows of what documents say of others: they come back as they were put, and damaged ones are told.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "engine/index/tables/fragments.h"

static uint8_t row[FRAGMENTS_ROW_MAX_BYTES + FRAGMENT_MAX_BYTES];

/* Descending, as rows have them the other way. */
static size_t make_words(uint64_t *seed, uint64_t *ret_counted)
{
    const size_t n = 1 + mix64_next(seed) % FRAGMENTS_MOST_WORDS;
    for (size_t i = 0; i < n; i++)
        ret_counted[i] = (uint64_t)(n - i) << 32 | (1 + mix64_next(seed) % FRAGMENTS_COUNT_MOST);
    return n;
}

static void assert_words(const struct fragment *fragment, const uint64_t *counted, size_t n)
{
    assert_int_equal(fragment->n_words, n);
    for (size_t i = 0; i < n; i++) {
        const uint64_t word = counted[n - 1 - i];
        assert_true(fragment->words[i].word == bags_word(word));
        assert_true(fragment->words[i].weight == (double)(word & BAGS_COUNT_MOST));
    }
}

static void test_fragments__are_as_they_were_put(void **state)
{
    static const char *const targets[] = {"", "a.html", "../b c.md", "\xc3\xa9"};
    uint64_t seed = 1;
    (void)state;
    for (unsigned n = 0; n < 30; n++) {
        uint64_t counted[30][FRAGMENTS_MOST_WORDS];
        size_t n_words[30], n_bytes = FRAGMENTS_VERSION_BYTES;
        struct fragments fragments;
        struct fragment fragment;
        fragments_put_version(row);
        for (unsigned i = 0; i < n; i++) {
            uint64_t sorted[FRAGMENTS_MOST_WORDS];
            n_words[i] = make_words(&seed, counted[i]);
            memcpy(sorted, counted[i], sizeof(sorted));
            n_bytes += fragments_put(row + n_bytes, i % LINK_N_KINDS, targets[i % 4],
                                     strlen(targets[i % 4]), sorted, n_words[i]);
        }
        assert_int_equal(fragments_begin(&fragments, (struct kv_slice){row, n_bytes}), 0);
        for (unsigned i = 0; i < n; i++) {
            assert_int_equal(fragments_next(&fragments, &fragment), 1);
            assert_int_equal(fragment.kind, i % LINK_N_KINDS);
            assert_int_equal(fragment.target_bytes, strlen(targets[i % 4]));
            assert_memory_equal(fragment.target, targets[i % 4], fragment.target_bytes);
            assert_words(&fragment, counted[i], n_words[i]);
        }
        assert_int_equal(fragments_next(&fragments, &fragment), 0);
    }
}

static size_t longest(void)
{
    static char target[LINK_TARGET_MAX_BYTES];
    uint64_t counted[FRAGMENTS_MOST_WORDS];
    memset(target, 'x', sizeof(target));
    for (size_t i = 0; i < FRAGMENTS_MOST_WORDS; i++)
        counted[i] = (uint64_t)(i + 1) << 40 | 1;
    fragments_put_version(row);
    return FRAGMENTS_VERSION_BYTES + fragments_put(row + FRAGMENTS_VERSION_BYTES, LINK_URL, target,
                                                   sizeof(target), counted, FRAGMENTS_MOST_WORDS);
}

/* The result of reading all of a row. */
static int read_all(const void *bytes, size_t n_bytes)
{
    struct fragments fragments;
    struct fragment fragment;
    int r = fragments_begin(&fragments, (struct kv_slice){bytes, n_bytes});
    while (r >= 0 && (r = fragments_next(&fragments, &fragment)) > 0)
        ;
    return r;
}

static void test_fragments__that_are_cut_are_told(void **state)
{
    (void)state;
    const size_t n_bytes = longest();
    assert_int_equal(n_bytes, FRAGMENTS_VERSION_BYTES + FRAGMENT_MAX_BYTES);
    assert_int_equal(read_all(row, n_bytes), 0);
    for (size_t n = 0; n < n_bytes; n++) {
        uint8_t *cut = malloc(n ? n : 1); /* so that a sanitizer sees who reads on */
        assert_non_null(cut);
        memcpy(cut, row, n);
        assert_int_equal(read_all(cut, n), n == FRAGMENTS_VERSION_BYTES ? 0 : -EUCLEAN);
        free(cut);
    }
}

static void test_fragments__that_nobody_puts_are_told(void **state)
{
    static const struct {
        uint8_t bytes[24];
        size_t n;
    } rows[] = {
        {{2}, 1},                                                  /* another version */
        {{1, LINK_N_KINDS, 0, 0, 1, 0, 0, 0, 0, 1, 1}, 11},        /* no kind */
        {{1, 0, 8, 1, 'x'}, 5},                                    /* a target that is too long */
        {{1, 0, 0, 0, 0}, 5},                                      /* no words */
        {{1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, 11},                   /* a word that does not come */
        {{1, 0, 0, 0, 2, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 1, 1}, 17}, /* not ascending */
        {{1, 0, 0, 0, 2, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 2, 1}, 17}, /* twice */
    };
    static const uint8_t sound[] = {1, 0, 0, 0, 2, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 2, 1};
    (void)state;
    assert_int_equal(read_all(sound, sizeof(sound)), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(read_all(rows[i].bytes, rows[i].n), -EUCLEAN);
    memset(row, 0, sizeof(row));
    row[0] = 1;
    assert_int_equal(read_all(row, FRAGMENTS_ROW_MAX_BYTES + 1), -EUCLEAN);
}

/* Whatever the bytes are, there is an end. */
static void test_fragments__of_any_bytes_are_read(void **state)
{
    uint64_t seed = 2;
    (void)state;
    const size_t n_bytes = longest();
    for (unsigned i = 0; i < 20000; i++) {
        uint8_t *changed = malloc(n_bytes);
        assert_non_null(changed);
        memcpy(changed, row, n_bytes);
        for (unsigned k = 0; k <= i % 4; k++)
            changed[mix64_next(&seed) % (k % 2 ? 8 : n_bytes)] = (uint8_t)mix64_next(&seed);
        const int r = read_all(changed, n_bytes);
        assert_true(r == 0 || r == -EUCLEAN);
        free(changed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fragments__are_as_they_were_put),
        cmocka_unit_test(test_fragments__that_are_cut_are_told),
        cmocka_unit_test(test_fragments__that_nobody_puts_are_told),
        cmocka_unit_test(test_fragments__of_any_bytes_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
