/* Documents that share passages, as the index finds them, by brute force. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mix.h"
#include "tests/lib/fixtures/check_fixture.h"
#include "tests/lib/fixtures/index_fixture.h"
#include "tests/lib/scratch.h"

enum { N_DOCUMENTS = 14, LENGTH = 300 };

/* Words as numbers; w0, w1, .. in the documents. */
static unsigned texts[N_DOCUMENTS][LENGTH];
static uint64_t seed;

static void write_text(struct indexed_tree *f, const char *name, const unsigned *words, size_t n)
{
    char *text = malloc(n * 12 + 1), *at = text;
    assert_non_null(text);
    *at = '\0';
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "w%u%c", words[i], i % 9 == 8 ? '\n' : ' ');
    scratch_write(scratch_path(f->tree, "%s", name), text);
    free(text);
}

static const char *name_of(unsigned i)
{
    static char names[N_DOCUMENTS][8];
    snprintf(names[i], sizeof(names[i]), "d%02u", i);
    return names[i];
}

/* Passages of any length from one to the other, and words of which some repeat. */
static void make_texts(struct indexed_tree *f)
{
    for (unsigned i = 0; i < N_DOCUMENTS; i++)
        for (unsigned k = 0; k < LENGTH; k++)
            texts[i][k] = (unsigned)(mix64_next(&seed) % (i % 3 ? 2000 : 20));
    for (unsigned n = 4; n < 44; n += 2) {
        const unsigned from = (unsigned)(mix64_next(&seed) % N_DOCUMENTS),
                       to = (unsigned)(mix64_next(&seed) % N_DOCUMENTS);
        memmove(texts[to] + mix64_next(&seed) % (LENGTH - n),
                texts[from] + mix64_next(&seed) % (LENGTH - n), n * sizeof(unsigned));
    }
    for (unsigned i = 0; i < N_DOCUMENTS; i++)
        write_text(f, name_of(i), texts[i], LENGTH);
}

/* The longest run of words that two share. */
static unsigned longest_run(const unsigned *a, const unsigned *b)
{
    static unsigned ends[LENGTH + 1][LENGTH + 1];
    unsigned longest = 0;
    for (unsigned i = 1; i <= LENGTH; i++)
        for (unsigned k = 1; k <= LENGTH; k++) {
            ends[i][k] = a[i - 1] == b[k - 1] ? ends[i - 1][k - 1] + 1 : 0;
            longest = ends[i][k] > longest ? ends[i][k] : longest;
        }
    return longest;
}

static void open_with(struct indexed_tree *f, unsigned passages)
{
    char *error = NULL;
    struct index_options options;
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    options = indexed_tree_options(f);
    options.passages = passages;
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
}

static int ask(struct indexed_tree *f, const char *name, const struct index_query *query,
               struct kin_list *ret_list)
{
    struct file_key key = indexed_tree_key(f, name);
    struct index_query of_passages = *query;
    of_passages.relation = INDEX_SHARES;
    return index_similar(f->index, &key, &of_passages, ret_list);
}

static const struct kin *find(const struct kin_list *list, const char *name)
{
    for (size_t i = 0; i < list->n_kin; i++)
        if (strcmp(list->kin[i].path, name) == 0)
            return &list->kin[i];
    return NULL;
}

/* All that share 24 words in a row are found, and nobody who shares fewer than 8; the length is
 * told to within a window at each end. */
