/* Checking a store: nothing is found in one that came to be by any history, and every row that is
 * missing or too many is found. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/members/cluster_aliases.h"
#include "engine/index/members/cluster_heads.h"
#include "engine/index/index_private.h"
#include "engine/index/members/member.h"
#include "engine/index/members/membership.h"
#include "tests/lib/kv_fault.h"
#include "tests/lib/indexed_tree.h"
#include "tests/lib/failure_share.h"

/* -- what a check says -- */

struct report {
    struct index_check counts;
    char tables[512]; /* of what was found, a blank behind each */
    char first[512];  /* finding */
    char path[512];   /* of the first */
};

static int note_finding(void *user, const struct index_finding *finding)
{
    struct report *report = user;
    size_t n = strlen(report->tables);
    if (n + 16 < sizeof(report->tables))
        snprintf(report->tables + n, sizeof(report->tables) - n, "%s ", finding->table);
    if (!*report->first) {
        snprintf(report->first, sizeof(report->first), "%s: %s", finding->table, finding->what);
        snprintf(report->path, sizeof(report->path), "%s", finding->path ? finding->path : "");
    }
    return 0;
}

static struct report check_now(struct indexed_tree *f, bool deep)
{
    struct report report = {0};
    const struct index_check_options options = {
        .deep = deep, .found = note_finding, .user = &report};
    assert_int_equal(index_check(f->index, &options, &report.counts), 0);
    return report;
}

static struct report assert_right(struct indexed_tree *f, bool deep)
{
    struct report report = check_now(f, deep);
    if (report.counts.findings)
        fail_msg("%llu wrong: %s (%s)", (unsigned long long)report.counts.findings, report.first,
                 report.path);
    return report;
}

static void assert_found(struct indexed_tree *f, const char *what)
{
    struct report report = check_now(f, false);
    if (report.counts.findings == 0)
        fail_msg("not found: %s", what);
}

/* -- histories -- */

/* Entries below the root of a tree, and distinct regular files. */
static void count_tree(const char *path, uint64_t *n_names, uint64_t *n_links_more)
{
    DIR *dir = opendir(path);
    assert_non_null(dir);
    const struct dirent *entry;
    while ((entry = readdir(dir))) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const char *below = scratch_path(path, "%s", entry->d_name);
        char copy[512];
        snprintf(copy, sizeof(copy), "%s", below);
        assert_int_equal(lstat(copy, &st), 0);
        ++*n_names;
        if (S_ISDIR(st.st_mode))
            count_tree(copy, n_names, n_links_more);
        else
            *n_links_more += st.st_nlink;
    }
    closedir(dir);
}

static unsigned random_below(uint64_t *state, unsigned n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*state >> 33) % n);
}

static void note(struct indexed_tree *f, const char *directory, const char *name)
{
    struct file_key key;
    if (backing_key_at(f->backing, backing_root_fd(f->backing), directory, &key) == 0)
        index_note_entry(f->index, &key, name);
}

