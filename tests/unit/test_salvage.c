/* A damaged store, whatever is damaged in it: what opening it says, and after a repair the answers
 * of a rebuild. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/upkeep/derived_tables.h"
#include "engine/index/index_private.h"
#include "engine/index/members/membership.h"
#include "engine/index/tables/sid.h"
#include "tests/lib/kv_fault.h"
#include "tests/lib/kv_memory.h"
#include "tests/lib/index_answers.h"
#include "tests/lib/indexed_tree.h"
#include "tests/lib/failure_share.h"

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

static struct index_options options_of(struct fixture *f)
{
    return (struct index_options){
        .backing = f->tree.backing, .source = f->tree.tree, .store_path = f->tree.store};
}

static void open_index(struct fixture *f)
{
    const struct index_options options = options_of(f);
    char *error = NULL;
    if (index_open(&options, &f->tree.index, &error) < 0)
        fail_msg("%s", error);
}

static void close_index(struct fixture *f)
{
    index_close(f->tree.index, 0);
    f->tree.index = NULL;
}

static int note_wrong(void *user, const struct index_finding *finding)
{
    char *first = user;
    if (!*first)
        snprintf(first, 512, "%s: %s: %s", finding->table, finding->path ? finding->path : "-",
                 finding->what);
    return 0;
}

static void assert_right(struct fixture *f)
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
static void assert_answers(struct fixture *f, const char *what, bool keeps)
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
static void note_sketched(void *user, const struct index_status *status)
{
    (void)user;
    sketched = status->sketched_documents;
}

static int note_stage(void *user, const char *stage, const char *table, uint64_t n_rows)
{
    const size_t n = strlen(stages), n_stage = strlen(stage);
    (void)user;
    assert_true(table || n_rows == 0);
    if (n > n_stage && strncmp(stages + n - n_stage - 1, stage, n_stage) == 0)
        return 0; /* it goes on */
    snprintf(stages + n, sizeof(stages) - n, "%s;", stage);
    return 0;
}

static int note_found(void *user, const struct index_finding *finding)
{
    (void)user;
    if (!*found)
        snprintf(found, sizeof(found), "%s: %s", finding->table, finding->what);
    return 0;
}

static int note_checked(void *user, const struct index_check *counts)
{
    (void)user;
    checked = *counts;
    return 0;
}

static void repair(struct fixture *f, const char *what, bool keeps)
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
static int setup(void **state)
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

static int teardown(void **state)
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

/* -- rows -- */

static struct kv *open_rows(struct fixture *f)
{
    const struct kv_options options = {.tables = schema_tables, .n_tables = SCHEMA_N_TABLES};
    struct kv *kv;
    assert_int_equal(kv_rocksdb_open(scratch_path(f->tree.store, "db"), &options, &kv, NULL), 0);
    return kv;
}

enum row_damage { LOST, HALF_LOST, GARBLED, CUT, N_DAMAGES };

