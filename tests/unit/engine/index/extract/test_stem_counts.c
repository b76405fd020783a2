/* The stems of documents that are sketched, counted twice: on the way to the sketch, and by the bag
 * of the document's text (engine/topic/bags/bag_document.h). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mix.h"
#include "engine/index/extract/stem_counts.h"
#include "engine/index/index_state.h"
#include "engine/topic/bags/bag_document.h"
#include "tests/lib/fixtures/indexed_tree.h"

static bool never(void *user)
{
    (void)user;
    return false;
}

static struct bag content_of(struct indexed_tree *f, const char *text)
{
    const struct bag_document_options options = {
        .words = bag_words_default(), .hash = f->index->hash, .most_words = 1 << 20};
    struct bag_document_counts counts;
    struct bag_document *document;
    struct bag content, title;
    struct text_form form;
    struct canon *canon;
    assert_int_equal(bag_document_new(&options, &(struct bag_document_sink){0}, &document), 0);
    const struct canon_sink sink = bag_document_sink(document);
    assert_int_equal(canon_new(&sink, &canon), 0);
    bag_document_begin(document, BAG_NO_TARGET);
    canon_begin(canon);
    canon_feed(canon, text, strlen(text));
    canon_finish(canon, &form);
    assert_int_equal(bag_document_finish(document, &content, &title, &counts), 0);
    bag_done(&title);
    canon_free(canon);
    bag_document_free(document);
    return content;
}

static struct bag counted_of(struct indexed_tree *f, struct sketching *sketching,
                             struct stem_counts *counts, const char *text)
{
    char reason[SKETCHING_REASON_BYTES];
    struct document_sketch sketch;
    struct bag bag;
    size_t size_bytes;
    uint8_t *row;
    scratch_write(scratch_path(f->root, "document"), text);
    int fd = open(scratch_path(f->root, "document"), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(sketching_run_whole(sketching, fd, &sketch, reason), 0);
    close(fd);
    assert_int_equal(stem_counts_finish(counts, &row, &size_bytes), 0);
    assert_int_equal(bags_decode((struct kv_slice){row, size_bytes}, &bag), 0);
    free(row);
    return bag;
}

static void assert_same(const struct bag *counted, const struct bag *content)
{
    assert_int_equal(counted->n_words, content->n_words);
    for (uint32_t i = 0; i < counted->n_words; i++) {
        assert_true(counted->words[i].word == bags_word(content->words[i].word));
        assert_true(counted->words[i].weight == content->words[i].weight);
    }
}

enum { N_VOCABULARY = 21 };
static const char *const vocabulary[N_VOCABULARY] = {
    "the",      "Foxes",     "running", "runs",        "1984",     "relational", "conditional",
    "don't",    "naïve",     "STRASSE", "ponies",      "caresses", "of",         "hop-o'-my-thumb",
    "generate", "oscillate", "sky",     "electricity", "and",      "valency",    "digitizer"};

/* Of few words, so that all come again and again, and of very many, so that the cache does not
 * have them. */
static char *make_text(uint64_t *seed, unsigned n, unsigned n_others)
{
    char *text = malloc((size_t)n * 24 + 1), *at = text;
    assert_non_null(text);
    *at = '\0';
    for (unsigned i = 0; i < n; i++) {
        const unsigned of = (unsigned)(mix64_next(seed) % (N_VOCABULARY + n_others));
        if (of < N_VOCABULARY)
            at += sprintf(at, "%s", vocabulary[of]);
        else
            for (unsigned k = of; k; k /= 20)
                *at++ = "bcdfghjklmnpqrstvwxz"[k % 20];
        *at++ = i % 11 ? ' ' : '\n';
        *at = '\0';
    }
    return text;
}

static void test_stem_counts__are_those_of_the_text(void **state)
{
    struct indexed_tree *f = *state;
    struct sketching *sketching;
    struct stem_counts *counts;
    uint64_t seed = 1;
    const struct sketching_by by = index_sketching_by(f->index, true);
    assert_int_equal(sketching_new(&by, never, NULL, &sketching), 0);
    assert_int_equal(stem_counts_collect(f->index->hash, sketching, &counts), 0);
    for (unsigned i = 0; i < 60; i++) {
        _cleanup_free_ char *text = make_text(&seed, i * i, i % 3 ? 150 : 0);
        _cleanup_(bag_done) struct bag content = content_of(f, text),
                                       counted = counted_of(f, sketching, counts, text);
        assert_same(&counted, &content);
    }
    /* After a long one, of which no more than the first words count, a short one. */
    _cleanup_free_ char *text = make_text(&seed, 2 * STEM_COUNTS_TOKENS, 1000000);
    _cleanup_(bag_done) struct bag of_long = counted_of(f, sketching, counts, text);
    assert_int_equal(of_long.n_words, BAGS_MOST_WORDS);
    _cleanup_(bag_done) struct bag content = content_of(f, "and a pony"),
                                   counted = counted_of(f, sketching, counts, "the Ponies");
    assert_int_equal(counted.n_words, 1);
    assert_same(&counted, &content);
    _cleanup_(bag_done) struct bag digits =
        counted_of(f, sketching, counts, "fox2hen 1984 v1.2 deadbeef0 a pony");
    assert_same(&digits, &content); /* the dot parts "v1" and "2" */
    sketching_free(sketching);
    stem_counts_free(counts);
}

static void test_stem_counts__stop_where_a_document_is_long(void **state)
{
    struct indexed_tree *f = *state;
    struct sketching *sketching;
    struct stem_counts *counts;
    char text[STEM_COUNTS_TOKENS * 4 + 64] = "";
    const struct sketching_by by = index_sketching_by(f->index, true);
    assert_int_equal(sketching_new(&by, never, NULL, &sketching), 0);
    assert_int_equal(stem_counts_collect(f->index->hash, sketching, &counts), 0);
    for (size_t i = 0; i < STEM_COUNTS_TOKENS + 5; i++)
        memcpy(text + 4 * i, i == 0 ? "hen " : i < STEM_COUNTS_TOKENS ? "fox " : "cat ", 5);
    _cleanup_(bag_done) struct bag counted = counted_of(f, sketching, counts, text);
    assert_int_equal(counted.n_words, 2);
    assert_true(counted.words[0].weight + counted.words[1].weight == STEM_COUNTS_TOKENS);
    sketching_free(sketching);
    stem_counts_free(counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_stem_counts__are_those_of_the_text, indexed_tree_setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_stem_counts__stop_where_a_document_is_long,
                                        indexed_tree_setup, indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
