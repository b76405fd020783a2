/* Checking finds every row that is missing, too many, or not what it should be. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/bytes.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/members/cluster_sizes.h"
#include "engine/index/index_state.h"
#include "engine/index/members/member.h"
#include "engine/index/members/membership.h"
#include "tests/lib/fixtures/check_fixture.h"
#include "tests/lib/fixtures/indexed_tree.h"

/* Rows of meta that nothing else tells of: the next start makes them again, or asks. */
static bool is_dispensable(unsigned table, struct kv_slice key)
{
    static const char *const names[] = {"source",           "made",           "derived_sid",
                                        "postings_flushed", "cluster_counts", "document_counts",
                                        "largest_modulus"};
    for (size_t i = 0; table == TABLE_META && i < sizeof(names) / sizeof(names[0]); i++)
        if (key.size_bytes == strlen(names[i]) && memcmp(key.data, names[i], key.size_bytes) == 0)
            return true;
    return false;
}

static void test_check__every_row_that_is_missing_is_found(void **state)
{
    struct indexed_tree *f = *state;
    write_some(f);
    for (unsigned table = 0; table < SCHEMA_N_TABLES; table++) {
        _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, table);
        size_t step = rows.n_entries > 100 ? 13 : 1;
        assert_true(rows.n_entries > 0 || table >= TABLE_INTENTS);
        for (size_t i = 0; i < rows.n_entries; i += step) {
            char what[64];
            if (is_dispensable(table, rows.entries[i].key))
                continue;
            snprintf(what, sizeof(what), "row %zu of %s", i, schema_tables[table].name);
            write_row(f, table, rows.entries[i].key, NULL);
            assert_found(f, what);
            write_row(f, table, rows.entries[i].key, &rows.entries[i].value);
        }
    }
    (void)assert_right(f, true);
}

static void test_check__a_table_that_is_lost_is_found(void **state)
{
    struct indexed_tree *f = *state;
    write_some(f);
    for (unsigned table = 0; table < TABLE_INTENTS; table++) {
        _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, table);
        for (size_t i = 0; i < rows.n_entries; i++)
            write_row(f, table, rows.entries[i].key, NULL);
        assert_found(f, schema_tables[table].name);
        for (size_t i = 0; i < rows.n_entries; i++)
            write_row(f, table, rows.entries[i].key, &rows.entries[i].value);
    }
    (void)assert_right(f, true);
}

/* A key too short or too long, and a value cut short or one byte too long, are no rows. */
static void test_check__rows_that_are_none_are_found(void **state)
{
    struct indexed_tree *f = *state;
    write_some(f);
    for (unsigned table = TABLE_RECORDS; table < SCHEMA_N_TABLES; table++) {
        _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, table);
        static const uint8_t bytes[400] = {1};
        const struct kv_slice keys[] = {{bytes, 1}, {bytes, sizeof(bytes)}};
        for (size_t i = 0; i < 2; i++) {
            write_row(f, table, keys[i], &(struct kv_slice){"", 0});
            assert_found(f, schema_tables[table].name);
            write_row(f, table, keys[i], NULL);
        }
        if (rows.n_entries == 0)
            continue;
        const struct kv_entry *row = &rows.entries[rows.n_entries / 2];
        struct kv_slice shorter = row->value;
        if (table != TABLE_FILES && shorter.size_bytes) {
            shorter.size_bytes--;
            write_row(f, table, row->key, &shorter);
            assert_found(f, schema_tables[table].name);
        }
        if (table != TABLE_FILES && table != TABLE_LINKS) {
            char longer[8192] = "";
            assert_true(row->value.size_bytes < sizeof(longer) - 1);
            memcpy(longer, row->value.data, row->value.size_bytes);
            write_row(f, table, row->key, &(struct kv_slice){longer, row->value.size_bytes + 1});
            assert_found(f, schema_tables[table].name);
        }
        write_row(f, table, row->key, &row->value);
    }
    (void)assert_right(f, false);
}

static void assert_extra_found(struct indexed_tree *f, unsigned table, struct kv_slice key,
                               struct kv_slice value, const char *what)
{
    write_row(f, table, key, &value);
    assert_found(f, what);
    write_row(f, table, key, NULL);
}

