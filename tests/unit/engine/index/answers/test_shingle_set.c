/* What is contained in a document, as the index finds it where all of it is read, and by its sketch
 * alone. By the other route, the words of each two are compared in full, shingle by shingle. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/ratio.h"
#include "engine/index/answers/shingle_set.h"
#include "engine/sketch/documents/exact_set.h"
#include "tests/lib/fixtures/index_fixture.h"

enum { W = 5, BOOK_WORDS = 12000, CHAPTERS = 30, NOTES = 40, TORN = 40, OTHERS = 40 };

/* Some words in a row of a numbering of their own, put behind what there is. */
static void put_words(FILE *out, unsigned from, unsigned n)
{
    for (unsigned i = from; i < from + n; i++)
        fprintf(out, "word%u%s", i, i % 9 ? " " : ",\n");
}

static void write_words(struct indexed_tree *f, const char *name, unsigned from, unsigned n,
                        unsigned own)
{
    static unsigned last = 10000000; /* which no other document has */
    FILE *out = fopen(scratch_path(f->tree, "%s", name), "w");
    assert_non_null(out);
    put_words(out, from, n);
    put_words(out, last, own);
    last += own;
    assert_int_equal(fclose(out), 0);
}

/* Chapters of all lengths, notes of some words, documents that are in the book in part, the shorter
 * the less, and others. */
static void fill(struct indexed_tree *f)
{
    char name[32];
    unsigned at = 0;
    write_words(f, "book", 0, BOOK_WORDS, 0);
    for (unsigned i = 0; i < CHAPTERS; at += 25 * (i + 1), i++) {
        snprintf(name, sizeof(name), "chapter%02u", i);
        write_words(f, name, at, 25 * (i + 1), 0);
    }
    for (unsigned i = 0; i < NOTES; i++) {
        snprintf(name, sizeof(name), "note%02u", i);
        write_words(f, name, 290 * i, W + i / 4, 0);
    }
    for (unsigned i = 0; i < TORN; i++) {
        snprintf(name, sizeof(name), "torn%02u", i);
        write_words(f, name, 300 * i, 20 + 3 * i, 5 + 23 * i % 97);
    }
    for (unsigned i = 0; i < OTHERS; i++) {
        snprintf(name, sizeof(name), "other%02u", i);
        write_words(f, name, 280 * i, i % 3 ? 0 : W, 100 + 10 * i);
    }
}

static struct exact_set *read_set(struct indexed_tree *f, const char *name)
{
    struct exact_set *set = NULL;
    int fd = open(scratch_path(f->tree, "%s", name), O_RDONLY | O_CLOEXEC);
    assert_int_equal(exact_set_read(fd, NULL, W, NULL, SIZE_MAX / 64, &set), 0);
    close(fd);
    return set;
}

static const struct kin *find(const struct kin_list *list, const char *name)
{
    for (size_t i = 0; i < list->n_kin; i++)
        if (strcmp(list->kin[i].path, name) == 0)
            return &list->kin[i];
    return NULL;
}

static struct kin_list ask_some(struct indexed_tree *f, const char *name,
                                enum index_relation relation, double threshold, size_t limit)
{
    const struct index_query query = {.relation = relation, .threshold = threshold, .limit = limit};
    struct kin_list list = {0};
    struct file_key key = indexed_tree_key(f, name);
    assert_int_equal(index_similar(f->index, &key, &query, &list), 0);
    return list;
}

static struct kin_list ask(struct indexed_tree *f, const char *name, enum index_relation relation,
                           double threshold)
{
    return ask_some(f, name, relation, threshold, 0);
}

/* The bound under which less than one in a million is missed by the 16 smallest: (1-c)^16. Those
 * of whose sketch all is known, 128 shingles or fewer, are estimated without error. */
static void expect_part(const struct kin_list *list, const char *name, double containment,
                        size_t n_shingles, double threshold)
{
    const struct kin *kin = find(list, name);
    const bool is_exact = n_shingles <= 128;
    const double error = is_exact ? 1e-6 : 4.5 * sqrt(0.25 / 128);
    const double shown = fmin(containment, RATIO_BELOW_ONE);
    if (!kin) {
        if (shown >= threshold + error)
            fail_msg("%s is not found, of which %.4f is in it", name, containment);
        return;
    }
    /* Said to be exact where it is. */
    assert_int_equal(kin->containment_samples > 0, !is_exact);
    if (fabs(kin->containment - shown) > error)
        fail_msg("%s: %.4f is in it, found %.4f", name, containment, kin->containment);
}

static void test_shingle_set__finds_all_parts_of_a_whole(void **state)
{
    static const struct {
        const char *kind;
        unsigned n;
    } kinds[] = {{"chapter", CHAPTERS}, {"note", NOTES}, {"torn", TORN}, {"other", OTHERS}};
    const double threshold = 0.6;
    struct indexed_tree *f = *state;
    char name[32];
    size_t n_whole = 0, n_torn = 0;
    fill(f);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    struct kin_list list = ask(f, "book", INDEX_PARTS, threshold);
    struct exact_set *book = read_set(f, "book");
    assert_string_equal(list.incomplete, "");
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        for (unsigned i = 0; i < kinds[k].n; i++) {
            double containment = 0;
            snprintf(name, sizeof(name), "%s%02u", kinds[k].kind, i);
            struct exact_set *set = read_set(f, name);
            assert_int_equal(exact_set_containment(set, book, &containment), 0);
            expect_part(&list, name, containment, exact_set_count(set), threshold);
            n_whole += containment == 1;
            n_torn += containment < 1 && containment >= threshold;
            exact_set_free(set);
        }
    }
    assert_int_equal(n_whole, CHAPTERS + NOTES);
    assert_true(n_torn > TORN / 4 && n_torn < TORN);
    assert_null(find(&list, "book"));
    for (size_t i = 1; i < list.n_kin; i++)
        assert_true(list.kin[i - 1].containment > list.kin[i].containment ||
                    (list.kin[i - 1].containment == list.kin[i].containment &&
                     strcmp(list.kin[i - 1].path, list.kin[i].path) < 0));
    /* Some are the first of all. */
    for (size_t limit = 1; limit < list.n_kin; limit += 10) {
        struct kin_list some = ask_some(f, "book", INDEX_PARTS, threshold, limit);
        assert_int_equal(some.n_kin, limit);
        for (size_t i = 0; i < limit; i++)
            assert_string_equal(some.kin[i].path, list.kin[i].path);
        kin_list_done(&some);
    }
    exact_set_free(book);
    kin_list_done(&list);
}