static void damage_row(struct kv_batch *batch, unsigned table, const struct kv_entry *row,
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

static void damage_table(struct fixture *f, unsigned table, enum row_damage damage)
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
static void assert_noticed(struct fixture *f, const char *what)
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

static void test_salvage__any_table_is_mended(void **state)
{
    static const char *const damages[N_DAMAGES] = {"lost", "half lost", "garbled", "cut"};
    struct fixture *f = *state;
    for (unsigned table = TABLE_META; table < TABLE_INTENTS; table++)
        for (unsigned damage = 0; damage < N_DAMAGES; damage++) {
            char what[64];
            snprintf(what, sizeof(what), "%s %s", schema_tables[table].name, damages[damage]);
            if (damage == CUT &&
                (table == TABLE_LINKS || (table >= TABLE_TIER_R && table <= TABLE_CLASSES)))
                continue; /* no values */
            if ((table + damage) % failure_share() != 0)
                continue; /* another table has this damage */
            damage_table(f, table, damage);
            assert_noticed(f, what);
            repair(f, what, true);
            if (table >= TABLE_NAMES) /* not documents, nor what is known of files */
                assert_int_equal(sketched, 0);
        }
}

/* -- numbers that no store has of itself -- */

static void forge(struct fixture *f, const char *name, uint64_t value)
{
    struct kv *kv = open_rows(f);
    assert_int_equal(meta_put_number(kv, name, value), 0);
    kv_close(kv);
}

static void assert_refused(struct fixture *f, const char *what)
{
    const struct index_options options = options_of(f);
    _cleanup_free_ char *error = NULL;
    if (index_open(&options, &f->tree.index, &error) != -EUCLEAN)
        fail_msg("%s: not refused", what);
    assert_non_null(strstr(error, f->tree.store));
    assert_non_null(strstr(error, "kinfs check --repair"));
}

static void test_salvage__sids_that_would_be_given_twice_are_refused_and_mended(void **state)
{
    static const struct {
        const char *name;
        uint64_t value;
    } forged[] = {{"sid_end", 1},           {"sid_end", N_DOCUMENTS - 1},
                  {"sid_end", SID_MAX},     {"sid_end", NEXT_MAX + 1},
                  {"sid_end", UINT64_MAX},  {"derived_sid", (uint64_t)1 << 40},
                  {"derived_sid", SID_MAX}, {"postings_flushed", (uint64_t)1 << 40}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i += failure_step()) {
        char what[64];
        snprintf(what, sizeof(what), "%s %llx", forged[i].name,
                 (unsigned long long)forged[i].value);
        forge(f, forged[i].name, forged[i].value);
        assert_refused(f, what);
        assert_noticed(f, what);
        repair(f, what, true);
        assert_int_equal(sketched, 0);
    }
}

static void test_salvage__ids_of_clusters_that_would_run_out_are_refused_and_mended(void **state)
{
    const uint64_t forged[] = {0,
                               NEXT_MAX + 1,
                               clustering_base(1) + 1,
                               clustering_base(64),
                               SID_MAX,
                               UINT64_MAX - 10,
                               UINT64_MAX};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i += failure_step()) {
        struct cluster_ids ids = {0};
        uint64_t id;
        char what[64];
        snprintf(what, sizeof(what), "next_cluster %llx", (unsigned long long)forged[i]);
        forge(f, "next_cluster", forged[i]);
        struct kv *kv = open_rows(f);
        assert_int_equal(cluster_ids_new(&ids, kv, &id), -EUCLEAN);
        assert_int_equal(cluster_ids_pass_over(&ids, kv, 1), -EUCLEAN);
        kv_close(kv);
        assert_noticed(f, what);
        repair(f, what, true);
        kv = open_rows(f);
        assert_int_equal(cluster_ids_new(&ids, kv, &id), 0);
        assert_true(id < NEXT_MAX);
        kv_close(kv);
    }
}

/* -- what derives from the rest -- */

static void settle_with(struct fixture *f, unsigned family)
{
    indexed_tree_write(&f->tree, "alone", family, 0, 0);
    usleep(50000);
    open_index(f);
    assert_int_equal(index_start(f->tree.index), 0);
    indexed_tree_settle(&f->tree);
    close_index(f);
}

/* A sid that no store has that was made anew from so few documents. */
static uint64_t give_a_late_sid(struct fixture *f)
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

static uint64_t last_sid(struct fixture *f)
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

/* Nothing else is made anew, and ids that lead to clusters still do. */
static void test_salvage__what_derives_from_sound_tables_is_mended_alone(void **state)
{
    struct fixture *f = *state;
    const uint64_t sid = give_a_late_sid(f);
    for (unsigned table = TABLE_TIER_R; table <= TABLE_CLUSTER_OF; table++) {
        damage_table(f, table, table % 2 ? HALF_LOST : LOST);
        assert_noticed(f, schema_tables[table].name);
        repair(f, schema_tables[table].name, true);
        assert_int_equal(outcome, INDEX_MENDING_DERIVED);
        assert_true(checked.findings > 0 && *found);
        assert_string_equal(stages, "checking;copying;deriving postings;checking what was made;");
        assert_int_equal(last_sid(f), sid);
        assert_int_equal(sketched, 0);
    }
    for (unsigned table = TABLE_TIER_R; table <= TABLE_MEMBERS; table++) /* together */
        damage_table(f, table, LOST);
    repair(f, "all but the documents' clusters", true);
    assert_int_equal(last_sid(f), sid);
}