static void assert_found_as_by_hand(struct indexed_tree *f, unsigned bound)
{
    unsigned n_found = 0;
    for (unsigned i = 0; i < N_DOCUMENTS; i++) {
        struct kin_list list = {0};
        assert_int_equal(ask(f, name_of(i), &(struct index_query){.common = 1000}, &list), 0);
        assert_int_equal(list.n_words, LENGTH);
        assert_int_equal(list.n_common, 0);
        for (unsigned k = 0; k < N_DOCUMENTS; k++) {
            const struct kin *kin = find(&list, name_of(k));
            const unsigned longest = i == k ? 0 : longest_run(texts[i], texts[k]);
            if (longest >= bound)
                assert_non_null(kin);
            if (longest < INDEX_PASSAGES_LEAST)
                assert_null(kin);
            if (!kin)
                continue;
            n_found++;
            assert_true(kin->longest_passage >= INDEX_PASSAGES_LEAST);
            assert_true(kin->longest_passage + 2 * (bound - 8) >= longest);
            assert_true(kin->shared_words >= kin->longest_passage);
        }
        for (size_t k = 1; k < list.n_kin; k++)
            assert_true(list.kin[k - 1].longest_passage >= list.kin[k].longest_passage);
        kin_list_done(&list);
    }
    assert_true(n_found > 4);
}

static void test_index__all_passages_of_the_bound_are_found(void **state)
{
    struct indexed_tree *f = *state;
    static const unsigned bounds[] = {INDEX_PASSAGES_USUAL, 12, INDEX_PASSAGES_LEAST};
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        seed = i + 1;
        make_texts(f);
        open_with(f, bounds[i]); /* another one: all are read again */
        assert_found_as_by_hand(f, bounds[i]);
        index_stop(f->index);
        assert_true(assert_right(f, true).counts.postings_p > 0);
        indexed_tree_stop(f);
    }
}

static void test_index__has_no_passages_unless_they_are_wanted(void **state)
{
    struct indexed_tree *f = *state;
    struct kin_list list = {0};
    seed = 7;
    make_texts(f);
    open_with(f, INDEX_PASSAGES_AS_STORED);
    assert_int_equal(ask(f, "d00", &(struct index_query){0}, &list), -EOPNOTSUPP);
    indexed_tree_stop(f);
    open_with(f, INDEX_PASSAGES_USUAL);
    assert_found_as_by_hand(f, INDEX_PASSAGES_USUAL);
    indexed_tree_stop(f);
    open_with(f, INDEX_PASSAGES_AS_STORED);
    assert_found_as_by_hand(f, INDEX_PASSAGES_USUAL);
    struct index_status status;
    index_get_status(f->index, &status);
    assert_int_equal(status.sketched_documents, 0); /* none is read twice */
    indexed_tree_stop(f);
    open_with(f, INDEX_PASSAGES_NONE);
    assert_int_equal(ask(f, "d00", &(struct index_query){0}, &list), -EOPNOTSUPP);
    index_stop(f->index);
    assert_int_equal(assert_right(f, true).counts.postings_p, 0);
    for (unsigned table = TABLE_PASSAGES; table <= TABLE_PASSAGES_OF; table++) {
        _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, table);
        assert_int_equal(rows.n_entries, 0);
    }
}

/* A text that shares nothing with others but by chance. */
static void make_own_text(unsigned i)
{
    for (unsigned k = 0; k < LENGTH; k++)
        texts[i][k] = (unsigned)(mix64_next(&seed) % 1000000);
}

static void test_index__passages_follow_what_is_written_and_removed(void **state)
{
    struct indexed_tree *f = *state;
    struct kin_list list = {0};
    const struct index_query query = {.wait_ms = 10000};
    seed = 9;
    make_texts(f);
    make_own_text(1);
    make_own_text(2);
    write_text(f, "d02", texts[2], LENGTH);
    memcpy(texts[1] + 50, texts[2] + 90, 60 * sizeof(unsigned));
    write_text(f, "d01", texts[1], LENGTH);
    open_with(f, INDEX_PASSAGES_USUAL);
    assert_int_equal(ask(f, "d02", &query, &list), 0);
    assert_non_null(find(&list, "d01"));
    kin_list_done(&list);
    /* Written without the passage, another one is written with it. */
    write_text(f, "d01", texts[1], 40);
    write_text(f, "new", texts[2] + 80, 100);
    index_rescan(f->index);
    indexed_tree_settle(f);
    assert_int_equal(ask(f, "d02", &query, &list), 0);
    assert_null(find(&list, "d01"));
    assert_non_null(find(&list, "new"));
    kin_list_done(&list);
    assert_int_equal(unlink(scratch_path(f->tree, "new")), 0);
    note_gone(f, "new");
    assert_int_equal(ask(f, "d02", &query, &list), 0);
    assert_null(find(&list, "new"));
    kin_list_done(&list);
    index_stop(f->index);
    assert_int_equal(assert_right(f, true).counts.dead, 0);
}

