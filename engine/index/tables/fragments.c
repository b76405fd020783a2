#include "engine/index/tables/fragments.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sort_numbers.h"

enum { ROW_VERSION = 1 };

void fragments_put_version(uint8_t *at)
{
    *at = ROW_VERSION;
}

size_t fragments_put(uint8_t *at, enum link_kind kind, const char *target, size_t target_bytes,
                     uint64_t *counted, size_t n)
{
    uint64_t scratch[FRAGMENTS_MOST_WORDS];
    uint8_t *const begin = at;
    sort_numbers(counted, n, scratch);
    *at++ = (uint8_t)kind;
    put_be16(at, (uint16_t)target_bytes);
    memcpy(at + 2, target, target_bytes);
    at += 2 + target_bytes;
    *at++ = (uint8_t)n;
    for (size_t i = 0; i < n; i++, at += FRAGMENTS_ENTRY_BYTES) {
        uint8_t word[8];
        put_be64(word, counted[i]);
        memcpy(at, word, BAGS_WORD_BYTES);
        at[BAGS_WORD_BYTES] = (uint8_t)(counted[i] & BAGS_COUNT_MOST);
    }
    return (size_t)(at - begin);
}

int fragments_begin(struct fragments *fragments, struct kv_slice row)
{
    const uint8_t *at = row.data;
    if (row.size_bytes < FRAGMENTS_VERSION_BYTES || row.size_bytes > FRAGMENTS_ROW_MAX_BYTES ||
        *at != ROW_VERSION)
        return -EUCLEAN;
    *fragments = (struct fragments){at + FRAGMENTS_VERSION_BYTES, at + row.size_bytes};
    return 0;
}

static int take_words(struct fragments *fragments, struct fragment *ret_fragment)
{
    const size_t n = *fragments->at++;
    if (n == 0 || n > FRAGMENTS_MOST_WORDS ||
        (size_t)(fragments->end - fragments->at) < n * FRAGMENTS_ENTRY_BYTES)
        return -EUCLEAN;
    for (size_t i = 0; i < n; i++, fragments->at += FRAGMENTS_ENTRY_BYTES) {
        struct bag_word *word = &ret_fragment->words[i];
        uint8_t bytes[8] = {0};
        memcpy(bytes, fragments->at, BAGS_WORD_BYTES);
        *word = (struct bag_word){get_be64(bytes), fragments->at[BAGS_WORD_BYTES]};
        if (word->weight == 0 || (i && word->word <= word[-1].word))
            return -EUCLEAN;
    }
    ret_fragment->n_words = (uint32_t)n;
    return 1;
}

int fragments_next(struct fragments *fragments, struct fragment *ret_fragment)
{
    const size_t n_left = (size_t)(fragments->end - fragments->at);
    if (n_left == 0)
        return 0;
    if (n_left < 4 || *fragments->at >= LINK_N_KINDS)
        return -EUCLEAN;
    ret_fragment->kind = (enum link_kind) * fragments->at;
    ret_fragment->target_bytes = get_be16(fragments->at + 1);
    ret_fragment->target = (const char *)fragments->at + 3;
    if (ret_fragment->target_bytes > LINK_TARGET_MAX_BYTES ||
        ret_fragment->target_bytes > n_left - 4)
        return -EUCLEAN;
    fragments->at += 3 + ret_fragment->target_bytes;
    return take_words(fragments, ret_fragment);
}
