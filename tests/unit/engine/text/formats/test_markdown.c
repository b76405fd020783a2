/* A1: what Markdown shows, however it is marked. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/text/formats/markdown.h"
#include "tests/unit/engine/text/canonical.h"

static void expect(const char *markdown, const char *tokens)
{
    assert_true(canonical_is(TEXT_MARKDOWN, markdown, strlen(markdown), tokens));
}

/* -- inline -- */

static void test_markdown__emphasis_is_no_space(void **state)
{
    (void)state;
    expect("*a* **b** ***c*** ro**se** *ro*se", "a b c rose rose ");
    expect("_a_ __b__ (_c d_) snake_case _snake_case_ __init__ é_é",
           "a b c d snake_case snake_case init é_é ");
    expect("2*3 and 4", "2 3 and 4 ");
    expect("* item 2*3\n- 5 * 6*7", "item 2 3 5 6 7 ");
    expect("\\*a\\* b\\_c \\_d\\_ e\\\nf\\g", "a b_c _d_ e f g ");
    expect("_", "");
}

static void test_markdown__code_is_text(void **state)
{
    (void)state;
    expect("`<b>` ``a`<i>`b`` `_c_` `ro`se `open <b>x</b>", "b a i b _c_ rose open x ");
    expect("```c\n#include <b>\n_x_ [a](b)\n```\n<b>c</b>", "include b _x_ a b c ");
    expect("~~~~ sh\n```\n<a>\n~~~\n~~~~\t\nx", "a x ");
    expect("> ```\n> <b>\n> ```\n- ```\n  <i>\n  ```\nx", "b i x ");
    expect("```a`b```\n<b>x", "a b x "); /* no fence */
    expect("```\nnever ended <b>\n``` x\n", "never ended b x ");
}

static void test_markdown__destinations_are_dropped(void **state)
{
    (void)state;
    expect("[a](http://x/y) b[c](<d e> \"f\")g ![h](i.png 'j')k [l]( m (n) )", "a bcg h k l ");
    expect("[a(b)](x_(y)) [c](x\\)y) [d]() [`e]`](f)", "a b c d e ");
    expect("[![a](b)](c) [x [y] z](w) [a\\]b](c)", "a x y z a b ");
    expect("[a][ref] [b][] ![c][1] d[e][f] g[h](i)", "a b c d e f gh ");
    expect("[a b](c d) [e](f \"g) [h](i j]", "a b c d e f g h i j ");
    expect("[a](x\\ y) b", "a x y b ");
    expect("[a\nb](c) d](e)\n\n[f\n\ng](h)", "a b d e f g h ");
    expect("see <http://x.org/y> <a@b.org>", "see http x org y a b org ");
    expect("[[[[[[[[a](b)", "a ");
    expect("[a [b [c [d [e [f](1)](2)](3)](4)](5)](6)", "a b c d e f 1 2 ");
}

static void test_markdown__definitions_are_dropped(void **state)
{
    (void)state;
    expect("[a]: http://x.org\n  [b c]: <d> \"e\"\n[f]: g 'h'\n[i]: j (k)\nx", "x ");
    expect("[^1]: a note\n[b]: c d\n[e]:\n[f] : g\n[]: h\n    [i]: j",
           "1 a note b c d e f g h i j ");
    expect("[b] c\nx", "b c x ");
}

static void test_markdown__html_is_dropped(void **state)
{
    (void)state;
    expect("a<b>b</b>c a<br>b a<br/>b </DIV >x <img src='a>b'\n alt=\"c\nd\">e",
           "abc a b a b x e ");
    expect("<a\nhref=x>y</a> a<!-- b\n\nc -->d", "y ad ");
    expect("a < b, a <b and <3, <stdio.h> <p and> x", "a b a b and 3 stdio h x ");
    expect("<a href=\"never\nended\n\nx", "x ");
    expect("caf&eacute; a&amp;b &#233;&#xe9; &none; & x&", "café a b éé none x ");
}

/* -- blocks -- */

static void test_markdown__blocks_are_text(void **state)
{
    (void)state;
    expect("# A ##\nB\n===\n\n> c\n> > d\n\n1. e\n   - f\n\n---\n| a | b |\n|---|:-:|\n| c | d "
           "|\n- [x] g\n\n***\n",
           "a b c d 1 e f a b c d x g ");
    expect("---\ntitle: a_b <c>\n_d_: e\n---\n_f_ <g>h", "title a_b c _d_ e f h ");
    expect("---\na: b\n...\n_c_", "a b c ");
    expect("\xef\xbb\xbf---\n_a_\n---\r\n_b_\r\n", "_a_ b ");
    expect("_a_\n---\n_b_", "a b ");
}

static void test_markdown__long_lines_are_lines(void **state)
{
    (void)state;
    static char text[3 * LINE_MAX_BYTES], wanted[3 * LINE_MAX_BYTES];
    int n = 0, n_wanted = 0;
    for (int i = 0; n < 2 * LINE_MAX_BYTES + 100; i++) {
        n += sprintf(text + n, "word%d ", i);
        n_wanted += sprintf(wanted + n_wanted, "word%d ", i);
    }
    expect(text, wanted);
    strcpy(text + n, "\n_end_");
    strcpy(wanted + n_wanted, "end ");
    expect(text, wanted);
    memset(text, '[', sizeof(text) - 1);
    expect(text, "");
}

