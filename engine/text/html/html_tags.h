/* The tags of an HTML or XML document as tokens among its words. Private to engine/text. */
#ifndef KINFS_ENGINE_TEXT_HTML_HTML_TAGS_H
#define KINFS_ENGINE_TEXT_HTML_HTML_TAGS_H

#include <stdbool.h>

#include "engine/text/words/gather.h"

struct html_tags {
    bool wanted;
    uint8_t n_bytes;
    uint8_t token[CANON_TOKEN_MAX_BYTES]; /* "</", the name, ">" */
};

static inline void html_tags_begin(struct html_tags *tags)
{
    tags->n_bytes = 2;
}

/* A name that is longer than a token may be is cut. */
static inline void html_tags_name(struct html_tags *tags, uint8_t byte)
{
    if (tags->n_bytes < CANON_TOKEN_MAX_BYTES - 1)
        tags->token[tags->n_bytes++] = byte;
}

/* Puts the tag as a token behind all that was gathered so far. */
void html_tags_put(struct html_tags *tags, bool end_tag, struct gather *gather);

#endif
