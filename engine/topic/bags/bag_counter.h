/* Counts words as they come: the frequencies of a document that is streamed and not kept.
 *
 * A hash table of 16 bytes a slot, at most half of which are taken. It has a bound, so that no
 * document takes more memory than others: words that are new when it is reached are not counted.
 * One thread.
 */
#ifndef KINFS_ENGINE_TOPIC_BAGS_BAG_COUNTER_H
#define KINFS_ENGINE_TOPIC_BAGS_BAG_COUNTER_H

#include "engine/topic/bags/bag.h"

struct bag_counter {
    struct bag_slot *slots;
    size_t n_slots; /* a power of two, or 0 */
    uint32_t n_words, most_words;
};

/* A counter of zeroes but for most_words (1 to 2^30) is empty. */
void bag_counter_done(struct bag_counter *counter); /* of zeroes, too */
void bag_counter_clear(struct bag_counter *counter);

/* Counts a word once more. Returns 1 when it is new, 0; -E2BIG when it is new and there is no more
 * room, -ENOMEM. */
int bag_counter_add(struct bag_counter *counter, uint64_t word);

/* The bag of all that was counted. Returns 0, -ENOMEM; ret_bag gives. */
int bag_counter_bag(const struct bag_counter *counter, struct bag *ret_bag);

#endif
