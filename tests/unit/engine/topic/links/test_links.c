#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/cleanup.h"
#include "engine/topic/links/links.h"

/* -- all links of a document, "LINE KIND TARGET 'TEXT'" each -- */

struct found {
    char *text;
    size_t size;
    FILE *file;
};

static void take(void *user, const struct link *link)
{
    struct found *found = user;
    fprintf(found->file, "%d %s %.*s '", (int)link->line, link_kind_name(link->kind),
            (int)link->target_bytes, link->target);
    for (size_t i = 0; i < link->text_bytes; i++)
        fputc(link->text[i] == '\n' ? '/' : link->text[i], found->file);
    fputs("'\n", found->file);
}

static char *find(const char *name, const void *bytes, size_t n, bool *ret_cut)
{
    struct found found = {0};
    found.file = open_memstream(&found.text, &found.size);
    const struct link_sink sink = {take, &found};
    assert_int_equal(links_read(bytes, n, name, &sink, ret_cut), 0);
    fclose(found.file);
    return found.text;
}

/* Every beginning of the document is read, too, of which a sanitizer says whether it is within
 * bounds. */
static void expect(const char *name, const char *document, const char *links)
{
    const size_t n = strlen(document);
    bool cut;
    for (size_t i = 0; i < n; i++) {
        _cleanup_free_ char *beginning = malloc(i + 1), *found = NULL;
        memcpy(beginning, document, i);
        found = find(name, beginning, i, &cut);
    }
    _cleanup_free_ char *found = find(name, document, n, &cut);
    assert_string_equal(found, links);
    assert_false(cut);
}

/* -- formats -- */

static void test_links__of_html_have_the_text_between_their_tags(void **state)
{
    (void)state;
    expect("a.html",
           "<title>T</title>\n<p>See <a href=\"x.html#y\">the <b>First</b>\npage</a>, "
           "<a href='y?a=1&amp;b=2'></a>\n<img src=z.png><area href=w alt='A map'>",
           "3 url x.html#y 'the first page'\n"
           "3 url y?a=1&b=2 ''\n"
           "4 url w 'a map'\n");
    expect("a.html", "<!-- <a href=x>one</a> --><a name=x>two</a> <a href=''>three</a>", "");
}

static void test_links__of_html_are_relative_to_its_base(void **state)
{
    (void)state;
    expect("a.html",
           "<head><base href='https://h/d/e.html'></head><a href=x>1</a> <a href='/y'>2</a> "
           "<a href='//k/z'>3</a> <a href='#w'>4</a> <a href='mailto:v'>5</a>",
           "1 url https://h/d/x '1'\n1 url https://h/y '2'\n1 url //k/z '3'\n"
           "1 url https://h/d/e.html#w '4'\n1 url mailto:v '5'\n");
    expect("a.html", "<base target=x href = d/><a href=x>1</a> <a href=/y>2</a>",
           "1 url d/x '1'\n1 url /y '2'\n");
    expect("a.html", "<basefont href=d/><a href=x>1</a>", "1 url x '1'\n");
}

static void test_links__of_markdown_are_by_targets_and_labels(void **state)
{
    (void)state;
    expect("a.md",
           "# Title\nsee [the\npage](a.md \"t\"), ![it](<b c.png>) and <https://h/x>\n\n"
           "[x][One] [two][] [One] [none] [none][none] \\[no](no) [^1]\n\n"
           "[one]: c.md 'title'\n[TWO]:  <d.md>\n[one]: late.md\n",
           "2 url a.md 'the/page'\n3 url b c.png 'it'\n3 url https://h/x 'https://h/x'\n"
           "5 url c.md 'x'\n5 url d.md 'two'\n5 url c.md 'One'\n");
    expect("a.md", "[![badge](b.svg)](c.html) [a](b(c)d) [x [y] z](w)\n",
           "1 url c.html '![badge](b.svg)'\n1 url b.svg 'badge'\n1 url b(c)d 'a'\n"
           "1 url w 'x [y] z'\n");
    expect(
        "a.md",
        "[[Some page]] and [[Other|its text]] and [[broken\n]]\n[[1]](a.md) [[ $b ]] [[:alpha:]]\n",
        "1 page Some page 'Some page'\n1 page Other 'its text'\n3 url a.md '[1]'\n");
    expect("a.md",
           "<a class=b href='x.html'>text</a> <img alt=\"it\" src=y.png /> <!-- [a](b) --> 1 < 2\n",
           "1 url x.html 'text'\n1 url y.png 'it'\n");
}