/* Whether a table file is of a bulk load, which RocksDB says in it, and not of a flush or a merge.
 */
static bool is_of_a_load(const char *path)
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
static void find_loaded(struct fixture *f, char ret_path[PATH_MAX])
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

static int next_row(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct rows *rows = user;
    if (rows->at == rows->page->n_entries)
        return 0;
    *ret_entry = rows->page->entries[rows->at++];
    *ret_delete = false;
    return 1;
}

/* All rows of a table into a file of their own. */
static void move_to_a_file(struct fixture *f, unsigned table, char ret_path[PATH_MAX])
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

/* The file that has a table is lost, after a clean end or a crash, or its first rows are garbage.
 */
static void test_salvage__a_damaged_file_of_any_table_is_mended(void **state)
{
    struct fixture *f = *state;
    for (uint64_t table = TABLE_META; table < TABLE_INTENTS; table += failure_step()) {
        const bool lost = table % 2, crashed = table % 4 == 3;
        char what[64], path[PATH_MAX];
        snprintf(what, sizeof(what), "file of %s %s", schema_tables[table].name,
                 lost ? "lost" : "garbled");
        move_to_a_file(f, (unsigned)table, path);
        if (lost) {
            assert_int_equal(unlink(path), 0);
        } else {
            int fd = open(path, O_WRONLY);
            assert_int_equal(pwrite(fd, "garbage", 7, 3), 7);
            close(fd);
        }
        if (crashed)
            assert_int_equal(unlink(scratch_path(f->tree.store, "db/SEAL")), 0);
        assert_noticed(f, what);
        repair(f, what, true);
        if (table >= TABLE_NAMES)
            assert_int_equal(sketched, 0);
    }
}

/* -- the rows of files are lost, or a file that has a table, so that no index can be opened -- */

static void put_number(struct fixture *f, const char *name, const uint64_t *number)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    const struct kv_slice key = {name, strlen(name)};
    uint8_t value[8];
    struct kv *kv = open_rows(f);
    if (number) {
        put_be64(value, *number);
        kv_batch_put(batch, TABLE_META, key, (struct kv_slice){value, sizeof(value)});
    } else {
        kv_batch_delete(batch, TABLE_META, key);
    }
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_close(kv);
}

static void lose_table_file(struct fixture *f, unsigned table)
{
    const struct index_options options = options_of(f);
    char path[PATH_MAX], *error = NULL;
    move_to_a_file(f, table, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(scratch_path(f->tree.store, "db/SEAL")), 0); /* a crash, too */
    assert_int_equal(index_open(&options, &f->tree.index, &error), -EUCLEAN);
    free(error);
}

/* A record says of which file it is, and how that was. */
static void test_salvage__lost_rows_of_files_are_known_from_records(void **state)
{
    struct fixture *f = *state;
    for (unsigned damage = 0; damage < N_DAMAGES; damage++) {
        damage_table(f, TABLE_FILES, damage);
        repair(f, "rows of files", true);
        assert_int_equal(sketched, 0);
    }
    lose_table_file(f, TABLE_FILES);
    repair(f, "the file of files", true);
    assert_int_equal(sketched, 0);

    /* But not whether another change followed at once, of what was changed since the store was. */
    give_a_late_sid(f);
    damage_table(f, TABLE_FILES, LOST);
    repair(f, "of one that changed", true);
    assert_int_equal(sketched, 1);
    /* What a file is called and who may read it changes its times. */
    assert_int_equal(chmod(scratch_path(f->tree.tree, "2-0"), 0640), 0);
    damage_table(f, TABLE_FILES, LOST);
    repair(f, "of another with other times", true);
    assert_int_equal(sketched, 2);
}

