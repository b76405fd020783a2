/* Documents that are related, as the index finds them, by brute force: all pairs of bags. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/index/tables/word_lists.h"
#include "tests/lib/fixtures/check_fixture.h"
#include "tests/lib/fixtures/index_fixture.h"
#include "tests/lib/fixtures/subjects_fixture.h"
#include "tests/lib/scratch.h"

enum { N_DOCUMENTS = 90, N_SUBJECTS = 6 };

static void write_all(struct indexed_tree *f)
{
    for (unsigned i = 0; i < N_DOCUMENTS; i++)
        write_document(f, name_of(i), i % N_SUBJECTS, 1 + draw(MOST_LENGTH));
}

static int ask_with(struct indexed_tree *f, const char *name, struct index_query query,
                    struct kin_list *ret_list)
{
    struct file_key key = indexed_tree_key(f, name);
    query.relation = INDEX_RELATED;
    query.wait_ms = 10000;
    return index_similar(f->index, &key, &query, ret_list);
}

static int ask(struct indexed_tree *f, const char *name, double threshold,
               struct kin_list *ret_list)
{
    return ask_with(f, name, (struct index_query){.threshold = threshold}, ret_list);
}

static const struct kin *find(const struct kin_list *list, const char *name)
{
    for (size_t i = 0; i < list->n_kin; i++)
        if (strcmp(list->kin[i].path, name) == 0)
            return &list->kin[i];
    return NULL;
}

/* -- the other way -- */

static struct bag bags[N_DOCUMENTS];

static unsigned df_of(uint64_t fingerprint, unsigned n)
{
    unsigned df = 0;
    for (unsigned i = 0; i < n; i++)
        for (uint32_t k = 0; k < bags[i].n_words; k++)
            df += bags[i].words[k].word == fingerprint;
    return df;
}

/* The stored bags of the first n documents, weighed by hand. */
static void weigh_by_hand(struct indexed_tree *f, unsigned n)
{
    static unsigned dfs[N_DOCUMENTS][BAGS_MOST_WORDS];
    const unsigned most = n / 2 > 64 ? n / 2 : 64;
    for (unsigned i = 0; i < n; i++) {
        _cleanup_(record_done) struct record record = {0};
        bag_done(&bags[i]);
        assert_int_equal(
            topics_get(f->index->topics, 1, document_of(f, name_of(i), &record), &bags[i]), 0);
    }
    for (unsigned i = 0; i < n; i++)
        for (uint32_t k = 0; k < bags[i].n_words; k++)
            dfs[i][k] = df_of(bags[i].words[k].word, n);
    for (unsigned i = 0; i < n; i++) {
        uint32_t n_kept = 0;
        for (uint32_t k = 0; k < bags[i].n_words; k++) {
            const double idf = log((double)n / dfs[i][k]);
            if (dfs[i][k] < 2 || dfs[i][k] > most || !(idf > 0))
                continue;
            bags[i].words[n_kept] = bags[i].words[k];
            bags[i].words[n_kept++].weight *= idf;
        }
        bags[i].n_words = n_kept;
        if (n_kept)
            assert_int_equal(bag_normalise(&bags[i], BAG_WHOLE), 0);
    }
}

static unsigned assert_as_by_hand(struct indexed_tree *f, unsigned n, double threshold)
{
    unsigned n_found = 0;
    weigh_by_hand(f, n);
    for (unsigned i = 0; i < n; i++) {
        struct kin_list list = {0};
        assert_int_equal(ask(f, name_of(i), threshold, &list), 0);
        assert_string_equal(list.incomplete, "");
        for (unsigned k = 0; k < n; k++) {
            const struct kin *kin = find(&list, name_of(k));
            double sim = 0;
            if (i == k || bag_resemblance(&bags[i], &bags[k], &sim) < 0 || sim < threshold ||
                sim == 0) {
                assert_null(kin);
                continue;
            }
            assert_non_null(kin);
            assert_true(kin->resemblance == sim && kin->exact && kin->error == 0);
            n_found++;
        }
        for (size_t k = 1; k < list.n_kin; k++)
            assert_true(list.kin[k - 1].resemblance >= list.kin[k].resemblance);
        kin_list_done(&list);
    }
    return n_found;
}

