/* What Unicode says of a character, as far as words need it: a table made when kinfs is built, by
 * unicode_generate.c, from utf8proc. 44 KB, of which a text touches the few hundred bytes of its
 * scripts. */
#ifndef KINFS_ENGINE_TEXT_UNICODE_H
#define KINFS_ENGINE_TEXT_UNICODE_H

#include <stddef.h>
#include <stdint.h>

/* words.c says what each does. */
enum unicode_class {
    UNICODE_SEPARATOR,
    UNICODE_IGNORED,
    UNICODE_WORD, /* a letter or digit of a script that sets words apart */
    UNICODE_SOLO, /* a letter of one that does not */
    UNICODE_MARK, /* goes with the letter before */
    UNICODE_N_CLASSES,
};

enum {
    UNICODE_END = 0x110000,
    UNICODE_BLOCK = 128,             /* characters of a block of the table */
    UNICODE_EXPANSION_MAX_BYTES = 9, /* three characters are the most in Unicode 15 */
};

struct unicode_property {
    int32_t fold; /* the case folded character less the character */
    uint8_t class;
    uint8_t expands; /* its folding is several characters: unicode_expansion() has them */
};

struct unicode_expansion {
    uint32_t code;
    uint8_t n_bytes, bytes[UNICODE_EXPANSION_MAX_BYTES]; /* in UTF-8 */
};

#define UNICODE_TABLE extern __attribute__((visibility("hidden")))

/* By character, the two bytes, as they lie in memory, of the folding of a character of two bytes
 * that is of class word; 0 for all others, and where the folding has not two. */
UNICODE_TABLE const uint16_t unicode_pairs[0x800 + 1]; /* the last one may be read with another */
UNICODE_TABLE const uint8_t unicode_blocks[UNICODE_END / UNICODE_BLOCK];
UNICODE_TABLE const uint8_t unicode_indexes[][UNICODE_BLOCK];
UNICODE_TABLE const struct unicode_property unicode_properties[];
UNICODE_TABLE const struct unicode_expansion unicode_expansions[]; /* by code */
UNICODE_TABLE const size_t unicode_n_expansions;

/* The number of its property, which is the class itself for all that fold to themselves. code <
 * UNICODE_END; surrogates separate. */
static inline unsigned unicode_index(uint32_t code)
{
    return unicode_indexes[unicode_blocks[code / UNICODE_BLOCK]][code % UNICODE_BLOCK];
}

static inline const struct unicode_property *unicode_property(uint32_t code)
{
    return &unicode_properties[unicode_index(code)];
}

/* Of a character that expands. */
static inline const struct unicode_expansion *unicode_expansion(uint32_t code)
{
    size_t low = 0, high = unicode_n_expansions;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (unicode_expansions[middle].code <= code)
            low = middle;
        else
            high = middle;
    }
    return &unicode_expansions[low];
}

#endif
