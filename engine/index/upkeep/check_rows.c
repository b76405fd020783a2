/* Walks, look-ups and findings, of whatever table. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "engine/index/tables/meta.h"
#include "engine/index/upkeep/check.h"

static const char *table_name(unsigned table)
{
    return table < SCHEMA_N_TABLES ? schema_tables[table].name : "store";
}

/* A path of a file by the catalogue, as far as that can be read. */
static char *path_of(struct check *check, const struct file_key *file)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    char *path = NULL;
    if (check->paths && catalogue_links(check->kv, file, 1, &links) == 0 && links.n_entries &&
        path_cache_entry(check->paths, &links.entries[0].parent, links.entries[0].name, &path) < 0)
        path = NULL;
    return path;
}

int check_found(struct check *check, enum check_kind kind, unsigned table,
                const struct file_key *file, const char *format, ...)
{
    char what[512];
    va_list arguments;
    check->counts->findings++;
    if (kind == CHECK_COMPONENTS)
        check->clusters_are_wrong = true;
    else
        check->wrong |= 1u << table;
    if (check->n_found[kind]++ >= INDEX_FINDINGS_TOLD)
        return 0;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    _cleanup_free_ char *path = file ? path_of(check, file) : NULL;
    const struct index_finding finding = {.table = table_name(table), .path = path, .what = what};
    return check->options->found ? check->options->found(check->options->user, &finding) : 0;
}

int check_bad_row(struct check *check, unsigned table, const struct kv_entry *entry)
{
    enum { SHOWN_BYTES = 32 };
    char key[2 * SHOWN_BYTES + 1] = "";
    const uint8_t *p = entry->key.data;
    size_t n = entry->key.size_bytes < SHOWN_BYTES ? entry->key.size_bytes : SHOWN_BYTES;
    for (size_t i = 0; i < n; i++)
        snprintf(key + 2 * i, 3, "%02x", p[i]);
    return check_found(check, CHECK_ROWS, table, NULL, "the row with the key %s%s is damaged", key,
                       n < entry->key.size_bytes ? "..." : "");
}

int check_read_failed(struct check *check, unsigned table, int error)
{
    if (error != -EUCLEAN && error != -EIO)
        return error;
    char said[256];
    snprintf(said, sizeof(said), "%s", kv_last_error());
    if (check->unreadable[table])
        return 0;
    check->unreadable[table] = true;
    return check_found(check, CHECK_UNREADABLE, table, NULL, "cannot be read%s%s: %s",
                       check->n_rows && check->walked == table ? " to its end" : "",
                       *said ? ", the database's files are damaged" : "",
                       *said ? said : strerror(-error));
}

int check_walked(struct check *check, unsigned table)
{
    enum { EVERY = 1 << 16 };
    if (check->walked != table)
        check->n_rows = 0;
    check->walked = table;
    if (check->n_rows++ % EVERY || !check->options->progress)
        return 0;
    return check->options->progress(check->options->user, table_name(table), check->n_rows - 1);
}

int check_each_row(struct check *check, unsigned table, struct kv_slice from, check_row_fn visit,
                   void *user)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct kv_entry entry;
    check->walked = SCHEMA_N_TABLES; /* another walk, perhaps of the same */
    int r = table_walk_begin(&walk, check->kv, table, from);
    if (r < 0)
        return r;
    while ((r = table_walk_next(&walk, &entry)) > 0) {
        r = check_walked(check, table);
        if (r == 0)
            r = visit(user, &entry);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    return r < 0 ? check_read_failed(check, table, r) : 0;
}

static int take_any(void *user, const struct kv_entry *entry)
{
    (void)entry;
    *(bool *)user = true;
    return 1;
}

int check_none_kept(struct check *check, enum check_kind kind, const struct optional_tables *tables)
{
    uint64_t number;
    int r = meta_get_number(check->kv, tables->name, &number);
    if (r == 0)
        return 0;
    if (r != -ENOENT)
        return check_read_failed(check, TABLE_META, r);
    r = 0;
    for (unsigned i = 0; r == 0 && i < tables->n_tables; i++) {
        bool any = false;
        r = check_each_row(check, tables->tables[i], (struct kv_slice){0}, take_any, &any);
        if (r == 0 && any)
            r = check_found(check, kind, tables->tables[0], NULL, "has %s, and none are kept",
                            tables->what);
    }
    return r;
}

int check_look_up(struct check *check, unsigned table, const struct kv_slice *keys, size_t n,
                  struct kv_buf *ret_values)
{
    int r = kv_multi_get(check->kv, table, keys, n, ret_values);
    if (r >= 0)
        return 0;
    r = check_read_failed(check, table, r);
    return r < 0 ? r : 1;
}

int check_record(struct check *check, uint64_t sid, struct record *ret_record)
{
    struct record_key key;
    struct kv_buf value = {0};
    const struct kv_slice slice = record_key(&key, sid);
    int r = check_look_up(check, TABLE_RECORDS, &slice, 1, &value);
    if (r != 0)
        return r < 0 ? r : 0;
    r = value.data ? record_decode(value.data, value.size_bytes, ret_record) : -EUCLEAN;
    kv_buf_done(&value);
    return r == 0 ? 1 : r == -EUCLEAN ? 0 : r;
}
