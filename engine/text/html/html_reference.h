/* Character references of HTML (WHATWG HTML, 13.2.5.72 to 80), as a state machine of bytes. Private
 * to engine/text. */
#ifndef KINFS_ENGINE_TEXT_HTML_HTML_REFERENCE_H
#define KINFS_ENGINE_TEXT_HTML_HTML_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    REFERENCE_NAME_MAX = 32, /* no name of html_names.c is as long */
    REFERENCE_TEXT_MAX = REFERENCE_NAME_MAX + 8,
};

enum html_reference_at {
    REFERENCE_BEGINS, /* behind the '&' */
    REFERENCE_NAME,
    REFERENCE_NUMBER, /* behind the '#' */
    REFERENCE_HEX,    /* behind the 'x' */
    REFERENCE_DECIMAL_DIGITS,
    REFERENCE_HEX_DIGITS,
};

struct html_reference {
    enum html_reference_at at;
    bool in_attribute;
    uint32_t code;
    /* The bytes of the reference as read, and at its end the text it stands for, UTF-8. */
    size_t n_bytes;
    uint8_t bytes[REFERENCE_TEXT_MAX];
};

void html_reference_begin(struct html_reference *reference, bool in_attribute);

/* Takes the next byte. Returns true when it is a part of the reference. *ret_ends: the reference is
 * complete, and bytes has the text it stands for, which for one that is none is itself. */
bool html_reference_feed(struct html_reference *reference, uint8_t byte, bool *ret_ends);
/* No more bytes come. */
void html_reference_end(struct html_reference *reference);

/* Reads a whole reference, whose first byte behind '&' is at `at`. Returns the place behind it. */
size_t html_reference_read(struct html_reference *reference, const uint8_t *bytes, size_t n_bytes,
                           size_t at);

/* A name that HTML knows, with its text, UTF-8. legacy: it needs no semicolon behind it. */
struct html_reference_name {
    uint16_t at; /* in the string of names, which end in NUL */
    bool legacy;
    char text[7];
};

/* The entry of a name, or NULL. */
const struct html_reference_name *html_reference_find(const uint8_t *name, size_t n_bytes);

/* Sorted (html_names.c, which html_names.py makes). */
extern const char html_names[];
extern const struct html_reference_name html_reference_names[];
extern const size_t html_n_reference_names;

#endif
