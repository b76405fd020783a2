#include "engine/index/topics/topics.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "engine/index/tables/fragments.h"
#include "engine/index/tables/meta.h"
#include "engine/index/tables/schema.h"
#include "engine/index/topics/anchors_making.h"
#include "engine/index/topics/topics_private.h"

/* -- what there is -- */

static int forget(struct kv *kv)
{
    int r = meta_delete(kv, TOPICS_EPOCH_META);
    return r < 0 ? r : remade_forget(kv, 0);
}

const struct optional_tables topics_tables = {
    .name = TOPICS_META,
    .what = "words of documents",
    .least = TOPICS_CONTENT,
    .most = TOPICS_BOTH,
    .tables = {TABLE_BAGS, TABLE_FRAGMENTS, TABLE_ANCHORS, TABLE_WORD_LISTS},
    .n_tables = 4,
    .forget = forget};

int topics_read_epoch(struct kv *kv, struct topics_epoch *ret_epoch)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    *ret_epoch = (struct topics_epoch){0};
    int r = kv_get(kv, TABLE_META, meta_key(TOPICS_EPOCH_META), &value);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (value.size_bytes != 16 || get_be64(value.data) > UINT32_MAX)
        return -EUCLEAN;
    *ret_epoch = (struct topics_epoch){(uint32_t)get_be64(value.data),
                                       get_be64((const uint8_t *)value.data + 8)};
    return 0;
}

int topics_put_epoch(struct kv *kv, const struct topics_epoch *epoch)
{
    uint8_t value[16];
    put_be64(value, epoch->epoch);
    put_be64(value + 8, epoch->n_bags);
    return meta_put(kv, TOPICS_EPOCH_META, (struct kv_slice){value, sizeof(value)});
}

int topics_open(const struct topics_of *of, enum topics_kind wanted, struct topics **ret_topics)
{
    uint64_t kind = wanted;
    int r = optional_tables_open(of->kv, &topics_tables, &kind);
    *ret_topics = NULL;
    if (r < 0 || kind == TOPICS_OFF)
        return r;
    struct topics *topics = calloc(1, sizeof(*topics));
    if (!topics)
        return -ENOMEM;
    topics->of = *of;
    topics->kind = (enum topics_kind)kind;
    topics->has_others = true;
    pthread_mutex_init(&topics->lock, NULL);
    r = topics_read_epoch(of->kv, &topics->epoch);
    if (r == 0)
        r = remade_open(of->kv, 0, &topics->remade);
    if (r < 0)
        topics_close(topics);
    else
        *ret_topics = topics;
    return r;
}

void topics_close(struct topics *topics)
{
    if (!topics)
        return;
    topics_stop(topics);
    remade_close(topics->remade);
    pthread_mutex_destroy(&topics->lock);
    free(topics);
}

void topics_decide(struct topics *topics, struct remade *remade)
{
    topics->decided[topics->n_decided++] = remade;
}

bool topics_may_decide(const struct topics *topics)
{
    return !(topics->kind & TOPICS_ANCHOR) || remade_is_current(topics->remade);
}

int topics_error(const struct topics *topics)
{
    return remade_error(topics->remade);
}

/* -- documents -- */

enum topics_kind topics_kind(const struct topics *topics)
{
    return topics->kind;
}

static void put_row(struct kv_batch *batch, unsigned table, uint64_t sid, struct kv_slice row)
{
    uint8_t key[8];
    if (row.data)
        kv_batch_put(batch, table, bags_key(key, sid), row);
}

static int note_change(struct topics *topics)
{
    int r = remade_changed(topics->remade);
    for (size_t i = 0; r == 0 && i < topics->n_decided; i++)
        r = remade_changed(topics->decided[i]);
    return r;
}

int topics_put(struct topics *topics, const struct topics_row *rows, size_t n)
{
    enum { WRITE_BYTES = 1 << 20 };
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    int r = batch ? 0 : -ENOMEM;
    if (r == 0 && n)
        r = note_change(topics);
    for (size_t i = 0; r == 0 && i < n; i++) {
        if (kv_batch_bytes(batch) > WRITE_BYTES) {
            r = kv_apply(topics->of.kv, batch);
            kv_batch_clear(batch);
        }
        put_row(batch, TABLE_BAGS, rows[i].sid, rows[i].bag);
        put_row(batch, TABLE_FRAGMENTS, rows[i].sid, rows[i].fragments);
    }
    return r < 0 || kv_batch_count(batch) == 0 ? r : kv_apply(topics->of.kv, batch);
}