/* Create, rewrite, rename, link or remove something, and say so as the mount does. */
static void change_something(struct indexed_tree *f, uint64_t *random)
{
    char directory[32], name[32], other_directory[32], other[32], path[256], other_path[256];
    struct stat st;
    snprintf(directory, sizeof(directory), "d%u", random_below(random, 4));
    snprintf(other_directory, sizeof(other_directory), "d%u", random_below(random, 4));
    snprintf(name, sizeof(name), "f%u", random_below(random, 12));
    snprintf(other, sizeof(other), "f%u", random_below(random, 12));
    snprintf(path, sizeof(path), "%s/%s/%s", f->tree, directory, name);
    snprintf(other_path, sizeof(other_path), "%s/%s/%s", f->tree, other_directory, other);
    (void)mkdir(scratch_path(f->tree, "%s", directory), 0755);
    (void)mkdir(scratch_path(f->tree, "%s", other_directory), 0755);
    note(f, "", directory);
    note(f, "", other_directory);
    switch (random_below(random, 9)) {
    case 0: (void)unlink(path); break;
    case 1: (void)rename(path, other_path); break;
    case 2: (void)link(path, other_path); break;
    case 3:
        if (random_below(random, 4) == 0) {
            char moved[256];
            snprintf(moved, sizeof(moved), "%s/%s", f->tree, other_directory);
            snprintf(path, sizeof(path), "%s/%s", f->tree, directory);
            if (rename(path, moved) < 0) /* not over one with entries: into it */
                (void)rename(path, scratch_path(f->tree, "%s/%s", other_directory, directory));
            note(f, other_directory, directory);
        }
        break;
    case 4: scratch_write(path, random_below(random, 2) ? "" : "two words"); break;
    default: {
        unsigned family = random_below(random, 5);
        char *text =
            scratch_text(family, random_below(random, 30), 400, random_below(random, 3) * 6);
        char *more = scratch_text((family + 1) % 5, random_below(random, 30), 400, 6);
        char *both = NULL;
        assert_true(asprintf(&both, "%s %s", text, more) > 0);
        scratch_write(path, random_below(random, 8) ? text : both); /* makes two clusters one */
        free(text);
        free(more);
        free(both);
    }
    }
    note(f, directory, name);
    note(f, other_directory, other);
    note(f, "", directory);
    note(f, "", other_directory);
    struct file_key key;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
        backing_key_at(f->backing, AT_FDCWD, path, &key) == 0)
        index_note_content(f->index, &key);
}

static int count_alias(void *user, uint64_t alias, uint64_t cluster)
{
    (void)alias, (void)cluster;
    ++*(uint64_t *)user;
    return 0;
}

/* D1: names and links are a bijection after whatever is created, renamed and removed; and so is all
 * the rest as it should be. The tree itself says how many there are. */
static void assert_right_over_history(struct indexed_tree *f, unsigned n_changes)
{
    uint64_t random = 11, n_aliases = 0;
    for (unsigned i = 1; i <= n_changes; i++) {
        change_something(f, &random);
        if (i % 60)
            continue;
        if (i % 120) /* in the midst of its work */
            (void)assert_right(f, false);
        index_rescan(f->index);
        indexed_tree_settle(f);
        struct report report = assert_right(f, true);
        uint64_t n_names = 0, n_links = 0;
        count_tree(f->tree, &n_names, &n_links);
        assert_int_equal(report.counts.names, n_names);
        assert_int_equal(report.counts.links, n_names);
        assert_int_equal(report.counts.records, report.counts.documents);
        assert_int_equal(report.counts.classes, report.counts.documents);
        assert_int_equal(report.counts.intents, 0);
        struct index_status status;
        index_get_status(f->index, &status);
        assert_int_equal(report.counts.documents, status.documents);
        assert_int_equal(report.counts.clusters, status.clusters);
        assert_int_equal(report.counts.members, status.clustered_documents);
        assert_int_equal(cluster_aliases_each(f->index->kv, count_alias, &n_aliases), 0);
    }
    assert_true(n_aliases > 0); /* clusters became one */
}

static void test_check__nothing_is_wrong_after_any_history(void **state)
{
    assert_right_over_history(*state, 600);
}

static void open_with_clusterings(struct indexed_tree *f)
{
    static const char *const texts[] = {
        "near:components:0.4", "center:center:0.4", "contained:components:0.5:containment:0.8",
        "super:supershingle",  "all:exact:0.4",     "quick:fast:0.4",
        "paper:broder1997:0.1"};
    enum { N = sizeof(texts) / sizeof(texts[0]) };
    struct index_clustering clusterings[N];
    char *error = NULL;
    for (size_t i = 0; i < N; i++)
        assert_int_equal(index_clustering_parse(texts[i], &clusterings[i], &error), 0);
    const struct index_options options = {.backing = f->backing,
                                          .source = f->tree,
                                          .store_path = f->store,
                                          .clusterings = clusterings,
                                          .n_clusterings = N};
    index_close(f->index, 0);
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
}

static void test_check__nothing_is_wrong_with_named_clusterings_either(void **state)
{
    open_with_clusterings(*state);
    assert_right_over_history(*state, 240);
}

/* -- one row at a time -- */

