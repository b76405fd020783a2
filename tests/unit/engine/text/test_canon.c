#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/engine/text/canonical.h"

static void expect_bytes(enum text_type type, const void *bytes, size_t size, const char *tokens)
{
    assert_true(canonical_is(type, bytes, size, tokens));
}

static void expect_text(const char *text, const char *tokens)
{
    expect_bytes(TEXT_PLAIN, text, strlen(text), tokens);
}

static void expect_html(const char *text, const char *tokens)
{
    expect_bytes(TEXT_HTML, text, strlen(text), tokens);
}

/* -- words -- */

static void test_canon__keeps_words_and_drops_layout(void **state)
{
    (void)state;
    expect_text("", "");
    expect_text(" \t\r\n.,;", "");
    expect_text("A rose is a Rose", "a rose is a rose ");
    expect_text("a_b c-d e.f don't 3.14 x2", "a_b c d e f don t 3 14 x2 ");
    expect_text("last", "last ");
    expect_text("a\0b" /* up to the NUL */, "a ");
    expect_bytes(TEXT_PLAIN, "a\0b", 3, "a b ");
}

static void test_canon__every_ascii_character_is_a_word_character_or_separates(void **state)
{
    (void)state;
    for (int c = 0; c < 128; c++) {
        bool word =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        char text[3] = {'x', (char)c, 'y'}, tokens[8];
        snprintf(tokens, sizeof(tokens), "x%cy ", !word ? ' ' : c >= 'A' && c <= 'Z' ? c + 32 : c);
        expect_bytes(TEXT_PLAIN, text, 3, tokens);
    }
}

static void test_canon__folds_case_by_unicode(void **state)
{
    (void)state;
    expect_text("CAFÉ Stra\xc3\x9f"
                "E STRASSE",
                "café strasse strasse ");
    expect_text("ΟΔΥΣΣΕΥΣ οδυσσευς", "οδυσσευσ οδυσσευσ "); /* both sigmas */
    expect_text("ПРИВЕТ Ǆ ﬁn K", "привет dž fin k ");       /* the last is the Kelvin sign */
    expect_text("ΐ İ", "ΐ i\xcc\x87 "); /* foldings of more than one character, composed */
    expect_text("𐐀𐐨 Ꭰꭰ", "𐐨𐐨 ᎠᎠ ");
}

static void test_canon__marks_stay_within_words(void **state)
{
    (void)state;
    expect_text("e\xcc\x81tude CAFE\xcc\x81", "étude café ");
    expect_text("हिन्दी भाषा", "हिन्दी भाषा ");
    expect_text("x \xe2\x9d\xa4\xef\xb8\x8f y", "x y "); /* a selector after a symbol is no word */
    expect_text(" \xcc\x81x", "x ");
}

static void test_canon__numbers_of_all_scripts_are_words(void **state)
{
    (void)state;
    expect_text("١٢٣ Ⅷ x²", "١٢٣ viii x² ");
}

static void test_canon__characters_of_scripts_without_spaces_are_words(void **state)
{
    (void)state;
    expect_text("日本語のテスト", "日 本 語 の テ ス ト ");
    expect_text("abc漢字def", "abc 漢 字 def ");
    expect_text("コーヒー、か\xe3\x82\x99", "コ ー ヒ ー が ");
    expect_text("𠀀𠀁", "𠀀 𠀁 ");
    expect_text("한국어 텍스트", "한국어 텍스트 ");
    expect_text("々〆ｱ", "々 〆 ア ");
}

static void test_canon__format_characters_are_layout(void **state)
{
    (void)state;
    expect_text("\xef\xbb\xbf"
                "begin", /* byte order mark */
                "begin ");
    expect_text("hyphen\xc2\xad"
                "ation",
                "hyphenation ");
    expect_text("a\xe2\x80\x8d"
                "b a\xe2\x80\x8b"
                "b",
                "ab ab "); /* joiner; zero width space */
    expect_text("a\xc2\xa0"
                "b\xe2\x80\x94"
                "c",
                "a b c ");
}

