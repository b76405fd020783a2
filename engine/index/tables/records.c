/* Shards of a hash table with a list in order of use each, bounded in bytes. Someone who reads a
 * record from the store while it is being deleted must not leave it here: each shard counts its
 * deletions, and what was read under another count is handed out but not kept.
 */
#include "engine/index/tables/records.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "base/bytes.h"
#include "engine/index/tables/schema.h"

enum { N_SHARDS = 16, N_BUCKETS = 4096 };

struct held {
    struct record record; /* first: what the caller holds is the held */
    uint64_t sid;
    size_t size_bytes;
    atomic_uint n_refs; /* one of the shard's while it keeps it */
    TAILQ_ENTRY(held) by_use;
    SLIST_ENTRY(held) bucket;
};

TAILQ_HEAD(held_list, held);
SLIST_HEAD(held_bucket, held);

struct shard {
    pthread_mutex_t lock; /* a leaf */
    struct held_bucket buckets[N_BUCKETS];
    struct held_list by_use; /* the latest first */
    size_t size_bytes;
    uint64_t n_forgotten;
};

struct records {
    struct kv *kv;
    size_t max_shard_bytes;
    struct shard shards[N_SHARDS];
};

int records_open(struct kv *kv, size_t max_bytes, struct records **ret_records)
{
    struct records *records = calloc(1, sizeof(*records));
    if (!records)
        return -ENOMEM;
    records->kv = kv;
    records->max_shard_bytes = max_bytes / N_SHARDS;
    for (int i = 0; i < N_SHARDS; i++) {
        pthread_mutex_init(&records->shards[i].lock, NULL);
        TAILQ_INIT(&records->shards[i].by_use);
    }
    *ret_records = records;
    return 0;
}

static void unref(struct held *held)
{
    if (atomic_fetch_sub(&held->n_refs, 1) == 1) {
        record_done(&held->record);
        free(held);
    }
}

static struct shard *shard_of(struct records *records, uint64_t sid)
{
    return &records->shards[sid % N_SHARDS];
}

static struct held *find(struct shard *shard, uint64_t sid)
{
    struct held *held;
    SLIST_FOREACH(held, &shard->buckets[sid / N_SHARDS % N_BUCKETS], bucket)
    {
        if (held->sid == sid)
            return held;
    }
    return NULL;
}

static void drop(struct shard *shard, struct held *held)
{
    SLIST_REMOVE(&shard->buckets[held->sid / N_SHARDS % N_BUCKETS], held, held, bucket);
    TAILQ_REMOVE(&shard->by_use, held, by_use);
    shard->size_bytes -= held->size_bytes;
    unref(held);
}

void records_close(struct records *records)
{
    if (!records)
        return;
    for (int i = 0; i < N_SHARDS; i++) {
        struct shard *shard = &records->shards[i];
        while (!TAILQ_EMPTY(&shard->by_use))
            drop(shard, TAILQ_FIRST(&shard->by_use));
        pthread_mutex_destroy(&shard->lock);
    }
    free(records);
}

/* A kept record with a reference for the caller, or NULL and the shard's count of deletions. */
static struct held *look_up(struct records *records, uint64_t sid, uint64_t *ret_n_forgotten)
{
    struct shard *shard = shard_of(records, sid);
    LOCKED(&shard->lock);
    struct held *held = find(shard, sid);
    *ret_n_forgotten = shard->n_forgotten;
    if (held) {
        atomic_fetch_add(&held->n_refs, 1);
        TAILQ_REMOVE(&shard->by_use, held, by_use);
        TAILQ_INSERT_HEAD(&shard->by_use, held, by_use);
    }
    return held;
}

static void keep(struct records *records, struct held *held, uint64_t n_forgotten)
{
    struct shard *shard = shard_of(records, held->sid);
    LOCKED(&shard->lock);
    if (shard->n_forgotten != n_forgotten || find(shard, held->sid))
        return;
    atomic_fetch_add(&held->n_refs, 1);
    SLIST_INSERT_HEAD(&shard->buckets[held->sid / N_SHARDS % N_BUCKETS], held, bucket);
    TAILQ_INSERT_HEAD(&shard->by_use, held, by_use);
    shard->size_bytes += held->size_bytes;
    while (shard->size_bytes > records->max_shard_bytes)
        drop(shard, TAILQ_LAST(&shard->by_use, held_list));
}

void records_forget(struct records *records, uint64_t sid)
{
    struct shard *shard = shard_of(records, sid);
    LOCKED(&shard->lock);
    shard->n_forgotten++;
    struct held *held = find(shard, sid);
    if (held)
        drop(shard, held);
}

void records_return(struct records *records, const struct record **refs, size_t n_refs)
{
    (void)records;
    for (size_t i = 0; i < n_refs; i++) {
        if (refs[i])
            unref((struct held *)refs[i]);
        refs[i] = NULL;
    }
}

