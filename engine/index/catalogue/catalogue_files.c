/* A row of files says what a file was when it was looked at, and which record it has; or why it has
 * none.
 *
 *   key    file key, its size before it
 *   value  version 1 (1) | flags 1 | sid 8 | size 8 | mtime 8+4 | ctime 8+4 | reason
 *   flags  1: racy; 2: extractors 4 | extractor 4 stand before the reason; 4: owner 4 | born 8 do,
 *          behind those
 */
#include <errno.h>

#include "base/bytes.h"
#include "engine/index/catalogue/catalogue_private.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"

enum { FILE_ROW_VERSION = 1, FILE_ROW_HEAD_BYTES = 42, FILE_ROW_EXTRACTORS_BYTES = 8 };
enum { FILE_ROW_ORIGIN_BYTES = 12 };
enum { FILE_ROW_RACY = 1, FILE_ROW_EXTRACTORS = 2, FILE_ROW_ORIGIN = 4 };

static struct entry_key file_row_key(const struct file_key *key)
{
    struct entry_key out = {.size_bytes = 0};
    entry_key_append(&out, key);
    return out;
}

static int decode_file_row(struct kv_slice value, struct file_row *ret_row)
{
    const uint8_t *p = value.data;
    struct file_row row = {.owner = FILE_ROW_NOBODY};
    if (value.size_bytes < FILE_ROW_HEAD_BYTES || p[0] != FILE_ROW_VERSION)
        return -EUCLEAN;
    const size_t origin_at =
        FILE_ROW_HEAD_BYTES + (p[1] & FILE_ROW_EXTRACTORS ? FILE_ROW_EXTRACTORS_BYTES : 0);
    const size_t head_bytes = origin_at + (p[1] & FILE_ROW_ORIGIN ? FILE_ROW_ORIGIN_BYTES : 0);
    if (value.size_bytes < head_bytes || value.size_bytes - head_bytes >= sizeof(row.reason) ||
        get_be32(p + 26) >= 1000000000 || get_be32(p + 38) >= 1000000000 ||
        sid_decode(p + 2, &row.sid) < 0)
        return -EUCLEAN;
    row.racy = p[1] & FILE_ROW_RACY;
    row.size_bytes = get_be64(p + 10);
    row.mtime = (struct timespec){(time_t)get_be64(p + 18), (long)get_be32(p + 26)};
    row.ctime = (struct timespec){(time_t)get_be64(p + 30), (long)get_be32(p + 38)};
    if (origin_at > FILE_ROW_HEAD_BYTES) {
        row.extractors_id = get_be32(p + FILE_ROW_HEAD_BYTES);
        row.read_by = get_be32(p + FILE_ROW_HEAD_BYTES + 4);
    }
    if (head_bytes > origin_at) {
        row.owner = get_be32(p + origin_at);
        row.born_ns = get_be64(p + origin_at + 4);
    }
    memcpy(row.reason, p + head_bytes, value.size_bytes - head_bytes);
    *ret_row = row;
    return 0;
}

int catalogue_get_file(struct kv *kv, const struct file_key *key, struct file_row *ret_row)
{
    struct entry_key row_key = file_row_key(key);
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(kv, TABLE_FILES, entry_slice(&row_key), &value);
    return r < 0 ? r : decode_file_row(kv_buf_slice(&value), ret_row);
}

int catalogue_get_files(struct kv *kv, const struct file_key *const *files, size_t n,
                        struct file_row *ret_rows, bool *ret_exist)
{
    _cleanup_free_ struct entry_key *keys = calloc(n + 1, sizeof(*keys));
    _cleanup_free_ struct kv_slice *slices = calloc(n + 1, sizeof(*slices));
    _cleanup_free_ struct kv_buf *values = calloc(n + 1, sizeof(*values));
    if (!keys || !slices || !values)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        entry_key_append(&keys[i], files[i]);
        slices[i] = entry_slice(&keys[i]);
    }
    int r = kv_multi_get(kv, TABLE_FILES, slices, n, values);
    if (r < 0)
        return r;
    r = 0;
    for (size_t i = 0; i < n; i++) {
        ret_exist[i] = values[i].data != NULL;
        if (r == 0 && ret_exist[i])
            r = decode_file_row(kv_buf_slice(&values[i]), &ret_rows[i]);
        kv_buf_done(&values[i]);
    }
    return r;
}