/* So long that it has more values in V than tier R has keys, whatever the store's key is. */
static void write_long(struct indexed_tree *f, const char *name, unsigned family, unsigned version)
{
    char *text = scratch_text(family, version, 1500, 30);
    scratch_write(scratch_path(f->tree, "%s", name), text);
    free(text);
}

static void write_some(struct indexed_tree *f)
{
    assert_int_equal(mkdir(scratch_path(f->tree, "sub"), 0755), 0);
    for (unsigned family = 0; family < 3; family++)
        for (unsigned version = 0; version < 3; version++) {
            char name[32];
            snprintf(name, sizeof(name), "%s%u-%u", version ? "" : "sub/", family, version);
            write_long(f, name, family, version);
        }
    write_long(f, "0-0-copy", 0, 0);
    scratch_write(scratch_path(f->tree, "empty"), "");
    index_rescan(f->index);
    indexed_tree_settle(f);
    index_stop(f->index); /* at rest, for us to write into it */
    struct report report = assert_right(f, true);
    assert_int_equal(report.counts.documents, 11);
    assert_int_equal(report.counts.clusters, 3);
    assert_int_equal(report.counts.members, 10);
}

static void write_row(struct indexed_tree *f, unsigned table, struct kv_slice key,
                      const struct kv_slice *value)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (value)
        kv_batch_put(batch, table, key, *value);
    else
        kv_batch_delete(batch, table, key);
    assert_int_equal(kv_apply(f->index->kv, batch), 0);
}

static struct kv_page read_rows(struct indexed_tree *f, unsigned table)
{
    struct kv_page page;
    assert_int_equal(kv_scan(f->index->kv, table, &(struct kv_range){0}, 100000, &page), 0);
    assert_false(page.more);
    return page;
}

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
        assert_true(rows.n_entries > 0 || table == TABLE_INTENTS);
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

/* Each row of what the store says of itself, and one that it does not know. */
static void test_check__what_a_store_says_of_itself_is_checked(void **state)
{
    static const uint8_t garbage[80] = {0xa5, 0x5a};
    static const char *const unknown[] = {"next_clusters", "clustering.64", "clustering", "remade",
                                          "cluster_counts.01"};
    static const struct {
        const char *name, *value;
        size_t size_bytes;
    } wrong[] = {{"schema", "\0\0\0\0\0\0\0\5", 8},
                 {"schema", "\0\0\0\0\0\0\0\1", 8},
                 {"document_counts", "\0\0\0\0\0\0\0\12\0\0\0\0\0\0\0\0", 16},
                 {"cluster_counts", "\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\13", 16},
                 {"cluster_counts.7", "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2", 16},
                 {"sid_end", "\377\377\377\377\377\377\377\377", 8},
                 {"derived_sid", "bad", 3},
                 {"derived_sid", "\377\377\377\377\377\377\377\377", 8},
                 {"sid_end", "\200\0\0\0\0\0\0\0", 8},
                 {"sid_end", "\0\200\0\0\0\0\0\1", 8},
                 {"derived_sid", "\0\0\1\0\0\0\0\0", 8},
                 {"next_cluster", "\377\377\377\377\377\377\377\360", 8},
                 {"next_cluster", "\1\0\0\0\0\0\0\1", 8},
                 {"next_cluster.7", "\0\0\0\0\0\0\0\4", 8},
                 {"next_cluster.7", "\7\200\0\0\0\0\0\1", 8},
                 {"next_cluster.5", "garbage", 7},
                 {"largest_modulus", "\0\0\0\1\0\0\0\0", 8},
                 {"remade.9", "\1\2", 2}};
    struct indexed_tree *f = *state;
    open_with_clusterings(f);
    write_some(f);
    _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, TABLE_META);
    for (size_t i = 0; i < rows.n_entries; i++) {
        const struct kv_entry *row = &rows.entries[i];
        char what[96];
        if (row->key.size_bytes == 16 && memcmp(row->key.data, "postings_flushed", 16) == 0)
            continue; /* written before each check */
        snprintf(what, sizeof(what), "meta '%.*s'", (int)row->key.size_bytes,
                 (const char *)row->key.data);
        write_row(f, TABLE_META, row->key, &(struct kv_slice){"", 0});
        assert_found(f, what);
        write_row(f, TABLE_META, row->key, &(struct kv_slice){garbage, sizeof(garbage)});
        if (strcmp(what, "meta 'source'") != 0) /* any text may be a path */
            assert_found(f, what);
        write_row(f, TABLE_META, row->key, &row->value);
    }
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        const struct kv_slice key = {unknown[i], strlen(unknown[i])};
        write_row(f, TABLE_META, key, &(struct kv_slice){garbage, 8});
        assert_found(f, unknown[i]);
        write_row(f, TABLE_META, key, NULL);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct kv_slice key = {wrong[i].name, strlen(wrong[i].name)};
        _cleanup_(kv_buf_done) struct kv_buf before = {0};
        int r = kv_get(f->index->kv, TABLE_META, key, &before);
        const struct kv_slice value = kv_buf_slice(&before);
        write_row(f, TABLE_META, key, &(struct kv_slice){wrong[i].value, wrong[i].size_bytes});
        assert_found(f, wrong[i].name);
        write_row(f, TABLE_META, key, r == 0 ? &value : NULL);
    }
    (void)assert_right(f, true);
}

