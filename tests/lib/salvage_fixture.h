/* A store that a test damages, what opening it says, and a repair after which the answers are those
 * of a rebuild. Included behind cmocka.h. */
#ifndef KINFS_TESTS_LIB_SALVAGE_FIXTURE_H
#define KINFS_TESTS_LIB_SALVAGE_FIXTURE_H

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/index_private.h"
#include "engine/index/tables/sid.h"
#include "tests/lib/index_answers.h"
#include "tests/lib/indexed_tree.h"

static const char *const names[] = {"0-0",      "0-1",       "0-2",   "1-0",   "1-1",
                                    "1-2",      "2-0",       "sub/a", "sub/b", "alone",
                                    "0-0-copy", "0-0-again", "empty", NULL};
enum { N_DOCUMENTS = 13 };

struct fixture {
    struct indexed_tree tree;
    char *expected; /* the answers of a rebuild */
    char *with_ids; /* the same, with the ids that clusters have now */
    struct policy policy;
};

static inline struct index_options options_of(struct fixture *f)
{
    return (struct index_options){
        .backing = f->tree.backing, .source = f->tree.tree, .store_path = f->tree.store};
}

static inline void open_index(struct fixture *f)
{
    const struct index_options options = options_of(f);
    char *error = NULL;
    if (index_open(&options, &f->tree.index, &error) < 0)
        fail_msg("%s", error);
}

static inline void close_index(struct fixture *f)
{
    index_close(f->tree.index, 0);
    f->tree.index = NULL;
}

static inline int note_wrong(void *user, const struct index_finding *finding)
{
    char *first = user;
    if (!*first)
        snprintf(first, 512, "%s: %s: %s", finding->table, finding->path ? finding->path : "-",
                 finding->what);
    return 0;
}

static inline void assert_right(struct fixture *f)
{
    char first[512] = "";
    const struct index_check_options options = {.deep = true, .found = note_wrong, .user = first};
    struct index_check counts;
    assert_int_equal(index_check(f->tree.index, &options, &counts), 0);
    if (counts.findings)
        fail_msg("after the repair: %s", first);
    assert_int_equal(counts.documents, N_DOCUMENTS);
}

/* keeps: clusters have the ids that they had. */
static inline void assert_answers(struct fixture *f, const char *what, bool keeps)
{
    char *answers = index_answers(f->tree.index, f->tree.backing, names, false);
    char *with_ids = index_answers(f->tree.index, f->tree.backing, names, true);
    if (strcmp(answers, f->expected) != 0 || (keeps && strcmp(with_ids, f->with_ids) != 0))
        print_error("%s\n", what);
    assert_string_equal(answers, f->expected);
    if (keeps)
        assert_string_equal(with_ids, f->with_ids);
    free(answers);
    free(f->with_ids);
    f->with_ids = with_ids;
}

/* Repairs, and says how many documents were read again. */
static uint64_t sketched;
static int outcome; /* enum index_mending */
static char stages[256], found[512];
static struct index_check checked;
static inline void note_sketched(void *user, const struct index_status *status)
{
    (void)user;
    sketched = status->sketched_documents;
}

static inline int note_stage(void *user, const char *stage, const char *table, uint64_t n_rows)
{
    const size_t n = strlen(stages), n_stage = strlen(stage);
    (void)user;
    assert_true(table || n_rows == 0);
    if (n > n_stage && strncmp(stages + n - n_stage - 1, stage, n_stage) == 0)
        return 0; /* it goes on */
    snprintf(stages + n, sizeof(stages) - n, "%s;", stage);
    return 0;
}

static inline int note_found(void *user, const struct index_finding *finding)
{
    (void)user;
    if (!*found)
        snprintf(found, sizeof(found), "%s: %s", finding->table, finding->what);
    return 0;
}

static inline int note_checked(void *user, const struct index_check *counts)
{
    (void)user;
    checked = *counts;
    return 0;
}

static inline void repair(struct fixture *f, const char *what, bool keeps)
{
    const struct index_options options = options_of(f);
    const struct index_repair_options wanted = {.found = note_found,
                                                .checked = note_checked,
                                                .progress = note_sketched,
                                                .stage = note_stage};
    char *error = NULL;
    sketched = 0;
    *stages = *found = '\0';
    outcome = index_repair(&options, &wanted, &error);
    if (outcome < 0)
        fail_msg("%s: %s", what, error);
    open_index(f);
    assert_right(f);
    assert_answers(f, what, keeps);
    assert_int_equal(policy_id(&f->tree.index->policy), policy_id(&f->policy));
    close_index(f);
}