/* Then nothing is known of when documents were read. */
static void test_salvage__without_the_time_of_its_making_lost_files_are_read(void **state)
{
    struct fixture *f = *state;
    const uint64_t future = clock_real_ns() + UINT64_C(3600000000000), long_ago = 1;
    const uint64_t *const mades[] = {NULL, &future, &long_ago};
    for (size_t i = 0; i < sizeof(mades) / sizeof(mades[0]); i++) {
        put_number(f, META_MADE, mades[i]);
        damage_table(f, TABLE_FILES, LOST);
        repair(f, "unknown times", true);
        assert_int_equal(sketched, N_DOCUMENTS);
    }
}

/* Which cluster of a clustering each document is in. */
static void print_named(struct fixture *f, const char *name, char ret_text[512])
{
    struct index_clustering_status clustering;
    size_t n = 0;
    open_index(f);
    assert_int_equal(index_find_clustering(f->tree.index, name, &clustering), 0);
    assert_true(clustering.clusters > 0);
    for (size_t i = 0; names[i]; i++) {
        const struct file_key key = indexed_tree_key(&f->tree, names[i]);
        uint64_t id;
        assert_int_equal(index_cluster_of(f->tree.index, &key, clustering.base, &id), 0);
        n += (size_t)snprintf(ret_text + n, 512 - n, "%llu ",
                              (unsigned long long)(id & INDEX_CLUSTER_MAX));
    }
    close_index(f);
}

static void test_salvage__named_clusterings_keep_their_ids(void **state)
{
    static const char *const texts[] = {"near:components:0.3", "tight:center:0.3", "all:exact:0.3"};
    static const unsigned lost[] = {TABLE_FILES, TABLE_RECORDS, TABLE_NAMES};
    enum { N_NAMED = 3 };
    struct fixture *f = *state;
    struct index_clustering clusterings[N_NAMED];
    struct index_options options = options_of(f);
    char expected[N_NAMED][512], found_now[512];
    for (size_t i = 0; i < N_NAMED; i++)
        assert_int_equal(index_clustering_parse(texts[i], &clusterings[i], NULL), 0);
    options.clusterings = clusterings;
    options.n_clusterings = N_NAMED;
    assert_int_equal(index_open(&options, &f->tree.index, NULL), 0);
    assert_int_equal(index_start(f->tree.index), 0);
    indexed_tree_settle(&f->tree);
    close_index(f);
    for (size_t i = 0; i < N_NAMED; i++)
        print_named(f, clusterings[i].name, expected[i]);
    for (size_t k = 0; k < sizeof(lost) / sizeof(lost[0]); k++) {
        lose_table_file(f, lost[k]);
        repair(f, schema_tables[lost[k]].name, true);
        assert_int_equal(sketched, lost[k] == TABLE_RECORDS ? N_DOCUMENTS : 0);
        for (size_t i = 0; i < N_NAMED; i++) {
            print_named(f, clusterings[i].name, found_now);
            assert_string_equal(found_now, expected[i]);
        }
    }
    forge(f, "next_cluster.1", UINT64_MAX);
    assert_noticed(f, "next_cluster.1");
    repair(f, "next_cluster.1", true);
    print_named(f, clusterings[0].name, found_now);
    assert_string_equal(found_now, expected[0]);
}

static void test_salvage__intents_that_are_none_are_mended(void **state)
{
    static const char *const keys[] = {"cluster",
                                       "posted",
                                       "repair",
                                       "removed",
                                       "moved",
                                       "unknown",
                                       "moved\14twelve bytes\14twelve bytes..",
                                       "moved\14twelve bytes\14twelve bytes../../etc/passwd",
                                       "repair\200\1\1\1\1\1\1\1"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
        struct kv *kv = open_rows(f);
        kv_batch_put(batch, TABLE_INTENTS, (struct kv_slice){keys[i], strlen(keys[i])},
                     (struct kv_slice){"garbage", 7});
        assert_int_equal(kv_apply(kv, batch), 0);
        kv_close(kv);
        assert_noticed(f, keys[i]);
        repair(f, keys[i], true);
        assert_int_equal(sketched, 0);
    }
}