/* Sids on both sides of the first 2^28, up to which more is kept in memory. */
static void test_check__any_number_of_sids_may_have_been_given(void **state)
{
    struct indexed_tree *f = *state;
    f->index->next_sid = f->index->sid_end = (1 << 28) - 5;
    write_some(f);
}

/* The work is that of the rows there are, not of the numbers in them. */
static void test_check__numbers_in_a_store_take_no_time(void **state)
{
    static const struct kv_slice sid_end = {"sid_end", 7}, far = {"\0\0\20\0\0\0\0\0", 8};
    struct indexed_tree *f = *state;
    write_some(f);
    write_row(f, TABLE_META, sid_end, &(struct kv_slice){"\0\200\0\0\0\0\0\0", 8});
    (void)assert_right(f, true);
    _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, TABLE_RECORDS);
    write_row(f, TABLE_RECORDS, far, &rows.entries[0].value);
    struct report report = check_now(f, false);
    assert_int_equal(report.counts.records, rows.n_entries + 1);
    assert_true(report.counts.findings > 0);
}

static void test_check__intents_that_are_none_are_found(void **state)
{
    static const char *const keys[] = {"cluster",
                                       "cluster2",
                                       "posted",
                                       "posted1234567",
                                       "repair",
                                       "removed",
                                       "removed\20",
                                       "moved",
                                       "moved\20garbage",
                                       "unknown",
                                       "posted\377\377\377\377\377\377\377\377",
                                       "repair\200\1\1\1\1\1\1\1",
                                       "moved\14twelve bytes\14twelve bytes..",
                                       "moved\14twelve bytes\14twelve bytesa/b"};
    struct indexed_tree *f = *state;
    write_some(f);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct kv_slice key = {keys[i], strlen(keys[i])};
        struct index_check counts;
        write_row(f, TABLE_INTENTS, key, &(struct kv_slice){"garbage", 7});
        /* The index itself would stop at some of them. */
        assert_int_equal(check_store(f->index->kv, INDEX_CLUSTER_THRESHOLD, false,
                                     &(struct index_check_options){0}, &counts, NULL),
                         0);
        if (counts.findings == 0)
            fail_msg("not found: %s", keys[i]);
        write_row(f, TABLE_INTENTS, key, NULL);
    }
    (void)assert_right(f, false);
}