static void test_links__of_markdown_are_not_in_code(void **state)
{
    (void)state;
    expect("a.md",
           "`[a](b)` ``[a](b)` [a](c)``\n```sh\n[a](d)\n~~~\n[a](e)\n```\n[a](f) `open [a](g)\n\n"
           "[a `]` b](h)\n[across\n\nparagraphs](i)\n",
           "7 url f 'a'\n7 url g 'a'\n9 url h 'a `]` b'\n");
    /* In a long document, whose bounds of looking ahead are other ones. */
    static char document[3 * LINK_TARGET_MAX_BYTES];
    memset(document, 'x', sizeof(document) - 1);
    strcpy(document + sizeof(document) - 20, "[a](b\n\n\"t\")[c](d)\n");
    bool cut;
    _cleanup_free_ char *found = find("a.md", document, strlen(document), &cut);
    assert_string_equal(found, "3 url d 'c'\n");
}

static void test_links__of_wikis_are_pages_and_urls(void **state)
{
    (void)state;
    expect("a.wiki",
           "== Head ==\n[[Some page|this]], [[house]]s, [[Page#part]], [[#here]]\n"
           "[https://h/x a text] [//h/y] [not a link] <nowiki>[[no]]</nowiki><!-- [[no]] -->\n"
           "[[File:x.png|thumb|a [[cat]] here]] [[open\n",
           "2 page Some page 'this'\n2 page house 'house'\n2 page Page#part 'Page#part'\n"
           "3 url https://h/x 'a text'\n3 url //h/y ''\n"
           "4 page File:x.png 'a'\n4 page cat 'cat'\n");
}

static void test_links__of_org_are_files_and_urls(void **state)
{
    (void)state;
    expect("a.org",
           "* Head\n[[file:a.org::*One][first]] [[./b.org]] [[https://h/x][x]] [[c/d][e]]\n"
           "[[*Head]] [[#id]] [[some words]] [[id:1-2][i]]\n#+INCLUDE: \"f.org\" src\n"
           "#+begin_src c\na[[0][b]]\n#+end_src\n[[g.org]] [[h.org::*x][y]] [[mailto:z]]",
           "2 path a.org 'first'\n2 path ./b.org './b.org'\n2 url https://h/x 'x'\n"
           "2 path c/d 'e'\n4 path f.org ''\n8 path g.org 'g.org'\n8 path h.org 'y'\n"
           "8 url mailto:z 'mailto:z'\n");
    expect("b.org", "[[./a]]", "1 path ./a './a'\n");
}

static void test_links__of_restructured_text(void **state)
{
    (void)state;
    expect("a.rst",
           "See `the\npage <a.html>`_, `b <c_>`_, `d`_, ``no <e>`_`` and :doc:`f <g/h>`, "
           ":doc:`/i`.\n\n.. _the name: j.html\n.. _label:\n.. _`k: l`: m.html\n.. _alias: name_\n"
           ".. image:: n.png\n   :alt: it\n.. |sub| image:: o.png\n.. include:: p.txt\n"
           ".. toctree::\n   :maxdepth: 2\n\n   q/r\n   Title <s>\n   self\n\nN\n   v\nNo `t <u>` "
           "here, :doc:`<>`.\n",
           "1 url a.html 'the/page'\n2 document g/h 'f'\n2 document /i '/i'\n"
           "4 url j.html 'the name'\n6 url m.html 'k: l'\n8 url n.png ''\n10 url o.png ''\n"
           "11 path p.txt ''\n15 document q/r 'q/r'\n16 document s 'Title'\n");
}

