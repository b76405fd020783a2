#include "engine/index/catalogue/stored_row.h"

#include <errno.h>

#include "engine/index/tables/schema.h"

int stored_row_get(struct kv *kv, const struct file_key *key, struct stored_row *ret_row)
{
    *ret_row = (struct stored_row){0};
    int r = catalogue_get_file(kv, key, &ret_row->row);
    ret_row->exists = r == 0;
    return r == -ENOENT ? 0 : r;
}

static int get_record(struct kv *kv, uint64_t sid, struct record *ret_record)
{
    struct record_key key;
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(kv, TABLE_RECORDS, record_key(&key, sid), &value);
    return r < 0 ? r : record_decode(value.data, value.size_bytes, ret_record);
}

int stored_row_get_all(struct kv *kv, const struct file_key *const *files, size_t n,
                       struct stored_row *ret_rows)
{
    _cleanup_free_ struct file_row *rows = calloc(n + 1, sizeof(*rows));
    _cleanup_free_ bool *exist = calloc(n + 1, sizeof(*exist));
    if (!rows || !exist)
        return -ENOMEM;
    int r = catalogue_get_files(kv, files, n, rows, exist);
    for (size_t i = 0; r == 0 && i < n; i++)
        ret_rows[i] = (struct stored_row){.row = rows[i], .exists = exist[i]};
    return r;
}

int stored_row_record(struct kv *kv, const struct stored_row *row, uint64_t *ret_sid,
                      struct record *ret_record)
{
    *ret_sid = row->row.sid;
    int r = *ret_sid ? get_record(kv, *ret_sid, ret_record) : 0;
    if (r == -ENOENT) {
        *ret_sid = 0;
        r = 0;
    }
    return r;
}

int stored_row_document(struct kv *kv, const struct file_key *key, struct stored_row *ret_row,
                        uint64_t *ret_sid, struct record *ret_record)
{
    *ret_sid = 0;
    int r = stored_row_get(kv, key, ret_row);
    return r < 0 ? r : stored_row_record(kv, ret_row, ret_sid, ret_record);
}

static int get_records(struct kv *kv, struct stored_document *documents, size_t n)
{
    struct record_key keys[CATALOGUE_AT_ONCE];
    struct kv_slice slices[CATALOGUE_AT_ONCE];
    struct kv_buf values[CATALOGUE_AT_ONCE];
    size_t places[CATALOGUE_AT_ONCE], n_read = 0;
    for (size_t i = 0; i < n; i++)
        if (documents[i].stored.row.sid) {
            slices[n_read] = record_key(&keys[n_read], documents[i].stored.row.sid);
            places[n_read++] = i;
        }
    int r = n_read ? kv_multi_get(kv, TABLE_RECORDS, slices, n_read, values) : 0;
    if (r < 0)
        return r;
    r = 0;
    for (size_t i = 0; i < n_read; i++) {
        struct stored_document *document = &documents[places[i]];
        if (r == 0 && values[i].data) {
            r = record_decode(values[i].data, values[i].size_bytes, &document->record);
            document->sid = r == 0 ? document->stored.row.sid : 0;
        }
        kv_buf_done(&values[i]);
    }
    return r;
}

int stored_row_documents(struct kv *kv, const struct file_key *keys, size_t n,
                         struct stored_document *ret_documents)
{
    const struct file_key *files[CATALOGUE_AT_ONCE];
    struct file_row rows[CATALOGUE_AT_ONCE];
    bool exist[CATALOGUE_AT_ONCE];
    int r = 0;
    for (size_t at = 0; r == 0 && at < n; at += CATALOGUE_AT_ONCE) {
        size_t n_some = n - at < CATALOGUE_AT_ONCE ? n - at : CATALOGUE_AT_ONCE;
        for (size_t i = 0; i < n_some; i++)
            files[i] = &keys[at + i];
        r = catalogue_get_files(kv, files, n_some, rows, exist);
        for (size_t i = 0; r == 0 && i < n_some; i++)
            if (exist[i])
                ret_documents[at + i].stored = (struct stored_row){.exists = true, .row = rows[i]};
        if (r == 0)
            r = get_records(kv, ret_documents + at, n_some);
    }
    return r;
}

void stored_row_count(const struct stored_row *stored, const struct file_row *row,
                      struct document_change *change)
{
    document_change_add(change, stored->exists ? &stored->row : NULL, row);
}

struct file_row file_row_of(uint64_t sid, const struct record *record, bool racy)
{
    return (struct file_row){.sid = sid,
                             .size_bytes = record->size_bytes,
                             .mtime = record->mtime,
                             .ctime = record->ctime,
                             .racy = racy,
                             .owner = FILE_ROW_NOBODY};
}

int stored_row_put(struct document_counts *counts, const struct file_key *key,
                   struct stored_row *stored, const struct file_row *row)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct document_change change = {0};
    if (!batch)
        return -ENOMEM;
    if (!stored->exists && !row)
        return 0;
    if (row)
        catalogue_put_file(batch, key, row);
    else
        catalogue_delete_file(batch, key);
    stored_row_count(stored, row, &change);
    int r = document_counts_apply(counts, batch, &change);
    if (r == 0)
        *stored = row ? (struct stored_row){.exists = true, .row = *row} : (struct stored_row){0};
    return r;
}
