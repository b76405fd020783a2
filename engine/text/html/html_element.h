/* The HTML elements whose tags mean something for a document's text. Private to engine/text. */
#ifndef KINFS_ENGINE_TEXT_HTML_HTML_ELEMENT_H
#define KINFS_ENGINE_TEXT_HTML_HTML_ELEMENT_H

#include <stddef.h>
#include <stdint.h>

/* The beginning of a name, lower case: the first byte is the lowest. n counts to its end, or to
 * 17 when it is longer than the bytes that are kept. */
struct html_name {
    uint64_t low, high;
    uint8_t n;
};

static inline void html_name_add(struct html_name *name, uint8_t c)
{
    if (name->n < 8)
        name->low |= (uint64_t)c << (8 * name->n);
    else if (name->n < 16)
        name->high |= (uint64_t)c << (8 * (name->n - 8));
    name->n += name->n < 17;
}

enum {
    ELEMENT_INLINE = 1,     /* does not separate words */
    ELEMENT_ALT = 2,        /* alt is text */
    ELEMENT_RCDATA = 4,     /* text with references, up to the end tag */
    ELEMENT_RAWTEXT = 8,    /* text without */
    ELEMENT_SCRIPT = 16,    /* as "script data" has it */
    ELEMENT_PLAINTEXT = 32, /* text without, to the end */
    ELEMENT_HIDDEN = 64,    /* no reader sees the text of this RAWTEXT */
    ELEMENT_LINK = 128,     /* href is a link, where links are wanted */
    ELEMENT_ANY_RAW = ELEMENT_RCDATA | ELEMENT_RAWTEXT | ELEMENT_SCRIPT | ELEMENT_PLAINTEXT,
};

struct html_element {
    uint64_t low; /* of the name */
    uint8_t n, flags;
};

enum { HTML_ELEMENT_SLOTS = 256 };
#define HTML_ELEMENT_FACTOR 0x403a960a8652dbd1u
#define HTML_ELEMENT_SLOT(low) ((size_t)(((low)*HTML_ELEMENT_FACTOR) >> 56))
extern const struct html_element html_elements[HTML_ELEMENT_SLOTS];

/* The element in the name's slot. It is the element of that name when low and n are. (The one of
 * more than eight bytes is told from others of these eight and as long by its last.) */
static inline const struct html_element *html_element_slot(uint64_t low)
{
    return &html_elements[HTML_ELEMENT_SLOT(low)];
}

/* The element of a name. One that is not in the table has no flags. */
const struct html_element *html_element(const struct html_name *name);

#endif
