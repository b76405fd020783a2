/* The store that fails on purpose (kv_fault.h).
 *
 * A batch that is split goes to the inner store one partition at a time: its operations are sorted
 * by partition (their own order kept inside it), the partitions shuffled. A run that is split goes
 * there in batches of a few entries.
 *
 * Example: with split_batches and crash_after_writes 2, a batch of three partitions has one of them
 * written, chosen by the seed; the second write and everything after it fails with -EIO. A test
 * then opens the inner store, as after a crash, and looks whether the index repairs it.
 */
#include "tests/lib/stores/kv_fault.h"

#include <assert.h>
#include <time.h>

#include "base/mix.h"
#include "store/kv_backend.h"

struct kv_fault {
    struct kv kv;
    struct kv *inner;
    struct kv_fault_plan plan;
    pthread_mutex_t mutex; /* of all below; not held over calls of inner */
    uint64_t random;
    uint64_t n_calls, n_writes;
    bool crashed;
};

static struct kv_fault *fault_of(struct kv *kv)
{
    return (struct kv_fault *)kv;
}

static uint64_t random_below_locked(struct kv_fault *fault, uint64_t n)
{
    return mix64_next(&fault->random) % n; /* whose bias does not matter here */
}

static uint64_t random_below(struct kv_fault *fault, uint64_t n)
{
    LOCKED(&fault->mutex);
    return random_below_locked(fault, n);
}

static int begin_locked(struct kv_fault *fault, uint64_t *ret_delay_us)
{
    const struct kv_fault_plan *plan = &fault->plan;
    uint64_t n = ++fault->n_calls;
    if (fault->crashed)
        return -EIO;
    if (plan->delay_us > 0)
        *ret_delay_us = random_below_locked(fault, (uint64_t)plan->delay_us + 1);
    if (n == plan->fail_call)
        return plan->fail_error;
    if (plan->again_per_mille > 0 && random_below_locked(fault, 1000) < plan->again_per_mille)
        return -EAGAIN;
    return 0;
}

/* Every call begins here. Returns 0, or the error with which the call must fail. */
static int begin(struct kv_fault *fault)
{
    uint64_t delay_us = 0;
    int r;
    {
        LOCKED(&fault->mutex);
        r = begin_locked(fault, &delay_us);
    }
    if (delay_us > 0)
        nanosleep(&(struct timespec){delay_us / 1000000, delay_us % 1000000 * 1000}, NULL);
    return r;
}

/* Every write of one partition begins here. Returns 0, 1 where it must fail after it has happened,
 * or -EIO. */
static int begin_write(struct kv_fault *fault)
{
    LOCKED(&fault->mutex);
    if (fault->crashed)
        return -EIO;
    if (++fault->n_writes == fault->plan.crash_after_writes) {
        fault->crashed = true;
        return -EIO;
    }
    return fault->n_writes == fault->plan.late_failure;
}

/* Every write of one partition ends here. begun: the result of its beginning; r: that of the inner
 * store. */
static int end_write(const struct kv_fault *fault, int begun, int r)
{
    return r == 0 && begun == 1 ? fault->plan.fail_error : r;
}

static bool times_out(struct kv_fault *fault)
{
    return fault->plan.timeout_per_mille > 0 &&
           random_below(fault, 1000) < fault->plan.timeout_per_mille;
}

static int fault_get(struct kv *kv, unsigned table, struct kv_slice key, struct kv_buf *ret_value)
{
    int r = begin(fault_of(kv));
    return r < 0 ? r : kv_get(fault_of(kv)->inner, table, key, ret_value);
}

static int fault_multi_get(struct kv *kv, unsigned table, const struct kv_slice *keys,
                           size_t n_keys, struct kv_buf *ret_values)
{
    int r = begin(fault_of(kv));
    return r < 0 ? r : kv_multi_get(fault_of(kv)->inner, table, keys, n_keys, ret_values);
}

/* Shortens a page at random, down to one entry. The entries cut off stay in its memory. */
static void shorten(struct kv_fault *fault, struct kv_page *page)
{
    if (page->n_entries < 2)
        return;
    size_t n = 1 + random_below(fault, page->n_entries);
    if (n < page->n_entries) {
        page->n_entries = n;
        page->more = true;
    }
}

