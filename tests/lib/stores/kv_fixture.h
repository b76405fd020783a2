/* Stores for tests: every back end behind one struct, and shorthands for small keys and values.
 * Include after cmocka.h.
 */
#ifndef KINFS_TESTS_LIB_STORES_KV_FIXTURE_H
#define KINFS_TESTS_LIB_STORES_KV_FIXTURE_H

#include <ftw.h>
#include <stdio.h>
#include <string.h>

#include "store/kv.h"
#include "tests/lib/stores/kv_fault.h"
#include "tests/lib/stores/kv_memory.h"

enum kv_fixture_backend { FIXTURE_MEMORY, FIXTURE_FAULT, FIXTURE_ROCKSDB, FIXTURE_N_BACKENDS };

static const char *const kv_fixture_names[FIXTURE_N_BACKENDS] = {"memory", "fault", "rocksdb"};

struct kv_fixture {
    enum kv_fixture_backend backend;
    struct kv *kv;      /* the store under test */
    struct kv *inner;   /* of the fault wrapper, else NULL */
    char directory[32]; /* of the RocksDB store, else "" */
};

/* One table for each kind of partition. */
enum { T_WHOLE, T_FIXED, T_PREFIXED, N_TABLES };
static const struct kv_table fixture_tables[N_TABLES] = {
    [T_WHOLE] = {.name = "whole", .partition = KV_PARTITION_WHOLE, .ascending = true},
    [T_FIXED] = {.name = "fixed",
                 .partition = KV_PARTITION_FIXED,
                 .partition_bytes = 2,
                 .scans_only = true,
                 .partitions_sought = true,
                 .hashed = true},
    [T_PREFIXED] = {.name = "prefixed",
                    .partition = KV_PARTITION_PREFIXED,
                    .partitions_sought = true},
};

static inline struct kv_options fixture_options(void)
{
    return (struct kv_options){.tables = fixture_tables, .n_tables = N_TABLES, .create = true};
}

/* Fills in the path of a new directory. */
static inline void make_directory(char path[32])
{
    strcpy(path, "/tmp/kinfs-test-XXXXXX");
    assert_non_null(mkdtemp(path));
}

static inline int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline void remove_directory(const char *path)
{
    assert_int_equal(nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT), 0);
}

static inline struct kv *open_rocksdb(const char *path)
{
    struct kv_options options = fixture_options();
    _cleanup_free_ char *error = NULL;
    struct kv *kv = NULL;
    int r = kv_rocksdb_open(path, &options, &kv, &error);
    if (r < 0)
        print_error("%s\n", error);
    assert_int_equal(r, 0);
    return kv;
}

static inline void kv_fixture_open(struct kv_fixture *fixture, enum kv_fixture_backend backend)
{
    struct kv_options options = fixture_options();
    *fixture = (struct kv_fixture){.backend = backend};
    if (backend == FIXTURE_ROCKSDB) {
        make_directory(fixture->directory);
        fixture->kv = open_rocksdb(fixture->directory);
        return;
    }
    assert_int_equal(kv_memory_open(&options, &fixture->kv), 0);
    if (backend == FIXTURE_FAULT) {
        fixture->inner = fixture->kv;
        struct kv_fault_plan no_faults = {0};
        assert_int_equal(kv_fault_open(fixture->inner, &no_faults, &fixture->kv), 0);
    }
}

static inline void kv_fixture_close(struct kv_fixture *fixture)
{
    kv_close(fixture->kv);
    kv_close(fixture->inner);
    if (fixture->directory[0])
        remove_directory(fixture->directory);
}

/* Close and open again what is stored on disk; nothing for the others. */
static inline void kv_fixture_reopen(struct kv_fixture *fixture)
{
    if (fixture->backend != FIXTURE_ROCKSDB)
        return;
    kv_close(fixture->kv);
    fixture->kv = open_rocksdb(fixture->directory);
}

/* A literal as bytes, zeros inside included. */
#define S(literal) ((struct kv_slice){(literal), sizeof(literal) - 1})
#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static inline struct kv_slice str_slice(const char *string)
{
    return (struct kv_slice){string, strlen(string)};
}

static inline int put_one(struct kv *kv, unsigned table, struct kv_slice key, struct kv_slice value)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    assert_non_null(batch);
    kv_batch_put(batch, table, key, value);
    return kv_apply(kv, batch);
}

static inline int delete_one(struct kv *kv, unsigned table, struct kv_slice key)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    assert_non_null(batch);
    kv_batch_delete(batch, table, key);
    return kv_apply(kv, batch);
}

static inline void assert_slice_equal(struct kv_slice a, struct kv_slice b)
{
    assert_int_equal(a.size_bytes, b.size_bytes);
    if (b.size_bytes > 0)
        assert_memory_equal(a.data, b.data, b.size_bytes);
}

static inline void assert_value(struct kv *kv, unsigned table, struct kv_slice key,
                                struct kv_slice value)
{
    _cleanup_(kv_buf_done) struct kv_buf present = {0};
    assert_int_equal(kv_get(kv, table, key, &present), 0);
    assert_non_null(present.data);
    assert_slice_equal(kv_buf_slice(&present), value);
}

static inline void assert_absent(struct kv *kv, unsigned table, struct kv_slice key)
{
    struct kv_buf untouched = {(void *)&untouched, 7};
    assert_int_equal(kv_get(kv, table, key, &untouched), -ENOENT);
    assert_ptr_equal(untouched.data, &untouched);
}

/* All of a table as "key=value " pairs, read in pages of limit entries. The caller frees. */
static inline char *dump_range(struct kv *kv, unsigned table, struct kv_range range, size_t limit)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    _cleanup_(kv_buf_done) struct kv_buf from = {0};
    for (bool more = true; more;) {
        _cleanup_(kv_page_done) struct kv_page page = {0};
        assert_int_equal(kv_scan(kv, table, &range, limit, &page), 0);
        assert_true(page.n_entries <= limit);
        for (size_t i = 0; i < page.n_entries; i++)
            fprintf(out, "%.*s=%.*s ", (int)page.entries[i].key.size_bytes,
                    (const char *)page.entries[i].key.data, (int)page.entries[i].value.size_bytes,
                    (const char *)page.entries[i].value.data);
        more = page.more;
        if (more) {
            assert_true(page.n_entries > 0);
            kv_buf_done(&from);
            assert_int_equal(kv_page_cursor(&page, &from), 0);
            range.from = kv_buf_slice(&from);
        }
    }
    fclose(out);
    return text;
}

static inline void assert_table(struct kv *kv, unsigned table, const char *expected)
{
    _cleanup_free_ char *text = dump_range(kv, table, (struct kv_range){0}, 3);
    assert_string_equal(text, expected);
}

/* A run from an array, for kv_bulk_load(). A NULL value deletes. */
struct array_run {
    const char *const (*items)[2];
    size_t n_items, next;
    int fail_at_end;
};

static inline int array_run_next(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct array_run *run = user;
    if (run->next == run->n_items)
        return run->fail_at_end;
    const char *const *item = run->items[run->next++];
    *ret_entry = (struct kv_entry){str_slice(item[0]), str_slice(item[1] ? item[1] : "")};
    *ret_delete = item[1] == NULL;
    return 1;
}

#define load_array(kv, table, array)                                                               \
    kv_bulk_load(kv, table, array_run_next, &(struct array_run){array, N_OF(array), 0, 0})

#endif