/* -- what is Markdown -- */

static void expect_type(const char *head, enum text_type type)
{
    assert_int_equal(text_type_sniff(head, strlen(head)), type);
}

static void test_markdown__is_known_by_two_of_its_constructs(void **state)
{
    (void)state;
    expect_type("# A\n\ntext\n\n## B\n\n```\nx;\ny;\n```\n", TEXT_MARKDOWN);
    expect_type("\xef\xbb\xbf# A\r\n\r\nSee [b](https://c) and\r\n[d](./e).\r\n", TEXT_MARKDOWN);
    expect_type("A\n===\n\n[b][1]\n\n[1]: http://c\n\n```\nx\n```\n## C\n\n", TEXT_MARKDOWN);
    expect_type("---\ntitle: a\n---\n\n# A\n\n[x](y.md) text\n\n# B\n", TEXT_MARKDOWN);

    expect_type("# comment\nx = 1\n# comment\n", TEXT_PLAIN);
    expect_type("#!/bin/sh\n\n# A\n\n# B\n\n# [x](http://y)\n\n", TEXT_PLAIN);
    expect_type("# A\n\n# B\n\n# C\n\ntext\n", TEXT_PLAIN); /* one kind */
    expect_type("text [a](http://b)\n[c](http://d)\n[e](http://f)\n", TEXT_PLAIN);
    expect_type("# A\n\n```\nx\n", TEXT_PLAIN);
    expect_type("# A\n\n[x](http://y)\n", TEXT_PLAIN);           /* two of two kinds */
    expect_type("# A\n\n# B\n\n```\nx\n```sh\ny\n", TEXT_PLAIN); /* that one ends no fence */
    expect_type("# A\n\n# B\n\n// [x](http://y)\nint a;\nint b;\nf(x);\n", TEXT_PLAIN);
    expect_type("# A\n\n# B\n\nhandlers[i](event)\n", TEXT_PLAIN);
    assert_string_equal(text_type_name(TEXT_MARKDOWN), "markdown");
}

/* Heads are looked through for marks in blocks. */
static void test_markdown__is_known_wherever_its_mark_is(void **state)
{
    (void)state;
    static const char *const marks[] = {"[x](#y)", "[x]: #y", "~~~\nx\n~~~"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        for (int n = 1; n < 200; n++)
            for (int n_behind = 0; n_behind < 3; n_behind++) {
                char text[512];
                sprintf(text, "# A\n\n# B\n\n%0*d\n%s%.*s", n, 0, marks[i], n_behind, "\nz");
                expect_type(text, TEXT_MARKDOWN);
                memcpy(strstr(text, marks[i]) + 1, ". .", 3); /* no mark */
                expect_type(text, TEXT_PLAIN);
            }
}

/* -- A1, and any bytes whatever -- */

static void test_markdown__form_and_markup_make_no_difference(void **state)
{
    (void)state;
    static const char expected[] = "a rose is a rose is a rose a café 1913 gertrude stein s ";
    expect("A rose is a rose is a rose. (A café, 1913; Gertrude Stein's.)", expected);
    expect("A ROSE IS\nA ROSE IS A ROSE. (A CAFÉ,\n1913; GERTRUDE STEIN'S.)\n", expected);
    expect("# A rose\n\n> is *a* **ro**se\n\n- is [a][1] `rose`\n\n<!-- no -->\n(A "
           "[caf&eacute;](http://x_y 'z'),\n"
           "```c\n1913;\n```\n_Gertrude_ <b>St</b>ein's ![](x.png)\n\n[1]: http://x\n",
           expected);
}

static void test_markdown__pieces_make_no_difference(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "[",     "]",     "(",  ")",    "](",   "][",   "]: ",  "!",        "`",  "```",
        "~~~\n", "\n",    "\n", "\n\n", "\r\n", " ",    "    ", "<",        ">",  "<b ",
        "<br",   "=\"",   "'",  "<!--", "-->",  "*",    "**",   "_",        "\\", "&amp;",
        "&#",    "---\n", "# ", "> ",   "rose", "\xc3", "\xa9", "http://x",
    };
    unsigned seed = 13;
    for (unsigned round = 0; round < 1500; round++) {
        char soup[2048];
        size_t size =
            canonical_soup(soup, sizeof(soup), parts, sizeof(parts) / sizeof(parts[0]), &seed);
        assert_true(canonical_is_one(TEXT_MARKDOWN, soup, size));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_markdown__emphasis_is_no_space),
        cmocka_unit_test(test_markdown__code_is_text),
        cmocka_unit_test(test_markdown__destinations_are_dropped),
        cmocka_unit_test(test_markdown__definitions_are_dropped),
        cmocka_unit_test(test_markdown__html_is_dropped),
        cmocka_unit_test(test_markdown__blocks_are_text),
        cmocka_unit_test(test_markdown__long_lines_are_lines),
        cmocka_unit_test(test_markdown__is_known_by_two_of_its_constructs),
        cmocka_unit_test(test_markdown__is_known_wherever_its_mark_is),
        cmocka_unit_test(test_markdown__form_and_markup_make_no_difference),
        cmocka_unit_test(test_markdown__pieces_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
