/* A reader of lines hands out a line where it lies when all of it is in one piece, and copies only
 * lines that are cut between two pieces. A line longer than LINE_MAX_BYTES comes in parts, so that
 * memory is bounded.
 *
 * Example: the pieces "one\ntw" and "o\n" give "one" from the first piece, and "two" from the
 * reader's buffer. Cost: one search for the line feed; no allocation.
 */
#include "engine/text/formats/line.h"

#include <string.h>

void line_reader_begin(struct line_reader *reader)
{
    reader->in_line = false;
    reader->n_bytes = reader->n_kept = 0;
}

static struct line hand_out(struct line_reader *reader, const uint8_t *bytes, size_t n, bool whole)
{
    struct line line = {bytes, n, reader->n_kept, whole, reader->in_line};
    if (whole && line.n_bytes > 0 && bytes[line.n_bytes - 1] == '\n')
        line.n_bytes--;
    if (whole && line.n_bytes > line.n_kept && bytes[line.n_bytes - 1] == '\r')
        line.n_bytes--;
    reader->in_line = !whole;
    reader->n_bytes = reader->n_kept = 0;
    return line;
}

bool line_next(struct line_reader *reader, const uint8_t **bytes, size_t *size_bytes,
               struct line *ret_line)
{
    if (*size_bytes == 0)
        return false;
    const uint8_t *from = *bytes;
    size_t room = LINE_MAX_BYTES - reader->n_bytes;
    size_t n = *size_bytes < room ? *size_bytes : room;
    const uint8_t *newline = memchr(from, '\n', n);
    if (newline)
        n = (size_t)(newline - from) + 1;
    *bytes += n;
    *size_bytes -= n;
    if (newline && reader->n_bytes == 0) {
        *ret_line = hand_out(reader, from, n, true);
        return true;
    }
    memcpy(reader->bytes + reader->n_bytes, from, n);
    reader->n_bytes += (uint32_t)n;
    if (!newline && reader->n_bytes < LINE_MAX_BYTES)
        return false;
    *ret_line = hand_out(reader, reader->bytes, reader->n_bytes, newline);
    return true;
}

bool line_last(struct line_reader *reader, struct line *ret_line)
{
    if (reader->n_bytes == 0)
        return false;
    *ret_line = hand_out(reader, reader->bytes, reader->n_bytes, true);
    return true;
}

void line_keep(struct line_reader *reader, const struct line *line, size_t from, size_t n_bytes)
{
    memmove(reader->bytes, line->bytes + from, n_bytes);
    reader->n_bytes = reader->n_kept = (uint32_t)n_bytes;
    reader->in_line = !line->whole || line->is_rest;
}

const uint8_t *line_at(const uint8_t *bytes, size_t size_bytes, size_t *at, size_t *ret_n_bytes)
{
    const uint8_t *line = bytes + *at, *newline = memchr(line, '\n', size_bytes - *at);
    *ret_n_bytes = newline ? (size_t)(newline - line) : size_bytes - *at;
    *at += *ret_n_bytes + 1;
    return line;
}
