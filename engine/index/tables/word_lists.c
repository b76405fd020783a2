#include "engine/index/tables/word_lists.h"

#include <errno.h>

#include "engine/index/tables/bags.h"
#include "engine/index/tables/sid.h"

enum { WORD_AT = 4, PART_AT = WORD_AT + BAGS_WORD_BYTES, WEIGHT_MOST = BAG_SUM };

_Static_assert((int)PART_AT + 4 == (int)WORD_LISTS_KEY_BYTES, "");

struct kv_slice word_lists_key(uint8_t key[WORD_LISTS_KEY_BYTES], uint32_t epoch, uint64_t word,
                               uint32_t part)
{
    uint8_t bytes[8];
    put_be32(key, epoch);
    put_be64(bytes, word);
    memcpy(key + WORD_AT, bytes, BAGS_WORD_BYTES);
    put_be32(key + PART_AT, part);
    return (struct kv_slice){key, WORD_LISTS_KEY_BYTES};
}

int word_lists_decode_key(struct kv_slice key, uint32_t *ret_epoch, uint64_t *ret_word,
                          uint32_t *ret_part)
{
    const uint8_t *at = key.data;
    uint8_t bytes[8] = {0};
    if (key.size_bytes != WORD_LISTS_KEY_BYTES)
        return -EUCLEAN;
    memcpy(bytes, at + WORD_AT, BAGS_WORD_BYTES);
    *ret_epoch = get_be32(at);
    *ret_word = get_be64(bytes);
    *ret_part = get_be32(at + PART_AT);
    return 0;
}

size_t word_lists_put(uint8_t *at, uint64_t last_sid, uint64_t sid, uint8_t weight)
{
    uint64_t rest = sid - last_sid;
    size_t n = 0;
    for (; rest >= 0x80; rest >>= 7)
        at[n++] = (uint8_t)(rest | 0x80);
    at[n++] = (uint8_t)rest;
    at[n++] = weight;
    return n;
}

int word_list_begin(struct word_list *list, struct kv_slice value, uint32_t part, uint32_t *ret_df)
{
    const uint8_t *at = value.data;
    *list = (struct word_list){at, at + value.size_bytes, 0, 0};
    *ret_df = 0;
    if (part != 0)
        return value.size_bytes ? 0 : -EUCLEAN;
    if (value.size_bytes < WORD_LISTS_DF_BYTES)
        return -EUCLEAN;
    *ret_df = get_be32(at);
    list->at += WORD_LISTS_DF_BYTES;
    return *ret_df > 1 ? 0 : -EUCLEAN;
}

int word_list_next(struct word_list *list)
{
    uint64_t step = 0;
    unsigned shift = 0;
    if (list->at == list->end)
        return 0;
    while (list->at < list->end && *list->at >= 0x80 && shift < 56) {
        step |= (uint64_t)(*list->at++ & 0x7f) << shift;
        shift += 7;
    }
    if (list->end - list->at < 2 || *list->at >= 0x80)
        return -EUCLEAN;
    step |= (uint64_t)*list->at++ << shift;
    list->weight = *list->at++;
    if (step == 0 || step > SID_MAX - list->sid || list->weight < 1 || list->weight > WEIGHT_MOST)
        return -EUCLEAN;
    list->sid += step;
    return 1;
}
