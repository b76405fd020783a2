/* Postings of passages in rows of many, since a row costs a store more than what is in it.
 *
 * A flush writes a run: its postings by fingerprint, cut into 65,536 buckets by the upper 16 bits,
 * a row a bucket. So a question reads the rows of one bucket, which are side by side, and in them
 * some postings of other fingerprints: of a hundred million in all 1,500, in 10 us.
 *
 *   key    bucket 2 | run 8 | part 2
 *   value  smallest sid 8 | (rest 3, sid 4) each
 *
 * Entries ascend by fingerprint and sid. Bucket and rest are the upper 16 and the lower 24 bits of
 * the fingerprint; a sid is counted from the smallest, its highest bit set in a removal. */
#include "engine/index/postings/passages_private.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"

enum {
    REST_BITS = PASSAGES_REST_BITS,
    HEAD_BYTES = 8,
    ENTRY_BYTES = REST_BITS / 8 + 4,
};
static const uint32_t REMOVED = (uint32_t)1 << 31;

struct kv_slice passages_row_key(uint8_t key[PASSAGES_KEY_BYTES], unsigned bucket, uint64_t run,
                                 unsigned part)
{
    put_be16(key, (uint16_t)bucket);
    put_be64(key + 2, run);
    put_be16(key + 10, (uint16_t)part);
    return (struct kv_slice){key, PASSAGES_KEY_BYTES};
}

static int look_ahead(struct passages_rows *rows)
{
    if (rows->has_ahead || rows->ended)
        return rows->has_ahead;
    int r = rows->next(rows->user, &rows->ahead);
    rows->has_ahead = r > 0;
    rows->ended = r <= 0;
    return r;
}

static size_t encode_row(const struct passages_entry *entries, size_t n, uint64_t smallest,
                         uint8_t *value)
{
    uint8_t *at = value + HEAD_BYTES;
    put_be64(value, smallest);
    for (size_t i = 0; i < n; i++, at += ENTRY_BYTES) {
        uint8_t fingerprint[8];
        put_be64(fingerprint, entries[i].fingerprint);
        memcpy(at, fingerprint + 8 - REST_BITS / 8, REST_BITS / 8);
        put_be32(at + REST_BITS / 8,
                 (uint32_t)(entries[i].sid - smallest) | (entries[i].removed ? REMOVED : 0));
    }
    return (size_t)(at - value);
}

/* Sids of one row are that near to each other. */
static bool is_near(uint64_t sid, uint64_t *least, uint64_t *most)
{
    const uint64_t low = sid < *least ? sid : *least, high = sid > *most ? sid : *most;
    if (high - low >= REMOVED)
        return false;
    *least = low;
    *most = high;
    return true;
}

static int next_row(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct passages_rows *rows = user;
    size_t n = 0;
    int r = look_ahead(rows);
    if (r <= 0)
        return r;
    const unsigned bucket = passages_bucket_of(rows->ahead.fingerprint);
    uint64_t least = rows->ahead.sid, most = least;
    rows->part = bucket == rows->bucket ? rows->part + 1 : 0;
    rows->bucket = bucket;
    if (rows->part > UINT16_MAX) /* 65 million documents in one run have it */
        return -EOVERFLOW;
    while (n < PASSAGES_ROW_ENTRIES && (r = look_ahead(rows)) > 0 &&
           passages_bucket_of(rows->ahead.fingerprint) == bucket &&
           is_near(rows->ahead.sid, &least, &most)) {
        rows->entries[n++] = rows->ahead;
        rows->has_ahead = false;
    }
    if (r < 0)
        return r;
    *ret_delete = false;
    ret_entry->key = passages_row_key(rows->key, bucket, rows->run, rows->part);
    ret_entry->value =
        (struct kv_slice){rows->value, encode_row(rows->entries, n, least, rows->value)};
    return 1;
}

