#include "engine/index/tables/bags.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sort_numbers.h"
#include "engine/index/tables/sid.h"

enum { ROW_VERSION = 1, WORD_SHIFT = 64 - 8 * BAGS_WORD_BYTES };

_Static_assert((int)WORD_SHIFT == (int)BAGS_COUNT_BITS, "a word and its count are one number");

/* The most frequent first, of equal ones the smallest. */
static void keep_most_frequent(uint64_t *counted, size_t n, uint64_t *scratch)
{
    const unsigned word_bits = 8 * BAGS_WORD_BYTES;
    for (size_t i = 0; i < n; i++)
        counted[i] = (BAGS_COUNT_MOST - (counted[i] & BAGS_COUNT_MOST)) << word_bits |
                     counted[i] >> WORD_SHIFT;
    sort_numbers(counted, n, scratch);
    for (size_t i = 0; i < BAGS_MOST_WORDS; i++)
        counted[i] = counted[i] << WORD_SHIFT | (BAGS_COUNT_MOST - (counted[i] >> word_bits));
}

size_t bags_encode(uint64_t *counted, size_t n, uint64_t *scratch,
                   uint8_t ret_row[BAGS_ROW_MAX_BYTES])
{
    uint8_t *at = ret_row;
    *at++ = ROW_VERSION;
    if (n > BAGS_MOST_WORDS) {
        keep_most_frequent(counted, n, scratch);
        n = BAGS_MOST_WORDS;
    }
    sort_numbers(counted, n, scratch);
    for (size_t i = 0; i < n; i++, at += BAGS_ENTRY_BYTES) {
        const uint64_t count = counted[i] & BAGS_COUNT_MOST;
        uint8_t word[8];
        put_be64(word, counted[i]);
        memcpy(at, word, BAGS_WORD_BYTES);
        put_be16(at + BAGS_WORD_BYTES, count < UINT16_MAX ? (uint16_t)count : UINT16_MAX);
    }
    return (size_t)(at - ret_row);
}

int bags_decode(struct kv_slice row, struct bag *ret_bag)
{
    const uint8_t *at = row.data;
    const size_t n = row.size_bytes / BAGS_ENTRY_BYTES;
    if (row.size_bytes != 1 + n * BAGS_ENTRY_BYTES || *at++ != ROW_VERSION || n > BAGS_MOST_WORDS)
        return -EUCLEAN;
    struct bag bag = {.words = calloc(n ? n : 1, sizeof(*bag.words))};
    if (!bag.words)
        return -ENOMEM;
    for (; bag.n_words < n; bag.n_words++, at += BAGS_ENTRY_BYTES) {
        struct bag_word *word = &bag.words[bag.n_words];
        uint8_t bytes[8] = {0};
        memcpy(bytes, at, BAGS_WORD_BYTES);
        *word = (struct bag_word){get_be64(bytes), get_be16(at + BAGS_WORD_BYTES)};
        if (word->weight == 0 || (bag.n_words && word->word <= word[-1].word)) {
            bag_done(&bag);
            return -EUCLEAN;
        }
    }
    *ret_bag = bag;
    return 0;
}

int bags_decode_key(struct kv_slice key, uint64_t *ret_sid)
{
    return key.size_bytes == 8 ? sid_decode(key.data, ret_sid) : -EUCLEAN;
}

struct kv_slice bags_key(uint8_t key[8], uint64_t sid)
{
    put_be64(key, sid);
    return (struct kv_slice){key, 8};
}

struct kv_slice anchors_key(uint8_t key[ANCHORS_KEY_BYTES], uint32_t epoch, uint64_t sid)
{
    put_be32(key, epoch);
    put_be64(key + 4, sid);
    return (struct kv_slice){key, ANCHORS_KEY_BYTES};
}

int anchors_decode_key(struct kv_slice key, uint32_t *ret_epoch, uint64_t *ret_sid)
{
    const uint8_t *at = key.data;
    if (key.size_bytes != ANCHORS_KEY_BYTES)
        return -EUCLEAN;
    *ret_epoch = get_be32(at);
    return sid_decode(at + 4, ret_sid);
}

struct bag_weighing bags_weighing(uint64_t n_bags)
{
    uint64_t most = n_bags / 2;
    most = most < BAGS_FEW_DF ? BAGS_FEW_DF : most > BAGS_MOST_DF ? BAGS_MOST_DF : most;
    const double share = n_bags > most ? (double)most / (double)n_bags : 1;
    return (struct bag_weighing){.least_df = 2, .most_df_share = share, .idf = true};
}