static void test_canon__malformed_bytes_separate(void **state)
{
    (void)state;
    expect_text("a\xff"
                "b\xc3 c\xe2\x82"
                "d\xf0\x9f\x98"
                "e",
                "a b c d e ");
    expect_text("a\xc0\xaf"
                "b\xe0\x80\xaf"
                "c\xf0\x80\x80\xaf"
                "d\xf0\x81\x81\x81"
                "e", /* overlong */
                "a b c d e ");
    expect_text("a\xed\xa0\x80"
                "b\xf4\x90\x80\x80"
                "c\xf8\x88\x80\x80\x80"
                "d", /* surrogate, past the end, five bytes */
                "a b c d ");
    expect_text("x\xc3\xc3\xa9y", "x éy "); /* the second one begins a character */
    expect_text("x\xe2\xc3\xa9", "x é ");
    expect_text("caf\xe9 cr\xe8me", "caf cr me "); /* Latin-1 */
    expect_text("end\xe2\x82", "end ");
    expect_text("\x80\x80", "");
}

static void test_canon__cuts_long_words(void **state)
{
    (void)state;
    enum { N = 1000 };
    char text[2 * N + 1], expected[2 * N + 20];
    size_t out = 0;
    memset(text, 'A', N);
    text[N] = '\0';
    for (size_t i = 0; i < N; i++) {
        if (i && i % CANON_TOKEN_MAX_BYTES == 0)
            expected[out++] = ' ';
        expected[out++] = 'a';
    }
    memcpy(expected + out, " ", 2);
    expect_text(text, expected);

    /* No character is cut: 256 is no multiple of three bytes. */
    out = 0;
    for (size_t i = 0; i < 200; i++)
        memcpy(text + 3 * i, "\xe0\xa4\x95", 4);
    for (size_t i = 0; i < 200; i++) {
        if (i && i % 85 == 0)
            expected[out++] = ' ';
        memcpy(expected + out, "\xe0\xa4\x95", 3);
        out += 3;
    }
    memcpy(expected + out, " ", 2);
    expect_text(text, expected);
}

/* -- HTML beside text; test_html.c has the rest -- */

/* A1: the same words as text, wrapped otherwise, in upper case and as HTML */
static void test_canon__form_and_markup_make_no_difference(void **state)
{
    (void)state;
    const char *expected = "a rose is a rose is a rose a café 1913 gertrude stein s ";
    expect_text("A rose is a rose is a rose. (A café, 1913; Gertrude Stein's.)", expected);
    expect_text("A rose is\n  a rose\tis\r\na rose.\n\n(A café,\n1913;  Gertrude   Stein's.)\n",
                expected);
    expect_text("A ROSE IS A ROSE IS A ROSE. (A CAFÉ, 1913; GERTRUDE STEIN'S.)", expected);
    expect_html("<html><head><style>p { color: red }</style><script>var rose;</script></head>"
                "<body><p>A <b>ro</b>se is<br>a rose</p><ul><li>is a rose.</ul>"
                "<!-- not a rose --><p>(A caf&eacute;, 1913; <i>Gertrude Stein</i>&rsquo;s.)",
                expected);
    expect_html("<DIV CLASS=\"x\"><TABLE><TR><TD>A<TD>ROSE<TR><TD>is a rose</TABLE>is a rose"
                "<IMG SRC='r.png' ALT='a caf&#xe9;'>1913 Gertrude&nbsp;Stein's</DIV>",
                expected);
}

/* -- properties over random input -- */

static const char *const parts[] = {
    "word ",      "Rose",     "\xc3\xa9",
    "\xc3",       "\xa9",     "<b>",
    "</b>",       "<p ",      "alt=\"",
    "\"",         ">",        "<",
    "/",          "<!--",     "-->",
    "--!>",       "<script>", "</script>",
    "&",          "&eacute;", "&#x",
    "41;",        ";",        "<title>",
    "</title>",   "漢",       "\xcc\x81",
    "<img alt='", "'",        "=",
    "<![CDATA[",  "]]>",      "]",
    "\xf0\x9f",   "\x98\x80", "\xc2\xad",
    "!",          "-",        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};
enum { N_PARTS = sizeof(parts) / sizeof(parts[0]) };

/* Wherever a document is cut into calls, and whatever it is, its tokens are the same. */
static void test_canon__pieces_make_no_difference(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (unsigned round = 0; round < 1500; round++) {
        char soup[4096];
        size_t size = canonical_soup(soup, sizeof(soup), parts, N_PARTS, &seed);
        for (enum text_type type = TEXT_PLAIN; type <= TEXT_HTML; type++)
            assert_true(canonical_is_one(type, soup, size));
    }
}

