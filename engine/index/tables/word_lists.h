/* Which documents have a word, and how much it weighs in each: what is about the same as a document
 * is found by. Made anew as a whole from the bags (topics/), one epoch after the other; those of
 * another epoch than the store's are on their way out, or in.
 *
 * Row of TABLE_WORD_LISTS:
 *
 *   key    epoch 4 | word 5 (bags.h) | part 4                              partition: epoch | word
 *   value  of part 0: df 4, then as of the others:
 *          sid, less the one before it in the part, 7 bits a byte, the last byte below 0x80;
 *          weight 1, from 1 to 100; and so on, sids ascending
 *
 * df is how many bags have the word, of which those that it weighs nothing in are not listed. Words
 * that one bag has, or too many have, have no row.
 */
#ifndef KINFS_ENGINE_INDEX_TABLES_WORD_LISTS_H
#define KINFS_ENGINE_INDEX_TABLES_WORD_LISTS_H

#include <stdbool.h>

#include "store/kv.h"

enum {
    WORD_LISTS_KEY_BYTES = 13,
    WORD_LISTS_DF_BYTES = 4,
    WORD_LISTS_PART_BYTES = 16 << 10, /* of a value, about */
    WORD_LISTS_ENTRY_MAX_BYTES = 11,
    WORD_LISTS_VALUE_MAX_BYTES = WORD_LISTS_PART_BYTES + WORD_LISTS_ENTRY_MAX_BYTES,
};

struct kv_slice word_lists_key(uint8_t key[WORD_LISTS_KEY_BYTES], uint32_t epoch, uint64_t word,
                               uint32_t part);
/* Returns 0, -EUCLEAN. */
int word_lists_decode_key(struct kv_slice key, uint32_t *ret_epoch, uint64_t *ret_word,
                          uint32_t *ret_part);

/* Puts the next entry of a part. last_sid: of the one before it, 0: it is the first. Returns its
 * bytes. */
size_t word_lists_put(uint8_t *at, uint64_t last_sid, uint64_t sid, uint8_t weight);

struct word_list {
    const uint8_t *at, *end;
    uint64_t sid;
    uint8_t weight;
};

/* Begins with a value, which is borrowed. ret_df: of part 0, else 0. Returns 0, -EUCLEAN. */
int word_list_begin(struct word_list *list, struct kv_slice value, uint32_t part, uint32_t *ret_df);
/* Returns 1 with the next entry in the list, 0 at the end, -EUCLEAN. */
int word_list_next(struct word_list *list);

#endif
