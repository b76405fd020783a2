#include "engine/index/clusters/intents.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/members/cluster_ids.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"
#include "engine/index/tables/table_walk.h"

enum { NAME_MAX_BYTES = 6, KEY_MAX_BYTES = NAME_MAX_BYTES + 8, PAGE = 256 };

static const char *const names[INTENT_KINDS] = {"dirty", "list", "delete", "posted"};

static struct kv_slice intent_key(uint8_t key[KEY_MAX_BYTES], enum intent kind, uint64_t number)
{
    const size_t n = strlen(names[kind]);
    memcpy(key, names[kind], n);
    put_be64(key + n, number);
    return (struct kv_slice){key, n + 8};
}

void intent_put(struct kv_batch *batch, enum intent kind, uint64_t number, struct kv_slice value)
{
    uint8_t key[KEY_MAX_BYTES];
    kv_batch_put(batch, TABLE_INTENTS, intent_key(key, kind, number), value);
}

void intent_drop(struct kv_batch *batch, enum intent kind, uint64_t number)
{
    uint8_t key[KEY_MAX_BYTES];
    kv_batch_delete(batch, TABLE_INTENTS, intent_key(key, kind, number));
}

static bool is_of(const struct kv_slice *key, enum intent kind)
{
    const size_t n = strlen(names[kind]);
    return key->size_bytes >= n && memcmp(key->data, names[kind], n) == 0;
}

static int parse(const struct kv_slice *key, enum intent kind, uint64_t *ret_number)
{
    const size_t n = strlen(names[kind]);
    const uint8_t *p = (const uint8_t *)key->data + n;
    if (key->size_bytes != n + 8)
        return -EUCLEAN;
    *ret_number = get_be64(p);
    if (kind == INTENT_DELETE || kind == INTENT_POSTED)
        return sid_decode(p, ret_number);
    return kind == INTENT_DIRTY && cluster_clustering(*ret_number) > CLUSTERING_MAX ? -EUCLEAN : 0;
}

int intent_check(const struct kv_entry *row, enum intent *ret_kind)
{
    uint64_t number;
    for (enum intent kind = 0; kind < INTENT_KINDS; kind++) {
        if (!is_of(&row->key, kind))
            continue;
        *ret_kind = kind;
        const size_t n = row->value.size_bytes;
        const bool sound = kind == INTENT_DELETE ? n % 8 == 1 : n == 0;
        int r = parse(&row->key, kind, &number);
        return r < 0 ? r : sound ? 1 : -EUCLEAN;
    }
    return 0;
}

struct listing {
    enum intent kind;
    struct number_vector *numbers;
};

static int take_number(void *user, const struct kv_entry *row)
{
    const struct listing *listing = user;
    uint64_t number;
    int r = parse(&row->key, listing->kind, &number);
    return r < 0 ? r : number_vector_push(listing->numbers, number);
}

int intents_list(struct kv *kv, enum intent kind, struct number_vector *numbers)
{
    uint8_t from[KEY_MAX_BYTES], to[KEY_MAX_BYTES + 1];
    struct kv_slice end = intent_key(to, kind, UINT64_MAX);
    to[end.size_bytes++] = 0; /* the last one is among them */
    return table_each_row(kv, TABLE_INTENTS, (struct kv_range){intent_key(from, kind, 0), end},
                          take_number, &(struct listing){kind, numbers});
}

int intent_value(struct kv *kv, enum intent kind, uint64_t number, struct kv_buf *ret_value)
{
    uint8_t key[KEY_MAX_BYTES];
    return kv_get(kv, TABLE_INTENTS, intent_key(key, kind, number), ret_value);
}

/* No more in one write than a batch has room for. */
static int write_all(struct kv *kv, enum intent kind, const struct number_vector *numbers,
                     bool stay)
{
    for (size_t at = 0; at < numbers->n_numbers;) {
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
        if (!batch)
            return -ENOMEM;
        for (size_t end = at + PAGE; at < numbers->n_numbers && at < end; at++)
            if (stay)
                intent_put(batch, kind, numbers->numbers[at], (struct kv_slice){"", 0});
            else
                intent_drop(batch, kind, numbers->numbers[at]);
        int r = kv_apply(kv, batch);
        if (r < 0)
            return r;
    }
    return 0;
}

int intents_put(struct kv *kv, enum intent kind, const struct number_vector *numbers)
{
    return write_all(kv, kind, numbers, true);
}

int intents_drop(struct kv *kv, enum intent kind, const struct number_vector *numbers)
{
    return write_all(kv, kind, numbers, false);
}
