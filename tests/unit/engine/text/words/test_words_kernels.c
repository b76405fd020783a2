/* All kernels find the same words. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "engine/text/words/words.h"
#include "tests/lib/fixtures/words_fixture.h"

/* Another route: characters as utf8proc reads and writes them, one by one; no kernel, and no bytes
 * that are no character. */
static struct tokens by_characters(const uint8_t *bytes, size_t size_bytes)
{
    struct tokens tokens = {0};
    struct words *words = new_words(&tokens, KERNEL_SCALAR);
    for (size_t at = 0; at < size_bytes;) {
        utf8proc_int32_t code;
        utf8proc_ssize_t n =
            utf8proc_iterate(bytes + at, (utf8proc_ssize_t)(size_bytes - at), &code);
        uint8_t character[4];
        if (n > 0)
            words_feed(words, character, (size_t)utf8proc_encode_char(code, character));
        else
            words_separate(words);
        at += n > 0 ? (size_t)n : 1;
    }
    words_finish(words);
    free(words);
    if (!tokens.text)
        tokens.text = strdup("");
    return tokens;
}

/* -- kernels -- */

static size_t append(uint8_t *to, const char *text)
{
    memcpy(to, text, strlen(text));
    return strlen(text);
}

/* Words and spaces of lengths that kernels find hard, in stretches of ASCII and of the rest. */
static size_t random_text(uint8_t *out, size_t room, unsigned *seed)
{
    static const char *const others[] = {"é",
                                         "É",
                                         "漢",
                                         "か\xe3\x82\x99",
                                         "ж",
                                         "Ж",
                                         "ß",
                                         "กิ",
                                         "\xf0\x90\x90\x80",
                                         "\xc2\xad",
                                         "\xe2\x80\x8b",
                                         "\xcc\x81",
                                         "\xc3",
                                         "\xe2\x82",
                                         "\xf0\x9f\x98",
                                         "\xff",
                                         "\x80",
                                         "한국",
                                         "ΐ",
                                         "\xe2\x80\xa6",
                                         "\xef\xac\x80"};
    static const char letters[] = "abcXYZ019_zZaA", separators[] = " \n.,-/@[`{\x7f\x01";
    size_t size = 0;
    unsigned plain = (unsigned)rand_r(seed) % 40; /* others come one in so many */
    while (size + 700 < room) {
        unsigned kind = (unsigned)rand_r(seed) % 64;
        if (kind < 60) {
            size_t n = 1 + (size_t)rand_r(seed) % (kind < 50 ? 12 : kind < 58 ? 70 : 600);
            for (size_t i = 0; i < n; i++)
                out[size++] = (uint8_t)letters[(size_t)rand_r(seed) % (sizeof(letters) - 1)];
            n = 1 + (size_t)rand_r(seed) % (kind < 40 ? 2 : 70);
            for (size_t i = 0; kind > 3 && i < n && size < room - 16; i++)
                out[size++] = (uint8_t)separators[(size_t)rand_r(seed) % (sizeof(separators) - 1)];
        }
        for (unsigned i = 0; rand_r(seed) % (int)(plain + 1) == 0 && i < 20 && size < room - 16;
             i++)
            size += append(out + size,
                           others[(size_t)rand_r(seed) % (sizeof(others) / sizeof(others[0]))]);
    }
    return size;
}

static void test_words__kernels_agree_wherever_pieces_are_cut(void **state)
{
    (void)state;
    enum { ROOM = 40000 };
    uint8_t *text = malloc(ROOM);
    unsigned seed = 1;
    for (unsigned round = 0; round < 150; round++) {
        static const size_t pieces[] = {ROOM, 0, 1, 63, 64, 65, 95, 96, 97, 128, 4096};
        size_t size = random_text(text, round % 10 ? 2000 : ROOM, &seed);
        struct tokens expected = by_characters(text, size);
        for (int kernel = 0; kernel < KERNEL_N; kernel++) {
            if (!has_kernel((enum kernel)kernel))
                continue;
            for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
                struct tokens tokens = by_bytes((enum kernel)kernel, text, size, pieces[i], round);
                if (strcmp(tokens.text, expected.text) != 0)
                    fail_msg("round %u, %s, pieces of %zu", round, kernel_name((enum kernel)kernel),
                             pieces[i]);
                tokens_free(&tokens);
            }
        }
        tokens_free(&expected);
    }
    free(text);
}

