#include "engine/index/cluster_intent.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/schema.h"

enum { INTENT_VERSION = 1, HEAD_BYTES = 26, POSTED_BYTES = 6, POSTED_KEY_BYTES = 14, PAGE = 256 };

static const struct kv_slice cluster_key = {"cluster", 7};

void cluster_intent_done(struct cluster_intent *intent)
{
    sid_vector_done(&intent->ids);
    sid_vector_done(&intent->sids);
}

size_t cluster_intent_n_leaving(const struct cluster_intent *intent)
{
    return 1 + intent->sids.n_sids - intent->ids.n_sids;
}

uint64_t cluster_intent_leaving(const struct cluster_intent *intent, size_t i)
{
    return i == 0 ? intent->sid : intent->sids.sids[intent->ids.n_sids + i - 1];
}

static uint8_t *put_numbers(uint8_t *p, const struct sid_vector *numbers)
{
    for (size_t i = 0; i < numbers->n_sids; i++, p += 8)
        put_be64(p, numbers->sids[i]);
    return p;
}

int cluster_intent_put(struct kv *kv, const struct cluster_intent *intent)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    size_t size = HEAD_BYTES + 8 * (intent->ids.n_sids + intent->sids.n_sids);
    _cleanup_free_ uint8_t *value = malloc(size);

    if (!batch || !value)
        return -ENOMEM;
    value[0] = INTENT_VERSION;
    value[1] = (uint8_t)intent->kind;
    put_be64(value + 2, intent->sid);
    put_be64(value + 10, intent->cluster);
    put_be32(value + 18, (uint32_t)intent->ids.n_sids);
    put_be32(value + 22, (uint32_t)intent->sids.n_sids);
    put_numbers(put_numbers(value + HEAD_BYTES, &intent->ids), &intent->sids);
    kv_batch_put(batch, TABLE_INTENTS, cluster_key, (struct kv_slice){value, size});
    return kv_apply(kv, batch);
}

static int take_numbers(const uint8_t *p, size_t n, struct sid_vector *numbers)
{
    for (size_t i = 0; i < n; i++) {
        int r = sid_vector_push(numbers, get_be64(p + 8 * i));
        if (r < 0)
            return r;
    }
    return 0;
}

static int decode(const struct kv_buf *value, struct cluster_intent *intent)
{
    const uint8_t *p = value->data;

    if (value->size_bytes < HEAD_BYTES || p[0] != INTENT_VERSION ||
        (p[1] != INTENT_JOIN && p[1] != INTENT_DELETE))
        return -EUCLEAN;
    intent->kind = p[1];
    intent->sid = get_be64(p + 2);
    intent->cluster = get_be64(p + 10);
    size_t n_ids = get_be32(p + 18), n_sids = get_be32(p + 22);
    if (value->size_bytes != HEAD_BYTES + 8 * (n_ids + n_sids) ||
        (intent->kind == INTENT_DELETE && n_ids > n_sids) ||
        (intent->kind == INTENT_JOIN && intent->cluster == 0))
        return -EUCLEAN;
    int r = take_numbers(p + HEAD_BYTES, n_ids, &intent->ids);
    return r < 0 ? r : take_numbers(p + HEAD_BYTES + 8 * n_ids, n_sids, &intent->sids);
}

int cluster_intent_get(struct kv *kv, struct cluster_intent *ret_intent)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    _cleanup_(cluster_intent_done) struct cluster_intent intent = {0};

    int r = kv_get(kv, TABLE_INTENTS, cluster_key, &value);
    if (r == 0)
        r = decode(&value, &intent);
    if (r < 0)
        return r;
    *ret_intent = intent;
    intent = (struct cluster_intent){0};
    return 0;
}

int cluster_intent_clear(struct kv *kv)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();

    if (!batch)
        return -ENOMEM;
    kv_batch_delete(batch, TABLE_INTENTS, cluster_key);
    return kv_apply(kv, batch);
}

static struct kv_slice posted_key(uint8_t key[POSTED_KEY_BYTES], uint64_t sid)
{
    memcpy(key, "posted", POSTED_BYTES);
    put_be64(key + POSTED_BYTES, sid);
    return (struct kv_slice){key, POSTED_KEY_BYTES};
}

int posted_intent_put(struct kv *kv, uint64_t sid)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    uint8_t key[POSTED_KEY_BYTES];

    if (!batch)
        return -ENOMEM;
    kv_batch_put(batch, TABLE_INTENTS, posted_key(key, sid), (struct kv_slice){"", 0});
    return kv_apply(kv, batch);
}

int posted_intent_list(struct kv *kv, struct sid_vector *sids)
{
    uint8_t from[POSTED_KEY_BYTES], to[POSTED_KEY_BYTES];
    uint64_t next = 0;
    bool more = true;

    while (more) {
        struct kv_range range = {posted_key(from, next), posted_key(to, UINT64_MAX)};
        struct kv_page page;
        int r = kv_scan(kv, TABLE_INTENTS, &range, PAGE, &page);
        if (r < 0)
            return r;
        for (size_t i = 0; i < page.n_entries && r == 0; i++) {
            const struct kv_slice *key = &page.entries[i].key;
            if (key->size_bytes != POSTED_KEY_BYTES) {
                r = -EUCLEAN;
                break;
            }
            next = get_be64((const uint8_t *)key->data + POSTED_BYTES) + 1;
            r = sid_vector_push(sids, next - 1);
        }
        more = page.more;
        kv_page_done(&page);
        if (r < 0)
            return r;
    }
    return 0;
}

int posted_intent_clear(struct kv *kv, const struct sid_vector *sids)
{
    for (size_t at = 0; at < sids->n_sids;) {
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
        if (!batch)
            return -ENOMEM;
        for (size_t end = at + PAGE; at < sids->n_sids && at < end; at++) {
            uint8_t key[POSTED_KEY_BYTES];
            kv_batch_delete(batch, TABLE_INTENTS, posted_key(key, sids->sids[at]));
        }
        int r = kv_apply(kv, batch);
        if (r < 0)
            return r;
    }
    return 0;
}