static int decode(uint64_t sid, const struct kv_buf *value, struct held **ret_held)
{
    struct held *held = calloc(1, sizeof(*held));
    if (!held)
        return -ENOMEM;
    int r = record_decode(value->data, value->size_bytes, &held->record);
    if (r < 0) {
        free(held);
        return r;
    }
    held->sid = sid;
    held->size_bytes =
        sizeof(*held) + held->record.sketch.n_values * sizeof(*held->record.sketch.values);
    atomic_init(&held->n_refs, 1);
    *ret_held = held;
    return 0;
}

struct missing {
    uint8_t key[8];
    size_t at; /* in the caller's array */
    uint64_t n_forgotten;
};

static int read_missing(struct records *records, const uint64_t *sids, struct missing *missing,
                        size_t n_missing, const struct record **refs)
{
    _cleanup_free_ struct kv_slice *keys = calloc(n_missing, sizeof(*keys));
    _cleanup_free_ struct kv_buf *values = calloc(n_missing, sizeof(*values));
    if (!keys || !values)
        return -ENOMEM;
    for (size_t i = 0; i < n_missing; i++) {
        put_be64(missing[i].key, sids[missing[i].at]);
        keys[i] = (struct kv_slice){missing[i].key, sizeof(missing[i].key)};
    }
    int r = kv_multi_get(records->kv, TABLE_RECORDS, keys, n_missing, values);
    if (r < 0)
        return r;
    r = 0;
    for (size_t i = 0; i < n_missing; i++) {
        struct held *held;
        if (r == 0 && values[i].data) {
            r = decode(sids[missing[i].at], &values[i], &held);
            if (r == 0) {
                keep(records, held, missing[i].n_forgotten);
                refs[missing[i].at] = &held->record;
            }
        }
        kv_buf_done(&values[i]);
    }
    return r;
}

int records_borrow(struct records *records, const uint64_t *sids, size_t n_sids,
                   const struct record **ret_refs)
{
    size_t n_missing = 0;
    _cleanup_free_ struct missing *missing = calloc(n_sids + 1, sizeof(*missing));
    if (!missing)
        return -ENOMEM;
    for (size_t i = 0; i < n_sids; i++) {
        struct missing *next = &missing[n_missing];
        struct held *held = look_up(records, sids[i], &next->n_forgotten);
        ret_refs[i] = held ? &held->record : NULL;
        next->at = i;
        n_missing += !held;
    }
    int r = n_missing ? read_missing(records, sids, missing, n_missing, ret_refs) : 0;
    if (r < 0)
        records_return(records, ret_refs, n_sids);
    return r;
}

/* Some entries of a page, from one on, which becomes the next. Returns what visit did, or an error.
 */
static int visit_some(const struct kv_page *page, size_t *from, records_visit_fn visit, void *user)
{
    struct record records[RECORDS_VISITED];
    uint64_t sids[RECORDS_VISITED];
    size_t n = 0;
    int r = 0;
    for (; r == 0 && *from < page->n_entries && n < RECORDS_VISITED; ++*from) {
        const struct kv_entry *entry = &page->entries[*from];
        r = record_decode_key(entry->key, &sids[n]);
        if (r == 0)
            r = record_decode(entry->value.data, entry->value.size_bytes, &records[n]);
        n += r == 0;
    }
    if (r == 0)
        r = visit(user, sids, records, n);
    for (size_t i = 0; i < n; i++)
        record_done(&records[i]);
    return r;
}

int records_each_some(struct kv *kv, uint64_t from_sid, records_visit_fn visit, void *user)
{
    enum { RECORDS_AT_ONCE = 256 };
    struct record_key key;
    for (;;) {
        struct kv_range range = {.from = record_key(&key, from_sid)};
        _cleanup_(kv_page_done) struct kv_page page = {0};
        int r = kv_scan(kv, TABLE_RECORDS, &range, RECORDS_AT_ONCE, &page);
        for (size_t i = 0; r == 0 && i < page.n_entries;)
            r = visit_some(&page, &i, visit, user);
        if (r != 0 || !page.more || page.n_entries == 0)
            return r;
        from_sid = get_be64(page.entries[page.n_entries - 1].key.data) + 1;
    }
}

struct one_by_one {
    record_visit_fn visit;
    void *user;
};

static int visit_each(void *user, const uint64_t *sids, const struct record *records, size_t n)
{
    const struct one_by_one *one = user;
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++)
        r = one->visit(one->user, sids[i], &records[i]);
    return r;
}

int records_each(struct kv *kv, uint64_t from_sid, record_visit_fn visit, void *user)
{
    return records_each_some(kv, from_sid, visit_each, &(struct one_by_one){visit, user});
}
