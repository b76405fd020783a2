#include "engine/index/tables/compared.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "engine/index/tables/schema.h"

enum {
    N_GENERATIONS = 3,
    STATE = 255, /* in the place of a generation */
    HEAD_BYTES = 4 + 1,
    PAIR_BYTES = 2 * CLASS_BYTES,
    CONTENT_BYTES = CLASS_BYTES + FINGERPRINT_BYTES,
    LONG = 'N', /* behind a content */
    KEY_MAX_BYTES = HEAD_BYTES + PAIR_BYTES,
    VALUE_BYTES = 8,
    STATE_BYTES = 1 + 8,
    GENERATION_ROWS = COMPARED_MAX / 2,
    DELETED_A_ROW = 4, /* so they are gone long before their generation is the next again */
};

struct row_key {
    uint8_t bytes[KEY_MAX_BYTES];
    size_t size_bytes;
};

static struct kv_slice slice(const struct row_key *key)
{
    return (struct kv_slice){key->bytes, key->size_bytes};
}

static void set_head(struct row_key *key, uid_t owner, uint8_t generation)
{
    put_be32(key->bytes, owner);
    key->bytes[HEAD_BYTES - 1] = generation;
}

static struct row_key pair_key(const uint8_t a[CLASS_BYTES], const uint8_t b[CLASS_BYTES])
{
    struct row_key key = {.size_bytes = HEAD_BYTES + PAIR_BYTES};
    const bool a_first = memcmp(a, b, CLASS_BYTES) < 0;
    memcpy(key.bytes + HEAD_BYTES, a_first ? a : b, CLASS_BYTES);
    memcpy(key.bytes + HEAD_BYTES + CLASS_BYTES, a_first ? b : a, CLASS_BYTES);
    return key;
}

static struct row_key content_key(const struct record *record)
{
    struct row_key key = {.size_bytes = HEAD_BYTES + CONTENT_BYTES};
    record_class(record, key.bytes + HEAD_BYTES);
    memcpy(key.bytes + HEAD_BYTES + CLASS_BYTES, record->content_fingerprint, FINGERPRINT_BYTES);
    return key;
}

static struct row_key long_key(const struct record *record)
{
    struct row_key key = content_key(record);
    key.bytes[key.size_bytes++] = LONG;
    return key;
}

/* -- of an owner -- */

struct state {
    uint8_t generation;
    uint64_t n;          /* rows put in it */
    struct row_key next; /* to be deleted, of the last generation but one; its head: not set */
};

static struct row_key state_key(uid_t owner)
{
    struct row_key key = {.size_bytes = HEAD_BYTES};
    set_head(&key, owner, STATE);
    return key;
}

static int decode_state(struct kv_slice value, struct state *ret_state)
{
    const uint8_t *bytes = value.data;
    if (value.size_bytes < STATE_BYTES || value.size_bytes > STATE_BYTES + PAIR_BYTES ||
        bytes[0] >= N_GENERATIONS)
        return -EUCLEAN;
    *ret_state = (struct state){.generation = bytes[0], .n = get_be64(bytes + 1)};
    ret_state->next.size_bytes = HEAD_BYTES + value.size_bytes - STATE_BYTES;
    memcpy(ret_state->next.bytes + HEAD_BYTES, bytes + STATE_BYTES, value.size_bytes - STATE_BYTES);
    return 0;
}

static int get_state(struct kv *kv, uid_t owner, struct state *ret_state)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    const struct row_key key = state_key(owner);
    int r = kv_get(kv, TABLE_COMPARED, slice(&key), &value);
    *ret_state = (struct state){.next.size_bytes = HEAD_BYTES};
    return r == -ENOENT ? 0 : r < 0 ? r : decode_state(kv_buf_slice(&value), ret_state);
}

static void put_state(struct kv_batch *batch, uid_t owner, const struct state *state)
{
    const struct row_key key = state_key(owner);
    const size_t n_next = state->next.size_bytes - HEAD_BYTES;
    uint8_t value[STATE_BYTES + PAIR_BYTES];
    value[0] = state->generation;
    put_be64(value + 1, state->n);
    memcpy(value + STATE_BYTES, state->next.bytes + HEAD_BYTES, n_next);
    kv_batch_put(batch, TABLE_COMPARED, slice(&key),
                 (struct kv_slice){value, STATE_BYTES + n_next});
}

static uint8_t before(uint8_t generation, unsigned n)
{
    return (uint8_t)((generation + N_GENERATIONS - n) % N_GENERATIONS);
}

static void begin_generation(struct state *state)
{
    *state = (struct state){.generation = (state->generation + 1) % N_GENERATIONS,
                            .next.size_bytes = HEAD_BYTES};
}

/* Some of the last generation but one. */
static int delete_some(struct kv *kv, uid_t owner, struct state *state, struct kv_batch *batch)
{
    _cleanup_(kv_page_done) struct kv_page page = {0};
    _cleanup_(kv_buf_done) struct kv_buf to = {0};
    struct kv_range range;
    set_head(&state->next, owner, before(state->generation, 2));
    int r = kv_prefix_range((struct kv_slice){state->next.bytes, HEAD_BYTES}, &range, &to);
    range.from = slice(&state->next);
    if (r == 0)
        r = kv_scan(kv, TABLE_COMPARED, &range, DELETED_A_ROW, &page);
    for (size_t i = 0; r == 0 && i < page.n_entries; i++) {
        const struct kv_slice key = page.entries[i].key;
        if (key.size_bytes > KEY_MAX_BYTES)
            return -EUCLEAN;
        kv_batch_delete(batch, TABLE_COMPARED, key);
        memcpy(state->next.bytes, key.data, key.size_bytes);
        state->next.size_bytes = key.size_bytes;
    }
    return r;
}

