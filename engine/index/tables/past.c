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
#include "engine/index/tables/past.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/table_walk.h"

enum { VERSION = 1, HEAD_BYTES = 18, OWNER_BYTES = 4, PLACE_BYTES = 16, COPY_BYTES = 256 << 10 };
enum { ROW_EVENT = 'e', ROW_FILE = 'f', ROW_PATH = 'p', ROW_COUNT = 'n' };
enum { ROWS_AT_ONCE = 256 };
enum { KEY_MAX_BYTES = OWNER_BYTES + 1 + PAST_PATH_MAX + 1 + PLACE_BYTES };
#define UNKNOWN UINT64_MAX

void past_event_done(struct past_event *event)
{
    free(event->path);
    free(event->to);
    record_done(&event->record);
    *event = (struct past_event){0};
}

/* -- keys -- */

struct past_key {
    uint8_t bytes[KEY_MAX_BYTES];
    size_t size_bytes;
};

static struct kv_slice slice(const struct past_key *key)
{
    return (struct kv_slice){key->bytes, key->size_bytes};
}

static void begin_key(struct past_key *key, uid_t owner, uint8_t row)
{
    put_be32(key->bytes, owner);
    key->bytes[OWNER_BYTES] = row;
    key->size_bytes = OWNER_BYTES + 1;
}

static void add_bytes(struct past_key *key, const void *bytes, size_t n)
{
    memcpy(key->bytes + key->size_bytes, bytes, n);
    key->size_bytes += n;
}

static void add_place(struct past_key *key, uint64_t time_ns, uint64_t number)
{
    put_be64(key->bytes + key->size_bytes, time_ns);
    put_be64(key->bytes + key->size_bytes + 8, number);
    key->size_bytes += PLACE_BYTES;
}

static void event_key(struct past_key *key, uid_t owner, uint64_t time_ns, uint64_t number)
{
    begin_key(key, owner, ROW_EVENT);
    add_place(key, time_ns, number);
}

/* Without the place. */
static void file_key_prefix(struct past_key *key, uid_t owner, const struct file_key *file)
{
    begin_key(key, owner, ROW_FILE);
    add_bytes(key, &file->size_bytes, 1);
    add_bytes(key, file->bytes, file->size_bytes);
}

static void path_key_prefix(struct past_key *key, uid_t owner, const char *path)
{
    begin_key(key, owner, ROW_PATH);
    add_bytes(key, path, strlen(path) + 1);
}

static bool is_kind(uint8_t kind)
{
    return kind == PAST_CHANGED || kind == PAST_MOVED || kind == PAST_DIED ||
           kind == PAST_DIRECTORY;
}

static bool has_path_row(enum past_kind kind)
{
    return kind != PAST_CHANGED;
}

/* Relative, without ".", ".." and empty names. */
static bool is_path(const char *path, size_t size_bytes)
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
    if (!is_path(event->path, path_bytes) || (to_bytes && !is_path(event->to, to_bytes)))
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
    if (bytes->size_bytes - 2 < n || (wanted && n == 0) || (n && !is_path(at + 2, n)))
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

static int decode(const struct kv_entry *row, struct past_event *ret_event)
{
    const uint8_t *key = row->key.data;
    _cleanup_(past_event_done) struct past_event event = {0};
    if (row->key.size_bytes != OWNER_BYTES + 1 + PLACE_BYTES || key[OWNER_BYTES] != ROW_EVENT)
        return -EUCLEAN;
    event.owner = get_be32(key);
    event.time_ns = get_be64(key + OWNER_BYTES + 1);
    int r = decode_value(row->value, &event);
    if (r == 0 && past_number(&event) != get_be64(key + OWNER_BYTES + 1 + 8))
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
    event_key(&key, event->owner, event->time_ns, number);
    kv_batch_put(batch, TABLE_PAST, slice(&key), kv_buf_slice(&value));
    file_key_prefix(&key, event->owner, &event->record.key);
    add_place(&key, event->time_ns, number);
    kv_batch_put(batch, TABLE_PAST, slice(&key), (struct kv_slice){&kind, 1});
    if (!has_path_row(event->kind))
        return 0;
    path_key_prefix(&key, event->owner, event->path);
    add_place(&key, event->time_ns, number);
    kv_batch_put(batch, TABLE_PAST, slice(&key), (struct kv_slice){&kind, 1});
    return 0;
}

static void delete_rows(struct kv_batch *batch, uid_t owner, uint64_t time_ns, uint64_t number,
                        const struct file_key *file, const char *path)
{
    struct past_key key;
    event_key(&key, owner, time_ns, number);
    kv_batch_delete(batch, TABLE_PAST, slice(&key));
    if (file) {
        file_key_prefix(&key, owner, file);
        add_place(&key, time_ns, number);
        kv_batch_delete(batch, TABLE_PAST, slice(&key));
    }
    if (path) {
        path_key_prefix(&key, owner, path);
        add_place(&key, time_ns, number);
        kv_batch_delete(batch, TABLE_PAST, slice(&key));
    }
}

