/* A1: what LaTeX prints, however it is marked. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/engine/text/canonical.h"

static void expect(const char *latex, const char *tokens)
{
    assert_true(canonical_is(TEXT_LATEX, latex, strlen(latex), tokens));
}

static void expect_type(const char *text, enum text_type type)
{
    assert_int_equal(text_type_sniff(text, strlen(text)), type);
}

static void test_latex__markup_is_no_text(void **state)
{
    (void)state;
    expect(
        "One \\emph{two} {\\bf thr}ee, \\textbf{fo}ur~five\\footnote{six} \\textcolor{red}{seven}",
        "one two three four five six seven ");
    expect("\\section*{Title}\\label{sec:a}\nSee~\\ref{sec:a} and \\cite[p.~3]{knuth, lamport} "
           "{\\it all}.",
           "title see and all ");
    expect(
        "a % comment\n   b%\n  c\\% d\n\\begin{itemize}[noitemsep]\n\\item one\\item[two] three\n"
        "\\end{itemize}x\\\\[2pt]y\\par z",
        "a bc d one two three x y z ");
    expect(
        "\\begin{tabular}{l|r}\\multicolumn{2}{c}{head}\\\\ a & b \\\\ \\hline c&d\\end{tabular}",
        "head a b c d ");
    expect("\\href{http://"
           "x.y}{there}\\includegraphics[width=2cm]{picture}\\vspace{1em}\\hyphen\\-ated "
           "snake\\_case in\\-side",
           "there ated snake_case inside ");
    expect("\\newcommand{\\foo}[2][x]{some #1 \\{ text} shown \\setlength{\\parskip}{2pt}",
           "shown ");
}

/* A word goes on behind what is dropped, but not behind a blank that stands there. */
static void test_latex__a_blank_behind_what_is_dropped_separates(void **state)
{
    (void)state;
    expect("a bbb\\cite{foo} ccc", "a bbb ccc ");
    expect("aaa\\label{x} bbb\\index{y}\tccc d\\cite[p.~1]{z} e", "aaa bbb ccc d e ");
    expect("aaa\\cite {foo}bbb\\label{x}ccc\\index{y}", "aaabbbccc ");
    expect("\\verb|a\n\\emph{b} c", "a b c "); /* ended by the line */
    expect("aaa\\cite\n{foo}bbb\\cite[x]{foo}\nccc\\cite[x] d", "aaabbb ccc d ");
}

static void test_latex__only_what_is_printed_counts(void **state)
{
    (void)state;
    expect("\\documentclass[12pt]{article}\n\\usepackage{babel}\\newcommand\\x{no}\n\\title[Short]{"
           "The {\\em long} "
           "one}\n\\author{A. Author}\\setcounter{page}{1} no\n\\begin{document}\\maketitle text\n"
           "\\begin{comment}no\\end{comment}\\begin{tikzpicture}\\draw no;\\end{tikzpicture}more"
           "\\end{document} nothing",
           "the long one a author text more ");
    expect("a\\begin{verbatim}\n\\section{x} %\\end{verb \\end{verbatim}b \\verb|c\\d{}|e",
           "a section x end verb b c d e ");
}

static void test_latex__characters_and_mathematics(void **state)
{
    (void)state;
    expect("caf\\'e caf\\'{e} na\\\"\\i ve na\\\"{\\i}ve stra\\ss e \\c{c}a \\v s "
           "\\r{A}ngstr\\\"om \\AE gir \\H{o} \\'x",
           "caf\xc3\xa9 caf\xc3\xa9 na\xc3\xafve na\xc3\xafve strasse \xc3\xa7"
           "a \xc5\xa1 "
           "\xc3\xa5ngstr\xc3\xb6m \xc3\xa6gir \xc5\x91 x\xcc\x81 ");
    expect(
        "$x_{12}^2$-axis \\(\\frac{a}{b}\\) \\[\\left[ c+\\alpha \\right]\\] $n$th \\LaTeX{} \\TeX",
        "x122 axis a b c \xce\xb1 nth latex tex ");
}

