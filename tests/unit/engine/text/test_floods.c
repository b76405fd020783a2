/* What is repeated for a long time, or never ends, takes its length in time: floods made for each
 * filter. Whoever looks to the end for each of them takes hours, which the time limit of the
 * test ends. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/engine/text/canonical.h"

#ifdef __SANITIZE_ADDRESS__ /* it is the memory that is watched over, not the time */
enum { FLOOD_BYTES = 1 << 20, LINE_BYTES = 8000 };
#else
enum { FLOOD_BYTES = 4 << 20, LINE_BYTES = 8000 };
#endif

/* A document: the head, and then again and again the unit, in lines or without end. */
struct flood {
    enum text_type type;
    bool lines;
    const char *head, *unit;
};

static char *flood_bytes(const struct flood *flood)
{
    size_t n_head = strlen(flood->head), n_unit = strlen(flood->unit), at = 0, n_line = 0;
    char *bytes = malloc(FLOOD_BYTES);
    assert_non_null(bytes);
    for (; at < FLOOD_BYTES; at++) {
        bool ends = flood->lines && n_line >= LINE_BYTES - 100 && (at - n_head) % n_unit == 0;
        bytes[at] = at < n_head ? flood->head[at] : flood->unit[(at - n_head) % n_unit];
        if (ends)
            bytes[at] = '\n';
        n_line = ends ? 0 : n_line + 1;
    }
    return bytes;
}

struct count {
    size_t n;
};

static void count_tokens(void *user, const struct token_block *block)
{
    ((struct count *)user)->n += block->n_tokens;
}

static size_t n_tokens(const struct flood *flood, size_t piece_bytes)
{
    struct count count = {0};
    struct text_form form;
    _cleanup_free_ char *bytes = flood_bytes(flood);
    _cleanup_(canon_free_p) struct canon *canon = NULL;
    assert_int_equal(
        canon_new(&(struct canon_sink){.tokens = count_tokens, .user = &count}, &canon), 0);
    canon_begin_as(canon, flood->type);
    for (size_t at = 0; at < FLOOD_BYTES; at += piece_bytes)
        canon_feed(canon, bytes + at, piece_bytes);
    canon_finish(canon, &form);
    return count.n;
}

static void expect_to_end(const struct flood *floods, size_t n_floods)
{
    for (size_t i = 0; i < n_floods; i++) {
        print_message("%.40s%s%.40s...\n", floods[i].head, *floods[i].head ? ", " : "",
                      floods[i].unit);
        assert_int_equal(n_tokens(&floods[i], FLOOD_BYTES), n_tokens(&floods[i], 1 << 16));
    }
}

static void test_floods__of_html_take_their_length(void **state)
{
    (void)state;
    static const struct flood floods[] = {
        {TEXT_HTML, false, "", "&"},
        {TEXT_HTML, false, "", "&a;"},
        {TEXT_HTML, false, "", "<"},
        {TEXT_HTML, false, "<title>", "&"},
        {TEXT_HTML, false, "<textarea>", "<"},
        {TEXT_HTML, false, "<img alt=\"", "&"},
        {TEXT_HTML, false, "<img alt=", "&"},
        {TEXT_HTML, false, "<!--", "-"},
        {TEXT_HTML, false, "<script><!--", "<a"},
        {TEXT_HTML, false, "<script><!--", "-a"},
        {TEXT_HTML, false, "<a", "x"},
        {TEXT_HTML, false, "<a ", "x=1 "},
        {TEXT_HTML, false, "", "<![CDATA["},
        {TEXT_XML, false, "<a>", "&"},
        {TEXT_XML, false, "<!DOCTYPE a [", "<"},
    };
    expect_to_end(floods, sizeof(floods) / sizeof(floods[0]));
}

static void test_floods__of_markdown_take_their_length(void **state)
{
    (void)state;
    /* Backticks whose like is nowhere, in brackets that nothing closes. */
    static char ticks[LINE_BYTES];
    size_t n = 0;
    for (; n < 500; n++)
        ticks[n] = '[';
    for (size_t run = 2; run < 32; run++) {
        memset(ticks + n, '`', run);
        n += run;
        ticks[n++] = 'a';
    }
    while (n + 2 < sizeof(ticks)) {
        ticks[n++] = '`';
        ticks[n++] = 'a';
    }
    const struct flood floods[] = {
        {TEXT_MARKDOWN, true, "", ticks},
        {TEXT_MARKDOWN, true, "", "["},
        {TEXT_MARKDOWN, true, "", "!["},
        {TEXT_MARKDOWN, true, "", "[]("},
        {TEXT_MARKDOWN, true, "", "[a](("},
        {TEXT_MARKDOWN, true, "", "[a][[[[[[[["},
        {TEXT_MARKDOWN, true, "", "[![![![a](b)](b)](b)](b)"},
        {TEXT_MARKDOWN, false, "", "[]("},
        {TEXT_MARKDOWN, false, "", "<a "},
        {TEXT_MARKDOWN, false, "", "<!--"},
    };
    expect_to_end(floods, sizeof(floods) / sizeof(floods[0]));
}