int past_delete(struct kv_batch *batch, const struct past_event *event)
{
    delete_rows(batch, event->owner, event->time_ns, past_number(event), &event->record.key,
                has_path_row(event->kind) ? event->path : NULL);
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
    begin_key(&key, owner, ROW_COUNT);
    int r = kv_get(kv, TABLE_PAST, slice(&key), &value);
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
    begin_key(&key, owner, ROW_COUNT);
    if (n)
        kv_batch_put(batch, TABLE_PAST, slice(&key), (struct kv_slice){value, sizeof(value)});
    else
        kv_batch_delete(batch, TABLE_PAST, slice(&key));
}

int past_next_owner(struct kv *kv, int64_t after, uid_t *ret_owner)
{
    _cleanup_(kv_page_done) struct kv_page page = {0};
    uint8_t from[OWNER_BYTES];
    if (after >= UINT32_MAX)
        return 0;
    put_be32(from, (uint32_t)(after + 1));
    const struct kv_range range = {.from = {from, sizeof(from)}};
    int r = kv_scan(kv, TABLE_PAST, &range, 1, &page);
    if (r < 0 || page.n_entries == 0)
        return r;
    if (page.entries[0].key.size_bytes < OWNER_BYTES)
        return -EUCLEAN;
    *ret_owner = get_be32(page.entries[0].key.data);
    return 1;
}

/* -- walks -- */

static int visit_row(struct past_walk *walk, const struct kv_entry *row)
{
    _cleanup_(past_event_done) struct past_event event = {0};
    int r = decode(row, &event);
    walk->n_damaged += r == -EUCLEAN;
    if (r < 0)
        return r == -EUCLEAN ? 0 : r;
    return event.time_ns < walk->since_ns ? 0 : walk->visit(walk->user, &event);
}

/* A range, a page at a time. */
static int each_row(struct kv *kv, struct kv_range range,
                    int (*visit)(void *user, const struct kv_entry *row), void *user)
{
    _cleanup_(kv_buf_done) struct kv_buf from = {0};
    int r = 0;
    for (bool more = true; r == 0 && more;) {
        _cleanup_(kv_page_done) struct kv_page page = {0};
        r = kv_scan(kv, TABLE_PAST, &range, ROWS_AT_ONCE, &page);
        for (size_t i = 0; r == 0 && i < page.n_entries; i++)
            r = visit(user, &page.entries[i]);
        more = r == 0 && page.more && page.n_entries > 0;
        if (more) {
            kv_buf_done(&from);
            r = kv_page_cursor(&page, &from);
            range.from = kv_buf_slice(&from);
        }
    }
    return r;
}

static int visit_event_row(void *user, const struct kv_entry *row)
{
    return visit_row(user, row);
}

static void events_of(uid_t owner, uint64_t from_ns, struct past_key keys[2],
                      struct kv_range *ret_range)
{
    event_key(&keys[0], owner, from_ns, 0);
    begin_key(&keys[1], owner, ROW_EVENT + 1);
    *ret_range = (struct kv_range){slice(&keys[0]), slice(&keys[1])};
}

static int each_of_owner(struct past_walk *walk, uid_t owner)
{
    struct past_key keys[2];
    struct kv_range range;
    events_of(owner, walk->since_ns, keys, &range);
    return each_row(walk->kv, range, visit_event_row, walk);
}

static int each_owner(struct kv *kv, int (*visit)(void *user, uid_t owner), void *user)
{
    int64_t after = -1;
    uid_t owner;
    int r;
    while ((r = past_next_owner(kv, after, &owner)) > 0) {
        r = visit(user, owner);
        if (r != 0)
            return r;
        after = owner;
    }
    return r;
}

static int walk_owner(void *user, uid_t owner)
{
    return each_of_owner(user, owner);
}

int past_each(struct past_walk *walk)
{
    return each_owner(walk->kv, walk_owner, walk);
}

/* -- lines -- */

static void line_prefix(struct past_key *key, uid_t owner, const struct file_key *file,
                        const char *path)
{
    if (file)
        file_key_prefix(key, owner, file);
    else
        path_key_prefix(key, owner, path);
}

static void take_place(const struct kv_entry *row, struct past_place *ret_place)
{
    const uint8_t *at = (const uint8_t *)row->key.data + row->key.size_bytes - PLACE_BYTES;
    *ret_place =
        (struct past_place){get_be64(at), get_be64(at + 8),
                            row->value.size_bytes == 1 ? *(const uint8_t *)row->value.data : 0};
}