/* It is whole, and not this version's to mend. */
static void test_salvage__a_store_of_another_version_is_not_taken_for_a_damaged_one(void **state)
{
    static const uint64_t schemas[] = {1, SCHEMA_VERSION + 1, UINT64_MAX};
    struct fixture *f = *state;
    const struct index_options options = options_of(f);
    const struct kv_slice key = {"schema", 6};
    uint8_t value[8];
    for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
        _cleanup_(kv_buf_done) struct kv_buf stays = {0};
        char *error = NULL, said[32];
        struct kv *kv = open_rows(f);
        put_be64(value, schemas[i]);
        kv_batch_put(batch, TABLE_META, key, (struct kv_slice){value, sizeof(value)});
        assert_int_equal(kv_apply(kv, batch), 0);
        kv_close(kv);
        snprintf(said, sizeof(said), "schema %llu", (unsigned long long)schemas[i]);
        assert_int_equal(index_open(&options, &f->tree.index, &error), -EPROTO);
        assert_true(strstr(error, said) && strstr(error, "kinfs scan --store=") &&
                    strstr(error, f->tree.tree));
        free(TAKE_PTR(error));
        assert_int_equal(index_repair(&options, &(struct index_repair_options){0}, &error),
                         -EPROTO);
        assert_non_null(strstr(error, said));
        free(TAKE_PTR(error));
        assert_int_equal(index_rebuild(&options, NULL, NULL, NULL), -EPROTO);
        kv = open_rows(f);
        assert_int_equal(kv_get(kv, TABLE_META, key, &stays), 0);
        assert_memory_equal(stays.data, value, sizeof(value));
        kv_close(kv);
    }
}

/* -- a copy of which a read or a write fails -- */

static int told_nothing(void *user, const char *table, uint64_t n_rows)
{
    (void)user, (void)table, (void)n_rows;
    return 0;
}

/* Copies with a fault in the old database or in the new one; gives the calls of either. */
static int copy_with_faults(struct kv *old, unsigned wrong, const struct kv_fault_plan *read_plan,
                            const struct kv_fault_plan *write_plan, uint64_t ret_calls[2])
{
    const struct kv_options options = {
        .tables = schema_tables, .n_tables = SCHEMA_N_TABLES, .create = true};
    struct kv *memory, *failing_old, *failing_copy;
    uint64_t n_writes;
    assert_int_equal(kv_memory_open(&options, &memory), 0);
    assert_int_equal(kv_fault_open(old, read_plan, &failing_old), 0);
    assert_int_equal(kv_fault_open(memory, write_plan, &failing_copy), 0);
    int r = derived_tables_copy(failing_old, failing_copy, wrong, told_nothing, NULL);
    kv_fault_counts(failing_old, &ret_calls[0], &n_writes);
    kv_fault_counts(failing_copy, &ret_calls[1], &n_writes);
    kv_close(failing_old);
    kv_close(failing_copy);
    kv_close(memory);
    return r;
}

/* None of them is passed over: but what cannot be read of members and of the documents' clusters,
 * which are there twice. */
static void test_salvage__a_copy_that_fails_says_so(void **state)
{
    static const unsigned wrongs[] = {1u << TABLE_TIER_R, 1u << TABLE_MEMBERS};
    static const int errors[] = {-EIO, -EUCLEAN, -ENOSPC};
    const struct kv_fault_plan none = {0};
    struct fixture *f = *state;
    struct kv *old = open_rows(f);
    for (size_t i = 0; i < 2; i++) {
        uint64_t n_calls[2], calls[2], n_passed = 0;
        assert_int_equal(copy_with_faults(old, wrongs[i], &none, &none, n_calls), 0);
        for (size_t k = 0; k < sizeof(errors) / sizeof(errors[0]); k++) {
            for (uint64_t n = 1; n <= n_calls[0]; n += failure_share()) {
                const struct kv_fault_plan plan = {.fail_call = n, .fail_error = errors[k]};
                int r = copy_with_faults(old, wrongs[i], &plan, &none, calls);
                assert_true(r == errors[k] || r == 0);
                n_passed += r == 0;
            }
            for (uint64_t n = 1; n <= n_calls[1]; n += failure_share()) {
                const struct kv_fault_plan plan = {.fail_call = n, .fail_error = errors[k]};
                assert_int_equal(copy_with_faults(old, wrongs[i], &none, &plan, calls), errors[k]);
            }
        }
        /* Of each of the two tables, and of the former ids, for two of the errors. */
        assert_in_range(n_passed, 0, i == 0 ? 0 : 2 * 4);
    }
    kv_close(old);
}