static void test_index__related_are_those_whose_bags_resemble_each_other(void **state)
{
    struct indexed_tree *f = *state;
    static const double thresholds[] = {0, INDEX_RELATED_THRESHOLD, 0.5};
    unsigned n_found[3];
    seed = 1;
    write_all(f);
    open_with(f, INDEX_TOPICS_CONTENT);
    for (size_t i = 0; i < 3; i++)
        n_found[i] = assert_as_by_hand(f, N_DOCUMENTS, thresholds[i]);
    assert_true(n_found[0] > n_found[1] && n_found[1] > n_found[2] && n_found[2] > 0);
    /* Subjects are told apart: nearly all of the ten nearest are of the document's. */
    unsigned n_right = 0, n = 0;
    for (unsigned i = 0; i < N_DOCUMENTS; i++) {
        struct kin_list list = {0};
        assert_int_equal(ask_with(f, name_of(i), (struct index_query){.limit = 10}, &list), 0);
        for (size_t k = 0; k < list.n_kin; k++, n++)
            n_right += (unsigned)atoi(list.kin[k].path + 1) % N_SUBJECTS == i % N_SUBJECTS;
        kin_list_done(&list);
    }
    assert_true(n_right > n * 9 / 10);
    index_stop(f->index);
    assert_right(f, true);
}

static unsigned count_rows(struct indexed_tree *f, unsigned table)
{
    _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, table);
    return (unsigned)rows.n_entries;
}

static void test_index__has_no_words_unless_they_are_wanted(void **state)
{
    struct indexed_tree *f = *state;
    struct index_status status;
    struct kin_list list = {0};
    seed = 2;
    write_all(f);
    open_with(f, INDEX_TOPICS_AS_STORED);
    assert_int_equal(ask(f, "d00", 0, &list), -EOPNOTSUPP);
    indexed_tree_stop(f);
    open_with(f, INDEX_TOPICS_CONTENT);
    assert_true(assert_as_by_hand(f, N_DOCUMENTS, 0.1) > 0);
    index_get_status(f->index, &status);
    assert_int_equal(status.sketched_documents,
                     N_DOCUMENTS); /* read without, they are read again */
    indexed_tree_stop(f);
    open_with(f, INDEX_TOPICS_AS_STORED);
    assert_true(assert_as_by_hand(f, N_DOCUMENTS, 0.1) > 0);
    index_get_status(f->index, &status);
    assert_int_equal(status.sketched_documents, 0); /* none is read twice */
    index_stop(f->index);
    assert_int_equal(count_rows(f, TABLE_BAGS), N_DOCUMENTS);
    assert_true(count_rows(f, TABLE_WORD_LISTS) > 0);
    indexed_tree_stop(f);
    open_with(f, INDEX_TOPICS_OFF);
    assert_int_equal(ask(f, "d00", 0, &list), -EOPNOTSUPP);
    index_stop(f->index);
    assert_right(f, true);
    assert_int_equal(count_rows(f, TABLE_BAGS), 0);
    assert_int_equal(count_rows(f, TABLE_WORD_LISTS), 0);
}

/* Who may not read everything is told nothing: weights depend on all. */
static enum index_right may_read_all(void *user, const char *path, const struct file_key *key)
{
    (void)user, (void)path, (void)key;
    return INDEX_ALLOWED;
}

static void test_index__what_is_related_is_for_who_may_read_everything(void **state)
{
    struct indexed_tree *f = *state;
    struct kin_list list = {0};
    seed = 3;
    write_all(f);
    open_with(f, INDEX_TOPICS_CONTENT);
    assert_int_equal(ask_with(f, "d00", (struct index_query){.may_read = may_read_all}, &list),
                     -EACCES);
}

static void test_index__bags_follow_what_is_written_renamed_and_removed(void **state)
{
    struct indexed_tree *f = *state;
    struct kin_list list = {0};
    seed = 4;
    write_all(f);
    open_with(f, INDEX_TOPICS_CONTENT);
    /* Renamed: the same document, for which nothing is counted anew. */
    assert_int_equal(rename(scratch_path(f->tree, "d06"), scratch_path(f->tree, "moved")), 0);
    note_gone(f, "moved");
    note_gone(f, "d06");
    assert_int_equal(ask(f, "d00", 0, &list), 0);
    assert_non_null(find(&list, "moved"));
    assert_null(find(&list, "d06"));
    assert_string_equal(list.incomplete, "");
    kin_list_done(&list);
    assert_int_equal(rename(scratch_path(f->tree, "moved"), scratch_path(f->tree, "d06")), 0);
    note_gone(f, "d06");
    note_gone(f, "moved");
    /* Removed */
    assert_int_equal(unlink(scratch_path(f->tree, "d12")), 0);
    note_gone(f, "d12");
    assert_int_equal(ask(f, "d00", 0, &list), 0);
    assert_null(find(&list, "d12"));
    kin_list_done(&list);
    write_document(f, "d12", 0, 200);
    note_gone(f, "d12");
    /* Rewritten: about another subject from now on, and so it is asked about. */
    write_document(f, "d01", 0, MOST_LENGTH);
    note_gone(f, "d01");
    assert_int_equal(ask_with(f, "d01", (struct index_query){.limit = 5}, &list), 0);
    assert_true(list.n_kin == 5);
    for (size_t i = 0; i < list.n_kin; i++)
        assert_int_equal(atoi(list.kin[i].path + 1) % N_SUBJECTS, 0);
    kin_list_done(&list);
    indexed_tree_settle(f);
    assert_true(assert_as_by_hand(f, N_DOCUMENTS, 0.1) > 0);
    assert_int_equal(ask(f, "d00", 0.1, &list), 0);
    assert_non_null(find(&list, "d01"));
    kin_list_done(&list);
    index_stop(f->index);
    assert_right(f, true);
    assert_int_equal(count_rows(f, TABLE_BAGS), N_DOCUMENTS);
}

