/* Rows of the past that go, are checked, and are taken over by another store. */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "engine/index/tables/past_private.h"
#include "engine/index/tables/schema.h"

enum { COPY_BYTES = 256 << 10 };

/* -- removal -- */

int past_delete_oldest(struct kv *kv, uid_t owner, uint64_t *from_ns, uint64_t before_ns,
                       size_t limit, struct kv_batch *batch, past_fn gone, void *user)
{
    _cleanup_(kv_page_done) struct kv_page page = {0};
    struct past_key keys[2];
    struct kv_range range;
    past_events_of(owner, *from_ns, keys, &range);
    int r = limit ? kv_scan(kv, TABLE_PAST, &range, limit, &page) : 0;
    int n = 0;
    for (size_t i = 0; r == 0 && i < page.n_entries; i++) {
        const struct kv_entry *row = &page.entries[i];
        _cleanup_(past_event_done) struct past_event event = {0};
        const int decoded = past_decode(row, &event);
        if (decoded == -ENOMEM)
            return decoded;
        if (decoded == 0 && event.time_ns >= before_ns)
            break;
        if (decoded == 0) {
            past_delete(batch, &event);
            gone(user, &event);
            *from_ns = event.time_ns;
        } else {
            kv_batch_delete(batch, TABLE_PAST, row->key);
        }
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
    int r = past_decode(row, &event);
    if (r < 0)
        return r;
    past_key_file(&key, event.owner, &event.record.key);
    past_key_add_place(&key, event.time_ns, past_number(&event));
    r = kv_get(kv, TABLE_PAST, past_key_slice(&key), &value);
    if (r < 0 || !past_leaves_place(event.kind))
        return r;
    past_key_path(&key, event.owner, event.path);
    past_key_add_place(&key, event.time_ns, past_number(&event));
    kv_buf_done(&value);
    return kv_get(kv, TABLE_PAST, past_key_slice(&key), &value);
}

/* A row that leads to an event: what is between its head and the place is the event's. */
static int check_leading(struct kv *kv, const struct kv_entry *row)
{
    const uint8_t *key = row->key.data;
    _cleanup_(past_event_done) struct past_event event = {0};
    struct past_place place;
    struct past_key wanted;
    if (row->key.size_bytes <= PAST_OWNER_BYTES + 1 + PAST_PLACE_BYTES ||
        row->value.size_bytes != 1)
        return -EUCLEAN;
    past_take_place(row, &place);
    int r = past_get(kv, get_be32(key), &place, &event);
    if (r < 0)
        return r == -EUCLEAN ? 0 : r; /* the event's own row is told of */
    if (key[PAST_OWNER_BYTES] == PAST_ROW_PATH && !past_leaves_place(event.kind))
        return -EUCLEAN;
    past_key_line(&wanted, event.owner,
                  key[PAST_OWNER_BYTES] == PAST_ROW_FILE ? &event.record.key : NULL, event.path);
    return place.kind == event.kind &&
                   wanted.size_bytes + PAST_PLACE_BYTES == row->key.size_bytes &&
                   memcmp(wanted.bytes, key, wanted.size_bytes) == 0
               ? 0
               : -EUCLEAN;
}

bool past_is_event(const struct kv_entry *row)
{
    return row->key.size_bytes > PAST_OWNER_BYTES &&
           ((const uint8_t *)row->key.data)[PAST_OWNER_BYTES] == PAST_ROW_EVENT;
}

bool past_is_count(const struct kv_entry *row, uint64_t *ret_n)
{
    const uint8_t *key = row->key.data;
    if (row->key.size_bytes != PAST_OWNER_BYTES + 1 || key[PAST_OWNER_BYTES] != PAST_ROW_COUNT ||
        row->value.size_bytes != 8)
        return false;
    *ret_n = get_be64(row->value.data);
    return true;
}

uid_t past_owner(const struct kv_entry *row)
{
    return row->key.size_bytes > PAST_OWNER_BYTES ? get_be32(row->key.data) : 0;
}

int past_check(struct kv *kv, const struct kv_entry *row)
{
    const uint8_t *key = row->key.data;
    if (row->key.size_bytes <= PAST_OWNER_BYTES)
        return -EUCLEAN;
    switch (key[PAST_OWNER_BYTES]) {
    case PAST_ROW_EVENT: return check_event(kv, row);
    case PAST_ROW_FILE:
    case PAST_ROW_PATH: return check_leading(kv, row);
    case PAST_ROW_COUNT:
        return row->key.size_bytes == PAST_OWNER_BYTES + 1 && row->value.size_bytes == 8 ? 0
                                                                                         : -EUCLEAN;
    default: return -EUCLEAN;
    }
}

struct past_copying {
    struct kv *from, *to;
    struct kv_batch *batch;
    uint64_t policy_id, n, n_left, n_of_owner;
    bool failed; /* the new store takes no more */
};

/* Events of the old store that cannot be read are left out, and count as one at least. */
static int as_left_out(struct past_copying *copying, int r)
{
    if (copying->failed || (r != -EUCLEAN && r != -EIO))
        return r;
    copying->n_left++;
    return 0;
}

static int flush(struct past_copying *copying, size_t above)
{
    if (kv_batch_bytes(copying->batch) <= above)
        return 0;
    int r = kv_apply(copying->to, copying->batch);
    copying->failed = r < 0;
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
    int r = past_each_of_owner(&walk, owner);
    copying->n_left += walk.n_damaged;
    if (copying->n_of_owner)
        past_put_count(copying->batch, owner, copying->n_of_owner);
    return as_left_out(copying, r); /* the next owner's may be sound */
}

int past_copy(struct kv *from, struct kv *to, uint64_t policy_id, uint64_t *ret_n,
              uint64_t *ret_n_left)
{
    struct past_copying copying = {
        .from = from, .to = to, .policy_id = policy_id, .batch = kv_batch_new()};
    const struct past_walk owners = {.kv = from};
    int r = copying.batch ? past_each_owner(&owners, copy_owner, &copying) : -ENOMEM;
    r = as_left_out(&copying, r);
    if (r == 0)
        r = flush(&copying, 0);
    kv_batch_free(copying.batch);
    *ret_n = copying.n;
    *ret_n_left = copying.n_left;
    return r;
}