static void test_links__of_manual_pages_are_names_and_sections(void **state)
{
    (void)state;
    expect(
        "x.1",
        ".TH X 1\n.SH SEE ALSO\n.BR ls (1),\n.IR \"perl\" (1perl)\n\\fBgit\\-log\\fP(1) a\\(hyb(2) "
        "Foo::Bar(3pm), (1) f(x) f(42) f(names) g(12\n.Xr mdoc 7 ,\n.so "
        "man3/printf.3\n.nf\nmain(1)\n.fi\n"
        "end(2)\n.\\\" no(1)\n",
        "3 manual ls(1) 'ls(1)'\n4 manual perl(1perl) 'perl(1perl)'\n"
        "5 manual git-log(1) 'git-log(1)'\n5 manual a-b(2) 'a-b(2)'\n5 manual Foo::Bar(3pm) "
        "'Foo::Bar(3pm)'\n"
        "6 manual mdoc(7) 'mdoc(7)'\n7 source man3/printf.3 ''\n11 manual end(2) 'end(2)'\n");
    expect("y.3", ".so man3/printf.3\n", "1 source man3/printf.3 ''\n");
}

static void test_links__of_mail_are_the_messages_it_answers(void **state)
{
    (void)state;
    expect("m",
           "From: a@b\nDate: Mon, 1 Jan 2024 10:00:00 +0000\nMessage-ID: <c@x>\n"
           "References: <a@x>\n\t<b@x>\nIn-Reply-To: <b@x> (mail of b)\nSubject: Re:\n the plan\n\n"
           "References: <d@x>\n",
           "4 message a@x 'Re:/ the plan'\n5 message b@x 'Re:/ the plan'\n"
           "6 message b@x 'Re:/ the plan'\n");
    expect("box",
           "From a@b Mon Jan  1 10:00:00 2024\nFrom: a@b\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n"
           "Subject: =?utf-8?q?x?=\nIn-Reply-To: <a@x>\n\ntext\n\n"
           "From a@b Mon Jan  1 10:00:00 2024\nFrom: a@b\nIn-Reply-To: <b@x>\n\n",
           "5 message a@x ''\n11 message b@x ''\n");
}

static void test_links__of_programs_and_latex_are_what_they_include(void **state)
{
    (void)state;
    expect("x.c",
           "#include <stdio.h> // printf\n #  include \"a/b.h\"\n#import <Foo/Foo.h>\n"
           "#include MACRO\nchar *s = \"#include <no>\";\n#include\"d.h\"\n#include \"open\n",
           "1 system stdio.h '// printf'\n2 include a/b.h ''\n3 system Foo/Foo.h ''\n6 include d.h "
           "''\n");
    expect("x.tex",
           "\\documentclass{article}\n\\input{part/one} % \\input{no}\n\\include{two}\n"
           "\\includegraphics[width=1cm]{p}\n\\bibliography{a, b}\n\\href{u.html}{the\npage}\n"
           "\\\\input{no} \\% \\url{v} \\inputx{no}\n\\input[open",
           "2 tex part/one ''\n3 tex two ''\n4 tex p ''\n5 tex a ''\n5 tex b ''\n"
           "6 url u.html 'the/page'\n8 url v ''\n");
}

static void test_links__of_readme_files_are_names_that_lines_begin_with(void **state)
{
    (void)state;
    expect("d/README",
           "This is a text.\nINSTALL   how to install\nsrc/\n- `doc/a.txt`: the manual\n"
           "* COPYING - the licence\nhttps://h/x\n,\n../up\tabove\na b c\n",
           "2 listed INSTALL 'how to install'\n3 listed src/ ''\n"
           "4 listed doc/a.txt 'the manual'\n5 listed COPYING 'the licence'\n"
           "8 listed ../up 'above'\n");
    expect("README.md", "INSTALL: see [it](b.md)\n",
           "1 url b.md 'it'\n1 listed INSTALL 'see [it](b.md)'\n");
    expect("other", "INSTALL   how to install\n", "");
}

/* -- documents -- */