static void test_floods__of_roff_take_their_length(void **state)
{
    (void)state;
    static char long_line[LINE_BYTES];
    for (size_t n = 0; n + 3 < sizeof(long_line); n += 3)
        memcpy(long_line + n, "\\&a", 3);
    const struct flood floods[] = {
        {TEXT_ROFF, false, long_line, "\\\n"},
        {TEXT_ROFF, false, "", "\\\n"},
        {TEXT_ROFF, false, "", "\\["},
        {TEXT_ROFF, false, "", ".ie n \\{\\\n"},
        {TEXT_ROFF, true, "", ".if n "},
        {TEXT_ROFF, true, ".It ", "Nm "},
        {TEXT_ROFF, false, ".ds x a a a a a a a a a a a a a a a a\n", "\\*x"},
    };
    expect_to_end(floods, sizeof(floods) / sizeof(floods[0]));
}

static void test_floods__of_mail_take_their_length(void **state)
{
    (void)state;
    static const struct flood floods[] = {
        {TEXT_MAIL, false, "", "x"},
        {TEXT_MAIL, false, "", "\n"},
        {TEXT_MAIL, true, "Subject: ", "=?"},
        {TEXT_MAIL, false, "", "Subject: =?koi8-r?q?=c1?= =?big5?q?=a4=40?=\n"},
        {TEXT_MAIL, false, "Content-Type: multipart/mixed; boundary=a\n\n",
         "--a\nContent-Type: multipart/mixed; boundary=a\n\n"},
        {TEXT_MAIL, false, "Content-Type: message/rfc822\n\n", "Content-Type: message/rfc822\n\n"},
        {TEXT_MAIL, false, "Content-Transfer-Encoding: quoted-printable\n\n", "="},
    };
    expect_to_end(floods, sizeof(floods) / sizeof(floods[0]));
}

static void test_floods__of_wikis_take_their_length(void **state)
{
    (void)state;
    static const struct flood floods[] = {
        {TEXT_WIKI, true, "", "[["},
        {TEXT_WIKI, true, "", "[[a|"},
        {TEXT_WIKI, true, "", "[[a|b]]"},
        {TEXT_WIKI, true, "", "[[[[[[[[a]]]]]]]]"},
        {TEXT_WIKI, true, "", "[http:"},
        {TEXT_WIKI, true, "", "[a"},
        {TEXT_WIKI, true, "", "<a "},
        {TEXT_WIKI, true, "", "{{"},
        {TEXT_WIKI, false, "", "{{}}"},
        {TEXT_WIKI, true, "", "'"},
        {TEXT_WIKI, true, "", "__A"},
        {TEXT_WIKI, false, "", "<ref><"},
        {TEXT_WIKI, false, "{|\n", "| a | b || [[ || {{ !! \n"},
        {TEXT_WIKI, false, "{|\n", "|||||||||||||||||||||||||||\n"},
        {TEXT_WIKI, true, "{|\n!", "!!a|"},
    };
    expect_to_end(floods, sizeof(floods) / sizeof(floods[0]));
}

static void test_floods__of_other_formats_take_their_length(void **state)
{
    (void)state;
    static const struct flood floods[] = {
        {TEXT_RTF, false, "{\\rtf1", "{"},
        {TEXT_RTF, false, "{\\rtf1", "\\f1 \\f2 \\'e9"},
        {TEXT_RTF, false, "{\\rtf1", "\\ansicpg1250\\'e9\\ansicpg1251\\'e9\\ansicpg932\\'93"},
        {TEXT_RTF, false, "{\\rtf1{\\fonttbl", "\\f1\\fcharset204 \\f2\\fcharset128 "},
        {TEXT_RTF, false, "{\\rtf1", "\\bin"},
        {TEXT_RTF, false, "{\\rtf1", "\\u55357"},
        {TEXT_LATEX, false, "", "{"},
        {TEXT_LATEX, false, "", "\\x["},
        {TEXT_LATEX, false, "", "\\cite{"},
        {TEXT_LATEX, false, "", "\\begin{verbatim}\\end{verbati"},
        {TEXT_LATEX, false, "\\begin{verbatim}", "\\end{verbati"},
        {TEXT_LATEX, false, "", "\\title{"},
        {TEXT_LATEX, false, "", "\\'"},
        {TEXT_JSON, false, "", "[\""},
        {TEXT_JSON, false, "[\"", "\\u"},
        {TEXT_NOTEBOOK, false, "", "{\"cells\":["},
        {TEXT_NOTEBOOK, false, "{\"cells\":[{\"source\":[", "\"a\\\\\","},
    };
    expect_to_end(floods, sizeof(floods) / sizeof(floods[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floods__of_html_take_their_length),
        cmocka_unit_test(test_floods__of_markdown_take_their_length),
        cmocka_unit_test(test_floods__of_roff_take_their_length),
        cmocka_unit_test(test_floods__of_mail_take_their_length),
        cmocka_unit_test(test_floods__of_wikis_take_their_length),
        cmocka_unit_test(test_floods__of_other_formats_take_their_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
