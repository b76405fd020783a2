#include "engine/index/clusters/cluster_intent.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"

enum {
    INTENT_VERSION = 1,
    INTENT_VERSION_SPLITS = 2,
    HEAD_BYTES = 26,
    SPLIT_HEAD_BYTES = 16,
    POSTED_BYTES = 6,
    POSTED_KEY_BYTES = 14,
    PAGE = 256
};

static const struct kv_slice cluster_key = {"cluster", 7};

void cluster_split_done(struct cluster_split *split)
{
    for (size_t i = 0; split->parts && i < split->ids.n_sids; i++)
        sid_vector_done(&split->parts[i]);
    free(split->parts);
    sid_vector_done(&split->leaving);
    sid_vector_done(&split->ids);
    sid_vector_done(&split->beginnings);
}

int cluster_split_add_part(struct cluster_split *split, uint64_t id, uint64_t beginning,
                           struct sid_vector *documents)
{
    const size_t n = split->ids.n_sids;
    struct sid_vector *parts = reallocarray(split->parts, n + 1, sizeof(*parts));

    if (!parts)
        return -ENOMEM;
    split->parts = parts;
    int r = sid_vector_push(&split->beginnings, beginning);
    if (r == 0)
        r = sid_vector_push(&split->ids, id);
    if (r < 0)
        return r;
    parts[n] = (struct sid_vector){0};
    if (documents) {
        parts[n] = *documents;
        *documents = (struct sid_vector){0};
    }
    return 0;
}

void cluster_intent_done(struct cluster_intent *intent)
{
    sid_vector_done(&intent->ids);
    sid_vector_done(&intent->sids);
    for (size_t i = 0; i < intent->n_splits; i++)
        cluster_split_done(&intent->splits[i]);
    free(intent->splits);
}

struct cluster_split *cluster_intent_add_split(struct cluster_intent *intent)
{
    struct cluster_split *splits =
        reallocarray(intent->splits, intent->n_splits + 1, sizeof(*splits));
    if (!splits)
        return NULL;
    intent->splits = splits;
    splits[intent->n_splits] = (struct cluster_split){0};
    return &splits[intent->n_splits++];
}

/* -- moves -- */

bool cluster_split_is_move(const struct cluster_split *split)
{
    return split->beginnings.n_sids == 1 && split->beginnings.sids[0] == 0;
}

void cluster_moves_done(struct cluster_moves *moves)
{
    free(moves->moves);
}

