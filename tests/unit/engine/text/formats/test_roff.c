/* A1: what a page of man or mdoc shows, however it is written. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/text/formats/roff.h"
#include "tests/unit/engine/text/canonical.h"

static void expect(const char *roff, const char *tokens)
{
    assert_true(canonical_is(TEXT_ROFF, roff, strlen(roff), tokens));
}

/* -- text and escapes -- */

static void test_roff__text_lines_are_text(void **state)
{
    (void)state;
    expect("", "");
    expect("A rose\nis a\r\nrose", "a rose is a rose ");
    expect("\\&.TH is\n\\&'text\n", "th is text ");
    expect("in\\\nter\\\nrupted, and\\\\\nnot\n", "interrupted and not ");
    expect("foo\\c\nbar \\c\nbaz\\c\n.sp\nend\n", "foobar baz end ");
    expect(" indented\n\n\nlines\n", "indented lines ");
}

static void test_roff__escapes_are_resolved(void **state)
{
    (void)state;
    expect("a\\fBb\\fPc\\f(CWd\\fR\\f[CB]e\\f[]f\\FXg", "abcdefg ");
    expect("a\\&b\\%c\\/d\\,e\\|f\\^g\\:h\\)i\\{j\\}k\\zl", "abcdefghijkl ");
    expect("a\\-b a\\'b a\\`b a\\.b a\\\\b a\\eb", "a b a b a b a b a b a b ");
    expect("a\\ b a\\~b a\\0b a\\tb a\\pb", "a b a b a b a b a b ");
    expect("a\\_b a\\(ulb", "a_b a_b ");
    expect("x\\u2\\d y\\s-1z\\s0a\\s+2b\\s10c\\s(12d\\s[-1]e\\s'+1'f\\s+(10g\\s6h",
           "x2 yzabcdefgh ");
    expect("a\\m[red]b\\M[]c\\mxd\\h'1i'e\\v'-.5m'f\\w'abc'g\\h|\\w'x'u|h\\h'\\w'abc'u'i",
           "abcdefghi ");
    expect("a\\n(.gb\\nxc\\n[abc]d\\n+xe\\kxf\\L'1i'g\\D'l 1 2'h", "abcdefgh ");
    expect("a\\*(lqb\\*(rqc\\*Rd\\*[Gt]e don\\*(Aqt\\$1", "a b c d e don t ");
    expect("seen \\\" not seen\n.B seen \\\" not\nand \\# not\nend", "seen seen and end ");
    expect("a\\Efbb \\ibc \\(", "ab ibc "); /* what is no escape is the letter */
    expect("ends in \\", "ends in ");
    expect("ends in \\s", "ends in ");
    expect("ends in \\h'", "ends in ");
    expect("ends in \\[u00", "ends in ");
}

static void test_roff__special_characters_are_characters(void **state)
{
    (void)state;
    expect("caf\\('e stra\\(sse na\\[:i]ve \\(OEuvre", "café strasse naïve œuvre ");
    expect("\\(*a\\(*b\\(*G \\(12 x\\(S2 e\\(fio \\(/l\\(oa", "αβγ ½ x² efio łå ");
    expect("a\\(emb a\\(hyb a\\(bub a\\[lq]b\\[rq] a\\(xyb", "a b a b a b a b a b ");
    expect("x\\[u00E9]y \\[u0065_0301] \\[char233] \\N'233' \\C'u4E00'", "xéy é é é 一 ");
    expect("a\\[u110000]b a\\[uD800]b a\\[uG]b a\\[]b a\\N'x'b", "a b a b a b a b a b ");
}

/* -- macros -- */

