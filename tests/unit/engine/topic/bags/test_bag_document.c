/* One pass over a document against a plain list of its tokens and links. F1, F2, F3, F4. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "engine/topic/bags/bag_document.h"

enum { MOST_STEMS = 4096, STEM_BYTES = 32, N_TARGETS = 6, TEXT_BYTES = 1 << 20 };

/* What was handed out: stems by their fingerprints, and of each target how often it has each. */
struct seen {
    unsigned n_stems;
    uint64_t words[MOST_STEMS];
    char stems[MOST_STEMS][STEM_BYTES];
    double weights[N_TARGETS][MOST_STEMS];
    struct bag content, title;
    struct bag_document_counts counts;
    FILE *told; /* what tell() has said: the text */
    char *text;
    size_t text_size;
};

static struct shingle_hash *hash;
static struct seen seen;

static void take_stem(void *user, uint64_t word, const uint8_t *stem, size_t size_bytes)
{
    struct seen *to = user;
    assert_true(to->n_stems < MOST_STEMS && size_bytes < STEM_BYTES);
    to->words[to->n_stems] = word;
    snprintf(to->stems[to->n_stems++], STEM_BYTES, "%.*s", (int)size_bytes, (const char *)stem);
}

static unsigned find(const struct seen *in, uint64_t word)
{
    for (unsigned i = 0; i < in->n_stems; i++)
        if (in->words[i] == word)
            return i;
    fail();
    return 0;
}

/* "a" to "f" are targets 1 to 6, and so on; "-" is none. */
static uint64_t target_of(void *user, const char *href, size_t href_bytes)
{
    (void)user;
    assert_true(href_bytes > 0);
    return href[0] == '-' ? BAG_NO_TARGET : (uint64_t)(href[0] - 'a' + 1);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "name{stem weight, ...} ", by the alphabet. */
static void tell(const struct seen *in, const char *name, const struct bag *bag)
{
    char texts[64][STEM_BYTES + 8], *order[64];
    assert_true(bag->n_words <= 64);
    for (uint32_t i = 0; i < bag->n_words; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%s %g", in->stems[find(in, bag->words[i].word)],
                 bag->words[i].weight);
        order[i] = texts[i];
    }
    qsort(order, bag->n_words, sizeof(order[0]), compare_texts);
    fprintf(in->told, "%s{", name);
    for (uint32_t i = 0; i < bag->n_words; i++)
        fprintf(in->told, "%s%s", i ? ", " : "", order[i]);
    fprintf(in->told, "} ");
}

static void take_window(void *user, uint64_t target, const struct bag *fragment)
{
    struct seen *to = user;
    assert_in_range(target, 1, N_TARGETS);
    assert_true(fragment->n_words > 0);
    for (uint32_t i = 0; i < fragment->n_words; i++) {
        assert_true(i == 0 || fragment->words[i - 1].word < fragment->words[i].word);
        to->weights[target - 1][find(to, fragment->words[i].word)] += fragment->words[i].weight;
    }
    if (to->told)
        tell(to, (char[]){(char)('a' + target - 1), '\0'}, fragment);
}

static struct bag_document_options options_of(uint32_t before, uint32_t after)
{
    return (struct bag_document_options){.words = bag_words_default(),
                                         .hash = hash,
                                         .before = before,
                                         .after = after,
                                         .most_words = MOST_STEMS};
}

static const struct bag_document_sink sink = {target_of, take_window, take_stem, &seen};

static void forget(void)
{
    bag_done(&seen.content);
    bag_done(&seen.title);
    if (seen.told)
        fclose(seen.told);
    free(seen.text);
    memset(&seen, 0, sizeof(seen));
    seen.told = open_memstream(&seen.text, &seen.text_size);
}