static void test_check__rows_too_many_are_found(void **state)
{
    struct indexed_tree *f = *state;
    _cleanup_(record_done) struct record record = {0}, copy = {0}, original = {0};
    const struct kv_slice nothing = {"", 0};
    write_some(f);
    uint64_t sid = document_of(f, "1-1", &record), copied = document_of(f, "0-0-copy", &copy);
    uint8_t key[64], value[8];

    for (unsigned table = TABLE_TIER_R; table <= TABLE_TIER_C; table++) {
        put_be64(key, 12345);
        put_be64(key + 8, sid);
        assert_extra_found(f, table, (struct kv_slice){key, 16}, nothing, "posting of no shingle");
    }
    /* Of two in a class the one that is not the first. */
    uint64_t first = document_of(f, "sub/0-0", &original);
    put_be64(key, copy.sketch.values[0]);
    put_be64(key + 8, first > copied ? first : copied);
    assert_extra_found(f, TABLE_TIER_R, (struct kv_slice){key, 16}, nothing, "posting of a copy");

    /* Of a document that is gone: counted, and no harm. */
    put_be64(key + 8, sid + 100000);
    write_row(f, TABLE_TIER_R, (struct kv_slice){key, 16}, &nothing);
    assert_int_equal(assert_right(f, true).counts.dead, 1);
    write_row(f, TABLE_TIER_R, (struct kv_slice){key, 16}, NULL);
    assert_int_equal(assert_right(f, true).counts.dead, 0);

    record_class(&copy, key);
    put_be64(key + CLASS_BYTES, sid);
    assert_extra_found(f, TABLE_CLASSES, (struct kv_slice){key, 25}, nothing, "wrong class");
    put_be64(key + CLASS_BYTES, sid + 100000);
    assert_extra_found(f, TABLE_CLASSES, (struct kv_slice){key, 25}, nothing, "class of nobody");

    put_be64(key, sid + 100000);
    put_be64(value, 1);
    assert_extra_found(f, TABLE_CLUSTER_OF, (struct kv_slice){key, 8}, (struct kv_slice){value, 8},
                       "cluster of nobody");

    struct member member;
    uint8_t member_bytes[MEMBER_KEY_MAX_BYTES];
    member_init(&member, sid, &record);
    assert_extra_found(f, TABLE_MEMBERS, member_key(member_bytes, 99, &member), nothing,
                       "member of a second cluster");
    put_be64(key, 99);
    put_be64(value, 2);
    assert_extra_found(f, TABLE_MEMBERS, (struct kv_slice){key, SIZE_KEY_BYTES},
                       (struct kv_slice){value, SIZE_VALUE_BYTES}, "cluster without members");

    /* A second record of a file, and one of a file that is not known. */
    struct record_key sid_bytes;
    _cleanup_(kv_buf_done) struct kv_buf encoded = {0};
    assert_int_equal(record_encode(&record, &encoded), 0);
    assert_extra_found(f, TABLE_RECORDS, record_key(&sid_bytes, sid + 100), kv_buf_slice(&encoded),
                       "second record");
    (void)assert_right(f, true);
}

/* A row in the place of another, or besides. */
static void assert_row_found(struct indexed_tree *f, unsigned table, struct kv_slice key,
                             struct kv_slice value, const char *what)
{
    _cleanup_(kv_buf_done) struct kv_buf before = {0};
    int r = kv_get(f->index->kv, table, key, &before);
    const struct kv_slice as_it_was = kv_buf_slice(&before);
    write_row(f, table, key, &value);
    assert_found(f, what);
    write_row(f, table, key, r == 0 ? &as_it_was : NULL);
}

/* Names, links, files: what is there from one side alone, or nowhere, or of somebody else. */
static void test_check__entries_that_do_not_fit_are_found(void **state)
{
    struct indexed_tree *f = *state;
    const struct kv_slice nothing = {"", 0};
    uint8_t key[512], other[512];
    write_some(f);
    _cleanup_(kv_page_done) struct kv_page names = read_rows(f, TABLE_NAMES);
    _cleanup_(kv_page_done) struct kv_page links = read_rows(f, TABLE_LINKS);
    _cleanup_(kv_page_done) struct kv_page files = read_rows(f, TABLE_FILES);
    const struct kv_entry *name = &names.entries[1], *link = &links.entries[1];
    size_t n = name->key.size_bytes;
    memcpy(key, name->key.data, n);
    key[n] = 'x';
    assert_row_found(f, TABLE_NAMES, (struct kv_slice){key, n + 1}, name->value, "a name alone");
    key[n] = '/';
    assert_row_found(f, TABLE_NAMES, (struct kv_slice){key, n + 1}, name->value, "no name");
    assert_row_found(f, TABLE_NAMES, name->key, names.entries[2].value, "another's name");
    memcpy(key, link->key.data, link->key.size_bytes);
    key[link->key.size_bytes] = 'x';
    assert_row_found(f, TABLE_LINKS, (struct kv_slice){key, link->key.size_bytes + 1}, nothing,
                     "a link alone");

    /* From above and from below, in a directory that nobody knows. */
    struct file_key child = indexed_tree_key(f, "1-1"), nowhere = indexed_tree_key(f, "sub");
    nowhere.bytes[nowhere.size_bytes - 1] ^= 0x55;
    const struct kv_slice below = {other, catalogue_link_key(&child, &nowhere, "x", other)};
    key[0] = nowhere.size_bytes;
    memcpy(key + 1, nowhere.bytes, nowhere.size_bytes);
    key[1 + nowhere.size_bytes] = 'x';
    const struct kv_slice above = {key, nowhere.size_bytes + 2u};
    for (size_t i = 0; i < names.n_entries; i++) {
        struct kv_slice rest = names.entries[i].key;
        struct file_key parent;
        assert_int_equal(catalogue_take_key(&rest, &parent), 0);
        if (rest.size_bytes != 3 || memcmp(rest.data, "1-1", 3) != 0)
            continue;
        write_row(f, TABLE_LINKS, below, &nothing);
        assert_row_found(f, TABLE_NAMES, above, names.entries[i].value, "nowhere");
        write_row(f, TABLE_LINKS, below, NULL);
    }

    const struct kv_entry *file = &files.entries[0];
    memcpy(key, file->key.data, file->key.size_bytes);
    key[file->key.size_bytes - 1] ^= 0x55;
    assert_row_found(f, TABLE_FILES, (struct kv_slice){key, file->key.size_bytes}, file->value,
                     "a file without a name");
    assert_row_found(f, TABLE_FILES, file->key, files.entries[1].value, "another's record");
    (void)assert_right(f, true);
}