/* Time may pass for files that were just written, so that nothing of them is racy. */
static inline int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct indexed_tree *tree = &f->tree;
    scratch_make(tree->root);
    snprintf(tree->tree, sizeof(tree->tree), "%s/tree", tree->root);
    snprintf(tree->store, sizeof(tree->store), "%s/store", tree->root);
    assert_int_equal(mkdir(tree->tree, 0755), 0);
    assert_int_equal(mkdir(scratch_path(tree->tree, "sub"), 0755), 0);
    for (unsigned family = 0; family < 2; family++)
        for (unsigned version = 0; version < 3; version++) {
            char name[16];
            snprintf(name, sizeof(name), "%u-%u", family, version);
            indexed_tree_write(tree, name, family, version, 12);
        }
    indexed_tree_write(tree, "2-0", 2, 0, 0);
    indexed_tree_write(tree, "sub/a", 2, 1, 5);
    indexed_tree_write(tree, "sub/b", 2, 2, 5);
    indexed_tree_write(tree, "alone", 7, 0, 0);
    indexed_tree_write(tree, "0-0-copy", 0, 0, 12);
    indexed_tree_write(tree, "0-0-again", 0, 0, 12);
    scratch_write(scratch_path(tree->tree, "empty"), "");
    assert_int_equal(backing_open(tree->tree, &tree->backing), 0);
    usleep(50000);
    indexed_tree_open(tree);
    assert_int_equal(index_start(tree->index), 0);
    indexed_tree_settle(tree);
    f->policy = tree->index->policy;
    close_index(f);

    const struct index_options options = options_of(f);
    char *error = NULL;
    if (index_rebuild(&options, NULL, NULL, &error) < 0)
        fail_msg("%s", error);
    open_index(f);
    assert_right(f);
    f->expected = index_answers(tree->index, tree->backing, names, false);
    f->with_ids = index_answers(tree->index, tree->backing, names, true);
    close_index(f);
    *state = f;
    return 0;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;
    if (f->tree.index)
        close_index(f);
    backing_close(f->tree.backing);
    scratch_remove(f->tree.root);
    free(f->expected);
    free(f->with_ids);
    free(f);
    return 0;
}

static inline struct kv *open_rows(struct fixture *f)
{
    const struct kv_options options = {.tables = schema_tables, .n_tables = SCHEMA_N_TABLES};
    struct kv *kv;
    assert_int_equal(kv_rocksdb_open(scratch_path(f->tree.store, "db"), &options, &kv, NULL), 0);
    return kv;
}

enum row_damage { LOST, HALF_LOST, GARBLED, CUT, N_DAMAGES };

static inline void damage_row(struct kv_batch *batch, unsigned table, const struct kv_entry *row,
                              enum row_damage damage, size_t i)
{
    static const uint8_t garbage[64] = {0xa5, 0x5a};
    kv_batch_delete(batch, table, row->key);
    if (damage == GARBLED && row->value.size_bytes)
        kv_batch_put(batch, table, row->key, (struct kv_slice){garbage, sizeof(garbage)});
    else if (damage == GARBLED) { /* all is in the key: one that no other row has */
        char key[512];
        memcpy(key, row->key.data, row->key.size_bytes);
        key[row->key.size_bytes - 1] ^= 0x55;
        kv_batch_put(batch, table, (struct kv_slice){key, row->key.size_bytes}, row->value);
    } else if (damage == CUT && row->value.size_bytes) {
        kv_batch_put(batch, table, row->key,
                     (struct kv_slice){row->value.data, row->value.size_bytes / 2});
    } else if (damage == HALF_LOST && i % 2) {
        kv_batch_put(batch, table, row->key, row->value);
    }
}

static inline void damage_table(struct fixture *f, unsigned table, enum row_damage damage)
{
    struct kv *kv = open_rows(f);
    _cleanup_(kv_page_done) struct kv_page rows = {0};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    assert_int_equal(kv_scan(kv, table, &(struct kv_range){0}, 100000, &rows), 0);
    for (size_t i = 0; i < rows.n_entries; i++)
        damage_row(batch, table, &rows.entries[i], damage, i);
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_close(kv);
}