/* Every pattern of word bytes and separators in 16 bytes, wherever it stands in a step. */
static void test_words__kernels_agree_on_every_pattern(void **state)
{
    (void)state;
    enum { N = 1 << 16, EACH = 19 };
    uint8_t *text = malloc(N * EACH);
    size_t size = 0;
    for (unsigned pattern = 0; pattern < N; pattern++) {
        for (unsigned i = 0; i < 16; i++)
            text[size++] = pattern >> i & 1 ? (uint8_t)('A' + (pattern + i) % 26) : ' ';
        size += append(text + size, pattern % 64 ? "" : "é ");
        text[size++] = pattern % 3 ? ' ' : 'w';
    }
    struct tokens expected = by_characters(text, size);
    for (int kernel = 0; kernel < KERNEL_N; kernel++) {
        if (!has_kernel((enum kernel)kernel))
            continue;
        struct tokens tokens = by_bytes((enum kernel)kernel, text, size, size, 0);
        assert_string_equal(tokens.text, expected.text);
        tokens_free(&tokens);
    }
    tokens_free(&expected);
    free(text);
}

/* A byte that is none of UTF-8 there, in front of a letter, a control character or another: all
 * kernels stop at it. */
static void test_words__kernels_stop_at_each_malformed_byte(void **state)
{
    (void)state;
    static const uint8_t behind[] = {'a', '\n', ' ', '-', 0xff};
    for (unsigned byte = 0x80; byte < 0x100; byte++)
        for (size_t at = 1; at < 34; at++)
            for (size_t i = 0; i < sizeof(behind); i++) {
                uint8_t text[81];
                char tokens[96] = {0};
                memset(text, 'x', sizeof(text) - 1);
                text[80] = 0;
                text[at] = (uint8_t)byte;
                text[at + 1] = behind[i];
                memset(tokens, 'x', at);
                tokens[at] = ' ';
                size_t n = at + 1;
                if (behind[i] == 'a')
                    tokens[n++] = 'a';
                memset(tokens + n, 'x', 80 - at - 2);
                tokens[n + 80 - at - 2] = ' ';
                expect_tokens(text, tokens, 1);
            }
}

static void test_words__kernels_cut_long_words_alike(void **state)
{
    (void)state;
    for (int kernel = 0; kernel < KERNEL_N; kernel++) {
        if (!has_kernel((enum kernel)kernel))
            continue;
        for (size_t before = 0; before < 70; before += 3) {
            for (size_t length = 180; length < 600; length += 7) {
                char text[1024], expected[1024], *out = expected;
                memset(text, ' ', before);
                memset(text + before, 'Q', length);
                strcpy(text + before + length, " x");
                for (size_t i = 0; i < length; i++) {
                    if (i && i % CANON_TOKEN_MAX_BYTES == 0)
                        *out++ = ' ';
                    *out++ = 'q';
                }
                strcpy(out, " x ");
                struct tokens tokens =
                    by_bytes((enum kernel)kernel, (uint8_t *)text, strlen(text), 4096, 0);
                assert_string_equal(tokens.text, expected);
                tokens_free(&tokens);
            }
        }
    }
}

static void test_words__one_kernel_at_least_is_there(void **state)
{
    (void)state;
    assert_true(has_kernel(KERNEL_SCALAR));
    assert_true(has_kernel(kernel_in_use()));
    assert_null(ascii_words(KERNEL_N));
    for (int kernel = 0; kernel < KERNEL_N; kernel++)
        if (kernel_is_there((enum kernel)kernel))
            assert_non_null(ascii_words((enum kernel)kernel));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words__kernels_agree_wherever_pieces_are_cut),
        cmocka_unit_test(test_words__kernels_agree_on_every_pattern),
        cmocka_unit_test(test_words__kernels_stop_at_each_malformed_byte),
        cmocka_unit_test(test_words__kernels_cut_long_words_alike),
        cmocka_unit_test(test_words__one_kernel_at_least_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