/* Reads a document in pieces, behind one that is not finished. */
static void read_pieces(const struct bag_document_options *options, uint64_t own, const char *html,
                        size_t size, size_t piece)
{
    static const char before[] = "<title>kk</title>ll <a href=b>mm</a> nn";
    struct bag_document *document;
    struct canon *canon;
    struct text_form form;
    assert_int_equal(bag_document_new(options, &sink, &document), 0);
    const struct canon_sink to = bag_document_sink(document);
    assert_int_equal(canon_new(&to, &canon), 0);
    bag_document_begin(document, BAG_NO_TARGET);
    canon_begin_as(canon, TEXT_HTML);
    canon_feed(canon, before, sizeof(before) - 1);
    forget();
    bag_document_begin(document, own);
    canon_begin_as(canon, TEXT_HTML);
    for (size_t at = 0; at < size; at += piece)
        canon_feed(canon, html + at, piece < size - at ? piece : size - at);
    canon_finish(canon, &form);
    assert_int_equal(bag_document_finish(document, &seen.content, &seen.title, &seen.counts), 0);
    fflush(seen.told);
    canon_free(canon);
    bag_document_free(document);
}

/* What is told of the windows, in their order, with so many tokens before and behind. */
static void expect_around(uint32_t before, uint32_t after, const char *html, const char *told)
{
    static const size_t pieces[] = {TEXT_BYTES, 1, 3};
    const struct bag_document_options options = options_of(before, after);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        read_pieces(&options, BAG_NO_TARGET, html, strlen(html), pieces[i]);
        assert_string_equal(seen.text, told);
    }
}

static void expect(const char *html, const char *told)
{
    expect_around(2, 1, html, told);
}

/* F2 */
static void test_bag_document__windows_are_tokens_around_the_text_of_a_link(void **state)
{
    (void)state;
    expect("bb cc dd <a href=a>ff</a> gg hh jj", "a{cc 1, dd 1, ff 1, gg 1} ");
    expect("bb cc dd <a href=a>ff gg</a> hh jj", "a{cc 1, dd 1, ff 1, gg 1, hh 1} ");
    expect_around(0, 0, "bb <a href=a>cc dd</a> ff", "a{cc 1, dd 1} ");
    expect_around(0, 0, "bb <a href=a></a> cc", "");
    expect_around(8, 8, "bb cc bb <a href=a>dd</a> cc bb", "a{bb 3, cc 2, dd 1} ");
    /* At the document's ends. */
    expect("<a href=a>bb</a> cc dd", "a{bb 1, cc 1} ");
    expect("bb <a href=a>cc</a>", "a{bb 1, cc 1} ");
    expect("<a href=a>bb", "a{bb 1} ");
    expect("<a href=a></a>", "");
    /* Around the place of a link without text, and of an image's. */
    expect("bb cc dd <a href=a></a> ff gg", "a{cc 1, dd 1, ff 1} ");
    expect("bb cc dd <a href=a><img alt='ff'></a> gg hh", "a{cc 1, dd 1, ff 1, gg 1} ");
    /* Tags within, and no word ends where a link does. */
    expect("bb cc dd <a href=a>f<b>f</b><p>gg</a> hh", "a{cc 1, dd 1, ff 1, gg 1, hh 1} ");
    expect("bb cc dd<a href=a>ff</a>gg hh jj", "a{bb 1, cc 1, ddffgg 1, hh 1} ");
}

/* F2 */
static void test_bag_document__windows_go_over_other_links(void **state)
{
    (void)state;
    expect("bb cc <a href=a>dd</a> <a href=b>ff</a> gg hh",
           "a{bb 1, cc 1, dd 1, ff 1} b{cc 1, dd 1, ff 1, gg 1} ");
    expect("bb cc <a href=a>dd</a><a href=b>ff</a> gg",
           "a{bb 1, cc 1, ddff 1, gg 1} b{bb 1, cc 1, ddff 1, gg 1} ");
    expect("bb <a href=a></a><a href=b></a> cc", "a{bb 1, cc 1} b{bb 1, cc 1} ");
    expect("bb <a href=->cc</a> dd", "");
}

