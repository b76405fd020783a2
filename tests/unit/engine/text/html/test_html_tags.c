/* A2: tags as tokens among the words. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "tests/unit/engine/text/canonical.h"

static void assert_tokens_of(enum text_type type, bool tags, const char *text, size_t size,
                             const char *tokens)
{
    assert_true(canonical_is_with(type, tags, text, size, tokens));
}

static void assert_tagged(enum text_type type, const char *text, const char *tokens)
{
    assert_tokens_of(type, true, text, strlen(text), tokens);
}

static void test_html_tags__are_tokens_if_so_wanted(void **state)
{
    (void)state;
    static const char page[] = "<!DOCTYPE html><HTML><head><title>A &amp; b</title>"
                               "<style>p { color: red }</style></head>\n<!-- <i>not</i> -->"
                               "<body class=\"x\"><p>One <b>Two</b>three<br/>"
                               "<img src=x alt='Four'><script>if (a<b) x()</script></body>";
    assert_tokens_of(TEXT_HTML, false, page, strlen(page), "a b one twothree four ");
    assert_tokens_of(TEXT_HTML, true, page, strlen(page),
                     "<html> <head> <title> a b </title> <style> </style> </head> <body> <p> one "
                     "<b> two </b> three <br> <img> four <script> </script> </body> ");
}

static void test_html_tags__have_their_names_as_they_are_written(void **state)
{
    (void)state;
    assert_tagged(TEXT_HTML, "a<My-Element.1 x>b</my-element.1 >c",
                  "a <my-element.1> b "
                  "</my-element.1> c ");
    /* What is none, or has not ended. */
    assert_tagged(TEXT_HTML, "a < b <1> </> <!p> <?p> </ p> <p", "a b 1 ");
    assert_tagged(TEXT_HTML, "a<p class='b", "a <p> ");
    assert_tagged(TEXT_XML, "<a:B\xc3\x84/><_c>d</_c><?x y?>", "<a:b\xc3\x84> <_c> d </_c> ");
}

static void test_html_tags__are_found_wherever_html_is(void **state)
{
    (void)state;
    assert_tagged(TEXT_MAIL,
                  "From: a\nSubject: <b>word</b>\nMIME-Version: 1.0\nContent-Type: text/html\n\n"
                  "<p>text</p>\n",
                  "b word b <p> text </p> ");
    assert_tagged(TEXT_PLAIN, "<p>text</p>", "p text p ");
    assert_tagged(TEXT_MARKDOWN, "# <p>text</p>\n", "text ");
}

/* More than a token may have is cut, and a token may just fill a block, behind any words. */
static void test_html_tags__may_be_long(void **state)
{
    (void)state;
    for (size_t n = CANON_TOKEN_MAX_BYTES - 6; n < CANON_TOKEN_MAX_BYTES + 3; n++) {
        char text[4096], tokens[4096], name[300];
        memset(name, 'x', n);
        name[n] = '\0';
        sprintf(text, "<%s>a</%s>b", name, name);
        name[n < CANON_TOKEN_MAX_BYTES - 3 ? n : CANON_TOKEN_MAX_BYTES - 3] = '\0';
        sprintf(tokens, "<%s> a </%s> b ", name, name);
        assert_tagged(TEXT_HTML, text, tokens);
    }
}

/* Documents and their tokens, made side by side. */
static void test_html_tags__are_those_of_any_document(void **state)
{
    (void)state;
    static const char *const names[] = {"p", "div", "td", "b", "blockquote", "x-y"};
    for (unsigned seed = 1; seed <= 60; seed++) {
        unsigned random = seed;
        char *text, *tokens, *words;
        size_t text_size, size;
        FILE *to_text = open_memstream(&text, &text_size),
             *to_tokens = open_memstream(&tokens, &size);
        FILE *to_words = open_memstream(&words, &size);
        for (unsigned i = 0; i < 3000; i++) {
            const char *name = names[(unsigned)rand_r(&random) % 6];
            unsigned letters = (unsigned)rand_r(&random) % (seed % 2 ? 9 : 250) + 1;
            switch ((unsigned)rand_r(&random) % 4) {
            case 0:
                fprintf(to_text, "<%s%s>", name, i % 3 ? "" : " a='b'");
                fprintf(to_tokens, "<%s> ", name);
                break;
            case 1:
                fprintf(to_text, "</%s>", name);
                fprintf(to_tokens, "</%s> ", name);
                break;
            default:
                fprintf(to_text, " %0*u ", (int)letters, 1u);
                fprintf(to_tokens, "%0*u ", (int)letters, 1u);
                fprintf(to_words, "%0*u ", (int)letters, 1u);
            }
        }
        fclose(to_text);
        fclose(to_tokens);
        fclose(to_words);
        assert_tokens_of(TEXT_HTML, true, text, text_size, tokens);
        assert_tokens_of(TEXT_HTML, false, text, text_size, words);
        free(text);
        free(tokens);
        free(words);
    }
}

static void ignore_link(void *user, const struct canon_link *link)
{
    (void)user;
    (void)link;
}

static void test_html_tags__go_with_no_links(void **state)
{
    (void)state;
    struct canon *canon = NULL;
    struct canon_sink sink = {.tokens = canonical_take,
                              .features = canonical_take_features,
                              .links = ignore_link,
                              .tags = true,
                              .key = &canonical_key};
    assert_int_equal(canon_new(&sink, &canon), -EINVAL);
    assert_null(canon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_html_tags__are_tokens_if_so_wanted),
        cmocka_unit_test(test_html_tags__have_their_names_as_they_are_written),
        cmocka_unit_test(test_html_tags__are_found_wherever_html_is),
        cmocka_unit_test(test_html_tags__may_be_long),
        cmocka_unit_test(test_html_tags__are_those_of_any_document),
        cmocka_unit_test(test_html_tags__go_with_no_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