static void test_roff__macros_of_man_show_their_arguments(void **state)
{
    (void)state;
    expect(".TH LS 1 \"May 2024\" \"GNU coreutils\" \"User Commands\"\n"
           ".SH \"NAME OF\"\nls \\- list\n.SS \"By ISBN\"\n"
           ".TP\n\\fB\\-a\\fR, \\fB\\-\\-all\\fR\ndo not\n"
           ".TP 8\n.BI \\-o \" file\"\nwrite\n",
           "name of ls list by isbn a all do not o file write ");
    expect(".BI foo bar\n.BR ls (1)\n.RB [ \"a b\" c ]\n.IR x y z,", "foobar ls 1 a bc xyz ");
    expect(".B foo bar\n.I baz\n.SM abc def", "foo bar baz abc def ");
    expect(".IP \\(bu 4\nitem\n.IP \"x y\" 2n\nz\n.RS 4\n.PP\n.RE\n.PD 0\n.HP 4\nend",
           "item x y z end ");
    expect("foo\\c\n.B bar\n.PP\nx", "foobar x ");
    expect("foo\\c\n.SH bar", "foo bar ");
    expect("  .B no macro\n'B a macro\n. B  too\n.B\nalone", "b no macro a macro too alone ");
    expect(".B \"say \"\"ah\"\" now\" then\n.B \"open\n.B esc\\ aped",
           "say ah now then open esc aped ");
    expect(".AP char *name in\n.OWN macro", "char name in macro "); /* a page's own */
    expect(".\n..\n...\n.\\}\n'\n'''\n.\\\" comment\n'\\\" t\n.5 x", "x ");
}

static void test_roff__requests_are_dropped(void **state)
{
    (void)state;
    expect(".\\\" a link\n.so man1/ls.1\n", "");
    expect(".de ex\nbody \\\\$1\n..\n.ex a b\n.EX c d\n", "c d ");
    expect(".nr x 1\n.ds y text\n.so man1/x.1\n.hy\n.ft B\na\n.sp\n.br\nb\n.in +4n\n.ad l\n.nop c "
           "d\n.tm no",
           "a b c d ");
    expect(".de XX\n.B no\nno\n. .\nyes\n", "yes ");
    expect(
        ".de XX END\n..\nno\n.END\nyes\n.am1 YY\nno\n..\n.ig\nno\n..\n.ig zz\nno\n..\n.zz x\nend",
        "yes end ");
    expect("a\n.de X\nnever ended", "a ");
    expect(".eo\n\\fBa\n.ec\n\\fBa", "fba a ");
    expect("x\n.EQ\na over b\n.EN\ny\n.PS\nbox\n.PE\nz", "x y z ");
}

static void test_roff__strings_are_what_they_are_defined_as(void **state)
{
    (void)state;
    expect(".ds C+ C\\v'-.1v'\\h'-1p'\\s-2+\\s0\n.ds d \"/etc/term\n.ds x  y  \n\\*(C+ x\\*dinfo "
           "\\*xx",
           "c x etc terminfo y x ");
    expect(".ds a A\n.ds b B\\*aB\n.ds c \\*c\n\\*a\\*b\\*c\\*d.ds\n.ds a Z\n\\*a\\*[a]",
           "ab b ds zz ");
    expect(".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq x\ndon\\*(Aqt", "don t ");
    expect(".ds\n.ds \n.ds a\nx\\*ay\\*", "xy ");
    char text[8192] = "";
    for (int i = 0; i < ROFF_STRINGS + 2; i++)
        sprintf(text + strlen(text), ".ds s%d v%d\n", i, i);
    strcat(text, "x\\*[s0]y x\\*[s63]y x\\*[s64]y\n.ds s1 ");
    memset(text + strlen(text), 'a', ROFF_STRING_BYTES);
    strcat(text, "\n\\*[s1]b\n.ds s1 ");
    memset(text + strlen(text), 'a', ROFF_STRING_BYTES + 1);
    strcat(text, "\n\\*[s1]b\n");
    expect(text,
           "xv0y xv63y x y aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab b ");
}

