/* A hash table with open addressing and linear probing. The words are fingerprints, under a key
 * that may be known (tools/commands/cluster/topics_reading.c): where they go is decided by a
 * secret, so nobody chooses words that meet in one slot.
 *
 * Example with four slots, where 5 and 9 both belong in slot 1: 5, 9, 5 go to slot 1, slot 2 (1 is
 * taken) and slot 1; the bag is {5 2, 9 1}.
 *
 * Cost: a look at a slot a word; the table is doubled as it fills. Left out: the words in the order
 * of the text, which no bag has.
 */
#include "engine/topic/bags/bag_counter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/files/file_key.h"
#include "base/mix.h"

enum { FIRST_SLOTS = 1024 };

struct bag_slot {
    uint64_t word, count; /* count 0: nothing is here */
};

void bag_counter_done(struct bag_counter *counter)
{
    free(counter->slots);
    counter->slots = NULL;
    counter->n_slots = counter->n_words = 0;
}

/* Memory that a long document took is given back, as much as any document takes is kept. */
void bag_counter_clear(struct bag_counter *counter)
{
    if (counter->n_slots > FIRST_SLOTS)
        bag_counter_done(counter);
    else if (counter->n_words)
        memset(counter->slots, 0, counter->n_slots * sizeof(struct bag_slot));
    counter->n_words = 0;
}

static struct bag_slot *find(const struct bag_counter *counter, uint64_t word)
{
    size_t at = mix64(word ^ file_key_secret) & (counter->n_slots - 1);
    while (counter->slots[at].count && counter->slots[at].word != word)
        at = (at + 1) & (counter->n_slots - 1);
    return &counter->slots[at];
}

static int grow(struct bag_counter *counter)
{
    struct bag_counter larger = {.n_slots = counter->n_slots ? 2 * counter->n_slots : FIRST_SLOTS};
    larger.slots = calloc(larger.n_slots, sizeof(struct bag_slot));
    if (!larger.slots)
        return -ENOMEM;
    for (size_t i = 0; i < counter->n_slots; i++)
        if (counter->slots[i].count)
            *find(&larger, counter->slots[i].word) = counter->slots[i];
    free(counter->slots);
    counter->slots = larger.slots;
    counter->n_slots = larger.n_slots;
    return 0;
}

int bag_counter_add(struct bag_counter *counter, uint64_t word)
{
    if (2 * (size_t)counter->n_words >= counter->n_slots) {
        int r = grow(counter);
        if (r < 0)
            return r;
    }
    struct bag_slot *slot = find(counter, word);
    bool is_new = slot->count == 0;
    if (is_new && counter->n_words == counter->most_words)
        return -E2BIG;
    counter->n_words += is_new;
    slot->word = word;
    slot->count++;
    return is_new;
}

static int compare_words(const void *a, const void *b)
{
    const struct bag_word *x = a, *y = b;
    return (x->word > y->word) - (x->word < y->word);
}

int bag_counter_bag(const struct bag_counter *counter, struct bag *ret_bag)
{
    struct bag bag = {.words =
                          calloc(counter->n_words ? counter->n_words : 1, sizeof(struct bag_word))};
    if (!bag.words)
        return -ENOMEM;
    for (size_t i = 0; i < counter->n_slots; i++)
        if (counter->slots[i].count)
            bag.words[bag.n_words++] =
                (struct bag_word){counter->slots[i].word, (double)counter->slots[i].count};
    qsort(bag.words, bag.n_words, sizeof(struct bag_word), compare_words);
    *ret_bag = bag;
    return 0;
}