/* Opens or says why not; what is wrong is found either way. */
static inline void assert_noticed(struct fixture *f, const char *what)
{
    const struct index_options options = options_of(f);
    char *error = NULL, first[512] = "";
    const struct index_check_options check = {.found = note_wrong, .user = first};
    struct index_check counts = {0};
    int r = index_open(&options, &f->tree.index, &error);
    if (r == 0) {
        assert_int_equal(index_check(f->tree.index, &check, &counts), 0);
        close_index(f);
    } else {
        assert_int_equal(r, -EUCLEAN);
        if (!strstr(error, "kinfs check --repair"))
            fail_msg("%s: %s", what, error);
        assert_int_equal(index_check_damaged(&options, error, &check, &counts, NULL), 0);
    }
    if (counts.findings == 0)
        fail_msg("not found: %s", what);
    free(error);
}

static inline void forge(struct fixture *f, const char *name, uint64_t value)
{
    struct kv *kv = open_rows(f);
    assert_int_equal(meta_put_number(kv, name, value), 0);
    kv_close(kv);
}

static inline void settle_with(struct fixture *f, unsigned family)
{
    indexed_tree_write(&f->tree, "alone", family, 0, 0);
    usleep(50000);
    open_index(f);
    assert_int_equal(index_start(f->tree.index), 0);
    indexed_tree_settle(&f->tree);
    close_index(f);
}

/* A sid that no store has that was made anew from so few documents. */
static inline uint64_t give_a_late_sid(struct fixture *f)
{
    settle_with(f, 8);
    settle_with(f, 7);
    open_index(f);
    free(f->with_ids);
    f->with_ids = index_answers(f->tree.index, f->tree.backing, names, true);
    uint64_t sid = f->tree.index->last_sid;
    close_index(f);
    assert_true(sid > N_DOCUMENTS);
    return sid;
}

static inline uint64_t last_sid(struct fixture *f)
{
    struct kv *kv = open_rows(f);
    struct kv_page rows = {0};
    assert_int_equal(kv_scan(kv, TABLE_RECORDS, &(struct kv_range){0}, 1000, &rows), 0);
    assert_int_equal(rows.n_entries, N_DOCUMENTS);
    uint64_t sid = get_be64(rows.entries[N_DOCUMENTS - 1].key.data);
    kv_page_done(&rows);
    kv_close(kv);
    return sid;
}

/* Whether a table file is of a bulk load, which RocksDB says in it, and not of a flush or a merge.
 */
static inline bool is_of_a_load(const char *path)
{
    static const char mark[] = "external_sst_file";
    static char bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    assert_true(n < sizeof(bytes));
    return memmem(bytes, n, mark, sizeof(mark) - 1) != NULL;
}

/* The file of the last bulk load. Others may be newer: tables are merged whenever they are open. */
static inline void find_loaded(struct fixture *f, char ret_path[PATH_MAX])
{
    glob_t files;
    assert_int_equal(glob(scratch_path(f->tree.store, "db/*.sst"), 0, NULL, &files), 0);
    size_t i = files.gl_pathc;
    while (i > 0 && !is_of_a_load(files.gl_pathv[i - 1]))
        i--;
    assert_true(i > 0);
    assert_true(snprintf(ret_path, PATH_MAX, "%s", files.gl_pathv[i - 1]) < PATH_MAX);
    globfree(&files);
}

struct rows {
    const struct kv_page *page;
    size_t at;
};

static inline int next_row(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct rows *rows = user;
    if (rows->at == rows->page->n_entries)
        return 0;
    *ret_entry = rows->page->entries[rows->at++];
    *ret_delete = false;
    return 1;
}

/* All rows of a table into a file of their own. */
static inline void move_to_a_file(struct fixture *f, unsigned table, char ret_path[PATH_MAX])
{
    _cleanup_(kv_page_done) struct kv_page page = {0};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct kv *kv = open_rows(f);
    assert_int_equal(kv_scan(kv, table, &(struct kv_range){0}, 100000, &page), 0);
    for (size_t i = 0; i < page.n_entries; i++)
        kv_batch_delete(batch, table, page.entries[i].key);
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_close(kv);
    kv = open_rows(f); /* what is in the log is in a file from here on */
    assert_int_equal(kv_bulk_load(kv, table, next_row, &(struct rows){.page = &page}), 0);
    kv_close(kv);
    find_loaded(f, ret_path);
}

#endif