static int fault_multi_scan(struct kv *kv, unsigned table, const struct kv_range *ranges,
                            size_t n_ranges, size_t limit, struct kv_page *ret_pages)
{
    struct kv_fault *fault = fault_of(kv);
    int r = begin(fault);
    if (r < 0)
        return r;
    r = kv_multi_scan(fault->inner, table, ranges, n_ranges, limit, ret_pages);
    for (size_t i = 0; r == 0 && fault->plan.short_pages && i < n_ranges; i++)
        shorten(fault, &ret_pages[i]);
    return r;
}

/* -- batches -- */

struct placed_op {
    struct kv_batch_op op;
    struct kv_slice partition;
    size_t place; /* in the batch */
};

static int compare_partitions(const struct placed_op *a, const struct placed_op *b)
{
    if (a->op.table != b->op.table)
        return a->op.table < b->op.table ? -1 : 1;
    return slice_compare(a->partition, b->partition);
}

static int compare_placed(const void *left, const void *right)
{
    const struct placed_op *a = left, *b = right;
    int order = compare_partitions(a, b);
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

/* Write one partition's part of a batch. */
static int apply_part(struct kv_fault *fault, const struct placed_op *ops, size_t n_ops)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *part = kv_batch_new();
    if (!part)
        return -ENOMEM;
    for (size_t i = 0; i < n_ops; i++) {
        const struct kv_batch_op *op = &ops[i].op;
        if (op->is_delete)
            kv_batch_delete(part, op->table, op->key);
        else
            kv_batch_put(part, op->table, op->key, op->value);
    }
    int r = begin_write(fault);
    return r < 0 ? r : end_write(fault, r, kv_apply(fault->inner, part));
}