int past_line(struct kv *kv, uid_t owner, const struct file_key *file, const char *path,
              size_t limit, struct past_place *ret_places, size_t *ret_n)
{
    _cleanup_(kv_page_done) struct kv_page page = {0};
    _cleanup_(kv_buf_done) struct kv_buf to = {0};
    struct past_key prefix;
    struct kv_range range;
    line_prefix(&prefix, owner, file, path);
    int r = kv_prefix_range(slice(&prefix), &range, &to);
    if (r == 0)
        r = kv_scan(kv, TABLE_PAST, &range, limit, &page);
    if (r < 0)
        return r;
    size_t n = 0;
    for (size_t i = 0; i < page.n_entries; i++)
        if (page.entries[i].key.size_bytes == prefix.size_bytes + PLACE_BYTES)
            take_place(&page.entries[i], &ret_places[n++]);
    *ret_n = n;
    return 0;
}

int past_get(struct kv *kv, uid_t owner, const struct past_place *place,
             struct past_event *ret_event)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct past_key key;
    event_key(&key, owner, place->time_ns, place->number);
    int r = kv_get(kv, TABLE_PAST, slice(&key), &value);
    if (r < 0)
        return r;
    const struct kv_entry row = {slice(&key), kv_buf_slice(&value)};
    return decode(&row, ret_event);
}

struct line_walk {
    struct past_walk *walk;
    const struct file_key *file;
    const char *path;
};

/* More than the committer leaves there, as bounds may change. */
enum { LINE_MAX_ROWS = 256 };

static int walk_line(void *user, uid_t owner)
{
    const struct line_walk *line = user;
    struct past_walk *walk = line->walk;
    struct past_place places[LINE_MAX_ROWS];
    size_t n = 0;
    int r = past_line(walk->kv, owner, line->file, line->path, LINE_MAX_ROWS, places, &n);
    for (size_t i = 0; r == 0 && i < n; i++) {
        _cleanup_(past_event_done) struct past_event event = {0};
        if (places[i].time_ns < walk->since_ns)
            continue;
        r = past_get(walk->kv, owner, &places[i], &event);
        walk->n_damaged += r == -EUCLEAN || r == -ENOENT;
        r = r == -EUCLEAN || r == -ENOENT ? 0 : r < 0 ? r : walk->visit(walk->user, &event);
    }
    return r;
}

int past_of_file(struct past_walk *walk, const struct file_key *file)
{
    struct line_walk line = {walk, file, NULL};
    return each_owner(walk->kv, walk_line, &line);
}

int past_of_path(struct past_walk *walk, const char *path)
{
    struct line_walk line = {walk, NULL, path};
    return is_path(path, strlen(path)) ? each_owner(walk->kv, walk_line, &line) : 0;
}

struct below {
    struct kv *kv;
    const char *path;
    uint64_t since_ns;
};

static int is_young(void *user, const struct kv_entry *row)
{
    const struct below *below = user;
    struct past_place place;
    if (row->key.size_bytes < OWNER_BYTES + 1 + PLACE_BYTES)
        return 0;
    take_place(row, &place);
    return place.time_ns >= below->since_ns;
}

static int has_below(void *user, uid_t owner)
{
    const struct below *below = user;
    _cleanup_(kv_buf_done) struct kv_buf to = {0};
    struct past_key prefix;
    struct kv_range range;
    path_key_prefix(&prefix, owner, below->path);
    prefix.bytes[prefix.size_bytes - 1] = '/';
    int r = kv_prefix_range(slice(&prefix), &range, &to);
    return r < 0 ? r : each_row(below->kv, range, is_young, user);
}

int past_has_below(struct kv *kv, const char *path, uint64_t since_ns)
{
    struct below below = {kv, path, since_ns};
    return is_path(path, strlen(path)) ? each_owner(kv, has_below, &below) : 0;
}

/* -- removal -- */

int past_delete_oldest(struct kv *kv, uid_t owner, uint64_t before_ns, size_t limit,
                       struct kv_batch *batch)
{
    _cleanup_(kv_page_done) struct kv_page page = {0};
    struct past_key keys[2];
    struct kv_range range;
    events_of(owner, 0, keys, &range);
    int r = limit ? kv_scan(kv, TABLE_PAST, &range, limit, &page) : 0;
    int n = 0;
    for (size_t i = 0; r == 0 && i < page.n_entries; i++) {
        const struct kv_entry *row = &page.entries[i];
        _cleanup_(past_event_done) struct past_event event = {0};
        const int decoded = decode(row, &event);
        if (decoded == -ENOMEM)
            return decoded;
        if (decoded == 0 && event.time_ns >= before_ns)
            break;
        if (decoded == 0)
            past_delete(batch, &event);
        else
            kv_batch_delete(batch, TABLE_PAST, row->key);
        n++;
    }
    return r < 0 ? r : n;
}