/* Records, sizes and former ids that are rows, and say what is not so. */
static void test_check__rows_that_say_what_is_not_so_are_found(void **state)
{
    struct indexed_tree *f = *state;
    struct membership membership;
    _cleanup_(record_done) struct record record = {0};
    _cleanup_(kv_buf_done) struct kv_buf encoded = {0};
    struct record_key sid_key;
    uint8_t key[16], value[8];
    uint64_t id, size;
    write_some(f);
    const uint64_t sid = document_of(f, "1-1", &record);
    assert_int_equal(living_clusters_of(f->index->clusters, sid, &id, &size), 0);
    record.sketch.policy_id++;
    assert_int_equal(record_encode(&record, &encoded), 0);
    assert_row_found(f, TABLE_RECORDS, record_key(&sid_key, sid), kv_buf_slice(&encoded),
                     "another policy");

    const struct kv_slice number = {value, sizeof(value)};
    put_be64(key, id);
    put_be64(value, size + 1);
    assert_row_found(f, TABLE_MEMBERS, (struct kv_slice){key, 8}, number, "a size that lies");
    put_be64(key, (uint64_t)1 << 63 | 77);
    put_be64(value, 99999);
    assert_row_found(f, TABLE_MEMBERS, (struct kv_slice){key, 8}, number, "an id of no cluster");
    put_be64(value, id);
    assert_row_found(f, TABLE_MEMBERS, (struct kv_slice){key, 8}, number, "an id not known of");
    put_be64(key, (uint64_t)1 << 63 | id); /* to be found leads nowhere: a crash may leave it */
    put_be64(key + 8, 77);
    write_row(f, TABLE_MEMBERS, (struct kv_slice){key, 16}, &(struct kv_slice){"", 0});
    (void)assert_right(f, true);

    assert_int_equal(membership_init(&membership, f->index->kv, 0), 0);
    assert_int_equal(membership_move_all(&membership, id, 99999), 0);
    assert_found(f, "an id that was never given out");
    membership_done(&membership, false);
}

/* Every byte of a sketch that changes shows. */
static void test_check__a_sketch_that_changed_is_found(void **state)
{
    struct indexed_tree *f = *state;
    _cleanup_(record_done) struct record record = {0};
    struct record_key key;
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    write_some(f);
    uint64_t sid = document_of(f, "2-1", &record);
    assert_int_equal(record_encode(&record, &value), 0);
    uint8_t *bytes = value.data;
    for (size_t at = value.size_bytes - 1000; at < value.size_bytes; at += 29) {
        bytes[at] ^= 4;
        const struct kv_slice changed = kv_buf_slice(&value);
        write_row(f, TABLE_RECORDS, record_key(&key, sid), &changed);
        assert_found(f, "byte of a sketch");
        bytes[at] ^= 4;
    }
    const struct kv_slice as_it_was = kv_buf_slice(&value);
    write_row(f, TABLE_RECORDS, record_key(&key, sid), &as_it_was);
    (void)assert_right(f, true);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_check__every_row_that_is_missing_is_found),
        CASE(test_check__a_table_that_is_lost_is_found),
        CASE(test_check__rows_that_are_none_are_found),
        CASE(test_check__rows_too_many_are_found),
        CASE(test_check__entries_that_do_not_fit_are_found),
        CASE(test_check__rows_that_say_what_is_not_so_are_found),
        CASE(test_check__a_sketch_that_changed_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
