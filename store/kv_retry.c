/* The repeating store passes each call on and repeats it while the result is transient, with pauses
 * that double: 0.5 ms, 1 ms, 2 ms, ... twelve times, some two seconds in all.
 *
 * Example: a write that answers -ETIMEDOUT may have happened; it is idempotent, so it is repeated.
 * A kv_cas() may not be: if it has happened, the repeated one finds another value than it expects.
 */
#include "store/kv_retry.h"

#include <errno.h>
#include <time.h>

#include "store/kv_backend.h"

enum { TRIES_MAX = 12, FIRST_PAUSE_US = 500 }; /* doubling: about two seconds in all */

struct kv_retry {
    struct kv kv;
    struct kv *inner;
};

static struct kv *inner_of(struct kv *kv)
{
    return ((struct kv_retry *)kv)->inner;
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

#define REPEATED(call)                                                                             \
    ({                                                                                             \
        unsigned n_tries_ = 0;                                                                     \
        int result_;                                                                               \
        do                                                                                         \
            result_ = (call);                                                                      \
        while (kv_retry_wanted(result_, &n_tries_));                                               \
        result_;                                                                                   \
    })

static int retry_get(struct kv *kv, unsigned table, struct kv_slice key, struct kv_buf *ret_value)
{
    return REPEATED(kv_get(inner_of(kv), table, key, ret_value));
}

static int retry_multi_get(struct kv *kv, unsigned table, const struct kv_slice *keys,
                           size_t n_keys, struct kv_buf *ret_values)
{
    return REPEATED(kv_multi_get(inner_of(kv), table, keys, n_keys, ret_values));
}

static int retry_multi_scan(struct kv *kv, unsigned table, const struct kv_range *ranges,
                            size_t n_ranges, size_t limit, struct kv_page *ret_pages)
{
    return REPEATED(kv_multi_scan(inner_of(kv), table, ranges, n_ranges, limit, ret_pages));
}

static int retry_apply(struct kv *kv, const struct kv_batch *batch)
{
    return REPEATED(kv_apply(inner_of(kv), batch));
}

static int retry_cas(struct kv *kv, unsigned table, struct kv_slice key,
                     const struct kv_slice *expected, const struct kv_slice *desired)
{
    unsigned n_tries = 0;
    int r;
    do
        r = kv_cas(inner_of(kv), table, key, expected, desired);
    while (r == -EAGAIN && kv_retry_wanted(r, &n_tries));
    return r;
}

static int retry_bulk_load(struct kv *kv, unsigned table, kv_run_next_fn next, void *user)
{
    return kv_bulk_load(inner_of(kv), table, next, user);
}

static int retry_checkpoint(struct kv *kv)
{
    return REPEATED(kv_checkpoint(inner_of(kv)));
}

static int retry_resume(struct kv *kv)
{
    return REPEATED(kv_resume(inner_of(kv)));
}

static int retry_usage(struct kv *kv, uint64_t *ret_size_bytes)
{
    return REPEATED(kv_usage(inner_of(kv), ret_size_bytes));
}

static int retry_snapshot(struct kv *kv, struct kv **ret_snapshot)
{
    return REPEATED(kv_snapshot(inner_of(kv), ret_snapshot));
}

static void retry_close(struct kv *kv)
{
    free(kv);
}

static const struct kv_ops retry_ops = {
    .close = retry_close,
    .get = retry_get,
    .multi_get = retry_multi_get,
    .multi_scan = retry_multi_scan,
    .apply = retry_apply,
    .cas = retry_cas,
    .bulk_load = retry_bulk_load,
    .checkpoint = retry_checkpoint,
    .resume = retry_resume,
    .usage = retry_usage,
    .snapshot = retry_snapshot,
};

int kv_retry_open(struct kv *inner, struct kv **ret_kv)
{
    struct kv_retry *retry = calloc(1, sizeof(*retry));
    if (!retry)
        return -ENOMEM;
    retry->kv = *inner; /* tables, limits */
    retry->kv.ops = &retry_ops;
    retry->inner = inner;
    *ret_kv = &retry->kv;
    return 0;
}
