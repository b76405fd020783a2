#include "engine/index/tables/distinct.h"

#include <errno.h>
#include <string.h>

#include "engine/index/tables/schema.h"
#include "engine/index/tables/table_walk.h"

enum { KEY_MAX_BYTES = 2 * (1 + FILE_KEY_MAX_BYTES), COPY_BYTES = 256 << 10 };

static size_t put_file(uint8_t *at, const struct file_key *file)
{
    *at = file->size_bytes;
    memcpy(at + 1, file->bytes, file->size_bytes);
    return 1 + (size_t)file->size_bytes;
}

static struct kv_slice make_key(uint8_t key[KEY_MAX_BYTES], const struct file_key *a,
                                const struct file_key *b)
{
    size_t n = put_file(key, a);
    n += put_file(key + n, b);
    return (struct kv_slice){key, n};
}

int distinct_has(struct kv *kv, const struct file_key *a, const struct file_key *b)
{
    const bool a_first = file_key_compare(a, b) < 0;
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[KEY_MAX_BYTES];
    int r = kv_get(kv, TABLE_DISTINCT, make_key(key, a_first ? a : b, a_first ? b : a), &value);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

static void set(struct kv_batch *batch, const struct file_key *a, const struct file_key *b,
                bool distinct)
{
    const struct file_key *const files[] = {a, b};
    uint8_t key[KEY_MAX_BYTES];
    for (int i = 0; i < 2; i++) {
        const struct kv_slice row = make_key(key, files[i], files[!i]);
        if (distinct)
            kv_batch_put(batch, TABLE_DISTINCT, row, (struct kv_slice){"", 0});
        else
            kv_batch_delete(batch, TABLE_DISTINCT, row);
    }
}

int distinct_set(struct kv *kv, const struct file_key *a, const struct file_key *b, bool distinct)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    set(batch, a, b, distinct);
    return kv_apply(kv, batch);
}

static int take_file(struct kv_slice *bytes, struct file_key *ret_file)
{
    const uint8_t *at = bytes->data;
    if (bytes->size_bytes < 1 || *at < FILE_KEY_MIN_BYTES || *at > FILE_KEY_MAX_BYTES ||
        bytes->size_bytes < 1 + (size_t)*at)
        return -EUCLEAN;
    ret_file->size_bytes = *at;
    memcpy(ret_file->bytes, at + 1, *at);
    *bytes = (struct kv_slice){at + 1 + *at, bytes->size_bytes - 1 - *at};
    return 0;
}

static int take_pair(struct kv_slice row, struct file_key *ret_a, struct file_key *ret_b)
{
    return take_file(&row, ret_a) == 0 && take_file(&row, ret_b) == 0 && row.size_bytes == 0 &&
                   !file_key_equal(ret_a, ret_b)
               ? 0
               : -EUCLEAN;
}

static int scan_rows_of(struct kv *kv, const struct file_key *file, size_t limit,
                        struct kv_page *ret_page)
{
    _cleanup_(kv_buf_done) struct kv_buf end = {0};
    uint8_t prefix[1 + FILE_KEY_MAX_BYTES];
    struct kv_range range;
    int r = kv_prefix_range((struct kv_slice){prefix, put_file(prefix, file)}, &range, &end);
    return r < 0 ? r : kv_scan(kv, TABLE_DISTINCT, &range, limit, ret_page);
}

int distinct_any(struct kv *kv, const struct file_key *file)
{
    _cleanup_(kv_page_done) struct kv_page page = {0};
    int r = scan_rows_of(kv, file, 1, &page);
    return r < 0 ? r : page.n_entries > 0;
}

int distinct_carry(struct kv *kv, const struct file_key *from, const struct file_key *to,
                   bool from_goes)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    _cleanup_(kv_page_done) struct kv_page page = {0};
    int r = batch ? scan_rows_of(kv, from, DISTINCT_CARRIED_MAX, &page) : -ENOMEM;
    if (r < 0)
        return r;
    for (size_t i = 0; i < page.n_entries; i++) {
        struct file_key a, b;
        if (take_pair(page.entries[i].key, &a, &b) < 0)
            return -EUCLEAN;
        if (file_key_equal(&b, to))
            continue;
        set(batch, to, &b, true);
        if (from_goes)
            set(batch, &a, &b, false);
    }
    return kv_apply(kv, batch);
}

int distinct_forget(struct kv *kv, const struct file_key *file)
{
    enum { AT_ONCE = 256 };
    for (size_t n = AT_ONCE; n == AT_ONCE;) {
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
        _cleanup_(kv_page_done) struct kv_page page = {0};
        int r = batch ? scan_rows_of(kv, file, AT_ONCE, &page) : -ENOMEM;
        for (size_t i = 0; r == 0 && i < page.n_entries; i++) {
            struct file_key a, b;
            r = take_pair(page.entries[i].key, &a, &b);
            if (r == 0)
                set(batch, &a, &b, false);
        }
        if (r == 0)
            r = kv_apply(kv, batch);
        if (r < 0)
            return r;
        n = page.n_entries;
    }
    return 0;
}

int distinct_check(const struct kv_entry *row)
{
    struct file_key a, b;
    return row->value.size_bytes == 0 ? take_pair(row->key, &a, &b) : -EUCLEAN;
}

int distinct_copy(struct kv *from, struct kv *to)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct kv_entry row;
    int r = batch ? table_walk_begin(&walk, from, TABLE_DISTINCT, (struct kv_slice){0}) : -ENOMEM;
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0) {
        if (distinct_check(&row) < 0)
            continue;
        kv_batch_put(batch, TABLE_DISTINCT, row.key, row.value);
        if (kv_batch_bytes(batch) > COPY_BYTES) {
            int written = kv_apply(to, batch);
            if (written < 0)
                return written;
            kv_batch_clear(batch);
        }
    }
    return r < 0 && r != -EUCLEAN && r != -EIO ? r : kv_apply(to, batch);
}
