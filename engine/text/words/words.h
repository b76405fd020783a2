/* UTF-8 text to blocks of canonical tokens; the second half of canon.h, private to engine/text. */
#ifndef KINFS_ENGINE_TEXT_WORDS_WORDS_H
#define KINFS_ENGINE_TEXT_WORDS_WORDS_H

#include <stdbool.h>

#include "engine/text/words/ascii_words.h"
#include "engine/text/canon.h"

enum {
    WORDS_BLOCK_BYTES = 8 * TOKEN_BLOCK_MAX, /* a word and its space have seven on average */
    /* A step takes 64 bytes at most, and begins only where the block has no more than these. */
    WORDS_STEP_BYTES_MAX = WORDS_BLOCK_BYTES - 64,
    WORDS_STEP_TOKENS_MAX = TOKEN_BLOCK_MAX - 64,
    WORDS_OVERRUN =
        64, /* bytes behind the block that may be written, and read as slack of tokens */
};

_Static_assert((int)TOKEN_BLOCK_SLACK_BYTES <= (int)WORDS_OVERRUN, "");

/* The characters behind the open token that do not end it yet. */
enum words_hyphen {
    WORDS_NO_HYPHEN,
    WORDS_HYPHEN,     /* a hyphen */
    WORDS_BLANKS,     /* a hyphen, and blanks behind it */
    WORDS_RETURN,     /* a hyphen and the end of its line, which a line feed may belong to */
    WORDS_NEW_LINE,   /* a hyphen, the end of its line, and some space */
    WORDS_EMPTY_LINE, /* the same, and an empty line */
};

struct words {
    struct canon_sink sink;
    ascii_words_fn *take_ascii;
    bool takes_pairs;           /* letters of two bytes, too */
    uint32_t n_bytes, n_tokens; /* the open token, if any, is bytes[ends[n_tokens] .. n_bytes) */
    bool open_is_solo;          /* it is a character that only marks may join */
    uint8_t hyphen;             /* enum words_hyphen */
    bool hyphen_is_soft;
    uint64_t n_handed_out; /* tokens */
    uint64_t hyphenated;   /* the number, from 1, of the last token with a hyphen at a line's end */
    /* the UTF-8 sequence being read: bytes still missing, code so far, range of the next byte */
    uint8_t missing, least, most;
    uint32_t code;
    uint32_t ends[TOKEN_BLOCK_MAX + 1]; /* ends[0] is 0, a block's begin at ends[1] */
    uint8_t bytes[WORDS_BLOCK_BYTES + WORDS_OVERRUN];
};

/* Tokens so far, the open one with the others, or without it. */
static inline uint64_t words_ended(const struct words *words)
{
    return words->n_handed_out + words->n_tokens;
}
static inline uint64_t words_begun(const struct words *words)
{
    return words_ended(words) + (words->n_bytes > words->ends[words->n_tokens]);
}

/* words is zeroed memory. */
void words_init(struct words *words, const struct canon_sink *sink);
void words_begin(struct words *words);
void words_feed(struct words *words, const uint8_t *bytes, size_t size_bytes);
void words_separate(struct words *words);
void words_finish(struct words *words);

#endif