/* What is contained in it, and what contains it, are the same pairs: of parts long enough for both.
 */
static void test_shingle_set__a_part_finds_its_whole(void **state)
{
    struct indexed_tree *f = *state;
    fill(f);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    struct kin_list parts = ask(f, "book", INDEX_PARTS, 0.9);
    for (unsigned i = CHAPTERS / 2; i < CHAPTERS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "chapter%02u", i);
        struct kin_list wholes = ask(f, name, INDEX_WHOLES, 0.9);
        assert_non_null(find(&wholes, "book"));
        assert_non_null(find(&parts, name));
        kin_list_done(&wholes);
        struct kin_list below = ask(f, name, INDEX_PARTS, 0.9);
        assert_null(find(&below, "book"));
        kin_list_done(&below);
    }
    kin_list_done(&parts);
}

static bool yes(void *user)
{
    return *(bool *)user;
}

/* All shingles are those of the exact set, and only of the content of the record. */
static void test_shingle_set__is_of_the_record_in_hand(void **state)
{
    struct indexed_tree *f = *state;
    bool stopped = false;
    const struct index_query query = {.stop = yes, .stop_user = &stopped};
    struct document document = {0};
    struct shingle_set set = {0};
    write_words(f, "book", 0, BOOK_WORDS, 0);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    struct file_key key = indexed_tree_key(f, "book");
    struct exact_set *book = read_set(f, "book");
    assert_int_equal(answer_document(f->index, &key, &query, &document), 0);
    assert_int_equal(shingle_set_read(f->index, &document, &query, &set), 1);
    assert_int_equal(set.fingerprints.n_numbers, exact_set_count(book));
    const struct min_sketch *sketch = &document.record->sketch;
    for (uint32_t i = 0; i < sketch->n_values; i++)
        assert_int_equal(sketch->values[i], set.fingerprints.numbers[i]);
    shingle_set_done(&set);

    struct record another = *document.record;
    another.content_fingerprint[0] ^= 1;
    assert_int_equal(shingle_set_read(f->index,
                                      &(struct document){.sid = document.sid, .record = &another},
                                      &query, &set),
                     0);
    shingle_set_done(&set);
    struct record longer = *document.record;
    longer.sketch.n_tokens = SHINGLE_SET_MAX + 1;
    assert_int_equal(shingle_set_read(f->index,
                                      &(struct document){.sid = document.sid, .record = &longer},
                                      &query, &set),
                     0);
    shingle_set_done(&set);
    stopped = true;
    assert_int_equal(shingle_set_read(f->index, &document, &query, &set), -EINTR);
    shingle_set_done(&set);
    document_done(&document);
    exact_set_free(book);
}

/* A document that is too long is asked by its sketch, and says from which length on a part is
 * found: one in 512 of 1.2 million shingles is in V, as in 2,358 with 0.99. Of the chapters of
 * 16,000 words one is missed with (1-1/512)^16000, once in 10^13. */
static void test_shingle_set__of_a_long_document_long_parts_are_found(void **state)
{
    enum { WORDS = 1200000, LONG = 4, CHAPTER_WORDS = 16000 };
    struct indexed_tree *f = *state;
    char name[32], expected[64];
    write_words(f, "book", 0, WORDS, 0);
    for (unsigned i = 0; i < LONG; i++) {
        snprintf(name, sizeof(name), "chapter%02u", i);
        write_words(f, name, 100000 * i, CHAPTER_WORDS, 0);
    }
    indexed_tree_start(f);
    indexed_tree_settle(f);
    struct kin_list list = ask(f, "book", INDEX_PARTS, 0.9);
    assert_int_equal(list.n_kin, LONG);
    /* ln(0.01) / ln(1-1/512) = 2355.5 */
    snprintf(expected, sizeof(expected), "parts of less than %u shingles", 2356);
    if (!strstr(list.incomplete, expected))
        fail_msg("%s", list.incomplete);
    kin_list_done(&list);

    /* Nor are all shingles kept of one in no tree. */
    _cleanup_(index_foreign_free_p) struct index_foreign *foreign = NULL;
    const struct index_query query = {.relation = INDEX_PARTS, .threshold = 0.9};
    bool stopped = false;
    int fd = open(scratch_path(f->tree, "book"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(index_read_foreign(f->index, fd, INDEX_PARTS, yes, &stopped, &foreign), 0);
    close(fd);
    assert_int_equal(index_foreign_similar(foreign, &query, &list), 0);
    assert_int_equal(list.n_kin, LONG + 1);
    assert_non_null(strstr(list.incomplete, expected));
    kin_list_done(&list);
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_shingle_set__finds_all_parts_of_a_whole),
        ON_A_TREE(test_shingle_set__a_part_finds_its_whole),
        ON_A_TREE(test_shingle_set__is_of_the_record_in_hand),
        ON_A_TREE(test_shingle_set__of_a_long_document_long_parts_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