/* As a name that is shown again and again for a few bytes each time. */
static void test_roff__a_line_shows_strings_by_its_length(void **state)
{
    enum { WORDS = ROFF_STRING_BYTES / 2, STRINGS = ROFF_NAME_MAX_BYTES / 3 };
    (void)state;
    char roff[512] = ".ds a \"", words[2 * (STRINGS + 8) * WORDS + 1] = "";
    for (int i = 0; i < WORDS; i++)
        strcat(roff, " b");
    strcat(roff, "\n.Nm ");
    for (int i = 0; i < STRINGS; i++)
        strcat(roff, "\\*a");
    const size_t n_of_lines = (3 + 6) * ROFF_SHOWS / ROFF_STRING_BYTES;
    strcat(roff, "\n.Nm\n.Nm Nm");
    assert_true(n_of_lines < 8);
    for (size_t i = 0; i < (STRINGS + n_of_lines) * WORDS; i++)
        strcat(words, "b ");
    expect(roff, words);
}

static void test_roff__conditions_are_those_of_nroff(void **state)
{
    (void)state;
    expect(".if n a\n.if t b\n.if !t c\n.if !n d\n.if o e\n.if e f", "a c e ");
    expect(".ie n a\n.el b\n.ie t c\n.el d", "a d ");
    expect(".ie t .ie n a\n.el .B b\n.if n .if !t .BI c d", "b cd ");
    expect(
        ".if 1 a\n.if 0 b\n.if \\n(.g c\n.if \\n[.g] d\n.if \\nF>0 e\n.if (\\n(rF:(\\n(.g==0)) f",
        "a c d ");
    expect(".if 'a'a' a\n.if 'a'b' b\n.if !'a'b' c\n.if '\\*(.T'x' d\n.if '", "a c ");
    expect(".if d foo a\n.if !rF b\n.if\n.if !\n.if n", "b ");
    expect(".ie n \\{\\\n.B a\nb\n.\\}\n.el \\{\\\n.B c\nd\n.\\}\ne", "a b e ");
    expect(".ie t \\{\\\n.B a\n.if n \\{ b\n.\\}\nb\n'br\\}\n.el\\{\\\nc\n.\\}\nd", "c d ");
    expect(".ie n \\{\\\n.ie t a\n.el b\n.\\}\n.el c\nd", "b d ");
    expect(".ie t \\{ a\n.ie n \\{ b\n.\\}\n.el \\{ c\n.\\} \\}\n.el .ie n d\n.el e\nf", "d f ");
    expect(".while n a\nb", "b ");
    expect(".if t \\{ never ended\na", "");
}

