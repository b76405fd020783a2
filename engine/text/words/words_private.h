/* What the files of words.h share: characters one by one (words.c), and those that join the one
 * before them, or break a word (words_joining.c). */
#ifndef KINFS_ENGINE_TEXT_WORDS_WORDS_PRIVATE_H
#define KINFS_ENGINE_TEXT_WORDS_WORDS_PRIVATE_H

#include "engine/text/words/words.h"

/* The place of the next character: fields of struct words, kept in registers for a while. */
struct words_place {
    uint32_t n_bytes, n_tokens, start; /* start is ends[n_tokens] */
    bool open_is_solo;                 /* there may be no open token */
};

static inline struct words_place words_place_of(const struct words *words)
{
    return (struct words_place){words->n_bytes, words->n_tokens, words->ends[words->n_tokens],
                                words->open_is_solo};
}

static inline void words_settle(struct words *words, const struct words_place *place)
{
    words->n_bytes = place->n_bytes;
    words->n_tokens = place->n_tokens;
    words->open_is_solo = place->open_is_solo;
}

static inline void words_end_token(struct words *words, struct words_place *place)
{
    place->n_tokens += place->n_bytes != place->start;
    words->ends[place->n_tokens] = place->start = place->n_bytes;
    place->open_is_solo = false;
}

/* A character behind a hyphen. Returns true when it was taken, as white space of the line's end. */
bool words_put_behind_hyphen(struct words *words, uint32_t code);
/* A character that may join the one before it, or a hyphen. */
void words_put_joining(struct words *words, uint32_t code);

#endif