/* The sid of a document, and its record. */
static uint64_t document_of(struct indexed_tree *f, const char *name, struct record *ret_record)
{
    struct file_key key = indexed_tree_key(f, name);
    struct file_row row;
    struct record_key record_bytes;
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    assert_int_equal(catalogue_get_file(f->index->kv, &key, &row), 0);
    assert_int_equal(
        kv_get(f->index->kv, TABLE_RECORDS, record_key(&record_bytes, row.sid), &value), 0);
    assert_int_equal(record_decode(value.data, value.size_bytes, ret_record), 0);
    return row.sid;
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
    assert_extra_found(f, TABLE_MEMBERS, (struct kv_slice){key, HEAD_KEY_BYTES},
                       (struct kv_slice){value, HEAD_VALUE_BYTES}, "cluster without members");

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

/* Records, heads and former ids that are rows, and say what is not so. */
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
    assert_row_found(f, TABLE_MEMBERS, (struct kv_slice){key, 8}, number, "a head that lies");
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

static uint64_t calls_of_check(struct indexed_tree *f, uint64_t n_findings)
{
    const struct index_check_options options = {0};
    const struct kv_fault_plan no_fault = {0};
    struct index_check counts;
    struct kv *counting;
    uint64_t n_calls, n_writes;
    assert_int_equal(kv_fault_open(f->index->kv, &no_fault, &counting), 0);
    assert_int_equal(check_store(counting, 0.5, false, &options, &counts, NULL), 0);
    assert_int_equal(counts.findings, n_findings);
    kv_fault_counts(counting, &n_calls, &n_writes);
    kv_close(counting);
    return n_calls;
}

/* Whatever read of a check fails, it says so, or ends with the error: nothing is called right. */
static void test_check__no_read_that_fails_is_passed_over(void **state)
{
    static const int errors[] = {-EUCLEAN, -EIO, -ENOMEM};
    struct indexed_tree *f = *state;
    write_some(f);
    const uint64_t n_calls = calls_of_check(f, 0);
    for (uint64_t n = 1; n <= n_calls; n += failure_share())
        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
            const struct kv_fault_plan plan = {.fail_call = n, .fail_error = errors[i]};
            const struct index_check_options options = {.deep = i == 0,
                                                        .scratch = f->index->store_path};
            struct index_check counts = {0};
            struct kv *failing;
            assert_int_equal(kv_fault_open(f->index->kv, &plan, &failing), 0);
            int r = check_store(failing, 0.5, false, &options, &counts, NULL);
            kv_close(failing);
            if (errors[i] == -ENOMEM ? r != -ENOMEM : r != 0 || counts.findings == 0)
                fail_msg("call %llu, %s: %d, %llu wrong", (unsigned long long)n,
                         strerror(-errors[i]), r, (unsigned long long)counts.findings);
        }
}

/* What is missing and what is too many stand in one sum, of the same document: each is told. */
static void test_check__what_is_missing_does_not_hide_what_is_too_many(void **state)
{
    struct indexed_tree *f = *state;
    _cleanup_(record_done) struct record record = {0};
    const struct kv_slice nothing = {"", 0};
    uint8_t missing[64] = "", extra[64] = "";
    write_some(f);
    const uint64_t sid = document_of(f, "1-1", &record);
    for (unsigned table = TABLE_TIER_R; table <= TABLE_TIER_C; table++) {
        const size_t at = table == TABLE_TIER_R ? 0 : POSTINGS_TIER_R_KEYS;
        put_be64(missing, record.sketch.values[at]);
        put_be64(extra, record.sketch.values[at] + 1);
        put_be64(missing + 8, sid);
        put_be64(extra + 8, sid);
        write_row(f, table, (struct kv_slice){missing, 16}, NULL);
        write_row(f, table, (struct kv_slice){extra, 16}, &nothing);
        assert_int_equal(check_now(f, false).counts.findings, 2);
        write_row(f, table, (struct kv_slice){missing, 16}, &nothing);
        write_row(f, table, (struct kv_slice){extra, 16}, NULL);
    }
    record_class(&record, missing);
    put_be64(missing + CLASS_BYTES, sid);
    memcpy(extra, missing, sizeof(extra));
    extra[5] ^= 1;
    write_row(f, TABLE_CLASSES, (struct kv_slice){missing, CLASS_BYTES + 8}, NULL);
    write_row(f, TABLE_CLASSES, (struct kv_slice){extra, CLASS_BYTES + 8}, &nothing);
    assert_int_equal(check_now(f, false).counts.findings, 2);
    write_row(f, TABLE_CLASSES, (struct kv_slice){missing, CLASS_BYTES + 8}, &nothing);
    write_row(f, TABLE_CLASSES, (struct kv_slice){extra, CLASS_BYTES + 8}, NULL);

    uint8_t link[CATALOGUE_LINK_KEY_MAX], other[CATALOGUE_LINK_KEY_MAX];
    const struct file_key *root = backing_root_key(f->backing);
    const struct kv_slice key = {link, catalogue_link_key(&record.key, root, "1-1", link)};
    const struct kv_slice wrong = {other, catalogue_link_key(&record.key, root, "1-x", other)};
    write_row(f, TABLE_LINKS, key, NULL);
    write_row(f, TABLE_LINKS, wrong, &nothing);
    assert_int_equal(check_now(f, false).counts.findings, 2);
    write_row(f, TABLE_LINKS, key, &nothing);
    write_row(f, TABLE_LINKS, wrong, NULL);
    (void)assert_right(f, true);
}

