#include "engine/index/tables/compared.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/tables/classes.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/table_walk.h"

enum {
    OWNER_BYTES = 4,
    KEY_BYTES = 2 * CLASS_BYTES + OWNER_BYTES,
    VALUE_BYTES = 8,
    CONTENT_KEY_BYTES = CLASS_BYTES + FINGERPRINT_BYTES + OWNER_BYTES,
    DELETE_BYTES = 256 << 10,
};

static struct kv_slice make_key(uint8_t key[KEY_BYTES], uid_t owner, const uint8_t a[CLASS_BYTES],
                                const uint8_t b[CLASS_BYTES])
{
    const bool a_first = memcmp(a, b, CLASS_BYTES) < 0;
    memcpy(key, a_first ? a : b, CLASS_BYTES);
    memcpy(key + CLASS_BYTES, a_first ? b : a, CLASS_BYTES);
    put_be32(key + KEY_BYTES - OWNER_BYTES, owner);
    return (struct kv_slice){key, KEY_BYTES};
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
    uint8_t key[KEY_BYTES];
    int r = kv_get(kv, TABLE_COMPARED, make_key(key, owner, a, b), &value);
    return r < 0 ? r : decode(kv_buf_slice(&value), ret_resemblance);
}

static int put(struct kv *kv, struct kv_slice key, struct kv_slice value)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    kv_batch_put(batch, TABLE_COMPARED, key, value);
    return kv_apply(kv, batch);
}

int compared_put(struct kv *kv, uid_t owner, const uint8_t a[CLASS_BYTES],
                 const uint8_t b[CLASS_BYTES], double resemblance)
{
    uint8_t key[KEY_BYTES], value[VALUE_BYTES];
    uint64_t bits;
    memcpy(&bits, &resemblance, sizeof(bits));
    put_be64(value, bits);
    return put(kv, make_key(key, owner, a, b), (struct kv_slice){value, sizeof(value)});
}

static struct kv_slice make_content_key(uint8_t key[CONTENT_KEY_BYTES], uid_t owner,
                                        const struct record *record)
{
    record_class(record, key);
    memcpy(key + CLASS_BYTES, record->content_fingerprint, FINGERPRINT_BYTES);
    put_be32(key + CONTENT_KEY_BYTES - OWNER_BYTES, owner);
    return (struct kv_slice){key, CONTENT_KEY_BYTES};
}

int compared_get_digest(struct kv *kv, uid_t owner, const struct record *record,
                        uint8_t ret_digest[COMPARED_DIGEST_BYTES])
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[CONTENT_KEY_BYTES];
    int r = kv_get(kv, TABLE_COMPARED, make_content_key(key, owner, record), &value);
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
    uint8_t key[CONTENT_KEY_BYTES];
    return put(kv, make_content_key(key, owner, record),
               (struct kv_slice){digest, COMPARED_DIGEST_BYTES});
}

int compared_count(struct kv *kv, uint64_t *ret_n)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct kv_entry row;
    uint64_t n = 0;
    int r = table_walk_begin(&walk, kv, TABLE_COMPARED, (struct kv_slice){0});
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0)
        n++;
    if (r == 0)
        *ret_n = n;
    return r;
}

/* 1, 0, or an error. */
static int is_of_documents(struct kv *kv, const struct kv_entry *row)
{
    int r = compared_check(row) == 0;
    for (size_t at = 0; r > 0 && at + CLASS_BYTES + OWNER_BYTES <= row->key.size_bytes;
         at += CLASS_BYTES) {
        _cleanup_(number_vector_done) struct number_vector sids = {0};
        r = classes_list(kv, (const uint8_t *)row->key.data + at, 0, 1, &sids);
        if (r == 0)
            r = sids.n_numbers > 0;
    }
    return r;
}

/* Those of no document any more, or all. */
static int remove_rows(struct kv *kv, bool all, uint64_t *ret_n_left)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct kv_entry row;
    uint64_t n_left = 0;
    int r = batch ? table_walk_begin(&walk, kv, TABLE_COMPARED, (struct kv_slice){0}) : -ENOMEM;
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0) {
        r = all ? 0 : is_of_documents(kv, &row);
        n_left += r > 0;
        if (r == 0)
            kv_batch_delete(batch, TABLE_COMPARED, row.key);
        if (r == 0 && kv_batch_bytes(batch) > DELETE_BYTES) {
            r = kv_apply(kv, batch);
            kv_batch_clear(batch);
        }
    }
    if (r == 0)
        r = kv_apply(kv, batch);
    if (r == 0)
        *ret_n_left = n_left;
    return r;
}

int compared_trim(struct kv *kv, uint64_t most, uint64_t *ret_n)
{
    int r = remove_rows(kv, false, ret_n);
    return r == 0 && *ret_n > most ? remove_rows(kv, true, ret_n) : r;
}

int compared_check(const struct kv_entry *row)
{
    const uint8_t *key = row->key.data;
    double resemblance;
    if (row->key.size_bytes == CONTENT_KEY_BYTES)
        return (key[0] == 'T' || key[0] == 'C') && row->value.size_bytes == COMPARED_DIGEST_BYTES
                   ? 0
                   : -EUCLEAN;
    return row->key.size_bytes == KEY_BYTES && key[0] == 'T' && key[CLASS_BYTES] == 'T' &&
                   memcmp(key, key + CLASS_BYTES, CLASS_BYTES) < 0
               ? decode(row->value, &resemblance)
               : -EUCLEAN;
}