/* -- check and copy -- */

static int check_event(struct kv *kv, const struct kv_entry *row)
{
    _cleanup_(past_event_done) struct past_event event = {0};
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct past_key key;
    int r = decode(row, &event);
    if (r < 0)
        return r;
    file_key_prefix(&key, event.owner, &event.record.key);
    add_place(&key, event.time_ns, past_number(&event));
    r = kv_get(kv, TABLE_PAST, slice(&key), &value);
    if (r < 0 || !has_path_row(event.kind))
        return r;
    path_key_prefix(&key, event.owner, event.path);
    add_place(&key, event.time_ns, past_number(&event));
    kv_buf_done(&value);
    return kv_get(kv, TABLE_PAST, slice(&key), &value);
}

/* A row that leads to an event: what is between its head and the place is the event's. */
static int check_leading(struct kv *kv, const struct kv_entry *row)
{
    const uint8_t *key = row->key.data;
    _cleanup_(past_event_done) struct past_event event = {0};
    struct past_place place;
    struct past_key wanted;
    if (row->key.size_bytes <= OWNER_BYTES + 1 + PLACE_BYTES || row->value.size_bytes != 1)
        return -EUCLEAN;
    take_place(row, &place);
    int r = past_get(kv, get_be32(key), &place, &event);
    if (r < 0)
        return r == -EUCLEAN ? 0 : r; /* the event's own row is told of */
    if (key[OWNER_BYTES] == ROW_PATH && !has_path_row(event.kind))
        return -EUCLEAN;
    line_prefix(&wanted, event.owner, key[OWNER_BYTES] == ROW_FILE ? &event.record.key : NULL,
                event.path);
    return place.kind == event.kind && wanted.size_bytes + PLACE_BYTES == row->key.size_bytes &&
                   memcmp(wanted.bytes, key, wanted.size_bytes) == 0
               ? 0
               : -EUCLEAN;
}

int past_check(struct kv *kv, const struct kv_entry *row)
{
    const uint8_t *key = row->key.data;
    if (row->key.size_bytes <= OWNER_BYTES)
        return -EUCLEAN;
    switch (key[OWNER_BYTES]) {
    case ROW_EVENT: return check_event(kv, row);
    case ROW_FILE:
    case ROW_PATH: return check_leading(kv, row);
    case ROW_COUNT:
        return row->key.size_bytes == OWNER_BYTES + 1 && row->value.size_bytes == 8 ? 0 : -EUCLEAN;
    default: return -EUCLEAN;
    }
}

struct past_copying {
    struct kv *from, *to;
    struct kv_batch *batch;
    uint64_t policy_id, n, n_left, n_of_owner;
};

static int flush(struct past_copying *copying, size_t above)
{
    if (kv_batch_bytes(copying->batch) <= above)
        return 0;
    int r = kv_apply(copying->to, copying->batch);
    kv_batch_clear(copying->batch);
    return r;
}

static int copy_event(void *user, const struct past_event *event)
{
    struct past_copying *copying = user;
    if (copying->policy_id && event->kind != PAST_DIRECTORY &&
        event->record.sketch.policy_id != copying->policy_id) {
        copying->n_left++;
        return 0;
    }
    int r = past_put(copying->batch, event);
    copying->n++;
    copying->n_of_owner++;
    return r < 0 ? r : flush(copying, COPY_BYTES);
}

static int copy_owner(void *user, uid_t owner)
{
    struct past_copying *copying = user;
    struct past_walk walk = {.kv = copying->from, .visit = copy_event, .user = copying};
    copying->n_of_owner = 0;
    int r = each_of_owner(&walk, owner);
    copying->n_left += walk.n_damaged;
    if (copying->n_of_owner)
        past_put_count(copying->batch, owner, copying->n_of_owner);
    return r;
}

int past_copy(struct kv *from, struct kv *to, uint64_t policy_id, uint64_t *ret_n,
              uint64_t *ret_n_left)
{
    struct past_copying copying = {
        .from = from, .to = to, .policy_id = policy_id, .batch = kv_batch_new()};
    int r = copying.batch ? each_owner(from, copy_owner, &copying) : -ENOMEM;
    if (r == -EUCLEAN || r == -EIO) /* what could be read */
        r = 0;
    if (r == 0)
        r = flush(&copying, 0);
    kv_batch_free(copying.batch);
    *ret_n = copying.n;
    *ret_n_left = copying.n_left;
    return r;
}