/* To know of which document a posting is missing, no record is looked up for each of its others. */
static void test_check__what_is_missing_costs_few_reads(void **state)
{
    enum { WALKS = 2, LOOK_UP = 1, PATH = 4 };
    struct indexed_tree *f = *state;
    _cleanup_(record_done) struct record record = {0};
    uint8_t key[16];
    write_some(f);
    const uint64_t before = calls_of_check(f, 0);
    put_be64(key + 8, document_of(f, "1-1", &record));
    put_be64(key, record.sketch.values[3]);
    write_row(f, TABLE_TIER_R, (struct kv_slice){key, 16}, NULL);
    assert_in_range(calls_of_check(f, 1), before, before + WALKS + LOOK_UP + PATH);
}

/* Each document is told of once, with what it lacks, whether few are looked up or the table is
 * walked through. */
static void test_check__very_many_that_are_missing_are_counted(void **state)
{
    struct indexed_tree *f = *state;
    write_some(f);
    for (unsigned table = TABLE_TIER_R; table <= TABLE_TIER_C; table++) {
        _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, table);
        uint64_t sids[16];
        size_t n_sids = 0;
        assert_false(rows.more);
        assert_true(rows.n_entries > (table == TABLE_TIER_R ? 64 : 0)); /* of both ways */
        for (size_t step = 1; step <= rows.n_entries; step *= 2) {
            n_sids = 0;
            for (size_t i = 0; i < rows.n_entries; i += step) {
                const uint64_t sid = get_be64((const uint8_t *)rows.entries[i].key.data + 8);
                size_t known = 0;
                while (known < n_sids && sids[known] != sid)
                    known++;
                sids[known] = sid;
                n_sids += known == n_sids;
                assert_true(n_sids < 16);
                write_row(f, table, rows.entries[i].key, NULL);
            }
            assert_int_equal(check_now(f, false).counts.findings, n_sids);
            for (size_t i = 0; i < rows.n_entries; i += step)
                write_row(f, table, rows.entries[i].key, &rows.entries[i].value);
        }
    }
    (void)assert_right(f, true);
}