/* A token counts once for a target. */
static void test_bag_document__windows_of_one_target_do_not_overlap(void **state)
{
    (void)state;
    expect("bb cc <a href=a>dd</a> <a href=a>ff</a> gg hh", "a{bb 1, cc 1, dd 1, ff 1} a{gg 1} ");
    expect("bb <a href=a><img></a> <a href=a>cc</a> dd ff", "a{bb 1, cc 1} a{dd 1} ");
    expect("bb <a href=a></a><a href=a></a> cc", "a{bb 1, cc 1} ");
    expect("bb <a href=a>cc</a> <a href=b>dd</a> ff <a href=a>gg</a> hh",
           "a{bb 1, cc 1, dd 1} b{bb 1, cc 1, dd 1, ff 1} a{ff 1, gg 1, hh 1} ");
    expect("<a href=a>bb</a> cc dd ff gg <a href=a>hh</a>", "a{bb 1, cc 1} a{ff 1, gg 1, hh 1} ");
}

/* Stop words and what has no letters have places, and no words. */
static void test_bag_document__windows_are_counted_before_stop_words_go(void **state)
{
    (void)state;
    expect("bb the of <a href=a>cc</a> the dd", "a{cc 1} ");
    expect("bb 12 utf8 <a href=a>foxes</a> dd", "a{dd 1, fox 1, utf 1} ");
    expect("the <a href=a>of</a> 12", "");
    expect("bb a1fox <a href=a>fox2hen3cow</a>", "a{bb 1, cow 1, fox 2, hen 1} ");
}

static void test_bag_document__links_to_itself_make_no_window(void **state)
{
    (void)state;
    const struct bag_document_options options = options_of(2, 1);
    static const char html[] = "<a href=''>bb</a> <a href='#x'>cc</a> <a href=c>dd</a> "
                               "<a href=d>ff</a> <a href=->gg</a>";
    read_pieces(&options, 3, html, sizeof(html) - 1, 1);
    assert_string_equal(seen.text, "d{cc 1, dd 1, ff 1, gg 1} ");
    assert_int_equal(seen.counts.n_links, 5);
    assert_int_equal(seen.counts.n_own, 3);
    assert_int_equal(seen.counts.n_windows, 1);
    read_pieces(&options, BAG_NO_TARGET, html, sizeof(html) - 1, 1);
    assert_string_equal(seen.text, "c{bb 1, cc 1, dd 1, ff 1} d{cc 1, dd 1, ff 1, gg 1} ");
    assert_int_equal(seen.counts.n_own, 2);
}

/* F1, F3 */
static void test_bag_document__has_the_words_of_text_and_title(void **state)
{
    (void)state;
    const struct bag_document_options options = options_of(2, 1);
    static const char html[] = "<title>The foxes</title>fox <a href=a>hen</a> and hens, foxes "
                               "<svg><title>geese</title></svg><!-- cow --><script>ox</script>";
    read_pieces(&options, BAG_NO_TARGET, html, sizeof(html) - 1, 1);
    tell(&seen, "title", &seen.title);
    tell(&seen, "content", &seen.content);
    fflush(seen.told);
    assert_string_equal(seen.text, "a{fox 2, hen 1} title{fox 1} "
                                   "content{fox 3, gees 1, hen 2} ");
    assert_int_equal(seen.counts.n_tokens, 8);
    assert_int_equal(seen.counts.n_words, 6);
    read_pieces(&options, BAG_NO_TARGET, "", 0, 1);
    assert_int_equal(seen.content.n_words + seen.title.n_words, 0);
    read_pieces(&options, BAG_NO_TARGET, "<title>the</title>", 18, 1);
    assert_int_equal(seen.content.n_words + seen.title.n_words, 0);
}

/* -- against a list of tokens and links -- */

enum { N_TOKENS = 700, N_LINKS = 200, N_SPELLINGS = 40 };

