#include "engine/index/catalogue/document_counts.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/index/tables/left_out.h"
#include "engine/index/tables/schema.h"

enum { PAGE = 1024, STORED_BYTES = 16 };

static const struct kv_slice counts_key = {"document_counts", 15};

int document_counts_read(struct document_counts *counts)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(counts->kv, TABLE_META, counts_key, &value);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (value.size_bytes != STORED_BYTES)
        return -EUCLEAN;
    atomic_store(&counts->n_documents, get_be64(value.data));
    atomic_store(&counts->n_skipped, get_be64((const uint8_t *)value.data + 8));
    counts->stored = true;
    return 0;
}

int document_counts_recount(struct document_counts *counts)
{
    struct file_key after;
    uint64_t n_documents = 0, n_skipped = 0;
    for (bool first = true, more = true; more; first = false) {
        _cleanup_(file_list_done) struct file_list list = {0};
        int r = catalogue_files(counts->kv, first ? NULL : &after, PAGE, &list);
        if (r < 0)
            return r;
        for (size_t i = 0; i < list.n_files; i++) {
            if (list.rows[i].sid)
                n_documents++;
            else if (!is_left_out(list.rows[i].reason))
                n_skipped++;
        }
        more = list.more && list.n_files > 0;
        if (more)
            after = list.keys[list.n_files - 1];
    }
    atomic_store(&counts->n_documents, n_documents);
    atomic_store(&counts->n_skipped, n_skipped);
    return 0;
}

static int change_stored(struct document_counts *counts, const void *value, size_t size_bytes)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    if (value)
        kv_batch_put(batch, TABLE_META, counts_key, (struct kv_slice){value, size_bytes});
    else
        kv_batch_delete(batch, TABLE_META, counts_key);
    int r = kv_apply(counts->kv, batch);
    if (r == 0)
        counts->stored = value != NULL;
    return r;
}

static void add(struct document_change *change, const struct file_row *row, int n)
{
    if (row->sid)
        change->n_documents += n;
    else if (!is_left_out(row->reason))
        change->n_skipped += n;
}

void document_change_add(struct document_change *change, const struct file_row *before,
                         const struct file_row *after)
{
    if (before)
        add(change, before, -1);
    if (after)
        add(change, after, 1);
}

int document_counts_apply(struct document_counts *counts, struct kv_batch *batch,
                          const struct document_change *change)
{
    int r = counts->stored ? change_stored(counts, NULL, 0) : 0;
    if (r < 0)
        return r;
    r = kv_apply(counts->kv, batch);
    if (r < 0) {
        counts->lost = true; /* whether it was written shows when the store works again */
        return r;
    }
    atomic_fetch_add(&counts->n_documents, (uint64_t)change->n_documents);
    atomic_fetch_add(&counts->n_skipped, (uint64_t)change->n_skipped);
    return 0;
}

int document_counts_store(struct document_counts *counts)
{
    uint8_t value[STORED_BYTES];
    if (counts->stored || counts->lost)
        return 0;
    put_be64(value, atomic_load(&counts->n_documents));
    put_be64(value + 8, atomic_load(&counts->n_skipped));
    return change_stored(counts, value, sizeof(value));
}
