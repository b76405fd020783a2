/* HTML to the text it shows; the first half of canon.h for HTML, private to engine/text. */
#ifndef KINFS_ENGINE_TEXT_HTML_H
#define KINFS_ENGINE_TEXT_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/text/words.h"

enum {
    HTML_NAME_MAX = 11,      /* of the tags that matter, and one more to tell longer ones */
    HTML_REFERENCE_MAX = 10, /* longer than any name in html_entities.c */
};

enum html_state {
    HTML_TEXT,
    HTML_TAG_OPEN,
    HTML_END_TAG_OPEN,
    HTML_TAG_NAME,
    HTML_BEFORE_ATTRIBUTE,
    HTML_ATTRIBUTE_NAME,
    HTML_AFTER_ATTRIBUTE_NAME,
    HTML_BEFORE_VALUE,
    HTML_VALUE_QUOTED,
    HTML_VALUE_UNQUOTED,
    HTML_DECLARATION_OPEN,
    HTML_DECLARATION, /* doctype, processing instruction, anything else up to '>' */
    HTML_COMMENT,
    HTML_COMMENT_BANG,
    HTML_CDATA,
    HTML_RAW, /* content of script, style, title and textarea, up to their end tag */
    HTML_REFERENCE,
    HTML_REFERENCE_NAME,
    HTML_REFERENCE_NUMBER,
    HTML_REFERENCE_DECIMAL,
    HTML_REFERENCE_HEX,
};

struct html {
    struct words *words;
    enum html_state state;
    enum html_state after_reference;
    bool end_tag, self_closing;
    bool value_is_text;  /* the attribute is the alt of an image */
    bool comment_begins; /* nothing but dashes so far */
    uint8_t name_bytes, attribute_bytes, reference_bytes;
    uint8_t matched; /* bytes of what may be "--", "[CDATA[" or an end tag; dashes; brackets */
    char quote;
    char name[HTML_NAME_MAX + 1], attribute[4], reference[HTML_REFERENCE_MAX + 1];
    const struct html_raw *raw;
    uint32_t code;
};

void html_begin(struct html *html, struct words *words);
void html_feed(struct html *html, const uint8_t *bytes, size_t size_bytes);
void html_finish(struct html *html);

/* The character a name stands for, 0 when it is none; *ret_legacy says whether it does even with no
 * semicolon behind it. The 252 names of HTML 4, "apos", and the upper-case forms of HTML 5. */
uint32_t html_entity(const char *name, size_t size_bytes, bool *ret_legacy);

#endif