static void test_index__of_equal_texts_one_is_related(void **state)
{
    struct indexed_tree *f = *state;
    struct kin_list list = {0};
    seed = 5;
    write_all(f);
    const uint64_t before = seed;
    for (unsigned i = 0; i < 5; i++) {
        static const char *const names[] = {"copy0", "copy1", "copy2", "copy3", "copy4"};
        seed = before;
        write_document(f, names[i], 0, 300);
    }
    open_with(f, INDEX_TOPICS_CONTENT);
    assert_int_equal(ask(f, "d00", 0.1, &list), 0);
    unsigned n = 0;
    for (size_t i = 0; i < list.n_kin; i++)
        n += strncmp(list.kin[i].path, "copy", 4) == 0;
    assert_int_equal(n, 1);
    kin_list_done(&list);
    assert_int_equal(ask(f, "copy3", 0, &list), 0);
    assert_true(list.n_kin > 0);
    for (size_t i = 0; i < list.n_kin; i++)
        assert_int_not_equal(strncmp(list.kin[i].path, "copy", 4), 0);
    kin_list_done(&list);
}

static bool never(void *user)
{
    (void)user;
    return false;
}

static void test_index__a_document_of_no_tree_has_the_related_of_its_copy(void **state)
{
    struct indexed_tree *f = *state;
    struct index_foreign *foreign;
    struct kin_list list = {0}, other = {0};
    const struct index_query query = {.relation = INDEX_RELATED, .threshold = 0.1};
    seed = 6;
    write_all(f);
    open_with(f, INDEX_TOPICS_CONTENT);
    int fd = open(scratch_path(f->tree, "d07"), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(index_read_foreign(f->index, fd, INDEX_RELATED, never, NULL, &foreign), 0);
    close(fd);
    assert_int_equal(index_foreign_similar(foreign, &query, &list), 0);
    assert_int_equal(ask(f, "d07", 0.1, &other), 0);
    assert_int_equal(list.n_kin, other.n_kin);
    for (size_t i = 0; i < list.n_kin; i++) {
        assert_string_equal(list.kin[i].path, other.kin[i].path);
        assert_true(list.kin[i].resemblance == other.kin[i].resemblance);
    }
    kin_list_done(&list);
    kin_list_done(&other);
    index_foreign_free(foreign);
}

/* -- long lists -- */

static uint64_t word_of(struct indexed_tree *f, const char *stem)
{
    uint8_t bytes[256] = {0}; /* behind a token may be read */
    const uint32_t end = (uint32_t)strlen(stem);
    uint64_t fingerprint;
    memcpy(bytes, stem, end);
    shingle_hash_tokens(f->index->hash, &(struct token_block){bytes, &end, 1}, &fingerprint);
    return bags_word(fingerprint);
}

/* Bags of documents that there are not, of which every ninth has the word, before all others. */
static void put_bags_before(struct indexed_tree *f, unsigned n, uint64_t common)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    for (unsigned i = 1; i <= n; i++) {
        uint64_t words[3] = {bags_word(mix64_next(&seed)) | 1, bags_word(mix64_next(&seed)) | 2,
                             common | 3},
                 scratch[3];
        uint8_t row[BAGS_ROW_MAX_BYTES], key[8];
        const size_t n_bytes = bags_encode(words, i % 9 ? 2 : 3, scratch, row);
        kv_batch_put(batch, TABLE_BAGS, bags_key(key, i), (struct kv_slice){row, n_bytes});
    }
    assert_int_equal(kv_apply(f->index->kv, batch), 0);
    f->index->next_sid = n + 1;
}

static unsigned count_parts(struct indexed_tree *f, uint64_t word)
{
    _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, TABLE_WORD_LISTS);
    unsigned n = 0;
    for (size_t i = 0; i < rows.n_entries; i++) {
        uint32_t epoch, part;
        uint64_t found;
        assert_int_equal(word_lists_decode_key(rows.entries[i].key, &epoch, &found, &part), 0);
        n += found == word;
    }
    return n;
}