/* The beginning of a page by pod2man(1), of two ages. */
static void test_roff__preambles_vanish(void **state)
{
    (void)state;
    expect(
        ".\\\" Automatically generated by Pod::Man 4.14 (Pod::Simple 3.43)\n.\\\"\n"
        ".\\\" Standard preamble:\n.de Sp \\\" Vertical space (when we can't use .PP)\n.if t .sp "
        ".5v\n"
        ".if n .sp\n..\n.de Vb \\\" Begin verbatim text\n.ft CW\n.nf\n.ne \\\\$1\n..\n"
        ".de Ve \\\" End verbatim text\n.ft R\n.fi\n..\n.tr \\(*W-\n"
        ".ds C+ C\\v'-.1v'\\h'-1p'\\s-2+\\h'-1p'+\\s0\\v'.1v'\\h'-1p'\n"
        ".ie n \\{\\\n.    ds -- \\(*W-\n.    ds PI pi\n.    ds L\" \"\"\n.    ds R\" \"\"\n"
        ".    ds C` \"\"\n.    ds C' \"\"\n'br\\}\n.el\\{\\\n.    ds -- \\|\\(em\\|\n.    ds PI "
        "\\(*p\n"
        ".    ds L\" ``\n.    ds R\" ''\n.    ds C`\n.    ds C'\n'br\\}\n"
        ".ie \\n(.g .ds Aq \\(aq\n.el       .ds Aq '\n"
        ".de IX\n..\n.nr rF 0\n.if \\n(.g .if rF .nr rF 1\n.if (\\n(rF:(\\n(.g==0)) \\{\\\n"
        ".    if \\nF \\{\\\n.        de IX\n.        tm Index:\\\\$1\\t\\\\n%\\t\"\\\\$2\"\n..\n"
        ".        if !\\nF==2 \\{\\\n.            nr % 0\n.            nr F 2\n.        \\}\n.    "
        "\\}\n"
        ".\\}\n.rr rF\n"
        ".\\\" Fear.  Run.  Save yourself.  No user-serviceable parts.\n.    \\\" fudge factors\n"
        ".if n \\{\\\n.    ds #H 0\n.    ds #V .8m\n.    ds #F .3m\n.    ds #[ \\f1\n.    ds #] "
        "\\fP\n.\\}\n"
        ".if t \\{\\\n.    ds #H ((1u-(\\\\\\\\n(.fu%2u))*.13m)\n.\\}\n"
        ".    \\\" simple accents for nroff and troff\n.if n \\{\\\n.    ds ' \\&\n.    ds ` "
        "\\&\n.\\}\n"
        ".rm #[ #] #H #V #F C\n.\\\" ======\n.IX Title \"X 1\"\n.TH X 1 \"2023-01-01\" \"perl "
        "v5.36\" \"User\"\n"
        ".if n .ad l\n.nh\n.SH \"NAME\"\nx \\- does\\*(--it\n.IX Header \"NAME\"\n.Vb 1\n\\&    "
        "code\n.Ve",
        "name x does it code ");
}

static void test_roff__macros_of_mdoc_call_others(void **state)
{
    (void)state;
    expect(".Dd May 1, 2024\n.Dt LS 1\n.Os\n.Sh NAME\n.Nm ls\n.Nd list directory contents\n"
           ".Sh SYNOPSIS\n.Nm\n.Op Fl a | l Ar level\n.Op Ar\n.Nm , and\n.Sh \"SEE ALSO\"\n.Xr "
           "chmod 1 ,\n.Xr find 1\n",
           "name ls list directory contents synopsis ls a l level file ls and see also chmod 1 "
           "find 1 ");
    expect(".Ar a Ns Ar b\n.Pf x Ar y\n.Fl a Ns = Ns Ar b\n.Ar c Ns\n.Ar d\n.Ns e",
           "ab xy a b cde ");
    expect(".Sm off\n.Ar a Ar b No c\n.Sm on\n.Ar d e\n.Dq No f Em g", "abc d e f g ");
    expect(".Bl -tag -width indent -compact\n.It Fl x Ns Ar y Xo\nz\n.Xc\n.It \"Ar\" \\&Ar "
           "b\n.El\n.Bd -literal\nc\n.Ed",
           "xy z ar ar b c ");
    expect(".Nx 1.0\n.Ux\n.Bx 4.4\n.St -p1003.1\n.Ex -std\n.%A A. Author\n.Ft int\n.Fn main \"int "
           "argc\"",
           "netbsd 1 0 unix bsd 4 4 a author int main int argc ");
    expect(".Fl KL Ns Oo Ar a : Oc Ns Ar b\n.An -nosplit\n.An A. B\n.In x.h\n.Fl -nosplit",
           "kl a b a b include x h nosplit ");
    expect(".LINKSTYLE blue R < >\n.URL a b c\n.MTO d e\n.URL f", "b a c e d f ");
    expect(".Nm a\n.Nm b\n.Nm\n.It Nm\n.Pf x", "a b a a x ");
}

