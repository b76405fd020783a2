#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/engine/text/canonical.h"

/* A document with its text and its lines: the tokens, the text, and of each token where in that it
 * begins and ends, and its line. */
enum { TOKENS_MAX = 20000 };
struct told {
    struct canonical tokens;
    char *text;
    size_t size, changed; /* changed: the end of the last piece with which a token began or ended */
    FILE *file;
    uint64_t n_begun, n_ended, n_lines, n_of_lines;
    size_t begins[TOKENS_MAX], ends[TOKENS_MAX];
    uint64_t lines[TOKENS_MAX];
};

static void take_tokens(void *user, const struct token_block *block)
{
    canonical_take(&((struct told *)user)->tokens, block);
}

static void take_text(void *user, const uint8_t *bytes, size_t size_bytes, uint64_t n_begun,
                      uint64_t n_ended)
{
    struct told *told = user;
    assert_true(size_bytes > 0 && n_ended <= n_begun && n_begun <= n_ended + 1);
    assert_true(n_begun >= told->n_begun && n_ended >= told->n_ended);
    assert_true(n_begun < TOKENS_MAX);
    fwrite(bytes, 1, size_bytes, told->file);
    fflush(told->file);
    size_t begin = told->changed;
    while (begin > 0 && ((uint8_t)told->text[begin] & 0xc0) == 0x80) /* within a character */
        begin--;
    const bool changes = n_begun != told->n_begun || n_ended != told->n_ended;
    for (; told->n_begun < n_begun; told->n_begun++)
        told->begins[told->n_begun] = begin;
    for (; told->n_ended < n_ended; told->n_ended++)
        told->ends[told->n_ended] = told->size;
    if (changes)
        told->changed = told->size;
}

static void take_line(void *user, uint64_t n_begun)
{
    struct told *told = user;
    told->n_lines++;
    assert_true(n_begun >= told->n_of_lines && n_begun < TOKENS_MAX);
    for (; told->n_of_lines < n_begun; told->n_of_lines++)
        told->lines[told->n_of_lines] = told->n_lines;
}

static struct told *told_of(enum text_type type, const void *bytes, size_t size, size_t piece_bytes)
{
    struct told *told = calloc(1, sizeof(*told));
    struct canon *canon;
    struct text_form form;
    told->file = open_memstream(&told->text, &told->size);
    told->tokens.file = open_memstream(&told->tokens.text, &told->tokens.size);
    assert_int_equal(canon_new(&(struct canon_sink){.tokens = take_tokens,
                                                    .text = take_text,
                                                    .line = take_line,
                                                    .user = told},
                               &canon),
                     0);
    if (type == TEXT_N_TYPES)
        canon_begin(canon);
    else
        canon_begin_as(canon, type);
    for (size_t at = 0; at < size; at += piece_bytes)
        canon_feed(canon, (const char *)bytes + at,
                   size - at < piece_bytes ? size - at : piece_bytes);
    canon_finish(canon, &form);
    canon_free(canon);
    fclose(told->file);
    fclose(told->tokens.file);
    return told;
}

static void told_free(struct told *told)
{
    canonical_done(&told->tokens);
    free(told->text);
    free(told);
}

/* Tokens are those of a document that is not asked for its text; the text has the same ones; and
 * where a token is said to stand, it stands. */
static void expect_told(enum text_type type, const void *bytes, size_t size, size_t piece_bytes)
{
    struct told *told = told_of(type, bytes, size, piece_bytes);
    struct canonical plain = canonical_as(type, bytes, size, 1 << 20);
    struct canonical again = canonical_as(TEXT_PLAIN, told->text, told->size, 1 << 20);
    assert_string_equal(told->tokens.text, plain.text);
    assert_string_equal(again.text, plain.text);
    assert_int_equal(told->n_begun, told->n_ended);
    uint64_t n = 0;
    for (char *rest = told->tokens.text, *end; (end = strchr(rest, ' ')); rest = end + 1, n++) {
        assert_true(n < told->n_ended && told->begins[n] < told->ends[n]);
        struct canonical part = canonical_as(TEXT_PLAIN, told->text + told->begins[n],
                                             told->ends[n] - told->begins[n], 1 << 20);
        *end = '\0';
        /* The first word that a hyphen breaks is two where it is alone. */
        for (char *from = part.text, *to = part.text; (*to = *from); from++)
            to += *from != ' ';
        if (!strstr(part.text, rest))
            fail_msg("%zu: %zu to %zu: token %llu, '%s', is not in '%s'", piece_bytes,
                     told->begins[n], told->ends[n], (unsigned long long)n, rest, part.text);
        canonical_done(&part);
    }
    assert_int_equal(n, told->n_ended);
    canonical_done(&plain);
    canonical_done(&again);
    told_free(told);
}