static int apply_split(struct kv_fault *fault, const struct kv_batch *batch, bool lossy)
{
    size_t n = kv_batch_count(batch), n_parts = 0;
    _cleanup_free_ struct placed_op *ops = calloc(n, sizeof(*ops));
    _cleanup_free_ size_t *starts = calloc(n, sizeof(*starts));
    if (!ops || !starts)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        struct kv_batch_op op = kv_batch_op(batch, i);
        ops[i] = (struct placed_op){op, kv_partition_of(&fault->kv.tables[op.table], op.key), i};
    }
    qsort(ops, n, sizeof(*ops), compare_placed);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || compare_partitions(&ops[i - 1], &ops[i]) != 0)
            starts[n_parts++] = i;
    for (size_t i = n_parts; i > 1; i--) {
        size_t j = random_below(fault, i), start = starts[j];
        starts[j] = starts[i - 1];
        starts[i - 1] = start;
    }
    for (size_t i = 0; i < n_parts; i++) {
        size_t end = starts[i] + 1;
        while (end < n && compare_partitions(&ops[starts[i]], &ops[end]) == 0)
            end++;
        if (lossy && random_below(fault, 2) == 0)
            continue;
        int r = apply_part(fault, &ops[starts[i]], end - starts[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int apply_whole(struct kv_fault *fault, const struct kv_batch *batch, bool lossy)
{
    if (lossy && random_below(fault, 2) == 0)
        return 0;
    int r = begin_write(fault);
    return r < 0 ? r : end_write(fault, r, kv_apply(fault->inner, batch));
}

static int fault_apply(struct kv *kv, const struct kv_batch *batch)
{
    struct kv_fault *fault = fault_of(kv);
    int r = begin(fault);
    if (r < 0)
        return r;
    bool lossy = times_out(fault);
    r = fault->plan.split_batches ? apply_split(fault, batch, lossy)
                                  : apply_whole(fault, batch, lossy);
    return r == 0 && lossy ? -ETIMEDOUT : r;
}

static int fault_cas(struct kv *kv, unsigned table, struct kv_slice key,
                     const struct kv_slice *expected, const struct kv_slice *desired)
{
    struct kv_fault *fault = fault_of(kv);
    int r = begin(fault);
    if (r < 0)
        return r;
    bool lossy = times_out(fault);
    if (lossy && random_below(fault, 2) == 0)
        return -ETIMEDOUT;
    r = begin_write(fault);
    if (r >= 0)
        r = end_write(fault, r, kv_cas(fault->inner, table, key, expected, desired));
    return (r == 0 || r == -ECANCELED) && lossy ? -ETIMEDOUT : r;
}

/* -- runs -- */

enum { MAX_PIECE_ENTRIES = 32 }; /* small, so that a countdown finds the middle of a test's run */

/* Moves up to n entries of a run into a batch. Returns their number, or an error. */
static int take_piece(unsigned table, kv_run_next_fn next, void *user, size_t n,
                      struct kv_batch *piece)
{
    kv_batch_clear(piece);
    while (kv_batch_count(piece) < n) {
        struct kv_entry entry;
        bool is_delete;
        int r = next(user, &entry, &is_delete);
        if (r < 0)
            return r;
        if (r == 0)
            break;
        if (is_delete)
            kv_batch_delete(piece, table, entry.key);
        else
            kv_batch_put(piece, table, entry.key, entry.value);
        r = kv_batch_error(piece);
        if (r < 0)
            return r;
    }
    return (int)kv_batch_count(piece);
}

static int bulk_load_split(struct kv_fault *fault, unsigned table, kv_run_next_fn next, void *user,
                           bool lossy)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *piece = kv_batch_new();
    if (!piece)
        return -ENOMEM;
    for (;;) {
        int n = take_piece(table, next, user, 1 + random_below(fault, MAX_PIECE_ENTRIES), piece);
        if (n <= 0)
            return n;
        if (lossy && random_below(fault, 2) == 0)
            continue;
        int r = begin_write(fault);
        if (r >= 0)
            r = end_write(fault, r, kv_apply(fault->inner, piece));
        if (r < 0)
            return r;
    }
}

static int fault_bulk_load(struct kv *kv, unsigned table, kv_run_next_fn next, void *user)
{
    struct kv_fault *fault = fault_of(kv);
    int r = begin(fault);
    if (r < 0)
        return r;
    bool lossy = times_out(fault);
    if (fault->plan.split_batches) {
        r = bulk_load_split(fault, table, next, user, lossy);
    } else if (!lossy || random_below(fault, 2) == 0) {
        r = begin_write(fault);
        if (r >= 0)
            r = end_write(fault, r, kv_bulk_load(fault->inner, table, next, user));
    }
    return r == 0 && lossy ? -ETIMEDOUT : r;
}

static int fault_checkpoint(struct kv *kv)
{
    int r = begin(fault_of(kv));
    return r < 0 ? r : kv_checkpoint(fault_of(kv)->inner);
}

static int fault_resume(struct kv *kv)
{
    int r = begin(fault_of(kv));
    return r < 0 ? r : kv_resume(fault_of(kv)->inner);
}

static int fault_usage(struct kv *kv, uint64_t *ret_size_bytes)
{
    int r = begin(fault_of(kv));
    return r < 0 ? r : kv_usage(fault_of(kv)->inner, ret_size_bytes);
}

/* A snapshot is the inner store's: its reads never fail on purpose. */
static int fault_snapshot(struct kv *kv, struct kv **ret_snapshot)
{
    int r = begin(fault_of(kv));
    return r < 0 ? r : kv_snapshot(fault_of(kv)->inner, ret_snapshot);
}

static void fault_close(struct kv *kv)
{
    pthread_mutex_destroy(&fault_of(kv)->mutex);
    free(fault_of(kv));
}

static const struct kv_ops fault_ops = {
    .close = fault_close,
    .get = fault_get,
    .multi_get = fault_multi_get,
    .multi_scan = fault_multi_scan,
    .apply = fault_apply,
    .cas = fault_cas,
    .bulk_load = fault_bulk_load,
    .checkpoint = fault_checkpoint,
    .resume = fault_resume,
    .usage = fault_usage,
    .snapshot = fault_snapshot,
};

int kv_fault_open(struct kv *inner, const struct kv_fault_plan *plan, struct kv **ret_kv)
{
    struct kv_fault *fault = calloc(1, sizeof(*fault));
    if (!fault)
        return -ENOMEM;
    fault->kv = *inner;
    fault->kv.ops = &fault_ops;
    fault->inner = inner;
    fault->plan = *plan;
    fault->random = plan->seed;
    pthread_mutex_init(&fault->mutex, NULL);
    *ret_kv = &fault->kv;
    return 0;
}

void kv_fault_counts(struct kv *kv, uint64_t *ret_calls, uint64_t *ret_writes)
{
    assert(kv->ops == &fault_ops);
    struct kv_fault *fault = fault_of(kv);
    LOCKED(&fault->mutex);
    *ret_calls = fault->n_calls;
    *ret_writes = fault->n_writes;
}