static void test_roff__of_tables_rows_are_text(void **state)
{
    (void)state;
    expect(".TS\nallbox tab(:);\nl l\nl l.\na b:c\n_\n=\nd:T{\ne f\nT}:g\n.T&\nl.\nh\n.TE\nend",
           "a b c d e f g h end ");
    expect(".TS\nl l.\na\tb_c\n_\t\\_\n.sp\n\\fBd\\fP\te\n.TE", "a b_c d e ");
}

/* -- lines of any length -- */

static void test_roff__long_lines_are_lines(void **state)
{
    (void)state;
    enum { N = 3 * LINE_MAX_BYTES };
    static char text[N + 100], wanted[N + 100];
    for (size_t first = 0; first < 2; first++) {
        for (size_t extra = 0; extra < 5; extra++) {
            /* a text, then a comment of about the size of what is kept */
            size_t size = LINE_MAX_BYTES * (1 + first) - 2 + extra;
            for (size_t i = 0; i < size; i++)
                text[i] = i % 8 ? 'x' : ' ';
            strcpy(text + size, "\nend\n");
            wanted[0] = '\0';
            for (size_t i = 1; i < size; i += 8)
                sprintf(wanted + strlen(wanted), "%.*s ", (int)(size - i < 7 ? size - i : 7),
                        "xxxxxxx");
            strcat(wanted, "end ");
            expect(text, wanted);
            memcpy(text, ".\\\"", 3);
            expect(text, "end ");
            memcpy(text, ".ds", 3);
            expect(text, "end ");
        }
    }
}

static void test_roff__lines_go_on_behind_a_backslash_whatever_ends_them(void **state)
{
    (void)state;
    static const char wanted[] = "ab cd e ";
    expect("a\\\nb c\\\nd\ne", wanted);
    expect("a\\\r\nb c\\\r\nd\r\ne", wanted);
}

/* -- what is roff -- */

static void expect_type(const char *head, enum text_type type)
{
    assert_int_equal(text_type_sniff(head, strlen(head)), type);
}

static void test_roff__is_known_by_its_first_lines(void **state)
{
    (void)state;
    expect_type(".TH LS 1\n", TEXT_ROFF);
    expect_type("\xef\xbb\xbf.TH LS 1\n", TEXT_ROFF);
    expect_type("'\\\" t\n.\\\"     Title: x\n.TH X 1", TEXT_ROFF);
    expect_type(".\\\" comment\n\n.\n.de XX\n..\n", TEXT_ROFF);
    expect_type(".\\\"-\n.Dd May 1\n", TEXT_ROFF);
    expect_type("'''\n'''\n.so man1/ls.1\n", TEXT_ROFF);
    expect_type(".SH NAME\r\nx\r\n.PP\r\n", TEXT_ROFF);
    expect_type("\\\"x\n.TH X 1", TEXT_ROFF);
    expect_type(".lf 1 stdin\n.TH X 1", TEXT_ROFF);
    expect_type(".nf\n.sp 2\nletter", TEXT_ROFF);
    expect_type(".ig\n. about it\n..\n.ds x y\n", TEXT_ROFF);
    expect_type(".rn '' }`\n.\\\" comment\n.TH X 1\n", TEXT_ROFF);

    expect_type("", TEXT_PLAIN);
    expect_type("text\n.TH LS 1\n", TEXT_PLAIN);
    expect_type(".\\\" comment\n", TEXT_PLAIN);
    expect_type("'''\ndocstring\n'''\n.TH X 1", TEXT_PLAIN);
    expect_type(".ac\n.ad\n.ae\n.de\n.in\n.tr\n.ps\n", TEXT_PLAIN); /* domains */
    expect_type(".B\ntext\n", TEXT_PLAIN);
    expect_type(".gitignore\n.so\n", TEXT_PLAIN);
    expect_type(".class { color: red }\n", TEXT_PLAIN);
    expect_type("'tis the season\n.TH x 1", TEXT_PLAIN);
    assert_string_equal(text_type_name(TEXT_ROFF), "roff");
}

/* -- A1, and any bytes whatever -- */