struct list {
    unsigned tokens[N_TOKENS];
    struct {
        unsigned first, end, target; /* 0: none */
    } links[N_LINKS];
    unsigned n_links;
};

/* Three letters that no stemmer changes; each fifth is a stop word. */
static const char *spell(unsigned token)
{
    static const char letters[] = "bdfgkp";
    static char text[4];
    if (token % 5 == 0)
        return "the";
    snprintf(text, sizeof(text), "%c%cx", letters[token % 6], letters[token / 6 % 6]);
    return text;
}

static char html[TEXT_BYTES];

/* Links in order, some of them empty, some one behind the other, some many at one place. */
static void make_list(uint64_t *x, struct list *list)
{
    unsigned at = 0;
    for (unsigned i = 0; i < N_TOKENS; i++)
        list->tokens[i] = (unsigned)(mix64_next(x) % N_SPELLINGS);
    for (list->n_links = 0; list->n_links < N_LINKS; list->n_links++) {
        unsigned skip = mix64_next(x) % 3 ? 0 : (unsigned)(mix64_next(x) % 30),
                 n = mix64_next(x) % 3 ? (unsigned)(mix64_next(x) % 4) : 0;
        if (at + skip + n > N_TOKENS)
            break;
        list->links[list->n_links].first = at + skip;
        list->links[list->n_links].end = at = at + skip + n;
        list->links[list->n_links].target = (unsigned)(mix64_next(x) % (N_TARGETS + 1));
    }
}

static size_t write_list(const struct list *list)
{
    size_t n = 0;
    unsigned link = 0;
    for (unsigned i = 0; i <= N_TOKENS; i++) {
        if (link > 0 && list->links[link - 1].end == i &&
            list->links[link - 1].first < list->links[link - 1].end)
            n += (size_t)sprintf(html + n, "</a> ");
        for (; link < list->n_links && list->links[link].first == i; link++) {
            unsigned target = list->links[link].target;
            n += (size_t)sprintf(html + n, "<a href=%c>", target ? (int)('a' + target - 1) : '-');
            if (list->links[link].end > i) {
                link++;
                break;
            }
            n += (size_t)sprintf(html + n, "</a> ");
        }
        if (i < N_TOKENS)
            n += (size_t)sprintf(html + n, "%s%s", spell(list->tokens[i]),
                                 link > 0 && list->links[link - 1].end == i + 1 ? "" : " ");
    }
    return n;
}

/* The tokens that are near a link to a target. */
static void expect_list(const struct list *list, unsigned before, unsigned after)
{
    for (unsigned target = 1; target <= N_TARGETS; target++) {
        double weights[N_SPELLINGS * 2] = {0};
        bool near[N_TOKENS] = {false};
        for (unsigned i = 0; i < list->n_links; i++)
            for (unsigned j = 0; list->links[i].target == target && j < N_TOKENS; j++)
                near[j] |= j + before >= list->links[i].first && j < list->links[i].end + after;
        for (unsigned i = 0; i < seen.n_stems; i++) {
            for (unsigned j = 0; j < N_TOKENS; j++)
                weights[i] += near[j] && strcmp(spell(list->tokens[j]), seen.stems[i]) == 0;
            assert_true(weights[i] == seen.weights[target - 1][i]);
        }
    }
}

static void test_bag_document__windows_are_those_of_a_list_of_links(void **state)
{
    (void)state;
    static struct list list;
    uint64_t x = 9, n_windows = 0;
    for (unsigned i = 0; i < 60; i++) {
        unsigned before = (unsigned)(mix64_next(&x) % 12), after = (unsigned)(mix64_next(&x) % 12);
        const struct bag_document_options options = options_of(before, after);
        make_list(&x, &list);
        size_t size = write_list(&list);
        read_pieces(&options, BAG_NO_TARGET, html, size, i % 3 ? 7 : TEXT_BYTES);
        assert_int_equal(seen.counts.n_tokens, N_TOKENS);
        assert_int_equal(seen.counts.n_links, list.n_links);
        expect_list(&list, before, after);
        n_windows += seen.counts.n_windows;
    }
    assert_true(n_windows > 1000);
}

