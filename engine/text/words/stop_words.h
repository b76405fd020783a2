/* Lists of stop words: words so frequent that they tell nothing about the subject of a text.
 * Private to engine/text and its tests.
 *
 * A list is a hash table, made of stop_words/NAME.txt when kinfs is built: the words one after
 * the other, and in each slot where one begins (plus one; 0: none). Open addressing, linear
 * probing; half of the slots at least are empty.
 */
#ifndef KINFS_ENGINE_TEXT_WORDS_STOP_WORDS_H
#define KINFS_ENGINE_TEXT_WORDS_STOP_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/text/words/word_options.h"

enum { STOP_WORDS_SLOTS = 2048 };

struct stop_words {
    size_t n_words, longest; /* in bytes */
    const char *text;        /* the words, each with a NUL behind it, in order */
    const uint16_t *slots;   /* STOP_WORDS_SLOTS */
};

/* The lists by enum stop_list; NULL for none. */
extern const struct stop_words *const stop_words_lists[N_STOP_LISTS];

/* FNV-1a, 32 bits, folded to a slot; stop_words.py has the same. */
static inline uint32_t stop_words_slot(const uint8_t *word, size_t size_bytes)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size_bytes; i++)
        hash = (hash ^ word[i]) * 16777619u;
    return (hash ^ hash >> 16) % STOP_WORDS_SLOTS;
}

static inline bool stop_words_have(const struct stop_words *list, const uint8_t *word,
                                   size_t size_bytes)
{
    if (size_bytes > list->longest)
        return false;
    for (uint32_t slot = stop_words_slot(word, size_bytes); list->slots[slot] != 0;
         slot = (slot + 1) % STOP_WORDS_SLOTS) {
        const char *known = list->text + list->slots[slot] - 1;
        if (strncmp(known, (const char *)word, size_bytes) == 0 && known[size_bytes] == '\0')
            return true;
    }
    return false;
}

#endif