static void test_links__are_found_in_packed_documents_and_other_charsets(void **state)
{
    (void)state;
    static const char page[] = ".TH X 1\n.BR ls (1)\n",
                      latin[] = "<meta charset=iso-8859-1><a href='x\xe9'>caf\xe9</a>";
    uint8_t packed[256];
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)page,
                       .avail_in = sizeof(page) - 1,
                       .next_out = packed,
                       .avail_out = sizeof(packed)};
    bool cut;
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    const size_t n = stream.total_out;
    deflateEnd(&stream);
    _cleanup_free_ char *whole = find("x.1.gz", packed, n, &cut);
    assert_string_equal(whole, "2 manual ls(1) 'ls(1)'\n");
    assert_false(cut);
    _cleanup_free_ char *part = find("x.1.gz", packed, n - 9, &cut);
    assert_non_null(part);
    assert_true(cut);
    _cleanup_free_ char *other = find("x.html", latin, sizeof(latin) - 1, &cut);
    assert_string_equal(other, "1 url x\xc3\xa9 'caf\xc3\xa9'\n");
}

static void test_links__are_none_in_what_has_no_text(void **state)
{
    (void)state;
    bool cut;
    static const char binary[] = "[a](b)\n\0\1\2\3";
    _cleanup_free_ char *found = find("a.md", binary, sizeof(binary), &cut);
    assert_string_equal(found, "");
    expect("a.md", "", "");
    expect("a.txt", "see [a](b)", "");
}

/* Targets that are too long, and those with control characters, make none; of long texts the
 * beginning is there, up to a whole character. */
static void test_links__are_bounded(void **state)
{
    (void)state;
    char document[8000];
    for (int more = 0; more < 2; more++) {
        bool cut;
        snprintf(document, sizeof(document), "<a href='%0*d'>x</a>", LINK_TARGET_MAX_BYTES + more,
                 0);
        _cleanup_free_ char *found = find("a.html", document, strlen(document), &cut);
        assert_int_equal(*found == '\0', more);
    }
    expect("a.md", "[a](x\x01y)", "");
    expect("a.html", "<a href='x\x01y'>1</a> <a href='  z\n\t w\n'>2</a>", "3 url z w '2'\n");
    char words[2000] = "", expected[1200];
    for (int i = 0; i < 600; i++)
        strcat(words, "\xc3\xa9");
    bool cut;
    words[LINK_TEXT_MAX_BYTES] = '\0';
    snprintf(document, sizeof(document), "\\href{b}{a%s\xc3\xa9}", words);
    words[LINK_TEXT_MAX_BYTES - 2] = '\0'; /* an "a" and 511 characters of two bytes */
    snprintf(expected, sizeof(expected), "1 url b 'a%s'\n", words);
    _cleanup_free_ char *found = find("a.tex", document, strlen(document), &cut);
    assert_string_equal(found, expected);
}

/* What begins again and again, and never ends, takes its length in time: who looks to the end for
 * each takes hours. */
static void test_links__floods_take_their_length(void **state)
{
    (void)state;
    enum { FLOOD_BYTES = 1 << 19 };
    static const char *const floods[][2] = {
        {"a.md", "["},
        {"a.md", "[a]("},
        {"a.md", "`a``"},
        {"a.md", "<a "},
        {"a.md", "<!--"},
        {"a.md", "[["},
        {"a.md", "[a]: b\n"},
        {"a.md", "[a]["},
        {"a.md", "<a href=x>"},
        {"a.md", "![a](b "},
        {"a.md", "[`"},
        {"a.wiki", "[["},
        {"a.wiki", "[[a|"},
        {"a.wiki", "<!--"},
        {"a.wiki", "[//"},
        {"a.org", "[["},
        {"a.org", "[[a]["},
        {"a.rst", "`"},
        {"a.rst", "``a"},
        {"a.rst", ".. _a\n"},
        {"a.tex", "\\input{"},
        {"a.tex", "\\input["},
        {"x.c", "#include <"},
        {"README", "a:\n"},
        {"a.html", "<a href=x>"},
        {"a.html", "<base "},
    };
    for (size_t i = 0; i < sizeof(floods) / sizeof(floods[0]); i++) {
        _cleanup_free_ char *flood = malloc(FLOOD_BYTES + 1), *found = NULL;
        const size_t n = strlen(floods[i][1]);
        bool cut;
        for (size_t at = 0; at < FLOOD_BYTES; at++)
            flood[at] = floods[i][1][at % n];
        print_message("%s %s\n", floods[i][0], floods[i][1]);
        found = find(floods[i][0], flood, FLOOD_BYTES, &cut);
        assert_non_null(found);
    }
}