/* Any markup, wherever it is cut. */
static void test_bag_document__is_the_same_of_any_pieces(void **state)
{
    (void)state;
    static const char *const parts[] = {"bb ",
                                        "cc ",
                                        "the ",
                                        "dd2ff",
                                        " ",
                                        "<a href=a>",
                                        "</a>",
                                        "<a href=b#x>",
                                        "<a href=''>",
                                        "<a>",
                                        "<area href=c alt='gg hh'>",
                                        "<title>",
                                        "</title>",
                                        "<p>",
                                        "<b>",
                                        "</b>",
                                        "<img alt=jj>",
                                        "<!-- kk -->",
                                        "<script>ll</script>",
                                        "&amp;",
                                        "<",
                                        ">",
                                        "'",
                                        "<textarea>",
                                        "</textarea>"};
    enum { N = sizeof(parts) / sizeof(parts[0]) };
    uint64_t x = 11, n_windows = 0;
    for (unsigned i = 0; i < 200; i++) {
        const struct bag_document_options options = options_of(i % 5, i % 7);
        _cleanup_free_ char *whole = NULL;
        size_t n = 0;
        for (unsigned j = 0, n_parts = 20 << i % 8; j < n_parts; j++)
            n += (size_t)sprintf(html + n, "%s", parts[mix64_next(&x) % (i % 2 ? N : N - 8)]);
        for (unsigned piece = 0; piece < 3; piece++) {
            read_pieces(&options, BAG_NO_TARGET, html, n, piece ? 6 * piece - 5 : TEXT_BYTES);
            tell(&seen, "title", &seen.title);
            tell(&seen, "content", &seen.content);
            fflush(seen.told);
            if (whole)
                assert_string_equal(seen.text, whole);
            else
                whole = strdup(seen.text);
            assert_true(seen.counts.n_windows <= seen.counts.n_links - seen.counts.n_own);
        }
        n_windows += seen.counts.n_windows;
    }
    assert_true(n_windows > 1000);
}

/* -- bounds -- */

/* Links that stand at one place, more than are looked at there; and one a block behind them. Where
 * the blocks end makes no difference. */
static void test_bag_document__leaves_out_links_where_too_many_are(void **state)
{
    (void)state;
    const struct bag_document_options options = options_of(8, 8);
    for (unsigned lead = 8; lead < TOKEN_BLOCK_MAX + 8; lead += lead < 930 ? 461 : 8) {
        size_t n = 0;
        for (unsigned i = 0; i < lead; i++)
            n += (size_t)sprintf(html + n, "bb ");
        for (unsigned i = 0; i < BAG_LINKS_AT_ONCE + 10; i++)
            n += (size_t)sprintf(html + n, "<a href=%c></a>", 'a' + (int)(i % 2));
        for (unsigned i = 0; i < 2 * TOKEN_BLOCK_MAX; i++)
            n += (size_t)sprintf(html + n, "%s ", i == 20 ? "<a href=d>kk</a>" : "cc");
        n += (size_t)sprintf(html + n, "<a href=c>mm</a>");
        read_pieces(&options, BAG_NO_TARGET, html, n, lead % 3 ? 100 : TEXT_BYTES);
        assert_int_equal(seen.counts.n_left_out, 11);
        assert_string_equal(seen.text, "a{bb 8, cc 8} b{bb 8, cc 8} c{cc 8, mm 1} ");
    }
}

/* A link that is not closed has the last of its words, and those before and behind it as far as
 * these are among them. */
