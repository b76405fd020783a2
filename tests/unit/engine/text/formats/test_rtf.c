/* A1: what RTF shows, however it is written. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/engine/text/canonical.h"

static void expect(const char *rtf, const char *tokens)
{
    struct canonical found = canonical_of(rtf, strlen(rtf), 0);
    assert_int_equal(found.form.type, TEXT_RTF);
    canonical_done(&found);
    assert_true(canonical_is(TEXT_N_TYPES, rtf, strlen(rtf), tokens));
}

static void test_rtf__text_is_what_is_shown(void **state)
{
    (void)state;
    expect("{\\rtf1\\ansi\\deff0 {\\fonttbl{\\f0\\froman Times New "
           "Roman;}}{\\colortbl;\\red0\\green0;}\n"
           "{\\stylesheet{\\s0\\v0 Normal;}}{\\info{\\title Not this}{\\author N N}}\n"
           "{\\*\\generator Some 1.0;}\\pard\\plain\\f0 One {\\b tw}o\\par\nth\\-ree\\~four\\line "
           "five\\'2dsix"
           "\\tab{\\field{\\*\\fldinst HYPERLINK \"x\"}{\\fldrslt seven}}}",
           "one two three four five six seven ");
    /* The blank behind a control word is part of it; what ends a line means nothing. */
    expect("{\\rtf1 w\\b  x\\b0 y\r\nz\\\nnew \\{brace\\} a\\\\b\\cell c\\row}",
           "w xyz new brace a b c ");
    expect(
        "{\\rtf1{\\header head}{\\footerl foot}{\\pict\\pngblip 89504e47}{\\listtext 1.\\tab}item"
        "{\\footnote note} {\\deleted gone}{\\v hidden\\v0 shown}\\deleted gone \\plain  back}",
        "item note shown back ");
    expect("{\\rtf1 a{\\pict\\bin5 }{}\\\\}b\\bin0 c\\bin-3 d}", "abcd ");
}

static void test_rtf__characters_are_of_code_pages_and_of_unicode(void **state)
{
    (void)state;
    expect("{\\rtf1\\ansi caf\\'e9 \\'93quoted\\'94 na\xefve}", "caf\xc3\xa9 quoted na\xc3\xafve ");
    expect("{\\rtf1\\ansicpg1251 \\'ec\\'e8\\'f0}", "\xd0\xbc\xd0\xb8\xd1\x80 ");
    /* By the font, and back; a font that nobody defined is the document's. */
    expect("{\\rtf1\\ansicpg1252{\\fonttbl{\\f0\\fcharset0 A;}{\\f37\\fnil\\fcharset204 "
           "B;}{\\f5\\fcharset128 C;}}"
           "\\f37\\'ec{\\f0\\'ec}\\'ec \\plain\\'ec \\f9\\'ec \\f5\\'93\\'fa\\'83A}",
           "\xd0\xbc\xc3\xac\xd0\xbc \xc3\xac \xc3\xac \xe6\x97\xa5 \xe3\x82\xa2 ");
    expect("{\\rtf1\\mac caf\\'8e}", "caf\xc3\xa9 ");
    /* A fallback of one character unless it is said otherwise; a group ends it, too. */
    expect("{\\rtf1 caf\\u233 ?s \\u8364\\'80 \\uc0\\u233 s{\\uc2\\u233 ??s}{\\u233}s \\u-4064? x}",
           "caf\xc3\xa9s \xc3\xa9s\xc3\xa9s\xc3\xa9s x ");
    expect("{\\rtf1\\uc1\\u-10239?\\u-9176? \\u-10239?x\\u-9176?y}", "\xf0\x90\x90\xa8 x y ");
    /* Of a code page that nobody knows, and of more than are kept, only ASCII counts. */
    expect("{\\rtf1\\ansicpg9999 a\\'e9b}", "a b ");
}

static void test_rtf__what_is_damaged_is_read_on(void **state)
{
    (void)state;
    static const char *const parts[] = {"{",
                                        "}",
                                        "\\",
                                        "\\u",
                                        "-10239",
                                        "9176",
                                        "?",
                                        "\\'",
                                        "e9",
                                        "x",
                                        "\\*",
                                        "\\fonttbl",
                                        "\\f",
                                        "1",
                                        " ",
                                        "\\fcharset",
                                        "204",
                                        "128",
                                        "\\bin",
                                        "\\ansicpg",
                                        "1251",
                                        "932",
                                        "\\par",
                                        "\n",
                                        "\\uc",
                                        "\\v0",
                                        "\\deleted",
                                        "\\u-10239?\\u-9176?",
                                        "{\\f1\\fcharset128 A;}",
                                        "\\f1 ",
                                        "\\'93"};
    unsigned seed = 5;
    char soup[4096];
    expect("{\\rtf1 a}}}} b {{{ c \\'", "a b c ");
    expect("{\\rtf1 a\\u55357", "a ");
    for (unsigned round = 0; round < 300; round++) {
        size_t size =
            canonical_soup(soup, sizeof(soup), parts, sizeof(parts) / sizeof(parts[0]), &seed);
        assert_true(canonical_is_one(TEXT_RTF, soup, size));
    }
    /* Groups in each other beyond what is followed. */
    char deep[2000] = "{\\rtf1 a";
    memset(deep + 8, '{', 900);
    strcpy(deep + 908, "\\v b");
    memset(deep + 912, '}', 900);
    strcpy(deep + 1812, " c}");
    expect(deep, "a c ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rtf__text_is_what_is_shown),
        cmocka_unit_test(test_rtf__characters_are_of_code_pages_and_of_unicode),
        cmocka_unit_test(test_rtf__what_is_damaged_is_read_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