static void test_canon_text__is_what_the_words_are_taken_from(void **state)
{
    (void)state;
    static const struct {
        enum text_type type;
        const char *text;
    } documents[] = {
        {TEXT_PLAIN, "A rose, is a\n  rose.\n\nEach, (one)\tstands - alone.\nlast"},
        {TEXT_PLAIN, "hy-\nphens of no\navail, but hy-\nphens; and an end-\n"},
        {TEXT_PLAIN,
         "漢字かな交じり文を書くのは楽しいことですしかし長いので途中で切れます漢字かな交じり文 a"},
        {TEXT_PLAIN, "CAFE\xcc\x81 stra\xc3\x9f\x65 \xff\xfe broken\xe2\x82"},
        {TEXT_HTML,
         "<p>Two <b>bo</b>ld&nbsp;words<br>and<script>none</script>\n<i>more</i> &amp; less"},
        {TEXT_XML, "<a><b>one</b><c>two\nthree</c></a>"},
        {TEXT_MARKDOWN, "# Title\n\nText with [a link](http://x.example/y) and `code`.\n* point\n"},
        {TEXT_JSON, "{\"key\": [\"a value\\u0041\", 3.14, true]}\n{\"next\": null}"},
        {TEXT_ROFF, ".TH NAME 1\n.SH ONE\nsome \\fBbold\\fP text\nhere\n"},
        {TEXT_LATEX, "\\section{Head} Text \\emph{with} $x^2$ and caf\\'e.\n% no\nmore"},
        {TEXT_WIKI, "== Head ==\n[[link|shown]] and {{template}} text\n"},
        {TEXT_RTF, "{\\rtf1\\ansi Some {\\b bold} text\\par more}"},
        {TEXT_MAIL,
         "From: a@b.example\nTo: c@d.example\nDate: Mon, 1 Jan 2001 00:00:00 +0000\nSubject: Greet"
         "ings all\nContent-Transfer-Encoding: base64\n\nSGVsbG8gd29ybGQgYWdhaW4K\n"},
    };
    for (unsigned i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
        for (size_t piece = 1; piece < 1000; piece = piece * 3 + 1)
            expect_told(documents[i].type, documents[i].text, strlen(documents[i].text), piece);
}

static void test_canon_text__of_anything(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "word ",   "and\n", "-\n",  "<p>",  "</p>", "é", "漢字", "{",   "}",     "\\emph{x}",
        "[[a|b]]", "**",    "\n\n", ".SH ", "\"",   ",", "\r\n", " - ", "&amp;", "end-\nof "};
    static const enum text_type types[] = {TEXT_PLAIN, TEXT_HTML, TEXT_XML, TEXT_MARKDOWN,
                                           TEXT_WIKI,  TEXT_ROFF, TEXT_JSON};
    unsigned seed = 1;
    char soup[4096];
    for (unsigned i = 0; i < 700; i++) {
        const size_t n =
            canonical_soup(soup, sizeof(soup), parts, sizeof(parts) / sizeof(parts[0]), &seed);
        expect_told(types[i % (sizeof(types) / sizeof(types[0]))], soup, n, 1 + i % 97);
    }
}

/* Lines are counted in the document, packed or in another charset, as by hand. */
static void test_canon_text__lines_are_those_of_the_document(void **state)
{
    (void)state;
    static const char text[] = "one two\n\nthree\r\nfour <b>five</b>\nsix";
    static const uint64_t expected[] = {1, 1, 3, 4, 4, 4, 4};
    struct told *told = told_of(TEXT_PLAIN, text, sizeof(text) - 1, 5);
    assert_int_equal(told->n_of_lines, 7); /* the last line has no end */
    assert_memory_equal(told->lines, expected, sizeof(expected));
    assert_int_equal(told->n_ended, 8);
    told_free(told);
    struct told *html = told_of(TEXT_HTML, text, sizeof(text) - 1, 5);
    assert_int_equal(html->n_of_lines, 5);
    assert_memory_equal(html->lines, expected, 5 * sizeof(*expected));
    told_free(html);
    char wide[2 + 2 * sizeof(text)];
    memcpy(wide, "\xff\xfe", 2);
    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        wide[2 + 2 * i] = text[i];
        wide[3 + 2 * i] = '\0';
    }
    struct told *utf16 = told_of(TEXT_N_TYPES, wide, 2 * sizeof(text), 7);
    assert_int_equal(utf16->n_of_lines, 7);
    assert_memory_equal(utf16->lines, expected, sizeof(expected));
    told_free(utf16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canon_text__is_what_the_words_are_taken_from),
        cmocka_unit_test(test_canon_text__of_anything),
        cmocka_unit_test(test_canon_text__lines_are_those_of_the_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