void catalogue_put_file(struct kv_batch *batch, const struct file_key *key,
                        const struct file_row *row)
{
    struct entry_key row_key = file_row_key(key);
    uint8_t value[FILE_ROW_HEAD_BYTES + FILE_ROW_EXTRACTORS_BYTES + FILE_ROW_ORIGIN_BYTES +
                  sizeof(row->reason)] = {FILE_ROW_VERSION};
    size_t head_bytes = FILE_ROW_HEAD_BYTES;
    size_t reason_bytes = strnlen(row->reason, sizeof(row->reason) - 1);
    value[1] = row->racy ? FILE_ROW_RACY : 0;
    put_be64(value + 2, row->sid);
    put_be64(value + 10, row->size_bytes);
    put_be64(value + 18, (uint64_t)row->mtime.tv_sec);
    put_be32(value + 26, (uint32_t)row->mtime.tv_nsec);
    put_be64(value + 30, (uint64_t)row->ctime.tv_sec);
    put_be32(value + 38, (uint32_t)row->ctime.tv_nsec);
    if (row->extractors_id) {
        value[1] |= FILE_ROW_EXTRACTORS;
        put_be32(value + head_bytes, row->extractors_id);
        put_be32(value + head_bytes + 4, row->read_by);
        head_bytes += FILE_ROW_EXTRACTORS_BYTES;
    }
    if (row->owner != FILE_ROW_NOBODY || row->born_ns) {
        value[1] |= FILE_ROW_ORIGIN;
        put_be32(value + head_bytes, row->owner);
        put_be64(value + head_bytes + 4, row->born_ns);
        head_bytes += FILE_ROW_ORIGIN_BYTES;
    }
    memcpy(value + head_bytes, row->reason, reason_bytes);
    kv_batch_put(batch, TABLE_FILES, entry_slice(&row_key),
                 (struct kv_slice){value, head_bytes + reason_bytes});
}

void catalogue_delete_file(struct kv_batch *batch, const struct file_key *key)
{
    struct entry_key row_key = file_row_key(key);
    kv_batch_delete(batch, TABLE_FILES, entry_slice(&row_key));
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

uint64_t file_row_ns(const struct timespec *time)
{
    const uint64_t second = 1000000000;
    return time->tv_sec < 0 || (uint64_t)time->tv_sec > UINT64_MAX / second - 1
               ? 0
               : (uint64_t)time->tv_sec * second + (uint64_t)time->tv_nsec;
}

bool file_row_matches(const struct file_row *row, const struct stat *st)
{
    return row->size_bytes == (uint64_t)st->st_size && same_time(&row->mtime, &st->st_mtim) &&
           same_time(&row->ctime, &st->st_ctim);
}

void file_list_done(struct file_list *list)
{
    free(list->keys);
    free(list->rows);
    *list = (struct file_list){0};
}

int catalogue_decode_file(const struct kv_entry *entry, struct file_key *ret_key,
                          struct file_row *ret_row)
{
    struct kv_slice key = entry->key;
    int r = catalogue_take_key(&key, ret_key);
    if (r == 0 && key.size_bytes)
        r = -EUCLEAN;
    return r < 0 ? r : decode_file_row(entry->value, ret_row);
}

int catalogue_files(struct kv *kv, const struct file_key *after, size_t limit,
                    struct file_list *ret_list)
{
    _cleanup_(file_list_done) struct file_list list = {0};
    _cleanup_(kv_page_done) struct kv_page page = {0};
    struct entry_key from = {.size_bytes = 0};
    if (after) {
        from = file_row_key(after);
        from.bytes[from.size_bytes++] = 0;
    }
    struct kv_range range = {.from = entry_slice(&from)};
    int r = kv_scan(kv, TABLE_FILES, &range, limit, &page);
    if (r < 0)
        return r;
    list.keys = calloc(page.n_entries + 1, sizeof(*list.keys));
    list.rows = calloc(page.n_entries + 1, sizeof(*list.rows));
    if (!list.keys || !list.rows)
        return -ENOMEM;
    for (size_t i = 0; i < page.n_entries; i++) {
        r = catalogue_decode_file(&page.entries[i], &list.keys[i], &list.rows[i]);
        if (r < 0)
            return r;
    }
    list.n_files = page.n_entries;
    list.more = page.more;
    *ret_list = list;
    list = (struct file_list){0};
    return 0;
}
