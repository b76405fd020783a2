#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/engine/text/html/html_ways.h"

static void expect_html(const char *text, const char *tokens)
{
    assert_true(html_is(text, strlen(text), tokens));
}

/* -- what is text; A3 -- */

static void test_html__drops_markup(void **state)
{
    (void)state;
    expect_html("<p>One<p>two</p>three<br>four<hr/>five<td>six", "one two three four five six ");
    expect_html("<a href=\"x>y\" title='p>q' z=r>link</a>", "link ");
    expect_html("a<!-- no -- > no > -->b<!---->c<!-->d<!--->e<!-- x --!>f", "abcdef ");
    expect_html("a<!--!>b-->c", "ac ");
    expect_html("x<!-- never closed", "x ");
    expect_html("<!DOCTYPE html PUBLIC \"-//W3C//DTD\">x<?php echo 1 ?>y<!ELEMENT br>z", "xyz ");
    expect_html("a</>b</ no>c<!>d", "abcd ");
    expect_html("1 < 2 <3 a<b", "1 2 3 a ");
    expect_html("x<", "x ");
    expect_html("x</", "x ");
    expect_html("<p>unclosed tag <b class=\"", "unclosed tag ");
}

static void test_html__inline_tags_do_not_separate(void **state)
{
    (void)state;
    expect_html("<b>H</b><sub>2</sub>O <i>w</i><span class=\"x\">or</span>d<wbr>s", "h2o words ");
    expect_html("<B>up</B>per <blink>a</blink>b <sububub>c</sububub>d", "upper a b c d ");
    expect_html("<averyveryverylongname>a</averyveryverylongname>b", "a b ");
}

static void test_html__drops_scripts_and_styles(void **state)
{
    (void)state;
    expect_html("a<script>if (x < y && z</b>) { '</scripty>' }</script>b", "a b ");
    expect_html("a<STYLE type='x'>p > a { }</style >b", "a b ");
    expect_html("<script src=\"a.js\"/>text", "text ");
    expect_html("<script>x</script", "");
    expect_html("<script>x</scr</script>y", "y ");
    expect_html("<script><!-- a --></script>b", "b ");
    expect_html("</script>x</style>y", "x y ");
}

static void test_html__keeps_titles_and_text_areas(void **state)
{
    (void)state;
    expect_html("<title>The <b>T&eacute;st</b></title>x", "the b tést b x ");
    expect_html("<textarea>a</text </textare>b</textarea>c", "a text textare b c ");
    expect_html("<title>a</tit", "a tit ");
    expect_html("<title>a<", "a ");
}

static void test_html__keeps_the_alt_text_of_images(void **state)
{
    (void)state;
    expect_html("a<img src=x alt=\"The &Eacute;cole's logo\">b", "a the école s logo b ");
    expect_html("<IMG ALT='one' title='no'><img alt=two><img alt = three/>", "one two three ");
    expect_html("<p alt='no'>x<img altx='no' xalt='no' a='no' alt>y", "x y ");
    expect_html("<img alt=\"a&amp", "a ");
    expect_html("<img alt=\"a&quot;b\"c>d", "a b d ");
}

static void test_html__keeps_cdata_sections(void **state)
{
    (void)state;
    expect_html("a<![CDATA[<b>&amp;]] > c]]>d", "a b amp cd ");
    expect_html("x<![CDATA[y]]]>z", "xy z ");
    expect_html("<![CDATA[y]]", "y ");
    expect_html("a<![CDATx]>b<![endif]>c", "abc ");
}

static void test_html__replaces_character_references(void **state)
{
    (void)state;
    expect_html("caf&eacute;s CAF&Eacute; &#233;t&#xE9; &#Xe9;", "cafés café été é ");
    expect_html("a&nbsp;b a&shy;b a&amp;b a&zwj;b", "a b ab a b ab ");
    expect_html("&Alpha;&beta;&thetasym; &apos; &fnof;", "αβθ ƒ "); /* the symbol folds to theta */
    expect_html("&eacutes &eacute=1 &notit; &copyright", "és é 1 it right ");
    expect_html("&alphax &nonesuch; &; & &#; &#x; &#xg;", "alphax nonesuch x xg ");
    expect_html("&averyveryverylongname;", "averyveryverylongname ");
    expect_html("a&#0;b a&#xD800;b a&#x110000;b a&#99999999999999;b", "a b a b a b a b ");
    expect_html("&#138;&#x9e; &#65", "šž a ");
    expect_html("&#0000000000000000000065;&#x61zz", "aazz ");
    expect_html("x&eacut", "x eacut ");
    expect_html("&#65<b>6</b>", "a6 ");
}

