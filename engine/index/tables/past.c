/* The bytes of an event (big endian):
 *
 *   version 1 (1) | kind 1 | born 8 | resemblance 8 | path size 2 | path | to size 2 | to | rest
 *
 * The rest is the document's record (record.c), whose sketch has its s smallest values; of a
 * directory its key, with the size before it. A resemblance that is not known is all ones.
 *
 * Example: a/b.txt, of 100 words, is rewritten: a row of some 1,200 bytes with the default policy,
 * and one of 50 that leads there from the file's key. A removal has one more, from the path.
 *
 * Left out: rows by path of contents that were replaced; the document leads to these. Listing all
 * owners costs a seek for each, which only root and the owner of the store can have done.
 */
#include "engine/index/tables/past_private.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "engine/index/tables/schema.h"

enum { VERSION = 1, HEAD_BYTES = 18 };
#define UNKNOWN UINT64_MAX

void past_event_done(struct past_event *event)
{
    free(event->path);
    free(event->to);
    record_done(&event->record);
    *event = (struct past_event){0};
}

/* -- keys -- */

void past_key_begin(struct past_key *key, uid_t owner, uint8_t row)
{
    put_be32(key->bytes, owner);
    key->bytes[PAST_OWNER_BYTES] = row;
    key->size_bytes = PAST_OWNER_BYTES + 1;
}

static void add_bytes(struct past_key *key, const void *bytes, size_t n)
{
    memcpy(key->bytes + key->size_bytes, bytes, n);
    key->size_bytes += n;
}

void past_key_add_place(struct past_key *key, uint64_t time_ns, uint64_t number)
{
    put_be64(key->bytes + key->size_bytes, time_ns);
    put_be64(key->bytes + key->size_bytes + 8, number);
    key->size_bytes += PAST_PLACE_BYTES;
}

void past_key_event(struct past_key *key, uid_t owner, uint64_t time_ns, uint64_t number)
{
    past_key_begin(key, owner, PAST_ROW_EVENT);
    past_key_add_place(key, time_ns, number);
}

void past_key_file(struct past_key *key, uid_t owner, const struct file_key *file)
{
    past_key_begin(key, owner, PAST_ROW_FILE);
    add_bytes(key, &file->size_bytes, 1);
    add_bytes(key, file->bytes, file->size_bytes);
}

void past_key_path(struct past_key *key, uid_t owner, const char *path)
{
    past_key_begin(key, owner, PAST_ROW_PATH);
    add_bytes(key, path, strlen(path) + 1);
}

static bool is_kind(uint8_t kind)
{
    return kind == PAST_CHANGED || kind == PAST_MOVED || kind == PAST_DIED ||
           kind == PAST_DIRECTORY;
}