static void test_roff__form_and_markup_make_no_difference(void **state)
{
    (void)state;
    static const char expected[] = "a rose is a rose is a rose a café 1913 gertrude stein s ";
    expect("A rose is a rose is a rose. (A café, 1913; Gertrude Stein's.)", expected);
    expect("A ROSE IS\nA ROSE IS A ROSE. (A CAF\\('E,\n1913; GERTRUDE STEIN'S.)\n", expected);
    expect(".TH ROSE 1\n.nh\n.ds R rose\n.B A rose\nis a \\fIro\\fPse\n.PP\nis\n.TP\na\nro\\%se.\n"
           ".IP \"(A caf\\[u00E9],\" 4\n\\s-11913\\s0;\n.BR Gertrude \" Stein\" 's.)\n",
           expected);
    expect(
        ".Dd May 1, 1913\n.Dt ROSE 7\n.Os\n.Ar A rose\n.Em is a Ns \\& Sy ro Ns Ar se\nis a rose.\n"
        ".Pq A caf\\('e , 1913 ; An Gertrude Stein Ap s .\n",
        expected);
}

static void test_roff__pieces_make_no_difference(void **state)
{
    (void)state;
    static const char *const parts[] = {
        ".",       "'",    "\n",    "\\",   "\"",    " ",         "\t",  ".B ",  ".BI ",
        "\\{",     "\\}",  "\\f",   "[",    "]",     "(",         "'",   "rose", "\xc3",
        "\xa9",    "\\h'", ".if ",  "n ",   ".el ",  ".ie ",      "t ",  "!",    "\\c\n",
        ".de x\n", "..\n", ".TS\n", ";\n",  ".TE\n", ".Op Fl ",   "Ns ", ".Nm ", "\\\n",
        ".\\\"",   "\\s",  "1",     "\\[u", "\r\n",  ".TH x 1\n",
    };
    unsigned seed = 7;
    for (unsigned round = 0; round < 1500; round++) {
        char soup[2048];
        size_t size =
            canonical_soup(soup, sizeof(soup), parts, sizeof(parts) / sizeof(parts[0]), &seed);
        assert_true(canonical_is_one(TEXT_ROFF, soup, size));
    }
}

static void test_roff__an_empty_argument_does_not_begin_with_what_is_behind_the_line(void **state)
{
    (void)state;
    static const uint8_t line[] = "\"-";
    struct roff roff = {0};
    roff_macro_line(&roff, roff_macro_find((const uint8_t *)"An", 2),
                    (struct rest){line, line + 1});
    assert_true(roff.space); /* it was shown */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roff__text_lines_are_text),
        cmocka_unit_test(test_roff__escapes_are_resolved),
        cmocka_unit_test(test_roff__special_characters_are_characters),
        cmocka_unit_test(test_roff__macros_of_man_show_their_arguments),
        cmocka_unit_test(test_roff__requests_are_dropped),
        cmocka_unit_test(test_roff__strings_are_what_they_are_defined_as),
        cmocka_unit_test(test_roff__a_line_shows_strings_by_its_length),
        cmocka_unit_test(test_roff__conditions_are_those_of_nroff),
        cmocka_unit_test(test_roff__preambles_vanish),
        cmocka_unit_test(test_roff__macros_of_mdoc_call_others),
        cmocka_unit_test(test_roff__of_tables_rows_are_text),
        cmocka_unit_test(test_roff__long_lines_are_lines),
        cmocka_unit_test(test_roff__lines_go_on_behind_a_backslash_whatever_ends_them),
        cmocka_unit_test(test_roff__is_known_by_its_first_lines),
        cmocka_unit_test(test_roff__form_and_markup_make_no_difference),
        cmocka_unit_test(test_roff__pieces_make_no_difference),
        cmocka_unit_test(test_roff__an_empty_argument_does_not_begin_with_what_is_behind_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
