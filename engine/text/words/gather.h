/* Text taken out of markup, a few bytes here and there, gathered so that words are fed in long
 * stretches. Private to engine/text. */
#ifndef KINFS_ENGINE_TEXT_WORDS_GATHER_H
#define KINFS_ENGINE_TEXT_WORDS_GATHER_H

#include "engine/text/words/words.h"

enum {
    GATHER_BYTES = 16 * 1024,  /* fed at a time, and still in the first cache then */
    GATHER_SLACK_BYTES = 64,   /* bytes behind the gathered ones that may be written */
    GATHER_DIRECT_BYTES = 512, /* longer pieces are not copied */
};

struct gather {
    struct words *words;
    size_t n_bytes; /* not fed yet */
    uint8_t bytes[GATHER_BYTES + GATHER_SLACK_BYTES];
};

void gather_begin(struct gather *gather, struct words *words);
void gather_put(struct gather *gather, const uint8_t *bytes, size_t size_bytes);
/* Ends a word: text before and behind this call is not of one word. */
void gather_separate(struct gather *gather);
/* Feeds all that was gathered. */
void gather_flush(struct gather *gather);

#endif