bool past_is_path(const char *path, size_t size_bytes)
{
    if (size_bytes == 0 || size_bytes > PAST_PATH_MAX || memchr(path, 0, size_bytes))
        return false;
    for (const char *at = path, *end = path + size_bytes; at <= end;) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const size_t n = (size_t)((slash ? slash : end) - at);
        if (n == 0 || (n == 1 && *at == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += n + 1;
    }
    return true;
}

uint64_t past_number(const struct past_event *event)
{
    const struct file_key *key = &event->record.key;
    return XXH3_64bits_withSeed(event->path, strlen(event->path),
                                XXH3_64bits_withSeed(key->bytes, key->size_bytes, event->kind));
}

/* -- rows -- */

static int encode(const struct past_event *event, struct kv_buf *ret_value)
{
    const size_t path_bytes = strlen(event->path), to_bytes = event->to ? strlen(event->to) : 0;
    const bool directory = event->kind == PAST_DIRECTORY;
    _cleanup_(kv_buf_done) struct kv_buf encoded = {0};
    struct record record = event->record;
    if (!past_is_path(event->path, path_bytes) || (to_bytes && !past_is_path(event->to, to_bytes)))
        return -EINVAL;
    record.sketch = min_sketch_shortened(&record.sketch);
    int r = directory ? 0 : record_encode(&record, &encoded);
    if (r < 0)
        return r;
    const size_t rest = directory ? 1 + (size_t)record.key.size_bytes : encoded.size_bytes;
    uint8_t *p = malloc(HEAD_BYTES + 4 + path_bytes + to_bytes + rest);
    if (!p)
        return -ENOMEM;
    uint64_t bits = UNKNOWN;
    if (!isnan(event->resemblance))
        memcpy(&bits, &event->resemblance, sizeof(bits));
    *ret_value = (struct kv_buf){p, HEAD_BYTES + 4 + path_bytes + to_bytes + rest};
    p[0] = VERSION;
    p[1] = (uint8_t)event->kind;
    put_be64(p + 2, event->born_ns);
    put_be64(p + 10, bits);
    p += HEAD_BYTES;
    put_be16(p, (uint16_t)path_bytes);
    memcpy(p + 2, event->path, path_bytes);
    p += 2 + path_bytes;
    put_be16(p, (uint16_t)to_bytes);
    if (to_bytes)
        memcpy(p + 2, event->to, to_bytes);
    p += 2 + to_bytes;
    if (directory) {
        *p = record.key.size_bytes;
        memcpy(p + 1, record.key.bytes, record.key.size_bytes);
    } else {
        memcpy(p, encoded.data, encoded.size_bytes);
    }
    return 0;
}

static int take_path(struct kv_slice *bytes, bool wanted, char **ret_path)
{
    const char *at = bytes->data;
    if (bytes->size_bytes < 2)
        return -EUCLEAN;
    const size_t n = get_be16(at);
    if (bytes->size_bytes - 2 < n || (wanted && n == 0) || (n && !past_is_path(at + 2, n)))
        return -EUCLEAN;
    if (n && !(*ret_path = strndup(at + 2, n)))
        return -ENOMEM;
    *bytes = (struct kv_slice){at + 2 + n, bytes->size_bytes - 2 - n};
    return 0;
}

static int take_directory(struct kv_slice rest, struct file_key *ret_key)
{
    const uint8_t *p = rest.data;
    if (rest.size_bytes < 1 || *p < FILE_KEY_MIN_BYTES || *p > FILE_KEY_MAX_BYTES ||
        rest.size_bytes != 1 + (size_t)*p)
        return -EUCLEAN;
    ret_key->size_bytes = *p;
    memcpy(ret_key->bytes, p + 1, *p);
    return 0;
}

static int decode_value(struct kv_slice value, struct past_event *event)
{
    const uint8_t *p = value.data;
    if (value.size_bytes < HEAD_BYTES || p[0] != VERSION || !is_kind(p[1]))
        return -EUCLEAN;
    event->kind = p[1];
    event->born_ns = get_be64(p + 2);
    const uint64_t bits = get_be64(p + 10);
    event->resemblance = NAN;
    if (bits != UNKNOWN)
        memcpy(&event->resemblance, &bits, sizeof(bits));
    if (bits != UNKNOWN && !(event->resemblance >= 0 && event->resemblance <= 1))
        return -EUCLEAN;
    struct kv_slice rest = {p + HEAD_BYTES, value.size_bytes - HEAD_BYTES};
    int r = take_path(&rest, true, &event->path);
    if (r == 0)
        r = take_path(&rest, event->kind == PAST_DIRECTORY, &event->to);
    if (r == 0)
        r = event->kind == PAST_DIRECTORY
                ? take_directory(rest, &event->record.key)
                : record_decode(rest.data, rest.size_bytes, &event->record);
    return r;
}

int past_decode(const struct kv_entry *row, struct past_event *ret_event)
{
    const uint8_t *key = row->key.data;
    _cleanup_(past_event_done) struct past_event event = {0};
    if (row->key.size_bytes != PAST_OWNER_BYTES + 1 + PAST_PLACE_BYTES ||
        key[PAST_OWNER_BYTES] != PAST_ROW_EVENT)
        return -EUCLEAN;
    event.owner = get_be32(key);
    event.time_ns = get_be64(key + PAST_OWNER_BYTES + 1);
    int r = decode_value(row->value, &event);
    if (r == 0 && past_number(&event) != get_be64(key + PAST_OWNER_BYTES + 1 + 8))
        r = -EUCLEAN;
    if (r < 0)
        return r;
    *ret_event = event;
    event = (struct past_event){0};
    return 0;
}

int past_put(struct kv_batch *batch, const struct past_event *event)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    const uint8_t kind = (uint8_t)event->kind;
    const uint64_t number = past_number(event);
    struct past_key key;
    int r = encode(event, &value);
    if (r < 0)
        return r;
    past_key_event(&key, event->owner, event->time_ns, number);
    kv_batch_put(batch, TABLE_PAST, past_key_slice(&key), kv_buf_slice(&value));
    past_key_file(&key, event->owner, &event->record.key);
    past_key_add_place(&key, event->time_ns, number);
    kv_batch_put(batch, TABLE_PAST, past_key_slice(&key), (struct kv_slice){&kind, 1});
    if (!past_leaves_place(event->kind))
        return 0;
    past_key_path(&key, event->owner, event->path);
    past_key_add_place(&key, event->time_ns, number);
    kv_batch_put(batch, TABLE_PAST, past_key_slice(&key), (struct kv_slice){&kind, 1});
    return 0;
}