static void test_bag_document__a_window_has_so_many_words(void **state)
{
    (void)state;
    const struct bag_document_options options = options_of(8, 8);
    size_t n = (size_t)sprintf(html, "bb <a href=a>");
    for (unsigned i = 0; i < BAG_WINDOW_MOST_WORDS; i++)
        n += (size_t)sprintf(html + n, "cc ");
    n += (size_t)sprintf(html + n, "</a> dd <a href=b>ff</a>");
    read_pieces(&options, BAG_NO_TARGET, html, n, TEXT_BYTES);
    char told[200];
    snprintf(told, sizeof(told), "a{cc %d, dd 1, ff 1} b{cc 7, dd 1, ff 1} ",
             BAG_WINDOW_MOST_WORDS - 2);
    assert_string_equal(seen.text, told);
}

/* Words past the bound are in windows, and counted. */
static void test_bag_document__content_has_so_many_words(void **state)
{
    (void)state;
    struct bag_document_options options = options_of(8, 8);
    options.most_words = 2;
    struct bag_document *document;
    assert_int_equal(bag_document_new(&options, &sink, &document), 0);
    bag_document_free(document);
    read_pieces(&options, BAG_NO_TARGET, "bb cc bb dd cc", 14, 1);
    assert_int_equal(seen.content.n_words, 2);
    assert_int_equal(seen.counts.n_words, 4);
    assert_true(seen.counts.cut);
    options.most_words = 0;
    assert_int_equal(bag_document_new(&options, &sink, &document), -EINVAL);
    options = options_of(8, 8);
    options.words.tokens = TOKENS_WORDS_AND_TAGS;
    assert_int_equal(bag_document_new(&options, &sink, &document), -EINVAL);
}

/* Of a document without words nothing is known, and nothing breaks. */
static void test_bag_document__of_bytes_is_empty(void **state)
{
    (void)state;
    const struct bag_document_options options = options_of(8, 8);
    struct bag_document *document;
    struct canon *canon;
    struct text_form form;
    struct bag content, title;
    struct bag_document_counts counts;
    assert_int_equal(bag_document_new(&options, &sink, &document), 0);
    const struct canon_sink to = bag_document_sink(document);
    assert_int_equal(canon_new(&to, &canon), 0);
    bag_document_begin(document, BAG_NO_TARGET);
    canon_begin(canon);
    for (uint64_t i = 0; i < 1 << 16; i++)
        canon_feed(canon, &(uint64_t){mix64(i)}, 8);
    canon_finish(canon, &form);
    assert_int_equal(bag_document_finish(document, &content, &title, &counts), 0);
    assert_int_equal(content.n_words + title.n_words, 0);
    bag_done(&content);
    canon_free(canon);
    bag_document_free(document);
}

static int set_up(void **state)
{
    (void)state;
    struct policy policy;
    assert_int_equal(policy_preset("default", &policy), 0);
    return shingle_hash_new(&policy, &hash);
}

static int tear_down(void **state)
{
    (void)state;
    forget();
    fclose(seen.told);
    free(seen.text);
    shingle_hash_free(hash);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bag_document__windows_are_tokens_around_the_text_of_a_link),
        cmocka_unit_test(test_bag_document__windows_go_over_other_links),
        cmocka_unit_test(test_bag_document__windows_of_one_target_do_not_overlap),
        cmocka_unit_test(test_bag_document__windows_are_counted_before_stop_words_go),
        cmocka_unit_test(test_bag_document__links_to_itself_make_no_window),
        cmocka_unit_test(test_bag_document__has_the_words_of_text_and_title),
        cmocka_unit_test(test_bag_document__windows_are_those_of_a_list_of_links),
        cmocka_unit_test(test_bag_document__is_the_same_of_any_pieces),
        cmocka_unit_test(test_bag_document__leaves_out_links_where_too_many_are),
        cmocka_unit_test(test_bag_document__a_window_has_so_many_words),
        cmocka_unit_test(test_bag_document__content_has_so_many_words),
        cmocka_unit_test(test_bag_document__of_bytes_is_empty),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