/* The finding says of which document it is. */
static void test_check__a_finding_names_the_document(void **state)
{
    struct indexed_tree *f = *state;
    _cleanup_(record_done) struct record record = {0};
    uint8_t key[16];
    write_some(f);
    put_be64(key + 8, document_of(f, "sub/1-0", &record));
    put_be64(key, record.sketch.values[3]);
    write_row(f, TABLE_TIER_R, (struct kv_slice){key, 16}, NULL);
    struct report report = check_now(f, false);
    assert_int_equal(report.counts.findings, 1);
    assert_string_equal(report.path, "sub/1-0");
    assert_non_null(strstr(report.first, "tier_r: lacks 1 of its 16 postings"));
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

/* Rows that agree with each other, and not with what resembles what. */
static void test_check__clusters_that_are_wrong_are_found_by_a_deep_check(void **state)
{
    struct indexed_tree *f = *state;
    struct member member;
    uint64_t from = 0, to = 0;
    _cleanup_(record_done) struct record record = {0}, other = {0};
    write_some(f);
    uint64_t sid = document_of(f, "1-1", &record), other_sid = document_of(f, "2-1", &other), size;
    assert_int_equal(living_clusters_of(f->index->clusters, sid, &from, &size), 0);
    assert_int_equal(living_clusters_of(f->index->clusters, other_sid, &to, &size), 0);

    struct membership membership;
    assert_int_equal(membership_init(&membership, f->index->kv, 0), 0);
    member_init(&member, sid, &record);
    assert_int_equal(membership_move(&membership, from, to, &member, 1), 0);
    (void)assert_right(f, false);
    struct report report = check_now(f, true);
    assert_true(report.counts.findings > 0);
    assert_non_null(strstr(report.path, "1-")); /* it, or those it was taken from */
    assert_int_equal(membership_move(&membership, to, from, &member, 1), 0);
    (void)assert_right(f, true);

    /* Two clusters as one. */
    assert_int_equal(membership_move_all(&membership, from, to), 0);
    (void)assert_right(f, false);
    assert_true(check_now(f, true).counts.findings > 0);
    membership_done(&membership, false);
}

/* What each of two documents is in, of a clustering. */
struct pair {
    struct membership membership;
    struct member members[2];
    uint64_t clusters[2];
};

static bool take_pair(struct indexed_tree *f, unsigned clustering, struct pair *pair)
{
    static const char *const names[] = {"1-1", "2-1"};
    assert_int_equal(membership_init(&pair->membership, f->index->kv, clustering), 0);
    for (unsigned i = 0; i < 2; i++) {
        _cleanup_(record_done) struct record record = {0};
        uint64_t sid = document_of(f, names[i], &record);
        member_init(&pair->members[i], sid, &record);
        assert_int_equal(membership_cluster_of(&pair->membership, sid, &pair->clusters[i]), 0);
    }
    return pair->clusters[0] > 0 && pair->clusters[1] > 0;
}

static void move(struct pair *pair, uint64_t from, uint64_t to)
{
    assert_int_equal(membership_move(&pair->membership, from, to, &pair->members[0], 1), 0);
}

/* By the store's chance key a cluster may have had two members, and is left with one: that is seen
 * without --deep. */
static bool is_left_with_one(struct indexed_tree *f, uint64_t id)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[HEAD_KEY_BYTES];
    put_be64(key, id);
    int r = kv_get(f->index->kv, TABLE_MEMBERS, (struct kv_slice){key, sizeof(key)}, &value);
    return r == 0 && get_be64(value.data) < 2;
}

static void assert_deeply_wrong(struct indexed_tree *f, uint64_t left)
{
    if (!is_left_with_one(f, left))
        (void)assert_right(f, false);
    assert_true(check_now(f, true).counts.findings > 0);
}

/* Of each clustering by its own rule: one in the cluster of others, in none, and two clusters that
 * are one. */
static void test_check__named_clusters_that_are_wrong_are_found_by_a_deep_check(void **state)
{
    struct indexed_tree *f = *state;
    open_with_clusterings(f);
    write_some(f);
    unsigned n_looked_at = 0;
    for (size_t i = 0; i < f->index->named.n_wanted; i++) {
        struct pair pair;
        if (!take_pair(f, f->index->named.wanted[i].number, &pair)) {
            membership_done(&pair.membership, false); /* super shingles are too much to ask */
            continue;
        }
        n_looked_at++;
        const uint64_t from = pair.clusters[0], to = pair.clusters[1];
        move(&pair, from, to);
        assert_deeply_wrong(f, from);
        move(&pair, to, from);
        move(&pair, from, 0);
        assert_deeply_wrong(f, from);
        move(&pair, 0, from);
        if (f->index->named.wanted[i].remade) { /* alone, under an id that was never given out */
            move(&pair, from, from + 1000);
            assert_true(check_now(f, true).counts.findings > check_now(f, false).counts.findings);
            move(&pair, from + 1000, from);
        }
        (void)assert_right(f, true);
        assert_int_equal(membership_move_all(&pair.membership, from, to), 0);
        assert_deeply_wrong(f, from);
        for (unsigned version = 0; version < 3; version++) { /* those of its family back */
            char name[32];
            _cleanup_(record_done) struct record record = {0};
            snprintf(name, sizeof(name), "%s1-%u", version ? "" : "sub/", version);
            uint64_t sid = document_of(f, name, &record), cluster;
            member_init(&pair.members[0], sid, &record);
            assert_int_equal(membership_cluster_of(&pair.membership, sid, &cluster), 0);
            if (cluster == to)
                move(&pair, to, from);
        }
        membership_done(&pair.membership, false);
        (void)assert_right(f, true);
    }
    assert_true(n_looked_at >= 3);
}