static void delete_rows(struct kv_batch *batch, uid_t owner, uint64_t time_ns, uint64_t number,
                        const struct file_key *file, const char *path)
{
    struct past_key key;
    past_key_event(&key, owner, time_ns, number);
    kv_batch_delete(batch, TABLE_PAST, past_key_slice(&key));
    if (file) {
        past_key_file(&key, owner, file);
        past_key_add_place(&key, time_ns, number);
        kv_batch_delete(batch, TABLE_PAST, past_key_slice(&key));
    }
    if (path) {
        past_key_path(&key, owner, path);
        past_key_add_place(&key, time_ns, number);
        kv_batch_delete(batch, TABLE_PAST, past_key_slice(&key));
    }
}

int past_delete(struct kv_batch *batch, const struct past_event *event)
{
    delete_rows(batch, event->owner, event->time_ns, past_number(event), &event->record.key,
                past_leaves_place(event->kind) ? event->path : NULL);
    return 0;
}

void past_delete_damaged(struct kv_batch *batch, uid_t owner, const struct past_place *place,
                         const struct file_key *file, const char *path)
{
    delete_rows(batch, owner, place->time_ns, place->number, file, path);
}

/* -- owners -- */

int past_get_count(struct kv *kv, uid_t owner, uint64_t *ret_n)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct past_key key;
    past_key_begin(&key, owner, PAST_ROW_COUNT);
    int r = kv_get(kv, TABLE_PAST, past_key_slice(&key), &value);
    if (r < 0 && r != -ENOENT)
        return r;
    if (r == 0 && value.size_bytes != 8)
        return -EUCLEAN;
    *ret_n = r == 0 ? get_be64(value.data) : 0;
    return 0;
}

void past_put_count(struct kv_batch *batch, uid_t owner, uint64_t n)
{
    uint8_t value[8];
    struct past_key key;
    put_be64(value, n);
    past_key_begin(&key, owner, PAST_ROW_COUNT);
    if (n)
        kv_batch_put(batch, TABLE_PAST, past_key_slice(&key),
                     (struct kv_slice){value, sizeof(value)});
    else
        kv_batch_delete(batch, TABLE_PAST, past_key_slice(&key));
}

int past_next_owner(struct kv *kv, int64_t after, uid_t *ret_owner)
{
    _cleanup_(kv_page_done) struct kv_page page = {0};
    uint8_t from[PAST_OWNER_BYTES];
    if (after >= UINT32_MAX)
        return 0;
    put_be32(from, (uint32_t)(after + 1));
    const struct kv_range range = {.from = {from, sizeof(from)}};
    int r = kv_scan(kv, TABLE_PAST, &range, 1, &page);
    if (r < 0 || page.n_entries == 0)
        return r;
    /* A key that is damaged may be shorter. */
    const struct kv_slice key = page.entries[0].key;
    uint8_t owner[PAST_OWNER_BYTES] = {0};
    memcpy(owner, key.data, key.size_bytes < sizeof(owner) ? key.size_bytes : sizeof(owner));
    *ret_owner = get_be32(owner);
    return 1;
}
