#include "engine/index/clusters/remade.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "engine/index/members/cluster_ids.h"
#include "engine/index/tables/meta.h"
#include "engine/index/tables/schema.h"

enum {
    ROW_VERSION = 1,
    ROW_BYTES = 2 + 4 * 8,
    LEAST_COST_MS = 500, /* of rest, where making it takes less */
    LATEST_COSTS = 20,
    DOUBLED_MAX = 6, /* where it fails each time: half a minute of rest more */
};

struct remade {
    struct kv *kv;
    unsigned number;
    uint64_t n_changes; /* the committer's, like what follows */
    int64_t changed_ms, stale_ms, cost_ms;
    unsigned n_failed;    /* times, one after the other */
    pthread_mutex_t lock; /* of what follows */
    bool made, current;
    bool failed; /* and not to be tried again for now */
    int error;
    struct index_clustering_loss loss;
};

static struct kv_slice row_key(struct clustering_meta *meta, const struct remade *remade)
{
    return clustering_meta_key(meta, "remade", remade->number);
}

int remade_read_row(const struct kv_buf *value)
{
    const uint8_t *p = value->data;
    if (value->size_bytes != ROW_BYTES || p[0] != ROW_VERSION || p[1] > 1)
        return -EUCLEAN;
    return p[1];
}

static int read_row(struct remade *remade)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct clustering_meta meta;
    int r = kv_get(remade->kv, TABLE_META, row_key(&meta, remade), &value);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    r = remade_read_row(&value);
    if (r < 0)
        return r;
    const uint8_t *p = (const uint8_t *)value.data + 2;
    remade->made = true;
    remade->current = r;
    remade->loss = (struct index_clustering_loss){
        .postings = get_be64(p),
        .lists = get_be64(p + 8),
        .lists_left_out = get_be64(p + 16),
        .postings_left_out = get_be64(p + 24),
    };
    return 0;
}

static int put_row(const struct remade *remade, bool current,
                   const struct index_clustering_loss *loss)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct clustering_meta meta;
    uint8_t value[ROW_BYTES] = {ROW_VERSION, current};
    if (!batch)
        return -ENOMEM;
    put_be64(value + 2, loss->postings);
    put_be64(value + 10, loss->lists);
    put_be64(value + 18, loss->lists_left_out);
    put_be64(value + 26, loss->postings_left_out);
    kv_batch_put(batch, TABLE_META, row_key(&meta, remade),
                 (struct kv_slice){value, sizeof(value)});
    return kv_apply(remade->kv, batch);
}

int remade_open(struct kv *kv, unsigned number, struct remade **ret_remade)
{
    struct remade *remade = calloc(1, sizeof(*remade));
    if (!remade)
        return -ENOMEM;
    remade->kv = kv;
    remade->number = number;
    remade->stale_ms = remade->changed_ms = clock_now_ms();
    pthread_mutex_init(&remade->lock, NULL);
    int r = read_row(remade);
    if (r < 0) {
        remade_close(remade);
        return r;
    }
    *ret_remade = remade;
    return 0;
}

void remade_close(struct remade *remade)
{
    if (!remade)
        return;
    pthread_mutex_destroy(&remade->lock);
    free(remade);
}

int remade_forget(struct kv *kv, unsigned number)
{
    struct clustering_meta meta;
    clustering_meta_key(&meta, "remade", number);
    return meta_delete(kv, meta.bytes);
}

/* -- changes -- */

static void set_current(struct remade *remade, bool current)
{
    LOCKED(&remade->lock);
    remade->current = current;
}

bool remade_retry(struct remade *remade)
{
    LOCKED(&remade->lock);
    bool failed = remade->failed;
    remade->failed = false;
    return failed;
}

int remade_changed(struct remade *remade)
{
    if (remade->current) {
        int r = put_row(remade, false, &remade->loss);
        if (r < 0)
            return r;
        set_current(remade, false);
        remade->stale_ms = clock_now_ms();
    }
    remade->n_changes++;
    (void)remade_retry(remade);
    remade->changed_ms = clock_now_ms();
    return 0;
}

uint64_t remade_n_changes(const struct remade *remade)
{
    return remade->n_changes;
}

int remade_complete(struct remade *remade, uint64_t n_changes,
                    const struct index_clustering_loss *loss, int64_t cost_ms)
{
    const bool current = remade->n_changes == n_changes;
    int r = put_row(remade, current, loss);
    if (r < 0)
        return r;
    remade->cost_ms = cost_ms;
    remade->n_failed = 0;
    remade->stale_ms = clock_now_ms(); /* if it is behind already: since now */
    LOCKED(&remade->lock);
    remade->made = true;
    remade->current = current;
    remade->loss = *loss;
    remade->error = 0;
    return 0;
}

bool remade_failed(struct remade *remade, int error)
{
    remade->stale_ms =
        clock_now_ms(); /* so that it is not tried again at once by the next change */
    remade->n_failed += remade->n_failed < DOUBLED_MAX;
    LOCKED(&remade->lock);
    const bool is_another = remade->error != error;
    remade->failed = true;
    remade->error = error;
    return is_another;
}

/* A file system that a store cannot write to is not among them, nor is one that fails. */
static bool is_without_directory(int error)
{
    return error == -ENOENT || error == -ENOTDIR || error == -EACCES || error == -EXDEV;
}

bool remade_is_obstacle(int error)
{
    return error == -ENOSPC || error == -EDQUOT || error == -EFBIG || error == -ENOMEM ||
           error == -E2BIG || error == -EAGAIN || error == -EMFILE || error == -ENFILE ||
           is_without_directory(error);
}

const char *remade_obstacle(int error)
{
    return is_without_directory(error)
               ? "the directory of the store has been moved or removed; unmount and mount again"
               : strerror(-error);
}

bool remade_is_idle(struct remade *remade)
{
    LOCKED(&remade->lock);
    return remade->current || remade->failed;
}

bool remade_is_due(struct remade *remade, bool rests, bool wanted, int64_t now_ms)
{
    const int64_t cost = remade->cost_ms > LEAST_COST_MS ? remade->cost_ms : LEAST_COST_MS,
                  later = remade->n_failed ? (int64_t)LEAST_COST_MS << remade->n_failed : 0;
    if (remade_is_idle(remade))
        return false;
    if (rests && (wanted || now_ms - remade->changed_ms >= cost + later))
        return true;
    return now_ms - remade->stale_ms >= LATEST_COSTS * cost + later;
}

/* -- anyone's -- */

bool remade_is_current(struct remade *remade)
{
    LOCKED(&remade->lock);
    return remade->current;
}

int remade_error(struct remade *remade)
{
    LOCKED(&remade->lock);
    return remade->error;
}

bool remade_get_loss(struct remade *remade, struct index_clustering_loss *ret_loss)
{
    LOCKED(&remade->lock);
    *ret_loss = remade->loss;
    return remade->made;
}