/* -- rows -- */

static pthread_mutex_t putting = PTHREAD_MUTEX_INITIALIZER;

/* The state is read and written by one at a time. */
static int put(struct kv *kv, uid_t owner, struct row_key *key, struct kv_slice value)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct state state;
    if (!batch)
        return -ENOMEM;
    LOCKED(&putting);
    int r = get_state(kv, owner, &state);
    if (r < 0)
        return r;
    if (state.n >= GENERATION_ROWS)
        begin_generation(&state);
    state.n++;
    r = delete_some(kv, owner, &state, batch);
    if (r < 0)
        return r;
    set_head(key, owner, state.generation);
    kv_batch_put(batch, TABLE_COMPARED, slice(key), value);
    put_state(batch, owner, &state);
    return kv_apply(kv, batch);
}

/* A row of the generation that runs, or of the one before, from which it is put into that. */
static int get(struct kv *kv, uid_t owner, struct row_key *key, struct kv_buf *ret_value)
{
    struct state state;
    int r = get_state(kv, owner, &state);
    if (r < 0)
        return r;
    set_head(key, owner, state.generation);
    r = kv_get(kv, TABLE_COMPARED, slice(key), ret_value);
    if (r != -ENOENT)
        return r;
    set_head(key, owner, before(state.generation, 1));
    r = kv_get(kv, TABLE_COMPARED, slice(key), ret_value);
    if (r == 0)
        (void)put(kv, owner, key, kv_buf_slice(ret_value)); /* else it is read again some day */
    return r;
}

/* A number that is none is no resemblance either. */
static int decode(struct kv_slice value, double *ret_resemblance)
{
    if (value.size_bytes != VALUE_BYTES)
        return -EUCLEAN;
    const uint64_t bits = get_be64(value.data);
    double resemblance;
    memcpy(&resemblance, &bits, sizeof(resemblance));
    if (!(resemblance >= 0 && resemblance <= 1))
        return -EUCLEAN;
    *ret_resemblance = resemblance;
    return 0;
}

int compared_get(struct kv *kv, uid_t owner, const uint8_t a[CLASS_BYTES],
                 const uint8_t b[CLASS_BYTES], double *ret_resemblance)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct row_key key = pair_key(a, b);
    int r = get(kv, owner, &key, &value);
    return r < 0 ? r : decode(kv_buf_slice(&value), ret_resemblance);
}

int compared_put(struct kv *kv, uid_t owner, const uint8_t a[CLASS_BYTES],
                 const uint8_t b[CLASS_BYTES], double resemblance)
{
    struct row_key key = pair_key(a, b);
    uint8_t value[VALUE_BYTES];
    uint64_t bits;
    memcpy(&bits, &resemblance, sizeof(bits));
    put_be64(value, bits);
    return put(kv, owner, &key, (struct kv_slice){value, sizeof(value)});
}

int compared_get_digest(struct kv *kv, uid_t owner, const struct record *record,
                        uint8_t ret_digest[COMPARED_DIGEST_BYTES])
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct row_key key = content_key(record);
    int r = get(kv, owner, &key, &value);
    const struct kv_slice digest = kv_buf_slice(&value);
    if (r == 0 && digest.size_bytes != COMPARED_DIGEST_BYTES)
        r = -EUCLEAN;
    if (r == 0)
        memcpy(ret_digest, digest.data, COMPARED_DIGEST_BYTES);
    return r;
}

int compared_put_digest(struct kv *kv, uid_t owner, const struct record *record,
                        const uint8_t digest[COMPARED_DIGEST_BYTES])
{
    struct row_key key = content_key(record);
    return put(kv, owner, &key, (struct kv_slice){digest, COMPARED_DIGEST_BYTES});
}

int compared_is_long(struct kv *kv, uid_t owner, const struct record *record)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct row_key key = long_key(record);
    int r = get(kv, owner, &key, &value);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

int compared_put_long(struct kv *kv, uid_t owner, const struct record *record)
{
    struct row_key key = long_key(record);
    return put(kv, owner, &key, (struct kv_slice){"", 0});
}

int compared_check(const struct kv_entry *row)
{
    const uint8_t *key = row->key.data, *rest = key + HEAD_BYTES;
    double resemblance;
    struct state state;
    if (row->key.size_bytes < HEAD_BYTES)
        return -EUCLEAN;
    if (key[HEAD_BYTES - 1] == STATE)
        return row->key.size_bytes == HEAD_BYTES ? decode_state(row->value, &state) : -EUCLEAN;
    if (key[HEAD_BYTES - 1] >= N_GENERATIONS)
        return -EUCLEAN;
    if (row->key.size_bytes == HEAD_BYTES + CONTENT_BYTES)
        return (rest[0] == 'T' || rest[0] == 'C') && row->value.size_bytes == COMPARED_DIGEST_BYTES
                   ? 0
                   : -EUCLEAN;
    /* Which is as long as that of a pair. */
    if (row->key.size_bytes == HEAD_BYTES + PAIR_BYTES && rest[CONTENT_BYTES] == LONG &&
        row->value.size_bytes == 0)
        return rest[0] == 'T' || rest[0] == 'C' ? 0 : -EUCLEAN;
    return row->key.size_bytes == HEAD_BYTES + PAIR_BYTES && rest[0] == 'T' &&
                   rest[CLASS_BYTES] == 'T' && memcmp(rest, rest + CLASS_BYTES, CLASS_BYTES) < 0
               ? decode(row->value, &resemblance)
               : -EUCLEAN;
}