int cluster_moves_add(struct cluster_moves *moves, uint64_t sid, uint64_t from, uint64_t to)
{
    if (moves->n_moves == moves->max_moves) {
        size_t max = moves->max_moves ? 2 * moves->max_moves : 16;
        struct cluster_move *larger = reallocarray(moves->moves, max, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        moves->moves = larger;
        moves->max_moves = max;
    }
    moves->moves[moves->n_moves++] = (struct cluster_move){sid, from, to};
    return 0;
}

static int compare_moves(const void *a, const void *b)
{
    const struct cluster_move *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

static int begin_moves(struct cluster_intent *intent)
{
    struct cluster_split *first = intent->n_splits ? NULL : cluster_intent_add_split(intent);
    return intent->n_splits == 0 ? -ENOMEM : first ? sid_vector_push(&first->leaving, 0) : 0;
}

int cluster_intent_add_moves(struct cluster_intent *intent, struct cluster_moves *moves)
{
    int r = moves->n_moves ? begin_moves(intent) : 0;
    if (moves->n_moves)
        qsort(moves->moves, moves->n_moves, sizeof(*moves->moves), compare_moves);
    for (size_t i = 0; r == 0 && i < moves->n_moves; i++) {
        const struct cluster_move *move = &moves->moves[i];
        struct cluster_split *split = &intent->splits[intent->n_splits - 1];
        if (i == 0 || move->from != move[-1].from || move->to != move[-1].to) {
            split = cluster_intent_add_split(intent);
            if (!split)
                return -ENOMEM;
            split->cluster = move->from;
            r = sid_vector_push(&split->ids, move->to);
            if (r == 0)
                r = sid_vector_push(&split->beginnings, 0);
        }
        if (r == 0)
            r = sid_vector_push(&split->leaving, move->sid);
    }
    return r;
}

/* -- encoding -- */

static uint8_t *put_numbers(uint8_t *p, const struct sid_vector *numbers, size_t from)
{
    for (size_t i = from; i < numbers->n_sids; i++, p += 8)
        put_be64(p, numbers->sids[i]);
    return p;
}

static bool is_of_splits(enum intent_kind kind)
{
    return kind == INTENT_DELETE || kind == INTENT_MOVE;
}

static size_t encoded_bytes(const struct cluster_intent *intent)
{
    size_t size = HEAD_BYTES + 8 * (intent->ids.n_sids + intent->sids.n_sids);

    for (size_t i = 0; i < intent->n_splits; i++) {
        const struct cluster_split *split = &intent->splits[i];
        size += 8 * (split->leaving.n_sids + split->ids.n_sids + split->beginnings.n_sids);
        size += i ? SPLIT_HEAD_BYTES : 0; /* and one document more than is put below */
    }
    return size;
}

static uint8_t *put_head(uint8_t *p, const struct cluster_intent *intent, uint64_t sid,
                         uint64_t cluster, size_t n_ids, size_t n_sids)
{
    p[0] = intent->n_splits > 1 ? INTENT_VERSION_SPLITS : INTENT_VERSION;
    p[1] = (uint8_t)intent->kind;
    put_be64(p + 2, sid);
    put_be64(p + 10, cluster);
    put_be32(p + 18, (uint32_t)n_ids);
    put_be32(p + 22, (uint32_t)n_sids);
    return p + HEAD_BYTES;
}

static uint8_t *put_delete(uint8_t *p, const struct cluster_intent *intent)
{
    const struct cluster_split *first = &intent->splits[0];

    p = put_head(p, intent, first->leaving.sids[0], first->cluster, first->ids.n_sids,
                 first->beginnings.n_sids + first->leaving.n_sids - 1);
    p = put_numbers(p, &first->ids, 0);
    p = put_numbers(p, &first->beginnings, 0);
    p = put_numbers(p, &first->leaving, 1);
    for (size_t i = 1; i < intent->n_splits; i++) {
        const struct cluster_split *split = &intent->splits[i];
        put_be64(p, split->cluster);
        put_be32(p + 8, (uint32_t)split->leaving.n_sids);
        put_be32(p + 12, (uint32_t)split->ids.n_sids);
        p = put_numbers(p + SPLIT_HEAD_BYTES, &split->leaving, 0);
        p = put_numbers(p, &split->ids, 0);
        p = put_numbers(p, &split->beginnings, 0);
    }
    return p;
}

static uint8_t *put_join(uint8_t *p, const struct cluster_intent *intent)
{
    p = put_head(p, intent, 0, intent->cluster, intent->ids.n_sids, intent->sids.n_sids);
    return put_numbers(put_numbers(p, &intent->ids, 0), &intent->sids, 0);
}

int cluster_intent_put(struct kv *kv, const struct cluster_intent *intent)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    _cleanup_free_ uint8_t *value = malloc(encoded_bytes(intent));

    if (!batch || !value)
        return -ENOMEM;
    const uint8_t *end =
        is_of_splits(intent->kind) ? put_delete(value, intent) : put_join(value, intent);
    kv_batch_put(batch, TABLE_INTENTS, cluster_key,
                 (struct kv_slice){value, (size_t)(end - value)});
    return kv_apply(kv, batch);
}

/* -- decoding -- */

/* What is left to be read. */
struct reading {
    const uint8_t *p;
    size_t n;
};

static int take_numbers(struct reading *reading, size_t n, struct sid_vector *numbers)
{
    if (reading->n / 8 < n)
        return -EUCLEAN;
    for (size_t i = 0; i < n; i++) {
        uint64_t number;
        int r = sid_decode(reading->p + 8 * i, &number);
        if (r == 0)
            r = sid_vector_push(numbers, number);
        if (r < 0)
            return r;
    }
    reading->p += 8 * n;
    reading->n -= 8 * n;
    return 0;
}

static int take_first_split(struct reading *reading, const uint8_t *head, size_t n_ids,
                            size_t n_sids, struct cluster_intent *intent)
{
    struct cluster_split *split = cluster_intent_add_split(intent);

    if (!split)
        return -ENOMEM;
    if (n_ids > n_sids)
        return -EUCLEAN;
    uint64_t sid;
    int r = sid_decode(head + 10, &split->cluster);
    if (r == 0)
        r = sid_decode(head + 2, &sid);
    if (r == 0)
        r = sid_vector_push(&split->leaving, sid);
    if (r == 0)
        r = take_numbers(reading, n_ids, &split->ids);
    if (r == 0)
        r = take_numbers(reading, n_ids, &split->beginnings);
    if (r == 0)
        r = take_numbers(reading, n_sids - n_ids, &split->leaving);
    sid_vector_sort_unique(&split->leaving);
    return r;
}

static int take_split(struct reading *reading, struct cluster_intent *intent)
{
    struct cluster_split *split = cluster_intent_add_split(intent);
    const uint8_t *head = reading->p;

    if (!split)
        return -ENOMEM;
    if (reading->n < SPLIT_HEAD_BYTES)
        return -EUCLEAN;
    reading->p += SPLIT_HEAD_BYTES;
    reading->n -= SPLIT_HEAD_BYTES;
    size_t n_parts = get_be32(head + 12);
    int r = sid_decode(head, &split->cluster);
    if (r == 0)
        r = take_numbers(reading, get_be32(head + 8), &split->leaving);
    if (r == 0)
        r = take_numbers(reading, n_parts, &split->ids);
    if (r == 0)
        r = take_numbers(reading, n_parts, &split->beginnings);
    sid_vector_sort_unique(&split->leaving);
    return r;
}

static int decode(const struct kv_buf *value, struct cluster_intent *intent)
{
    const uint8_t *p = value->data;

    if (value->size_bytes < HEAD_BYTES || p[1] < INTENT_JOIN || p[1] > INTENT_MOVE ||
        (p[0] != INTENT_VERSION && (p[0] != INTENT_VERSION_SPLITS || !is_of_splits(p[1]))))
        return -EUCLEAN;
    struct reading reading = {p + HEAD_BYTES, value->size_bytes - HEAD_BYTES};
    size_t n_ids = get_be32(p + 18), n_sids = get_be32(p + 22);
    int r;
    intent->kind = p[1];
    if (!is_of_splits(intent->kind)) {
        r = sid_decode(p + 10, &intent->cluster);
        if (r == 0)
            r = intent->cluster ? take_numbers(&reading, n_ids, &intent->ids) : -EUCLEAN;
        if (r == 0)
            r = take_numbers(&reading, n_sids, &intent->sids);
    } else {
        r = take_first_split(&reading, p, n_ids, n_sids, intent);
    }
    while (r == 0 && p[0] == INTENT_VERSION_SPLITS && reading.n > 0)
        r = take_split(&reading, intent);
    return r < 0 ? r : reading.n > 0 ? -EUCLEAN : 0;
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
            r = sid_decode((const uint8_t *)key->data + POSTED_BYTES, &next);
            if (r == 0)
                r = sid_vector_push(sids, next++);
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
