/* Words go on over hyphens at the ends of lines. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/fixtures/words_fixture.h"

/* One such line before, without which none is joined. */
#define BROKEN "hy-\nphen "
#define BROKEN_TOKENS "hy phen "

static void test_words__go_on_behind_a_hyphen_at_the_end_of_a_line(void **state)
{
    (void)state;
    expect("a docu-\nment of state-\nments, well-known ones",
           "a docu ment of statements well known ones ");
    expect(BROKEN "docu-\r\nment, docu-\rment, docu-\n \tment, docu-\n\fment",
           BROKEN_TOKENS "document document document document ");
    expect(BROKEN
           "Stra\xc3\x9f"
           "en-\nb\xc3\xa4ume, \xd1\x81\xd0\xbb\xd0\xbe-\n\xd0\xb2\xd0\xbe docu\xe2\x80\x90\nment",
           BROKEN_TOKENS "strassenbäume слово document ");
    expect(BROKEN "GNU-\nlinux", BROKEN_TOKENS "gnulinux ");
    /* What begins so is no rest of a word, or no beginning of one stands before it. */
    expect(BROKEN "docu-\nMent docu-\n\n\nment docu-\n1 docu- \n\nMent docu -\nment docu-",
           BROKEN_TOKENS "docu ment docu ment docu 1 docu ment docu ment docu ");
    expect(BROKEN "docu-\r\n\r\n\r\nment docu-\r\rment", BROKEN_TOKENS "docu ment docu ment ");
    expect(BROKEN "x-\nray 12-\nment, a1-\nb, --\nment -\nment",
           BROKEN_TOKENS "x ray 12 ment a1 b ment ment ");
    expect(BROKEN "docu-\n\xff"
                  "ment, docu-\n\xe6\xbc\xa2",
           BROKEN_TOKENS "docu ment docu 漢 ");
    expect(BROKEN "e-mail docu-ment a-\xc3\xa9", BROKEN_TOKENS "e mail docu ment a é ");
}

/* Blanks that an editor or a scan left there, and every other line empty. */
static void test_words__go_on_over_blanks_and_an_empty_line(void **state)
{
    (void)state;
    expect(BROKEN "docu- \nment, docu-\t \nment, docu-  \r\n  ment, docu-\t\rment",
           BROKEN_TOKENS "document document document document ");
    expect(BROKEN "docu-\n\nment docu-\r\n\r\nment docu- \n \t\n\fment docu-\n \r\n ment",
           BROKEN_TOKENS "document document document document ");
    expect(BROKEN "docu- ment docu-\tment docu-  -\nment docu- ",
           BROKEN_TOKENS "docu ment docu ment docu ment docu ");
    expect(BROKEN "docu- \n \n \nment docu-\f\nment x- \ny",
           BROKEN_TOKENS "docu ment docu ment x y ");
    expect("well- \nknown", "well known ");
}

static void test_words__soft_hyphens_are_never_there(void **state)
{
    (void)state;
    expect("docu\xc2\xadment do\xc2\xad"
           "cu\xc2\xad\nment do\xc2\xad\r\n  Cument x\xc2\xad\ny",
           "document document document xy ");
    expect("docu\xc2\xad\n\n\nment docu\xc2\xad\n1 docu\xc2\xad ment docu\xc2\xad",
           "docu ment docu 1 docu ment docu ");
    expect("docu\xc2\xad \nment docu\xc2\xad\n\nment", "document document ");
    expect("\xc2\xad\nment \xc2\xad-\xc2\xad docu\xc2\xad\xcc\x81", "ment doc\xc3\xba ");
}

/* Compounds of a text that nobody hyphenated stay two words. */
static void test_words__broken_lines_tell_only_what_is_near(void **state)
{
    (void)state;
    for (size_t n = 295; n <= 303; n++) {
        char text[2048] = "well-\nknown", expected[2048] = "well known ";
        for (size_t i = 0; i < n; i++) {
            strcat(text, " x");
            strcat(expected, "x ");
        }
        strcat(text, " state-\nment");
        /* The number of the word with the hyphen, less that of the one before. */
        strcat(expected, n + 2 <= 300 ? "statement " : "state ment ");
        expect(text, expected);
    }
}

/* Words broken anywhere, by every kernel, wherever pieces are cut: only the first stays in two. */
static void test_words__broken_anywhere_are_whole(void **state)
{
    (void)state;
    static const char *const breaks_of_lines[] = {"-\n", "-\r\n   ", "- \n", "-\n\n", "-\t\r\n"};
    enum { N_BREAKS = sizeof(breaks_of_lines) / sizeof(breaks_of_lines[0]) };
    unsigned seed = 6;
    for (unsigned round = 0; round < 300; round++) {
        uint8_t text[6000], *to = text;
        char expected[6000], *out = expected;
        bool broken = false;
        for (unsigned n = 0; n < 300; n++) {
            size_t size = 1 + (size_t)rand_r(&seed) % 14, at = 2 + (size_t)rand_r(&seed) % 8;
            bool breaks = rand_r(&seed) % 8 == 0 && at < size;
            for (size_t i = 0; i < size; i++) {
                char letter = (char)('a' + rand_r(&seed) % 26);
                if (breaks && i == at) {
                    to += sprintf((char *)to, "%s", breaks_of_lines[round % N_BREAKS]);
                    if (!broken)
                        *out++ = ' ';
                    broken = true;
                }
                *to++ = (uint8_t)letter;
                *out++ = letter;
            }
            *to++ = n % 9 ? ' ' : '\n';
            *out++ = ' ';
        }
        *to = '\0';
        *out = '\0';
        expect_tokens(text, expected, round);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words__go_on_behind_a_hyphen_at_the_end_of_a_line),
        cmocka_unit_test(test_words__go_on_over_blanks_and_an_empty_line),
        cmocka_unit_test(test_words__soft_hyphens_are_never_there),
        cmocka_unit_test(test_words__broken_lines_tell_only_what_is_near),
        cmocka_unit_test(test_words__broken_anywhere_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