static int one_posting(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    static const uint8_t key[16] = {1};
    unsigned *n_left = user;
    *ret_entry = (struct kv_entry){.key = {key, sizeof(key)}, .value = {"", 0}};
    *ret_delete = false;
    return *n_left > 0 ? (int)(*n_left)-- : 0;
}

/* A file that only has postings is lost, or damaged in its middle. */
static void test_salvage__a_lost_file_of_postings_is_mended_from_the_others(void **state)
{
    struct fixture *f = *state;
    const uint64_t sid = give_a_late_sid(f);
    for (unsigned lost = 0; lost < 2; lost++) {
        char path[PATH_MAX];
        struct kv *kv = open_rows(f);
        assert_int_equal(kv_bulk_load(kv, TABLE_TIER_R, one_posting, &(unsigned){1}), 0);
        kv_close(kv);
        find_loaded(f, path);
        if (lost) {
            assert_int_equal(unlink(path), 0);
        } else {
            int fd = open(path, O_WRONLY);
            assert_int_equal(pwrite(fd, "garbage", 7, 3), 7);
            close(fd);
        }
        assert_noticed(f, "a file of postings");
        repair(f, "a file of postings", true);
        assert_int_equal(last_sid(f), sid);
        assert_int_equal(sketched, 0);
    }
}

/* A cluster of two documents, an id that became it, and one document whose rows are half lost on
 * either side: each side has what the other lacks. */
static void test_salvage__members_come_from_either_side(void **state)
{
    struct fixture *f = *state;
    struct kv *kv;
    uint64_t id, size, to;
    const uint64_t sid = give_a_late_sid(f);
    open_index(f);
    struct file_key key = indexed_tree_key(&f->tree, "1-0");
    struct file_row row;
    assert_int_equal(catalogue_get_file(f->tree.index->kv, &key, &row), 0);
    assert_int_equal(living_clusters_of(f->tree.index->clusters, row.sid, &id, &size), 0);
    const uint64_t alias = id + 900000;
    assert_int_equal(living_clusters_keep_alias(f->tree.index->clusters, alias, id), 0);
    close_index(f);
    damage_table(f, TABLE_CLUSTER_OF, HALF_LOST);
    kv = open_rows(f);
    struct kv_page members = {0};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    assert_int_equal(kv_scan(kv, TABLE_MEMBERS, &(struct kv_range){0}, 1000, &members), 0);
    for (size_t i = 0; i < members.n_entries; i++) {
        const struct kv_slice member = members.entries[i].key;
        _cleanup_(kv_buf_done) struct kv_buf of = {0};
        if (member.size_bytes <= 16) /* heads and former ids */
            continue;
        const struct kv_slice owner = {(const char *)member.data + member.size_bytes - 8, 8};
        if (kv_get(kv, TABLE_CLUSTER_OF, owner, &of) == 0)
            kv_batch_delete(batch, TABLE_MEMBERS, member);
    }
    assert_true(kv_batch_count(batch) > 0);
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_page_done(&members);
    kv_close(kv);
    repair(f, "each side half lost", true);
    assert_int_equal(last_sid(f), sid);
    open_index(f);
    assert_int_equal(living_clusters_alias(f->tree.index->clusters, alias, &to), 0);
    assert_int_equal(to, id);
}