/* Of 80 words each version has 60 of the one before it: those some apart have nothing in common. */
static void write_versions(struct indexed_tree *f)
{
    for (unsigned i = 0; i < 12; i++) {
        char *text = scratch_text(77, 0, 400, 0);
        size_t at = (size_t)8 * 20 * i;
        text[at + (size_t)8 * 80] = '\0';
        scratch_write(scratch_path(f->tree, "v%02u", i), text + at);
        free(text);
    }
    for (unsigned version = 0; version < 3; version++) {
        char name[8];
        snprintf(name, sizeof(name), "1-%u", version);
        write_long(f, name, 1, version);
    }
    index_rescan(f->index);
    indexed_tree_settle(f);
    index_stop(f->index); /* at rest, for us to write into it */
}

/* Which components are divided: a document missing in one, all of one, and one that hangs together.
 */
static void test_check__components_wrongly_divided_are_found_by_a_deep_check(void **state)
{
    struct indexed_tree *f = *state;
    struct membership divided;
    _cleanup_(record_done) struct record version = {0}, member_of_whole = {0};
    struct member member, other;
    uint64_t component;
    write_versions(f);
    const uint64_t sid = document_of(f, "v03", &version);
    const uint64_t whole = document_of(f, "1-1", &member_of_whole);
    assert_int_equal(membership_init(&divided, f->index->kv, CLUSTERING_DIVIDED), 0);
    assert_int_equal(membership_cluster_of(&divided, sid, &component), 0);
    assert_true(component > 0);
    (void)assert_right(f, true);
    member_init(&member, sid, &version);
    member_init(&other, whole, &member_of_whole);

    assert_int_equal(membership_move(&divided, component, 0, &member, 1), 0);
    (void)assert_right(f, false);
    assert_true(check_now(f, true).counts.findings > 0);
    assert_int_equal(membership_move(&divided, 0, component, &member, 1), 0);
    (void)assert_right(f, true);
    assert_int_equal(membership_move(&divided, 0, component, &other, 1), 0);
    assert_true(check_now(f, true).counts.findings > 0);
    assert_int_equal(membership_move(&divided, component, 0, &other, 1), 0);
    (void)assert_right(f, true);
    assert_int_equal(membership_move_all(&divided, component, 0), 0);
    assert_true(check_now(f, true).counts.findings > 0);
    membership_done(&divided, false);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_check__nothing_is_wrong_after_any_history),
        CASE(test_check__nothing_is_wrong_with_named_clusterings_either),
        CASE(test_check__every_row_that_is_missing_is_found),
        CASE(test_check__a_table_that_is_lost_is_found),
        CASE(test_check__rows_that_are_none_are_found),
        CASE(test_check__rows_too_many_are_found),
        CASE(test_check__what_a_store_says_of_itself_is_checked),
        CASE(test_check__any_number_of_sids_may_have_been_given),
        CASE(test_check__numbers_in_a_store_take_no_time),
        CASE(test_check__intents_that_are_none_are_found),
        CASE(test_check__entries_that_do_not_fit_are_found),
        CASE(test_check__rows_that_say_what_is_not_so_are_found),
        CASE(test_check__no_read_that_fails_is_passed_over),
        CASE(test_check__what_is_missing_does_not_hide_what_is_too_many),
        CASE(test_check__what_is_missing_costs_few_reads),
        CASE(test_check__very_many_that_are_missing_are_counted),
        CASE(test_check__a_finding_names_the_document),
        CASE(test_check__a_sketch_that_changed_is_found),
        CASE(test_check__clusters_that_are_wrong_are_found_by_a_deep_check),
        CASE(test_check__components_wrongly_divided_are_found_by_a_deep_check),
        CASE(test_check__named_clusters_that_are_wrong_are_found_by_a_deep_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