/* The first part of a list becomes its second one, too. */
static void repeat_part(struct indexed_tree *f, uint64_t word)
{
    _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, TABLE_WORD_LISTS);
    for (size_t i = 0; i < rows.n_entries; i++) {
        const struct kv_entry *row = &rows.entries[i];
        uint8_t key[WORD_LISTS_KEY_BYTES];
        uint32_t epoch, part;
        uint64_t found;
        assert_int_equal(word_lists_decode_key(row->key, &epoch, &found, &part), 0);
        if (found != word || part != 0)
            continue;
        const struct kv_slice value = {(const uint8_t *)row->value.data + WORD_LISTS_DF_BYTES,
                                       row->value.size_bytes - WORD_LISTS_DF_BYTES};
        write_row(f, TABLE_WORD_LISTS, word_lists_key(key, epoch, word, 1), &value);
    }
}

static void test_index__a_list_in_parts_is_read_to_its_end(void **state)
{
    enum { N_BEFORE = 80000 };
    struct indexed_tree *f = *state;
    struct kin_list list = {0};
    char *error = NULL;
    seed = 9;
    scratch_write(scratch_path(f->tree, "one"), "qqqqqq qqqqqq bbbbbb");
    scratch_write(scratch_path(f->tree, "two"), "qqqqqq dddddd");
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    struct index_options options = indexed_tree_options(f);
    options.topics = INDEX_TOPICS_CONTENT;
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
    const uint64_t common = word_of(f, "qqqqqq");
    put_bags_before(f, N_BEFORE, common);
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    assert_int_equal(ask(f, "one", 0, &list), 0);
    assert_non_null(find(&list, "two"));
    assert_true(list.kin[0].resemblance == 1); /* no other word of theirs is in another bag */
    kin_list_done(&list);
    index_stop(f->index);
    assert_true(count_parts(f, common) > 1);
    repeat_part(f, common);
    assert_int_equal(ask(f, "one", 0, &list), -EUCLEAN);
}

/* -- damage -- */

static void test_index__damaged_bags_and_lists_are_told(void **state)
{
    struct indexed_tree *f = *state;
    seed = 8;
    write_all(f);
    open_with(f, INDEX_TOPICS_CONTENT);
    index_stop(f->index);
    assert_right(f, true);
    static const unsigned tables[] = {TABLE_BAGS, TABLE_WORD_LISTS};
    for (size_t i = 0; i < 2; i++) {
        _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, tables[i]);
        const struct kv_entry *row = &rows.entries[rows.n_entries / 2];
        const struct kv_slice cut = {row->value.data, row->value.size_bytes - 1};
        write_row(f, tables[i], row->key, &cut);
        assert_found(f, "a row that is cut");
        write_row(f, tables[i], row->key, &row->value);
    }
    uint8_t key[8];
    const uint8_t empty[] = {1};
    const struct kv_slice value = {empty, 1};
    write_row(f, TABLE_BAGS, bags_key(key, 1 << 20), &value);
    assert_found(f, "a bag of no document");
    write_row(f, TABLE_BAGS, bags_key(key, 1 << 20), NULL);
    assert_right(f, true);
}

/* Lists are made of bags, and bags of documents, which are read for that. */
static void test_index__damaged_bags_and_lists_are_mended(void **state)
{
    static const unsigned tables[] = {TABLE_WORD_LISTS, TABLE_BAGS};
    struct indexed_tree *f = *state;
    char *error = NULL;
    seed = 10;
    write_all(f);
    usleep(50000); /* nothing of what is read is racy */
    open_with(f, INDEX_TOPICS_CONTENT);
    for (size_t i = 0; i < 2; i++) {
        index_stop(f->index);
        {
            _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, tables[i]);
            const struct kv_entry *row = &rows.entries[rows.n_entries / 2];
            const struct kv_slice cut = {row->value.data, row->value.size_bytes - 1};
            write_row(f, tables[i], row->key, &cut);
        }
        index_close(f->index, 0);
        const struct index_options options = indexed_tree_options(f);
        if (index_repair(&options, &(struct index_repair_options){0}, &error) !=
            INDEX_MENDING_DERIVED)
            fail_msg("%s", error ? error : "it is mended otherwise");
        backing_close(f->backing);
        open_with(f, INDEX_TOPICS_AS_STORED);
        assert_true(assert_as_by_hand(f, N_DOCUMENTS, 0.1) > 0);
        index_stop(f->index);
        assert_right(f, true);
        indexed_tree_stop(f);
        open_with(f, INDEX_TOPICS_AS_STORED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_index__related_are_those_whose_bags_resemble_each_other, setup,
            indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__has_no_words_unless_they_are_wanted, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__what_is_related_is_for_who_may_read_everything,
                                        setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__bags_follow_what_is_written_renamed_and_removed,
                                        setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__of_equal_texts_one_is_related, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(
            test_index__a_document_of_no_tree_has_the_related_of_its_copy, setup,
            indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__a_list_in_parts_is_read_to_its_end, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__damaged_bags_and_lists_are_told, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index__damaged_bags_and_lists_are_mended, setup,
                                        indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