/* Both sides agree on what is not so: clusters are made anew, from sketches that are sound. */
static void test_salvage__what_both_sides_have_wrong_is_not_kept(void **state)
{
    struct fixture *f = *state;
    struct membership membership;
    struct member member;
    struct file_row row;
    uint64_t from, to, size;
    const uint64_t sid = give_a_late_sid(f);
    open_index(f);
    struct living_clusters *clusters = f->tree.index->clusters;
    const struct file_key key = indexed_tree_key(&f->tree, "1-1"),
                          other = indexed_tree_key(&f->tree, "0-1");
    assert_int_equal(catalogue_get_file(f->tree.index->kv, &other, &row), 0);
    assert_int_equal(living_clusters_of(clusters, row.sid, &to, &size), 0);
    assert_int_equal(catalogue_get_file(f->tree.index->kv, &key, &row), 0);
    assert_int_equal(living_clusters_of(clusters, row.sid, &from, &size), 0);
    const uint64_t sids[] = {row.sid};
    const struct record *known;
    assert_int_equal(records_get(f->tree.index->records, sids, 1, &known), 0);
    member_init(&member, row.sid, known);
    records_put(f->tree.index->records, &known, 1);
    assert_int_equal(membership_init(&membership, f->tree.index->kv, 0), 0);
    assert_int_equal(membership_move(&membership, from, to, &member, 1), 0);
    membership_done(&membership, false);
    close_index(f);
    damage_table(f, TABLE_TIER_C, HALF_LOST);
    damage_table(f, TABLE_TIER_R, HALF_LOST);
    repair(f, "a document in another's cluster", true);
    assert_int_equal(outcome, INDEX_MENDING_ANEW);
    assert_true(last_sid(f) < sid);
    assert_int_equal(sketched, 0);
}

/* Nothing is wrong: nothing is made. */
static void test_salvage__a_sound_store_is_left_as_it_is(void **state)
{
    struct fixture *f = *state;
    const uint64_t sid = give_a_late_sid(f);
    repair(f, "a sound store", true);
    assert_int_equal(outcome, INDEX_MENDING_NONE);
    assert_int_equal(checked.findings, 0);
    assert_int_equal(checked.documents, N_DOCUMENTS);
    assert_string_equal(stages, "checking;");
    assert_int_equal(last_sid(f), sid);
}

/* Whoever is told can end it, at whatever stage; then what was there stands. */
static int end_there(void *user, const char *stage, const char *table, uint64_t n_rows)
{
    (void)table, (void)n_rows;
    return strcmp(stage, user) == 0 ? -ECANCELED : 0;
}

static void test_salvage__a_repair_that_is_ended_changed_nothing(void **state)
{
    struct fixture *f = *state;
    const uint64_t sid = give_a_late_sid(f);
    const struct index_options options = options_of(f);
    static const char *const ends[] = {"checking", "copying", "deriving postings",
                                       "checking what was made"};
    damage_table(f, TABLE_TIER_C, HALF_LOST);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const struct index_repair_options wanted = {.stage = end_there, .user = (void *)ends[i]};
        char *error = NULL;
        assert_int_equal(index_repair(&options, &wanted, &error), -ECANCELED);
        assert_non_null(strstr(error, "what was there stands"));
        free(error);
        assert_int_equal(last_sid(f), sid);
        assert_noticed(f, ends[i]);
    }
    repair(f, "after repairs that were ended", true);
    assert_int_equal(outcome, INDEX_MENDING_DERIVED);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_salvage__any_table_is_mended),
        CASE(test_salvage__sids_that_would_be_given_twice_are_refused_and_mended),
        CASE(test_salvage__ids_of_clusters_that_would_run_out_are_refused_and_mended),
        CASE(test_salvage__what_derives_from_sound_tables_is_mended_alone),
        CASE(test_salvage__a_lost_file_of_postings_is_mended_from_the_others),
        CASE(test_salvage__a_damaged_file_of_any_table_is_mended),
        CASE(test_salvage__lost_rows_of_files_are_known_from_records),
        CASE(test_salvage__without_the_time_of_its_making_lost_files_are_read),
        CASE(test_salvage__named_clusterings_keep_their_ids),
        CASE(test_salvage__intents_that_are_none_are_mended),
        CASE(test_salvage__a_store_of_another_version_is_not_taken_for_a_damaged_one),
        CASE(test_salvage__a_copy_that_fails_says_so),
        CASE(test_salvage__members_come_from_either_side),
        CASE(test_salvage__what_both_sides_have_wrong_is_not_kept),
        CASE(test_salvage__a_sound_store_is_left_as_it_is),
        CASE(test_salvage__a_repair_that_is_ended_changed_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