static void test_index__what_many_have_is_common_text(void **state)
{
    struct indexed_tree *f = *state;
    struct kin_list list = {0};
    seed = 11;
    make_texts(f);
    for (unsigned i = 1; i <= 5; i++) {
        make_own_text(i);
        for (unsigned k = 100; k < 160; k++)
            texts[i][k] = 2000000 + k;
        write_text(f, name_of(i), texts[i], LENGTH);
    }
    open_with(f, INDEX_PASSAGES_USUAL);
    assert_int_equal(ask(f, "d01", &(struct index_query){.common = 4}, &list), 0);
    for (unsigned i = 2; i <= 5; i++)
        assert_non_null(find(&list, name_of(i)));
    assert_int_equal(list.n_common, 0);
    kin_list_done(&list);
    assert_int_equal(ask(f, "d01", &(struct index_query){.common = 3}, &list), 0);
    /* At its ends not all of them may have the same fingerprints. */
    for (size_t i = 0; i < list.n_kin; i++)
        assert_true(list.kin[i].longest_passage <= INDEX_PASSAGES_USUAL);
    bool is_common[LENGTH] = {false};
    for (size_t i = 0; i < list.n_common; i++)
        for (uint64_t k = list.common[i].first; k < list.common[i].end; k++)
            is_common[k] = true;
    for (unsigned k = 0; k < LENGTH; k++)
        assert_true(k >= 117 && k < 143   ? is_common[k]
                    : k >= 100 && k < 160 ? true
                                          : !is_common[k]);
    kin_list_done(&list);
    /* The best alone */
    assert_int_equal(ask(f, "d01", &(struct index_query){.limit = 2}, &list), 0);
    assert_int_equal(list.n_kin, 2);
    kin_list_done(&list);
}

static uint64_t run_of(const struct kv_entry *row)
{
    return get_be64((const uint8_t *)row->key.data + 2);
}

static uint64_t last_run(struct indexed_tree *f)
{
    _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, TABLE_PASSAGES);
    uint64_t last = 0;
    for (size_t i = 0; i < rows.n_entries; i++)
        last = run_of(&rows.entries[i]) > last ? run_of(&rows.entries[i]) : last;
    return last;
}

static unsigned lose_runs_behind(struct indexed_tree *f, uint64_t run)
{
    _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, TABLE_PASSAGES);
    unsigned n = 0;
    for (size_t i = 0; i < rows.n_entries; i++)
        if (run_of(&rows.entries[i]) > run) {
            write_row(f, TABLE_PASSAGES, rows.entries[i].key, NULL);
            n++;
        }
    return n;
}

/* Documents that have what d02 has, but for their beginning. */
static void write_copies(struct indexed_tree *f, char first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const char name[] = {first, (char)('0' + i), '\0'};
        write_text(f, name, texts[2] + 10 * i, LENGTH - 10 * i);
    }
}

static void assert_same(const struct kin_list *a, const struct kin_list *b)
{
    assert_int_equal(a->n_kin, b->n_kin);
    assert_int_equal(a->n_found, b->n_found);
    assert_int_equal(a->n_common, b->n_common);
    for (size_t i = 0; i < a->n_kin; i++) {
        assert_string_equal(a->kin[i].path, b->kin[i].path);
        assert_int_equal(a->kin[i].longest_passage, b->kin[i].longest_passage);
        assert_int_equal(a->kin[i].shared_words, b->kin[i].shared_words);
    }
}

/* Their removals are a run of their own, which comes behind that of what they remove, and is lost
 * in the end as with a crash. */
