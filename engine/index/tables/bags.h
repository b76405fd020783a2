/* The bags of documents: of each its most frequent stems, and those of what others say of it, for
 * what is about the same in other words (engine/topic/bags/bag.h). Empty unless topics are wanted,
 * of this kind.
 *
 * Row of TABLE_BAGS:
 *
 *   key    sid 8
 *   value  version 1 (1) | words, ascending, each: word 5, count 2        none: no words
 *
 * A word is the first 40 bits of the fingerprint of its stem: of a million different stems two have
 * one word in every second store. Of more than BAGS_MOST_WORDS the most frequent ones are kept; of
 * equally frequent ones those of the smaller fingerprints, which is a sample that all documents
 * draw alike.
 *
 * Row of TABLE_ANCHORS, of the document's title and of the words around the links that lead to it:
 *
 *   key    epoch 4 | sid 8       as of word_lists.h, with which they are made anew
 *   value  as above, with one word or more
 *
 * Derived data: the first of the document's bytes, without which it is read again by the next scan;
 * the second of what all documents say (fragments.h), and of where they are. All numbers big
 * endian.
 */
#ifndef KINFS_ENGINE_INDEX_TABLES_BAGS_H
#define KINFS_ENGINE_INDEX_TABLES_BAGS_H

#include "engine/topic/bags/bag.h"
#include "store/kv.h"

enum {
    BAGS_MOST_WORDS = 256,
    BAGS_WORD_BYTES = 5,
    BAGS_ENTRY_BYTES = BAGS_WORD_BYTES + 2,
    BAGS_ROW_MAX_BYTES = 1 + BAGS_MOST_WORDS * BAGS_ENTRY_BYTES,
    BAGS_COUNT_BITS = 24,
};
#define BAGS_COUNT_MOST (((uint64_t)1 << BAGS_COUNT_BITS) - 1)

/* The word of a fingerprint, as the bags that are decoded have it: the last bits are 0. */
static inline uint64_t bags_word(uint64_t fingerprint)
{
    return fingerprint & ~BAGS_COUNT_MOST;
}

/* The row of n words in any order, each once: a word with its count, 1 to BAGS_COUNT_MOST, in the
 * last bits. Changes the array. scratch: as many. O(n log n). Returns the bytes. */
size_t bags_encode(uint64_t *counted, size_t n, uint64_t *scratch,
                   uint8_t ret_row[BAGS_ROW_MAX_BYTES]);
/* Returns 0, -EUCLEAN, -ENOMEM; ret_bag gives. */
int bags_decode(struct kv_slice row, struct bag *ret_bag);
/* The sid of a row; 0, -EUCLEAN. */
int bags_decode_key(struct kv_slice key, uint64_t *ret_sid);

struct kv_slice bags_key(uint8_t key[8], uint64_t sid);

enum { ANCHORS_KEY_BYTES = 12 };
struct kv_slice anchors_key(uint8_t key[ANCHORS_KEY_BYTES], uint32_t epoch, uint64_t sid);
/* Returns 0, -EUCLEAN. */
int anchors_decode_key(struct kv_slice key, uint32_t *ret_epoch, uint64_t *ret_sid);

/* The weights of words in a collection of so many bags, by frequency and df: words of one bag
 * alone, and of more than half of all, or more than BAGS_MOST_DF, weigh nothing; but what
 * BAGS_FEW_DF have or fewer is not too much in any collection. */
enum { BAGS_MOST_DF = 1 << 16, BAGS_FEW_DF = 64 };
struct bag_weighing bags_weighing(uint64_t n_bags);

#endif