int topics_remove(struct topics *topics, const uint64_t *sids, size_t n)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (n == 0)
        return 0;
    int r = batch ? note_change(topics) : -ENOMEM;
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        uint8_t key[8];
        if (topics->kind & TOPICS_CONTENT)
            kv_batch_delete(batch, TABLE_BAGS, bags_key(key, sids[i]));
        if (topics->kind & TOPICS_ANCHOR)
            kv_batch_delete(batch, TABLE_FRAGMENTS, bags_key(key, sids[i]));
    }
    return kv_apply(topics->of.kv, batch);
}

int topics_names_change(struct topics *topics)
{
    return topics->kind & TOPICS_ANCHOR ? note_change(topics) : 0;
}

static int get_row(const struct topics *topics, unsigned table, uint64_t sid,
                   struct kv_buf *ret_value)
{
    uint8_t key[8];
    return kv_get(topics->of.kv, table, bags_key(key, sid), ret_value);
}

static int has_row(const struct topics *topics, unsigned table, uint64_t sid)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = get_row(topics, table, sid, &value);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

int topics_has(const struct topics *topics, uint64_t sid)
{
    int r = topics->kind & TOPICS_CONTENT ? has_row(topics, TABLE_BAGS, sid) : 1;
    return r == 1 && topics->kind & TOPICS_ANCHOR ? has_row(topics, TABLE_FRAGMENTS, sid) : r;
}

static int get_content(const struct topics *topics, uint64_t sid, struct bag *ret_bag)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = get_row(topics, TABLE_BAGS, sid, &value);
    return r < 0 ? r : bags_decode(kv_buf_slice(&value), ret_bag);
}

/* The title that a document says of itself. */
static int get_title(const struct topics *topics, uint64_t sid, struct bag *ret_bag)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct fragments fragments;
    struct fragment fragment;
    int r = get_row(topics, TABLE_FRAGMENTS, sid, &value);
    if (r == 0)
        r = fragments_begin(&fragments, kv_buf_slice(&value));
    while (r >= 0 && (r = fragments_next(&fragments, &fragment)) > 0)
        if (fragment.target_bytes == 0)
            return bag_merge(&(struct bag){fragment.words, fragment.n_words}, &(struct bag){0},
                             ret_bag);
    return r < 0 ? r : bag_merge(&(struct bag){0}, &(struct bag){0}, ret_bag);
}

/* The title alone, where nothing was said in the epoch. */
static int get_anchors(const struct topics *topics, uint32_t epoch, uint64_t sid,
                       struct bag *ret_bag)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[ANCHORS_KEY_BYTES];
    int r = kv_get(topics->of.kv, TABLE_ANCHORS, anchors_key(key, epoch, sid), &value);
    return r == -ENOENT ? get_title(topics, sid, ret_bag)
           : r < 0      ? r
                        : bags_decode(kv_buf_slice(&value), ret_bag);
}

int topics_get(const struct topics *topics, uint32_t epoch, uint64_t sid, struct bag *ret_bag)
{
    _cleanup_(bag_done) struct bag content = {0}, anchors = {0};
    if (topics->kind == TOPICS_CONTENT)
        return get_content(topics, sid, ret_bag);
    int r = get_anchors(topics, epoch, sid, &anchors);
    if (r == 0 && topics->kind == TOPICS_BOTH)
        r = get_content(topics, sid, &content);
    return r < 0 ? r : bag_merge(&content, &anchors, ret_bag);
}

int topics_said_of(const struct topics *topics, const char *name, bool (*stop)(void *user),
                   void *user, struct kv_buf *ret_row)
{
    _cleanup_(kv_close_p) struct kv *snapshot = NULL;
    int r = kv_snapshot(topics->of.kv, &snapshot);
    const struct anchors_making_of of = {
        .snapshot = snapshot, .root = topics->of.root, .stop = {stop, user}};
    if (r == 0)
        r = anchors_making_of_name(&of, name, ret_row);
    return r == -ESTALE ? -EAGAIN : r; /* the store was opened anew */
}

/* -- lists -- */

struct topics_epoch topics_epoch(struct topics *topics)
{
    LOCKED(&topics->lock);
    return topics->epoch;
}

bool topics_is_current(const struct topics *topics)
{
    return remade_is_current(topics->remade);
}

bool topics_retry(struct topics *topics)
{
    return remade_retry(topics->remade);
}
