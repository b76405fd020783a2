/* Text to its lines, wherever it is cut into pieces; without memory but that of one line. Private
 * to engine/text.
 *
 *     struct line line;
 *     while (line_next(&reader, &bytes, &size_bytes, &line))
 *         ...
 */
#ifndef KINFS_ENGINE_TEXT_FORMATS_LINE_H
#define KINFS_ENGINE_TEXT_FORMATS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_MAX_BYTES = 8192 }; /* with its end; a longer one is handed out in parts */

/* The bytes are valid until the reader is asked again. */
struct line {
    const uint8_t *bytes; /* without the end: LF, CR LF */
    size_t n_bytes;
    size_t n_kept; /* the first of them, that line_keep() has kept */
    bool whole;    /* its end is here; if not, its rest comes next */
    bool is_rest;  /* of the line before */
};

struct line_reader {
    bool in_line;
    uint32_t n_bytes, n_kept;
    uint8_t bytes[LINE_MAX_BYTES];
};

void line_reader_begin(struct line_reader *reader);

/* Take a line from the front of these bytes. Returns false when they are all taken and the line
 * goes on. */
bool line_next(struct line_reader *reader, const uint8_t **bytes, size_t *size_bytes,
               struct line *ret_line);

/* No more bytes come. Returns true when there is a last line, without an end. */
bool line_last(struct line_reader *reader, struct line *ret_line);

/* Keeps some bytes of the line that was handed out last: the next line begins with them, and is a
 * rest if the line's end has not come. n_bytes: less than all of it. */
void line_keep(struct line_reader *reader, const struct line *line, size_t from, size_t n_bytes);

/* The line from *at on, without LF, of bytes that are all there. *at is moved behind its end;
 * behind a last line without an end it is more than size_bytes. */
const uint8_t *line_at(const uint8_t *bytes, size_t size_bytes, size_t *at, size_t *ret_n_bytes);

#endif
