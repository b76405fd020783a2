/* A1: what wiki markup shows, however it is marked. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/text/formats/wiki.h"
#include "tests/unit/engine/text/canonical.h"

static void expect(const char *wiki, const char *tokens)
{
    assert_true(canonical_is(TEXT_WIKI, wiki, strlen(wiki), tokens));
}

static void expect_type(const char *text, enum text_type type)
{
    assert_int_equal(text_type_sniff(text, strlen(text)), type);
}

static void test_wiki__markup_is_no_text(void **state)
{
    (void)state;
    expect("== One ==\n'''two''' ''th''ree [[Page|four]]s [[five#six]] it's\n* seven\n----\n",
           "one two three fours five six it s seven ");
    expect("[http://x.y eight ''nine''] [https://z] [not] [[Category:No]] [[Kategorie:No|x]] "
           "__NOTOC__ a__b__",
           "eight nine not a__b__ ");
    expect("[[File:x.jpg|thumb|200px|Below [[the]] pic|alt]] [[File:x.jpg|mini|see [[this|that]] "
           "and ''it'']]",
           "alt see that and it ");
    expect("a{{Infobox\n| b = {{c|d}}\n| e = [[f]]\n}}g {{lang|h}}i", "a g i ");
    expect("one<ref name=x>{{no}}</ref> two<ref name=x /> th<b>r</b>ee<br/>four<!-- no\nno -->five "
           "<nowiki>''[[x|y]]</nowiki> a&nbsp;b&amp;c <REF>\nno</REF>6 < 7",
           "one two three fourfive x y a b c 6 7 ");
    expect("six<!-- no - no -->seven <nowiki>eight<nine ten</nowiki>", "sixseven eight nine ten ");
}

static void test_wiki__tables_are_their_cells(void **state)
{
    (void)state;
    expect("{| class=\"wikitable\"\n|+ caption\n|-\n! scope=col | head !! more\n|- style=\"x\"\n| "
           "one || two\n"
           "| style=\"y\" | three\n| [[a|four]] || {{b|c}} || x | five\n|}\n| text",
           "caption head more one two three four five text ");
    /* Two exclamation marks separate heads alone, and a table's lines end with it. */
    expect("{|\n| x !! y | one\n! x | two !! three\n|}\n| four | five", "one two three four five ");
}

static void test_wiki__sniffing_takes_wikis(void **state)
{
    (void)state;
    expect_type("Intro with [[a link]].\n\n== Heading ==\n", TEXT_WIKI);
    expect_type("{{Stub}}\n'''X''' is [[a]], [[b|c]] or [[d]].\n", TEXT_WIKI);
    expect_type("\xef\xbb\xbf== A ==\r\n[[b]]\r\n", TEXT_WIKI);
    expect_type("== Heading ==\n\ntext\n", TEXT_PLAIN);
    expect_type("==> file <==\n[[text]]\n", TEXT_PLAIN); /* of head and tail */
    expect_type("== Heading ==\n[[a] and b\n", TEXT_PLAIN);
    expect_type("== AsciiDoc\n\n[[anchor]]\ntext\n", TEXT_PLAIN);
    expect_type("Notes: [[a]] and [[b]] and [[c]]\n", TEXT_PLAIN);
    expect_type("#!/bin/sh\n# == A ==\n[[a == b]]\n== x ==\n", TEXT_PLAIN);
    expect_type("if [[ -f x ]]; then\n== x ==\n", TEXT_PLAIN);
    expect_type("local a = [[text]];\nlocal b = [[c]];\n== x ==\n", TEXT_PLAIN);
    expect_type("x = [[1, 2], [3, 4]]\n'''doc'''\n", TEXT_PLAIN);
    assert_string_equal(text_type_name(TEXT_WIKI), "wiki");
}

static void test_wiki__what_is_damaged_is_read_on(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "[[",     "]]",   "{{",  "}}",        "[",         "]",  "|",    "||",      "!!",
        "{|\n",   "|}\n", "\n|", "\n!",       "\n",        " ",  "'",    "'''",     "<ref>",
        "</ref>", "<!--", "-->", "<nowiki>",  "</nowiki>", "<b", ">",    "&amp;",   "&",
        "__",     "TOC",  "==",  "Category:", "[http://",  "a",  "word", "\xc3\xa9"};
    unsigned seed = 9;
    char soup[4096];
    expect("a [[b\nc]] {{d\n e", "a b c ");
    expect("a <ref>b", "a ");
    expect("[[[[[[a]]]]]]", "a ");
    for (unsigned round = 0; round < 400; round++) {
        size_t size =
            canonical_soup(soup, sizeof(soup), parts, sizeof(parts) / sizeof(parts[0]), &seed);
        assert_true(canonical_is_one(TEXT_WIKI, soup, size));
        char *head = malloc(size ? size : 1); /* so that a byte read past the end is noticed */
        memcpy(head, soup, size);
        (void)text_type_sniff(head, size);
        free(head);
    }
}

/* A template that nobody ends hides no more than its limit, and the line it ends in. */
static void test_wiki__an_open_template_ends_with_its_limit(void **state)
{
    (void)state;
    static char text[4 * WIKI_TEMPLATE_BYTES];
    size_t size = (size_t)sprintf(text, "a {{b\n");
    while (size < sizeof(text) - 100)
        size += (size_t)sprintf(text + size, "word and more words in a line\n");
    struct canonical found = canonical_as(TEXT_WIKI, text, size, 0);
    assert_in_range(found.size, size - WIKI_TEMPLATE_BYTES - size / 20, size);
    canonical_done(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wiki__markup_is_no_text),
        cmocka_unit_test(test_wiki__tables_are_their_cells),
        cmocka_unit_test(test_wiki__sniffing_takes_wikis),
        cmocka_unit_test(test_wiki__what_is_damaged_is_read_on),
        cmocka_unit_test(test_wiki__an_open_template_ends_with_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
