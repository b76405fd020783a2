#include "engine/index/postings/long_lists.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/table_walk.h"

enum { NAME_BYTES = 4, KEY_BYTES = NAME_BYTES + 8 };

static struct kv_slice long_key(uint8_t key[KEY_BYTES], uint64_t fingerprint)
{
    memcpy(key, "long", NAME_BYTES);
    put_be64(key + NAME_BYTES, fingerprint);
    return (struct kv_slice){key, KEY_BYTES};
}

bool long_lists_is_row(const struct kv_slice *key)
{
    return key->size_bytes == KEY_BYTES && memcmp(key->data, "long", NAME_BYTES) == 0;
}

/* 0 is no number of a tally; nor the mixed fingerprint of more than one list. */
static uint64_t number_of(uint64_t fingerprint)
{
    return fingerprint ? fingerprint : UINT64_MAX;
}

static int note(struct long_lists *lists, uint64_t fingerprint, bool is_long)
{
    uint32_t *n = sid_tally_of(&lists->lists, number_of(fingerprint));
    if (!n)
        return -ENOMEM;
    *n = is_long;
    return 0;
}

int long_lists_read(struct kv *kv, struct long_lists *ret_lists)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct kv_entry row;
    uint8_t from[KEY_BYTES];
    *ret_lists = (struct long_lists){.kv = kv};
    int r = table_walk_begin(&walk, kv, TABLE_META, long_key(from, 0));
    while (r == 0 && (r = table_walk_next(&walk, &row)) > 0) {
        if (!long_lists_is_row(&row.key))
            return 0;
        r = note(ret_lists, get_be64((const uint8_t *)row.key.data + NAME_BYTES), true);
    }
    if (r < 0)
        long_lists_done(ret_lists);
    return r;
}

void long_lists_done(struct long_lists *lists)
{
    sid_tally_done(&lists->lists);
}

bool long_lists_have(const struct long_lists *lists, uint64_t fingerprint)
{
    const uint32_t *n = sid_tally_find(&lists->lists, number_of(fingerprint));
    return n && *n;
}

int long_lists_set(struct long_lists *lists, uint64_t fingerprint, bool is_long)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    uint8_t key[KEY_BYTES];
    if (long_lists_have(lists, fingerprint) == is_long)
        return 0;
    if (!batch)
        return -ENOMEM;
    if (is_long)
        kv_batch_put(batch, TABLE_META, long_key(key, fingerprint), (struct kv_slice){"", 0});
    else
        kv_batch_delete(batch, TABLE_META, long_key(key, fingerprint));
    int r = kv_apply(lists->kv, batch);
    return r < 0 ? r : note(lists, fingerprint, is_long);
}
