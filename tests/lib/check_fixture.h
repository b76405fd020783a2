/* A tree whose store is checked, and rows that a test changes in it. Included behind cmocka.h. */
#ifndef KINFS_TESTS_LIB_CHECK_FIXTURE_H
#define KINFS_TESTS_LIB_CHECK_FIXTURE_H

#include <string.h>

#include "engine/index/index_private.h"
#include "tests/lib/indexed_tree.h"

struct report {
    struct index_check counts;
    char tables[512]; /* of what was found, a blank behind each */
    char first[512];  /* finding */
    char path[512];   /* of the first */
};

static inline int note_finding(void *user, const struct index_finding *finding)
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

static inline struct report check_now(struct indexed_tree *f, bool deep)
{
    struct report report = {0};
    const struct index_check_options options = {
        .deep = deep, .found = note_finding, .user = &report};
    assert_int_equal(index_check(f->index, &options, &report.counts), 0);
    return report;
}

static inline struct report assert_right(struct indexed_tree *f, bool deep)
{
    struct report report = check_now(f, deep);
    if (report.counts.findings)
        fail_msg("%llu wrong: %s (%s)", (unsigned long long)report.counts.findings, report.first,
                 report.path);
    return report;
}

static inline void assert_found(struct indexed_tree *f, const char *what)
{
    struct report report = check_now(f, false);
    if (report.counts.findings == 0)
        fail_msg("not found: %s", what);
}

static inline void open_with_clusterings(struct indexed_tree *f)
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

/* So long that it has more values in V than tier R has keys, whatever the store's key is. */
static inline void write_long(struct indexed_tree *f, const char *name, unsigned family,
                              unsigned version)
{
    char *text = scratch_text(family, version, 1500, 30);
    scratch_write(scratch_path(f->tree, "%s", name), text);
    free(text);
}

static inline void write_some(struct indexed_tree *f)
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

static inline void write_row(struct indexed_tree *f, unsigned table, struct kv_slice key,
                             const struct kv_slice *value)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (value)
        kv_batch_put(batch, table, key, *value);
    else
        kv_batch_delete(batch, table, key);
    assert_int_equal(kv_apply(f->index->kv, batch), 0);
}

static inline struct kv_page read_rows(struct indexed_tree *f, unsigned table)
{
    struct kv_page page;
    assert_int_equal(kv_scan(f->index->kv, table, &(struct kv_range){0}, 100000, &page), 0);
    assert_false(page.more);
    return page;
}

/* The sid of a document, and its record. */
static inline uint64_t document_of(struct indexed_tree *f, const char *name,
                                   struct record *ret_record)
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

#endif
