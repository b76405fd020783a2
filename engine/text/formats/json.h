/* JSON (RFC 8259, and a value a line) to the text of its strings, unescaped, and of everything
 * between them; Jupyter notebooks to the sources of their cells. Private to engine/text.
 *
 * json.c        strings, and which of them are shown
 * json_sniff.c  tells JSON, and notebooks, from other texts
 */
#ifndef KINFS_ENGINE_TEXT_FORMATS_JSON_H
#define KINFS_ENGINE_TEXT_FORMATS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/text/words/gather.h"

enum { JSON_KEY_MAX_BYTES = 11 }; /* of those that mean something, and the zero */

/* The open containers of a notebook that lead to its text. All others, with their content, are only
 * counted. */
enum json_level {
    JSON_TOP,
    JSON_ROOT,
    JSON_SHEETS, /* of notebooks before version 4: cells stand in worksheets, code is "input" */
    JSON_SHEET,
    JSON_CELLS,
    JSON_CELL,
    JSON_SOURCE, /* a list of lines */
};

struct json {
    bool notebook;
    enum { JSON_BETWEEN, JSON_STRING, JSON_ESCAPE, JSON_HEX } state;
    uint8_t n_hex;
    uint16_t hex, surrogate; /* the digits so far; the first half of a pair, or 0 */
    /* The state within a notebook. */
    bool at_key, shown; /* the next string is a key; the string is text */
    uint8_t n_levels;
    uint8_t levels[JSON_SOURCE + 1];
    uint32_t n_others;                      /* open in the last of these */
    uint8_t n_key, key[JSON_KEY_MAX_BYTES]; /* the last one; n_key goes on with longer ones */
    struct gather gather;
};

enum json_is { JSON_IS_NONE, JSON_IS_JSON, JSON_IS_NOTEBOOK };

/* Tells whether a text with this head is JSON or a notebook. JSON has a string, and is well formed
 * up to the end of the head. */
enum json_is json_sniff(const uint8_t *head, size_t head_bytes);

void json_begin(struct json *json, bool notebook, struct words *words);
void json_feed(struct json *json, const uint8_t *bytes, size_t size_bytes);
void json_finish(struct json *json);

#endif