/* So does what stands once, and is near everything: who looks at it for each link takes hours. */
static void test_links__long_parts_are_looked_at_once(void **state)
{
    (void)state;
    enum { PART_BYTES = 4 << 20 };
    static const struct {
        const char *name, *head, *first, *between, *second, *tail;
        size_t n_first;
    } documents[] = {
        {"a.md", "<a", " href", "", " ", ">x</a>", PART_BYTES}, /* names, then blanks */
        {"a.md", "<img", " src", "", "\n", ">x", PART_BYTES},
        {"a.md", "[", " ", "a]: b\n\n", "[x] ", "", PART_BYTES}, /* a label of blanks */
        {"a.md", "[a", " ", "]: b\n\n", "[x] ", "", PART_BYTES},
        {"a.html", "<base href='", "b", "'>", "<a href=c>x</a>", "", 60000},
    };
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        _cleanup_free_ char *document = NULL, *found = NULL;
        size_t n_bytes;
        bool cut;
        FILE *out = open_memstream(&document, &n_bytes);
        fputs(documents[i].head, out);
        for (size_t n = 0; n < documents[i].n_first; n += strlen(documents[i].first))
            fputs(documents[i].first, out);
        fputs(documents[i].between, out);
        for (size_t n = 0; n < PART_BYTES; n += strlen(documents[i].second))
            fputs(documents[i].second, out);
        fputs(documents[i].tail, out);
        fclose(out);
        print_message("%s %s\n", documents[i].name, documents[i].head);
        found = find(documents[i].name, document, n_bytes, &cut);
        assert_non_null(found);
    }
}

static void test_links__of_what_is_too_long_are_those_of_its_beginning(void **state)
{
    (void)state;
    const size_t n = LINKS_MOST_BYTES + 20;
    _cleanup_free_ char *document = malloc(n);
    bool cut;
    memset(document, '\n', n);
    memcpy(document, "[a](b)", 6);
    memcpy(document + LINKS_MOST_BYTES, "\n[c](d)", 7);
    _cleanup_free_ char *found = find("a.md", document, n, &cut);
    assert_string_equal(found, "1 url b 'a'\n");
    assert_true(cut);
    _cleanup_free_ char *none = find("a.txt", document, n, &cut);
    assert_string_equal(none, "");
    assert_false(cut); /* it has none */
    /* So it is of what unpacks to so much. */
    _cleanup_free_ uint8_t *packed = malloc(n);
    z_stream stream = {.next_in = (Bytef *)document,
                       .avail_in = (uInt)n,
                       .next_out = packed,
                       .avail_out = (uInt)n};
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    _cleanup_free_ char *unpacked = find("a.md.gz", packed, stream.total_out, &cut);
    assert_string_equal(unpacked, "1 url b 'a'\n");
    assert_true(cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links__of_html_have_the_text_between_their_tags),
        cmocka_unit_test(test_links__of_html_are_relative_to_its_base),
        cmocka_unit_test(test_links__of_markdown_are_by_targets_and_labels),
        cmocka_unit_test(test_links__of_markdown_are_not_in_code),
        cmocka_unit_test(test_links__of_wikis_are_pages_and_urls),
        cmocka_unit_test(test_links__of_org_are_files_and_urls),
        cmocka_unit_test(test_links__of_restructured_text),
        cmocka_unit_test(test_links__of_manual_pages_are_names_and_sections),
        cmocka_unit_test(test_links__of_mail_are_the_messages_it_answers),
        cmocka_unit_test(test_links__of_programs_and_latex_are_what_they_include),
        cmocka_unit_test(test_links__of_readme_files_are_names_that_lines_begin_with),
        cmocka_unit_test(test_links__are_found_in_packed_documents_and_other_charsets),
        cmocka_unit_test(test_links__are_none_in_what_has_no_text),
        cmocka_unit_test(test_links__are_bounded),
        cmocka_unit_test(test_links__floods_take_their_length),
        cmocka_unit_test(test_links__long_parts_are_looked_at_once),
        cmocka_unit_test(test_links__of_what_is_too_long_are_those_of_its_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
