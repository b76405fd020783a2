#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/canon.h"

/* All links of a document as "href[first,end) ", "TITLE[first,end) " its title, and how many tokens
 * there are. */
struct found {
    char *links;
    size_t links_size;
    uint64_t n_tokens;
    FILE *file;
};

static void take_tokens(void *user, const struct token_block *block)
{
    ((struct found *)user)->n_tokens += block->n_tokens;
}

static void take_link(void *user, const struct canon_link *link)
{
    struct found *found = user;
    fprintf(found->file, "%s%.*s[%d,%d) ", link->title ? "TITLE" : "", (int)link->href_bytes,
            link->href, (int)link->first, (int)link->end);
}

static struct found find(const char *html, size_t size, size_t piece_bytes, bool want_links)
{
    struct found found = {0};
    struct canon *canon;
    struct text_form form;
    struct canon_sink sink = {.tokens = take_tokens, .user = &found};
    if (want_links)
        sink.links = take_link;
    found.file = open_memstream(&found.links, &found.links_size);
    assert_int_equal(canon_new(&sink, &canon), 0);
    canon_begin_as(canon, TEXT_HTML);
    canon_feed(canon, "one <a href=x>two", 17); /* an unfinished one leaves nothing */
    canon_begin_as(canon, TEXT_HTML);
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < piece_bytes ? size - at : piece_bytes;
        canon_feed(canon, html + at, n);
    }
    canon_finish(canon, &form);
    canon_free(canon);
    fclose(found.file);
    return found;
}

static void expect(const char *html, const char *links)
{
    static const size_t pieces[] = {1 << 20, 1, 3};
    /* At each place of a block, and with room behind it for all kernels. */
    char padded[3000];
    for (int lead = 0; lead < 66; lead++) {
        int n = snprintf(padded, sizeof(padded), "%*s%s%300s", lead, "", html, "");
        for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
            struct found found = find(padded, (size_t)n, pieces[i], true);
            assert_string_equal(found.links, links);
            free(found.links);
        }
    }
}

/* F2 */
static void test_html_links__have_the_places_of_their_text(void **state)
{
    (void)state;
    expect("one <a href='x'>two three</a> four", "x[1,3) ");
    expect("<a href=x>one</a> <A class=c HREF = \"y\">two</A>", "x[0,1) y[1,2) ");
    expect("<a href='x'>one</a><a href='y'>two</a>", "x[0,1) y[0,1) "); /* the word "onetwo" */
    expect("one<a href='x'>two</a>three four", "x[0,1) ");
    expect("one <a href='x'>two <b>th</b>ree<br>four <img alt='five'></a> six", "x[1,5) ");
    expect("<a href='x'><img src='y' alt='one two'></a>", "x[0,2) ");
    expect("one <a href='x'></a> two<a href='y'></a>", "x[1,1) y[1,1) ");
    expect("one <a href='x'> , </a> two", "x[1,1) ");
    expect("<a name='x'>one</a> <a>two</a>", "");
    expect("<a href=''>one</a>", "[0,1) ");
}

static void test_html_links__end_where_another_begins(void **state)
{
    (void)state;
    expect("<a href='x'>one <a href='y'>two</a> three</a>", "x[0,1) y[1,2) ");
    expect("<a href='x'>one <a name='y'>two</a>", "x[0,1) ");
    expect("<a href='x'>one <p>two", "x[0,2) ");
    expect("</a><a href='x", "");
    expect("<!-- <a href='x'>one</a> --><script><a href='y'>two</a></script>", "");
}

static void test_html_links__of_areas_have_their_alternative_text(void **state)
{
    (void)state;
    expect("one<area href='x' alt='two three'>four", "x[1,3) ");
    expect("<area alt='one' href='x'><area href='y'><area alt='two'>", "x[0,1) y[1,1) ");
}

/* F3 */
static void test_html_links__the_title_is_one_to_the_document_itself(void **state)
{
    (void)state;
    expect("<title>One &amp; two</title>three", "TITLE[0,2) ");
    expect("one <title>two</title><svg><title>three</title></svg>", "TITLE[1,2) ");
    expect("<title></title>", "TITLE[0,0) ");
    expect("<title>one <a href='x'>two</a>", "TITLE[0,6) "); /* one a href x two a */
    expect("<a href='x'>one <textarea>two</textarea> three</a>", "x[0,3) ");
    expect("<a href=''>one<title>two</title><a href=''>three</a>", "[0,1) TITLE[1,2) [2,3) ");
}

static void test_html_links__references_in_them_are_replaced(void **state)
{
    (void)state;
    expect("<a href='x?a=b&amp;c=d&copy=e&#x41;'>one</a>", "x?a=b&c=d&copy=eA[0,1) ");
    expect("<a href=x href=y>one</a>", "x[0,1) ");
    expect("<a href=x&lt;/>one</a>", "x</[0,1) ");
}

static void test_html_links__too_long_are_none(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        char html[3000], links[3000], href[CANON_HREF_MAX_BYTES + 2] = "";
        memset(href, 'x', CANON_HREF_MAX_BYTES + (size_t)i);
        snprintf(html, sizeof(html), "<a href='%s'>one</a> <a href=y>two</a>", href);
        snprintf(links, sizeof(links), "%s[0,1) y[1,2) ", href);
        for (size_t piece = 1; piece < 5000; piece *= 7) {
            struct found found = find(html, strlen(html), piece, true);
            assert_string_equal(found.links, i ? "y[1,2) " : links);
            free(found.links);
        }
    }
}

/* In long documents, places count through all blocks; and wanting links changes no token. */
static void test_html_links__places_are_of_the_whole_document(void **state)
{
    (void)state;
    enum { N = 5000 };
    char *html = NULL, *links = NULL;
    size_t html_size, links_size;
    FILE *html_file = open_memstream(&html, &html_size);
    FILE *links_file = open_memstream(&links, &links_size);
    for (int i = 0; i < N; i++) {
        fprintf(html_file, "<p>word <i>and</i> <a href='%d'>number %d</a>, ", i, i);
        fprintf(links_file, "%d[%d,%d) ", i, 4 * i + 2, 4 * i + 4);
    }
    fclose(html_file);
    fclose(links_file);
    for (int want = 0; want < 2; want++) {
        struct found found = find(html, html_size, 1000, want);
        assert_string_equal(found.links, want ? links : "");
        assert_int_equal(found.n_tokens, 4 * N);
        free(found.links);
    }
    free(html);
    free(links);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_html_links__have_the_places_of_their_text),
        cmocka_unit_test(test_html_links__end_where_another_begins),
        cmocka_unit_test(test_html_links__of_areas_have_their_alternative_text),
        cmocka_unit_test(test_html_links__the_title_is_one_to_the_document_itself),
        cmocka_unit_test(test_html_links__references_in_them_are_replaced),
        cmocka_unit_test(test_html_links__too_long_are_none),
        cmocka_unit_test(test_html_links__places_are_of_the_whole_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
