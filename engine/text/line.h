/* Text to its lines, wherever it is cut into pieces; without memory but that of one line. Private
 * to engine/text.
 *
 *     struct line line;
 *     while (line_next(&reader, &bytes, &size_bytes, &line))
 *         ...
 */
#ifndef KINFS_ENGINE_TEXT_LINE_H
#define KINFS_ENGINE_TEXT_LINE_H

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

/* No more bytes come. Returns whether there was a line that nothing ended. */
bool line_last(struct line_reader *reader, struct line *ret_line);

/* The next line begins with these bytes of the one that was handed out last, and is what it was: a
 * rest, if its end has not come. n_bytes: less than all of it. */
void line_keep(struct line_reader *reader, const struct line *line, size_t from, size_t n_bytes);

/* The next line of bytes that are all there, from *at on, which is behind its end then: without LF.
 * Of a last one that is not ended, *at is more than size_bytes. */
const uint8_t *line_at(const uint8_t *bytes, size_t size_bytes, size_t *at, size_t *ret_n_bytes);

#endif