static void test_latex__sniffing_takes_documents_and_parts_of_them(void **state)
{
    (void)state;
    expect_type("% !TeX program = x\n\n\\documentclass{article}\n", TEXT_LATEX);
    expect_type("\\PassOptionsToPackage{x}{y}\n\\documentclass{article}\n", TEXT_LATEX);
    expect_type("\xef\xbb\xbf\\chapter{One}\r\nText.\r\n\\section{Two}\r\n\\label{a}\r\n",
                TEXT_LATEX);
    expect_type("\\chapter{One}\nText only.\n", TEXT_LATEX);
    expect_type("% !TEX root = ../all.tex\n\n  \\chapter*{One}\nText.\n", TEXT_LATEX);
    expect_type("\\section[Short]{One}\nText.\n", TEXT_LATEX);
    expect_type("\\input{macros}\nText only.\n", TEXT_LATEX);
    expect_type("\\include{one}\n", TEXT_LATEX);
    expect_type("\\section one Title\nof a comment for Doxygen\n", TEXT_PLAIN);
    expect_type("\\sections{one}\n", TEXT_PLAIN);
    expect_type("\\newpage\nText.\n\\section{Two}\n", TEXT_PLAIN);
    expect_type("Write\n\\documentclass{article}\n", TEXT_PLAIN);
    expect_type("\\input texinfo\n@setfilename x\n@section y\n", TEXT_PLAIN);
    expect_type("\\\\server\\share\n\\begin{x}\n\\end{x}\n\\item\n", TEXT_PLAIN);
    expect_type("\\d+ \\w*\n\\s\n", TEXT_PLAIN);
    expect_type("\\begin{itemize}\nText\n\\item one\n\\end{itemize}\n", TEXT_LATEX);
    expect_type("\\begin{itemize}\nText\n\\item one\n", TEXT_PLAIN);
    expect_type("% only a comment", TEXT_PLAIN);
    assert_string_equal(text_type_name(TEXT_LATEX), "latex");
}

/* A part that begins with text has commands within it; who quotes them writes about LaTeX. */
static void test_latex__sniffing_takes_parts_that_begin_with_text(void **state)
{
    (void)state;
    expect_type("It \\emph{is} so~\\cite{a, b}, and\nso on (\\textit{ibid.}).\n", TEXT_LATEX);
    expect_type("% a part\nOne\\footnote{two} \\textbf {x}\n\n\\section*{Two}\n\\label{two}\n",
                TEXT_LATEX);
    expect_type("\\noindent One \\emph{two} \\cite[p.~3]{three} \\ref{four}", TEXT_LATEX);
    expect_type("It \\emph{is} so \\cite{a}.\n", TEXT_PLAIN);
    expect_type("Write `\\emph{a}`, '\\emph{b}', \"\\emph{c}\" or \\\\emph{d}.\n", TEXT_PLAIN);
    expect_type("% \\emph{a} \\emph{b} \\emph{c}\nText.\n", TEXT_PLAIN);
    expect_type("\\emphasis{a} \\emph a \\emph\n \\frac{a}{b} \\emph", TEXT_PLAIN);
    expect_type("#!/bin/sh\ncat <<END\n\\emph{a} \\emph{b} \\emph{c}\nEND\n", TEXT_PLAIN);
    expect_type("print one;\nprint <<END;\n\\emph{a} \\emph{b} \\emph{c}\n", TEXT_PLAIN);
}

static void test_latex__what_is_damaged_is_read_on(void **state)
{
    (void)state;
    static const char *const parts[] = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        "\\",
                                        "%",
                                        "\n",
                                        " ",
                                        "$",
                                        "_",
                                        "^",
                                        "~",
                                        "&",
                                        "*",
                                        "a",
                                        "bc",
                                        "\\cite",
                                        "\\begin{",
                                        "\\end{",
                                        "verbatim",
                                        "document",
                                        "comment",
                                        "\\verb",
                                        "|",
                                        "\\'",
                                        "\\c",
                                        "\\i",
                                        "\\title",
                                        "\\documentclass",
                                        "\\newcommand",
                                        "\\end{verbat",
                                        "\\section",
                                        "\\item",
                                        "\xc3\xa9",
                                        "averyverylongnameofacommandthatnobodyknows"};
    unsigned seed = 3;
    char soup[4096];
    expect("a \\cite{b", "a ");
    expect("a }}} b \\", "a b ");
    expect("\\section", "");
    for (unsigned round = 0; round < 400; round++) {
        size_t size =
            canonical_soup(soup, sizeof(soup), parts, sizeof(parts) / sizeof(parts[0]), &seed);
        assert_true(canonical_is_one(TEXT_LATEX, soup, size));
        char *head = malloc(size ? size : 1); /* so that a byte read past the end is noticed */
        memcpy(head, soup, size);
        (void)text_type_sniff(head, size);
        free(head);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latex__markup_is_no_text),
        cmocka_unit_test(test_latex__a_blank_behind_what_is_dropped_separates),
        cmocka_unit_test(test_latex__only_what_is_printed_counts),
        cmocka_unit_test(test_latex__characters_and_mathematics),
        cmocka_unit_test(test_latex__sniffing_takes_documents_and_parts_of_them),
        cmocka_unit_test(test_latex__sniffing_takes_parts_that_begin_with_text),
        cmocka_unit_test(test_latex__what_is_damaged_is_read_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