static void test_index__who_is_gone_does_not_make_a_text_common(void **state)
{
    struct indexed_tree *f = *state;
    struct kin_list before = {0}, after = {0};
    const struct index_query query = {.common = 3};
    seed = 19;
    make_texts(f);
    memcpy(texts[1] + 50, texts[2] + 90, 60 * sizeof(unsigned));
    write_text(f, "d01", texts[1], LENGTH);
    open_with(f, INDEX_PASSAGES_USUAL);
    assert_int_equal(ask(f, "d02", &query, &before), 0);
    assert_non_null(find(&before, "d01"));
    indexed_tree_stop(f);
    write_copies(f, 'g', 8);
    open_with(f, INDEX_PASSAGES_USUAL);
    assert_int_equal(ask(f, "d02", &query, &after), 0);
    assert_true(after.n_common > 0);
    kin_list_done(&after);
    index_stop(f->index);
    const uint64_t run = last_run(f);
    indexed_tree_stop(f);
    for (char digit = '0'; digit < '8'; digit++)
        assert_int_equal(unlink(scratch_path(f->tree, "g%c", digit)), 0);
    open_with(f, INDEX_PASSAGES_USUAL);
    indexed_tree_stop(f);
    open_with(f, INDEX_PASSAGES_USUAL);
    assert_int_equal(ask(f, "d02", &query, &after), 0);
    assert_same(&before, &after);
    kin_list_done(&after);
    index_stop(f->index);
    assert_true(lose_runs_behind(f, run) > 0);
    indexed_tree_stop(f);
    open_with(f, INDEX_PASSAGES_USUAL);
    assert_int_equal(ask(f, "d02", &query, &after), 0);
    assert_same(&before, &after);
    kin_list_done(&after);
    kin_list_done(&before);
}

/* Those whose names begin with h are hidden. */
static enum index_right may_read(void *user, const char *path, const struct file_key *key)
{
    (void)user, (void)key;
    return *path == 'h' ? INDEX_NAME_REFUSED : INDEX_ALLOWED;
}

/* What hidden documents have neither shows them nor makes a text common. */
static void test_index__hidden_documents_do_not_count_for_passages(void **state)
{
    struct indexed_tree *f = *state;
    struct kin_list before = {0}, after = {0}, all = {0};
    const struct index_query query = {.common = 3, .may_read = may_read, .wait_ms = 10000};
    seed = 13;
    make_texts(f);
    memcpy(texts[1] + 50, texts[2] + 90, 60 * sizeof(unsigned));
    write_text(f, "d01", texts[1], LENGTH);
    open_with(f, INDEX_PASSAGES_USUAL);
    assert_int_equal(ask(f, "d02", &query, &before), 0);
    assert_non_null(find(&before, "d01"));
    write_copies(f, 'h', 8);
    index_rescan(f->index);
    indexed_tree_settle(f);
    assert_int_equal(ask(f, "d02", &query, &after), 0);
    assert_same(&before, &after);
    assert_int_equal(ask(f, "h0", &query, &all), -ENOENT);
    assert_int_equal(ask(f, "d02", &(struct index_query){.common = 3}, &all), 0);
    assert_true(all.n_common > 0);
    kin_list_done(&all);
    assert_int_equal(ask(f, "d02", &(struct index_query){0}, &all), 0);
    assert_non_null(find(&all, "h0"));
    kin_list_done(&all);
    kin_list_done(&before);
    kin_list_done(&after);
}

static bool never(void *user)
{
    (void)user;
    return false;
}