/* Canonicalising the canonical form changes nothing. */
static void test_canon__is_idempotent(void **state)
{
    (void)state;
    unsigned seed = 2;
    for (unsigned round = 0; round < 500; round++) {
        char soup[4096];
        size_t size = canonical_soup(soup, sizeof(soup), parts, N_PARTS, &seed);
        struct canonical once = canonical_as(TEXT_PLAIN, soup, size, 0);
        expect_text(once.text, once.text);
        canonical_done(&once);
    }
}

static void test_canon__tokens_of_long_texts_come_in_order(void **state)
{
    (void)state;
    enum { N = 50000 };
    char *text = malloc(16 * N), *expected = malloc(16 * N), *p = text, *q = expected;
    for (unsigned i = 0; i < N; i++) {
        p += sprintf(p, "N%u%s", i, i % 3 ? " " : ",\n");
        q += sprintf(q, "n%u ", i);
    }
    expect_bytes(TEXT_PLAIN, text, (size_t)(p - text), expected);
    free(text);
    free(expected);
}

/* -- what kind of document -- */

static void expect_type(const char *head, enum text_type type)
{
    assert_int_equal(text_type_sniff(head, strlen(head)), type);
}

static void test_canon__knows_html_by_its_first_markup(void **state)
{
    (void)state;
    expect_type("<!DOCTYPE html>", TEXT_HTML);
    expect_type("\xef\xbb\xbf \n<!doctype HTML PUBLIC \"x\">", TEXT_HTML);
    expect_type("<html lang='en'>", TEXT_HTML);
    expect_type("<HTML", TEXT_HTML);
    expect_type("<!-- x --><!-- y -->\n<html>", TEXT_HTML);
    expect_type("<!-- a comment longer than the head", TEXT_HTML);
    expect_type("<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'>", TEXT_HTML);
    expect_type("<body>", TEXT_HTML);
    expect_type("<h1>x", TEXT_HTML);

    expect_type("", TEXT_PLAIN);
    expect_type("plain <html> later", TEXT_PLAIN);
    expect_type("<?xml version='1.0'?><book>", TEXT_XML);
    expect_type("<!-- vim: x --> text", TEXT_PLAIN);
    expect_type("<htmlx>", TEXT_PLAIN);
    expect_type("<stdio.h>", TEXT_PLAIN);
    expect_type("<!DOCTYPE book>", TEXT_PLAIN);
    expect_type("< html>", TEXT_PLAIN);
}

static void test_canon__a_nul_near_the_beginning_makes_a_document_binary(void **state)
{
    (void)state;
    char bytes[TEXT_SNIFF_BYTES + 1];
    memset(bytes, 'x', sizeof(bytes));
    assert_int_equal(text_type_sniff(bytes, sizeof(bytes)), TEXT_PLAIN);
    bytes[TEXT_SNIFF_BYTES] = '\0';
    assert_int_equal(text_type_sniff(bytes, sizeof(bytes)), TEXT_PLAIN);
    bytes[TEXT_SNIFF_BYTES - 1] = '\0';
    assert_int_equal(text_type_sniff(bytes, sizeof(bytes)), TEXT_BINARY);
    assert_int_equal(text_type_sniff("", 1), TEXT_BINARY);
    assert_int_equal(text_type_sniff(NULL, 0), TEXT_PLAIN);
    assert_string_equal(text_type_name(TEXT_PLAIN), "text");
    assert_string_equal(text_type_name(TEXT_HTML), "html");
    assert_string_equal(text_type_name(TEXT_BINARY), "binary");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canon__keeps_words_and_drops_layout),
        cmocka_unit_test(test_canon__every_ascii_character_is_a_word_character_or_separates),
        cmocka_unit_test(test_canon__folds_case_by_unicode),
        cmocka_unit_test(test_canon__marks_stay_within_words),
        cmocka_unit_test(test_canon__numbers_of_all_scripts_are_words),
        cmocka_unit_test(test_canon__characters_of_scripts_without_spaces_are_words),
        cmocka_unit_test(test_canon__format_characters_are_layout),
        cmocka_unit_test(test_canon__malformed_bytes_separate),
        cmocka_unit_test(test_canon__cuts_long_words),
        cmocka_unit_test(test_canon__form_and_markup_make_no_difference),
        cmocka_unit_test(test_canon__pieces_make_no_difference),
        cmocka_unit_test(test_canon__is_idempotent),
        cmocka_unit_test(test_canon__tokens_of_long_texts_come_in_order),
        cmocka_unit_test(test_canon__knows_html_by_its_first_markup),
        cmocka_unit_test(test_canon__a_nul_near_the_beginning_makes_a_document_binary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