static void test_html__text_between_html_may_be_malformed(void **state)
{
    (void)state;
    expect_html("a\xc3<b>x</b>\xff&eacute;\xe2\x82&#65;", "a x é a ");
}

/* -- properties over random input -- */

static const char *const pieces[] = {
    "word ",
    "Rose",
    "\xc3\xa9",
    "\xc3",
    "\xa9",
    "<b>",
    "</b>",
    "<p ",
    "alt=\"",
    "\"",
    ">",
    "<",
    "/",
    "<!--",
    "-->",
    "--!>",
    "<script>",
    "</script>",
    "&",
    "&eacute;",
    "&#x",
    "41;",
    ";",
    "<title>",
    "</title>",
    "漢",
    "<img alt='",
    "'",
    "=",
    " = ",
    "<![CDATA[",
    "]]>",
    "]",
    "!",
    "-",
    "<a href=\"",
    " class=\"x\"",
    "<span class=\"pre\">",
    "</span>",
    "</div>",
    "\n",
    "&amp;",
    "<td a=b c='d' e>",
    "<TextArea>",
    "</textarea\t>",
    "<plaintex>",
    "<img\ralt=x>",
    "<img\falt\t=\rx>",
    "<img\valt=x>",
    "\r",
    "<input alt=x ALT=y>",
    " a-value-that-is-longer-than-a-block-of-sixty-four-bytes-all-by-itself ",
    "a line of ordinary text which has a few words in it, and no markup at all. ",
};

/* With few of the pieces a document stays longer in some states. */
static size_t random_soup(char *out, size_t room, unsigned *seed)
{
    size_t size = 0, n_pieces = sizeof(pieces) / sizeof(pieces[0]);
    size_t first = (size_t)rand_r(seed) % n_pieces, n = 1 + (size_t)rand_r(seed) % n_pieces;
    for (;;) {
        const char *piece = pieces[(first + (size_t)rand_r(seed) % n) % n_pieces];
        if (size + strlen(piece) > room)
            return size;
        memcpy(out + size, piece, strlen(piece));
        size += strlen(piece);
        if (rand_r(seed) % 30 == 0 && size < room)
            out[size++] = (char)rand_r(seed);
        if (rand_r(seed) % 400 == 0)
            return size;
    }
}

/* A whole tag at a stride and a state at a time: two routes to one answer. */
static void test_html__kernels_and_pieces_make_no_difference(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (unsigned round = 0; round < 3000; round++) {
        static char soup[40000];
        size_t size = random_soup(soup, round % 50 ? 4000 : sizeof(soup), &seed);
        char *expected = html_tokens(KERNEL_SCALAR, soup, size, 0, 0, 1, 0);
        for (enum kernel kernel = 0; kernel < KERNEL_N; kernel++) {
            if (!kernel_is_there(kernel))
                continue;
            for (unsigned way = 0; way < 2; way++) {
                char *found = html_tokens(kernel, soup, size, 0, 0, way ? 0 : 1 << 20, round);
                assert_string_equal(found, expected);
                free(found);
            }
        }
        free(expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_html__drops_markup),
        cmocka_unit_test(test_html__inline_tags_do_not_separate),
        cmocka_unit_test(test_html__drops_scripts_and_styles),
        cmocka_unit_test(test_html__keeps_titles_and_text_areas),
        cmocka_unit_test(test_html__keeps_the_alt_text_of_images),
        cmocka_unit_test(test_html__keeps_cdata_sections),
        cmocka_unit_test(test_html__replaces_character_references),
        cmocka_unit_test(test_html__text_between_html_may_be_malformed),
        cmocka_unit_test(test_html__kernels_and_pieces_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