int passages_write_rows(struct kv *kv, struct passages_rows *rows)
{
    rows->has_ahead = rows->ended = false;
    rows->bucket = UINT_MAX;
    return kv_bulk_load(kv, TABLE_PASSAGES, next_row, rows);
}

/* -- entries of one bucket, of all its rows -- */

void passages_bucket_done(struct passages_bucket *bucket)
{
    free(bucket->entries);
    *bucket = (struct passages_bucket){0};
}

int passages_bucket_add(struct passages_bucket *bucket, const struct kv_entry *row,
                        const uint64_t *fingerprint)
{
    const uint8_t *at = row->value.data;
    const size_t size_bytes = row->value.size_bytes;
    uint64_t smallest;
    if (row->key.size_bytes != PASSAGES_KEY_BYTES || size_bytes < HEAD_BYTES + ENTRY_BYTES ||
        (size_bytes - HEAD_BYTES) % ENTRY_BYTES || sid_decode(at, &smallest) < 0 ||
        smallest > NEXT_MAX)
        return -EUCLEAN;
    const uint64_t upper = (uint64_t)get_be16(row->key.data) << REST_BITS;
    for (const uint8_t *end = at + size_bytes, *p = at + HEAD_BYTES; p < end; p += ENTRY_BYTES) {
        const uint64_t found = upper | (uint64_t)p[0] << 16 | (uint64_t)p[1] << 8 | p[2];
        const uint32_t sid = get_be32(p + REST_BITS / 8);
        if (fingerprint && found != *fingerprint)
            continue;
        if (!MAKE_ROOM(bucket->entries, bucket->room, bucket->n_entries + 1))
            return -ENOMEM;
        bucket->entries[bucket->n_entries] = (struct passages_entry){
            found, smallest + (sid & ~REMOVED), bucket->n_entries, sid & REMOVED};
        bucket->n_entries++;
    }
    return 0;
}

/* Entries of one posting are ordered with the latest first. */
static int compare_entries(const void *a, const void *b)
{
    const struct passages_entry *x = a, *y = b;
    if (x->fingerprint != y->fingerprint)
        return x->fingerprint < y->fingerprint ? -1 : 1;
    if (x->sid != y->sid)
        return x->sid < y->sid ? -1 : 1;
    return (x->age < y->age) - (x->age > y->age);
}

void passages_bucket_settle(struct passages_bucket *bucket)
{
    struct passages_entry *entries = bucket->entries, last = {0};
    size_t n = 0;
    if (bucket->n_entries)
        qsort(entries, bucket->n_entries, sizeof(*entries), compare_entries);
    for (size_t i = 0; i < bucket->n_entries; i++) {
        const bool same =
            i && entries[i].fingerprint == last.fingerprint && entries[i].sid == last.sid;
        last = entries[i];
        if (!same && !last.removed)
            entries[n++] = last;
    }
    bucket->n_entries = n;
}

int passages_each_row(struct kv *kv, unsigned number, uint64_t end_run, table_row_fn visit,
                      void *user)
{
    uint8_t from[PASSAGES_KEY_BYTES], to[PASSAGES_KEY_BYTES];
    const struct kv_range range = {passages_row_key(from, number, 0, 0),
                                   passages_row_key(to, number, end_run, 0)};
    return table_each_row(kv, TABLE_PASSAGES, range, visit, user);
}

struct wanted {
    struct passages_bucket bucket;
    const uint64_t *fingerprint;
};

static int take_row(void *user, const struct kv_entry *row)
{
    struct wanted *wanted = user;
    return passages_bucket_add(&wanted->bucket, row, wanted->fingerprint);
}

int passages_read_bucket(struct kv *kv, uint64_t fingerprint, struct passages_bucket *ret_bucket)
{
    struct wanted wanted = {.fingerprint = &fingerprint};
    int r = passages_each_row(kv, passages_bucket_of(fingerprint), UINT64_MAX, take_row, &wanted);
    passages_bucket_settle(&wanted.bucket);
    *ret_bucket = wanted.bucket;
    return r;
}