/* Who asks with a copy of a document is told what the document is, and the document itself. */
static void test_index__a_document_in_no_tree_is_asked_for_its_passages(void **state)
{
    struct indexed_tree *f = *state;
    _cleanup_(index_foreign_free_p) struct index_foreign *foreign = NULL;
    struct kin_list list = {0}, own = {0};
    const struct index_query query = {.relation = INDEX_SHARES};
    seed = 15;
    make_texts(f);
    open_with(f, INDEX_PASSAGES_USUAL);
    _cleanup_close_ int fd = open(scratch_path(f->tree, "d03"), O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(index_read_foreign(f->index, fd, INDEX_SHARES, never, NULL, &foreign), 0);
    assert_int_equal(index_foreign_similar(foreign, &query, &list), 0);
    assert_int_equal(ask(f, "d03", &query, &own), 0);
    assert_int_equal(list.n_kin, own.n_kin + 1);
    assert_string_equal(list.kin[0].path, "d03");
    assert_true(list.kin[0].shared_words > LENGTH - 40);
    for (size_t i = 0; i < own.n_kin; i++)
        assert_string_equal(list.kin[i + 1].path, own.kin[i].path);
    kin_list_done(&list);
    kin_list_done(&own);
}

static void assert_wrong_and_put_back(struct indexed_tree *f, unsigned table,
                                      const struct kv_entry *row, const struct kv_slice *value)
{
    write_row(f, table, row->key, value);
    assert_found(f, schema_tables[table].name);
    write_row(f, table, row->key, &row->value);
    assert_right(f, false);
}

static void test_index__check_finds_passages_that_are_wrong(void **state)
{
    struct indexed_tree *f = *state;
    uint8_t key[PASSAGES_KEY_BYTES] = {0};
    seed = 17;
    for (unsigned i = 0; i < N_DOCUMENTS; i++) { /* none of which repeats itself */
        make_own_text(i);
        write_text(f, name_of(i), texts[i], LENGTH);
    }
    open_with(f, INDEX_PASSAGES_USUAL);
    index_stop(f->index);
    (void)assert_right(f, true);
    _cleanup_(kv_page_done) struct kv_page postings = read_rows(f, TABLE_PASSAGES);
    _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, TABLE_PASSAGES_OF);
    assert_int_equal(rows.n_entries, N_DOCUMENTS);
    for (size_t i = 0; i < postings.n_entries; i += 37)
        assert_wrong_and_put_back(f, TABLE_PASSAGES, &postings.entries[i], NULL);
    for (size_t i = 0; i < rows.n_entries; i += 5) {
        struct kv_slice shorter = rows.entries[i].value;
        shorter.size_bytes--;
        assert_wrong_and_put_back(f, TABLE_PASSAGES_OF, &rows.entries[i], &shorter);
        shorter.size_bytes -= 5; /* without its last fingerprint */
        assert_wrong_and_put_back(f, TABLE_PASSAGES_OF, &rows.entries[i], &shorter);
    }
    /* A row of one posting, 4711, of this document */
    uint8_t value[8 + 3 + 4] = {[9] = 4711 >> 8, [10] = 4711 & 0xff};
    const struct kv_slice row_key = {key, sizeof(key)}, row = {value, sizeof(value)};
    put_be64(value, get_be64(rows.entries[0].key.data));
    write_row(f, TABLE_PASSAGES, row_key, &row);
    assert_found(f, "a posting of no passage");
    value[11] = 0x80; /* it is removed, and never was there */
    write_row(f, TABLE_PASSAGES, row_key, &row);
    assert_right(f, false);
    value[11] = 0;
    put_be64(value, 999999); /* of nobody: no harm */
    write_row(f, TABLE_PASSAGES, row_key, &row);
    assert_int_equal(assert_right(f, false).counts.dead, 1);
    write_row(f, TABLE_PASSAGES, row_key, NULL);
    put_be64(key, 999999);
    write_row(f, TABLE_PASSAGES_OF, (struct kv_slice){key, 8}, &rows.entries[0].value);
    assert_found(f, "passages of nobody");
    write_row(f, TABLE_PASSAGES_OF, (struct kv_slice){key, 8}, NULL);
    (void)assert_right(f, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_index__all_passages_of_the_bound_are_found, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__has_no_passages_unless_they_are_wanted, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__passages_follow_what_is_written_and_removed,
                                        setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__what_many_have_is_common_text, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__who_is_gone_does_not_make_a_text_common, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__hidden_documents_do_not_count_for_passages,
                                        setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__a_document_in_no_tree_is_asked_for_its_passages,
                                        setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__check_finds_passages_that_are_wrong, setup,
                                        indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
