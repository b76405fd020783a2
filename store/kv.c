/* The part of kv.h that is the same for every back end: arguments are checked before a back end is
 * called, results are empty again after a failure, and what fails for a moment is repeated.
 *
 * Example: kv_get() with a key of 5,000 bytes returns -EINVAL and the back end is not called; when
 * the third of ten pages of kv_multi_scan() fails, the two that were filled are freed. A write that
 * answers -ETIMEDOUT may have happened; it is idempotent, so a patient store repeats it. A kv_cas()
 * may not be: if it has happened, the repeated one finds another value than it expects.
 */
#include "store/kv.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>

#include "store/kv_backend.h"

enum { TRIES_MAX = 12, FIRST_PAUSE_US = 500 }; /* doubling: about two seconds in all */

static _Thread_local char last_error[512];

const char *kv_last_error(void)
{
    return last_error;
}

void kv_set_last_error(const char *text)
{
    snprintf(last_error, sizeof(last_error), "%s", text);
    for (char *c = last_error; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
}

/* Every call begins with an empty last error: a text that is set later is of this call. */
static const struct kv_ops *begin(const struct kv *kv)
{
    last_error[0] = '\0';
    return kv->ops;
}

void kv_be_patient(struct kv *kv)
{
    kv->patient = true;
}

bool kv_retry_wanted(int result, unsigned *n_tries)
{
    if ((result != -EAGAIN && result != -ETIMEDOUT) || *n_tries >= TRIES_MAX)
        return false;
    uint64_t pause_ns = (uint64_t)FIRST_PAUSE_US * 1000 << (*n_tries)++;
    struct timespec pause = {(time_t)(pause_ns / 1000000000), (long)(pause_ns % 1000000000)};
    nanosleep(&pause, NULL);
    return true;
}

#define REPEATED(kv, call)                                                                         \
    ({                                                                                             \
        unsigned n_tries_ = 0;                                                                     \
        int result_;                                                                               \
        do                                                                                         \
            result_ = (call);                                                                      \
        while ((kv)->patient && kv_retry_wanted(result_, &n_tries_));                              \
        result_;                                                                                   \
    })

void kv_init(struct kv *kv, const struct kv_ops *ops, const struct kv_options *options)
{
    *kv = (struct kv){
        .ops = ops,
        .tables = options->tables,
        .n_tables = options->n_tables,
        .read_only = options->read_only,
    };
}

int slice_copy(struct kv_slice slice, struct kv_buf *ret_copy)
{
    void *data = malloc(slice.size_bytes > 0 ? slice.size_bytes : 1);
    if (!data)
        return -ENOMEM;
    if (slice.size_bytes > 0)
        memcpy(data, slice.data, slice.size_bytes);
    *ret_copy = (struct kv_buf){data, slice.size_bytes};
    return 0;
}

struct kv_slice kv_partition_of(const struct kv_table *table, struct kv_slice key)
{
    size_t n = key.size_bytes;
    if (table->partition == KV_PARTITION_FIXED)
        n = table->partition_bytes;
    else if (table->partition == KV_PARTITION_PREFIXED && n > 0)
        n = 1 + (size_t) * (const uint8_t *)key.data;
    return (struct kv_slice){key.data, n < key.size_bytes ? n : key.size_bytes};
}

void kv_close(struct kv *kv)
{
    if (kv)
        kv->ops->close(kv);
}

int kv_get(struct kv *kv, unsigned table, struct kv_slice key, struct kv_buf *ret_value)
{
    assert(table < kv->n_tables);
    return REPEATED(kv, begin(kv)->get(kv, table, key, ret_value));
}

static int multi_get(struct kv *kv, unsigned table, const struct kv_slice *keys, size_t n_keys,
                     struct kv_buf *ret_values)
{
    for (size_t i = 0; i < n_keys; i++)
        ret_values[i] = (struct kv_buf){0};
    int r = n_keys > 0 ? begin(kv)->multi_get(kv, table, keys, n_keys, ret_values) : 0;
    if (r < 0)
        for (size_t i = 0; i < n_keys; i++)
            kv_buf_done(&ret_values[i]);
    return r;
}

int kv_multi_get(struct kv *kv, unsigned table, const struct kv_slice *keys, size_t n_keys,
                 struct kv_buf *ret_values)
{
    assert(table < kv->n_tables);
    return REPEATED(kv, multi_get(kv, table, keys, n_keys, ret_values));
}

static int multi_scan(struct kv *kv, unsigned table, const struct kv_range *ranges, size_t n_ranges,
                      size_t limit, struct kv_page *ret_pages)
{
    for (size_t i = 0; i < n_ranges; i++)
        ret_pages[i] = (struct kv_page){0};
    int r = n_ranges > 0 ? begin(kv)->multi_scan(kv, table, ranges, n_ranges, limit, ret_pages) : 0;
    if (r < 0)
        for (size_t i = 0; i < n_ranges; i++)
            kv_page_done(&ret_pages[i]);
    return r;
}

int kv_multi_scan(struct kv *kv, unsigned table, const struct kv_range *ranges, size_t n_ranges,
                  size_t limit, struct kv_page *ret_pages)
{
    assert(table < kv->n_tables && limit > 0);
    return REPEATED(kv, multi_scan(kv, table, ranges, n_ranges, limit, ret_pages));
}

int kv_scan(struct kv *kv, unsigned table, const struct kv_range *range, size_t limit,
            struct kv_page *ret_page)
{
    struct kv_page page;
    int r = kv_multi_scan(kv, table, range, 1, limit, &page);
    if (r == 0)
        *ret_page = page;
    return r;
}

static bool key_fits(struct kv_slice key)
{
    return key.size_bytes > 0 && key.size_bytes <= KV_MAX_KEY_BYTES;
}

int kv_apply(struct kv *kv, const struct kv_batch *batch)
{
    int r = kv_batch_error(batch);
    if (r < 0)
        return r;
    if (kv->read_only)
        return -EROFS;
    size_t n = kv_batch_count(batch);
    for (size_t i = 0; i < n; i++) {
        struct kv_batch_op op = kv_batch_op(batch, i);
        assert(op.table < kv->n_tables);
        if (!key_fits(op.key) || op.value.size_bytes > KV_MAX_VALUE_BYTES)
            return -EINVAL;
    }
    if (kv_batch_bytes(batch) > KV_MAX_BATCH_BYTES)
        return -E2BIG;
    return n > 0 ? REPEATED(kv, begin(kv)->apply(kv, batch)) : 0;
}

int kv_cas(struct kv *kv, unsigned table, struct kv_slice key, const struct kv_slice *expected,
           const struct kv_slice *desired)
{
    assert(table < kv->n_tables);
    if (kv->read_only)
        return -EROFS;
    if (!key_fits(key) || (desired && desired->size_bytes > KV_MAX_VALUE_BYTES))
        return -EINVAL;
    unsigned n_tries = 0;
    int r;
    do
        r = begin(kv)->cas(kv, table, key, expected, desired);
    while (kv->patient && r == -EAGAIN && kv_retry_wanted(r, &n_tries));
    return r;
}

/* A caller's run, whose order, keys and values are checked as they come. */
struct checked_run {
    kv_run_next_fn next;
    void *user;
    bool any;
    size_t last_bytes;
    uint8_t last[KV_MAX_KEY_BYTES];
};

static int checked_run_next(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct checked_run *run = user;
    struct kv_entry entry = {0};
    bool is_delete = false;
    int r = run->next(run->user, &entry, &is_delete);
    if (r <= 0)
        return r;
    if (!key_fits(entry.key) || entry.value.size_bytes > KV_MAX_VALUE_BYTES)
        return -EINVAL;
    if (run->any && slice_compare((struct kv_slice){run->last, run->last_bytes}, entry.key) >= 0)
        return -EINVAL;
    memcpy(run->last, entry.key.data, entry.key.size_bytes);
    run->last_bytes = entry.key.size_bytes;
    run->any = true;
    *ret_entry = entry;
    *ret_delete = is_delete;
    return 1;
}

int kv_bulk_load(struct kv *kv, unsigned table, kv_run_next_fn next, void *user)
{
    assert(table < kv->n_tables);
    if (kv->read_only)
        return -EROFS;
    struct checked_run run = {.next = next, .user = user};
    return begin(kv)->bulk_load(kv, table, checked_run_next, &run);
}

int kv_checkpoint(struct kv *kv)
{
    return kv->read_only ? 0 : REPEATED(kv, begin(kv)->checkpoint(kv));
}

void kv_let_go(struct kv *kv)
{
    if (kv->ops->let_go && !kv->read_only)
        kv->ops->let_go(kv);
}

int kv_resume(struct kv *kv)
{
    return kv->read_only ? 0 : REPEATED(kv, begin(kv)->resume(kv));
}

int kv_usage(struct kv *kv, uint64_t *ret_size_bytes)
{
    return REPEATED(kv, begin(kv)->usage(kv, ret_size_bytes));
}

int kv_snapshot(struct kv *kv, struct kv **ret_snapshot)
{
    return REPEATED(kv, begin(kv)->snapshot(kv, ret_snapshot));
}
