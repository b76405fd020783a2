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
    const bool a_first = file_key_compare(a, b) < 0;
    size_t n = put_file(key, a_first ? a : b);
    n += put_file(key + n, a_first ? b : a);
    return (struct kv_slice){key, n};
}

int distinct_has(struct kv *kv, const struct file_key *a, const struct file_key *b)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[KEY_MAX_BYTES];
    int r = kv_get(kv, TABLE_DISTINCT, make_key(key, a, b), &value);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

int distinct_set(struct kv *kv, const struct file_key *a, const struct file_key *b, bool distinct)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    uint8_t key[KEY_MAX_BYTES];
    if (!batch)
        return -ENOMEM;
    if (distinct)
        kv_batch_put(batch, TABLE_DISTINCT, make_key(key, a, b), (struct kv_slice){"", 0});
    else
        kv_batch_delete(batch, TABLE_DISTINCT, make_key(key, a, b));
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

int distinct_check(const struct kv_entry *row)
{
    struct kv_slice rest = row->key;
    struct file_key a, b;
    return row->value.size_bytes == 0 && take_file(&rest, &a) == 0 && take_file(&rest, &b) == 0 &&
                   rest.size_bytes == 0 && file_key_compare(&a, &b) < 0
               ? 0
               : -EUCLEAN;
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
