/* The properties of characters that words need: a table made when kinfs is built, by
 * unicode_generate.c, from utf8proc. It has 169 KB, of which a text touches the few hundred bytes
 * of its scripts. */
#ifndef KINFS_ENGINE_TEXT_WORDS_UNICODE_H
#define KINFS_ENGINE_TEXT_WORDS_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/text/encoding/utf8.h"

/* The classes of characters; words.c describes each. */
enum unicode_class {
    UNICODE_SEPARATOR,
    UNICODE_IGNORED,
    UNICODE_WORD,    /* a letter or digit of a script that sets words apart */
    UNICODE_SOLO,    /* a letter of one that does not */
    UNICODE_MARK,    /* goes with the letter before */
    UNICODE_FIRST,   /* a mark that one of the next two may become one with */
    UNICODE_SECOND,  /* a mark of no combining class that may become one with one of those */
    UNICODE_ORDERED, /* a mark of one: marks before it may belong behind; or become one, as that */
    UNICODE_COMPOSING,      /* a mark that may become one with a letter */
    UNICODE_COMPOSING_WORD, /* a letter that may: the vowels and last consonants of Hangul */
    UNICODE_HYPHEN, /* a separator but at the end of a line; the soft hyphen, nothing but there */
    UNICODE_N_CLASSES,
};

enum {
    UNICODE_END = 0x110000,
    UNICODE_BLOCK = 128,             /* characters of a block of the table */
    UNICODE_EXPANSION_MAX_BYTES = 9, /* three characters are the most in Unicode 15 */
    UNICODE_COMPOSITIONS = 4096,     /* slots of the table; Unicode 15 has 950 */
};

struct unicode_property {
    int32_t fold; /* the folded character less the character */
    uint8_t class;
    uint8_t expands; /* unicode_expansion() has its folding, of several characters or a rare one */
};

struct unicode_expansion {
    uint32_t code;
    uint8_t n_bytes, bytes[UNICODE_EXPANSION_MAX_BYTES]; /* in UTF-8 */
};

/* A pair of characters that composes to one. Pairs of Hangul compose by rule and are not here. */
struct unicode_composition {
    uint32_t first, second, composed; /* 0: none */
};

#define UNICODE_TABLE extern __attribute__((visibility("hidden")))

/* The folding of each character of two bytes that is of class word and whose folding has two bytes,
 * as these lie in memory; 0 for all others. */
UNICODE_TABLE const uint16_t unicode_pairs[0x800 + 1]; /* the last one may be read with another */
UNICODE_TABLE const uint8_t unicode_blocks[UNICODE_END / UNICODE_BLOCK];
UNICODE_TABLE const uint8_t unicode_indexes[][UNICODE_BLOCK];
UNICODE_TABLE const struct unicode_property unicode_properties[];
/* The expansions by code, and the first of each block. */
UNICODE_TABLE const struct unicode_expansion unicode_expansions[];
UNICODE_TABLE const uint16_t unicode_expansion_blocks[UNICODE_END / UNICODE_BLOCK + 1];
/* A hash table, linear probing, three of four slots at least are empty. */
UNICODE_TABLE const struct unicode_composition unicode_compositions[UNICODE_COMPOSITIONS];

/* The number of a character's property, which is the class itself for all that fold to themselves.
 * code < UNICODE_END; surrogates separate. */
static inline unsigned unicode_index(uint32_t code)
{
    return unicode_indexes[unicode_blocks[code / UNICODE_BLOCK]][code % UNICODE_BLOCK];
}

static inline const struct unicode_property *unicode_property(uint32_t code)
{
    return &unicode_properties[unicode_index(code)];
}

/* The expansion of a character that has one. */
static inline const struct unicode_expansion *unicode_expansion(uint32_t code)
{
    size_t low = unicode_expansion_blocks[code / UNICODE_BLOCK];
    size_t high = unicode_expansion_blocks[code / UNICODE_BLOCK + 1];
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (unicode_expansions[middle].code <= code)
            low = middle;
        else
            high = middle;
    }
    return &unicode_expansions[low];
}

/* Puts the canonical bytes of a character that is kept. Returns their number. */
static inline uint32_t unicode_put_folded(uint8_t *to, uint32_t code,
                                          const struct unicode_property *property)
{
    if (property->expands) {
        const struct unicode_expansion *expansion = unicode_expansion(code);
        memcpy(to, expansion->bytes, sizeof(expansion->bytes));
        return expansion->n_bytes;
    }
    return (uint32_t)utf8_put(to, code + (uint32_t)property->fold);
}

static inline uint32_t unicode_composition_slot(uint32_t first, uint32_t second)
{
    return ((first * 0x9e3779b1u) ^ second * 0x85ebca6bu) >> 16 & (UNICODE_COMPOSITIONS - 1);
}

/* The character that two compose to, 0 where they stay two. */
static inline uint32_t unicode_composed(uint32_t first, uint32_t second)
{
    uint32_t slot = unicode_composition_slot(first, second);
    for (; unicode_compositions[slot].second; slot = (slot + 1) % UNICODE_COMPOSITIONS)
        if (unicode_compositions[slot].first == first &&
            unicode_compositions[slot].second == second)
            return unicode_compositions[slot].composed;
    return 0;
}

#endif
