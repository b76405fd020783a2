/* Each line of an extractor's output is one feature, the digest of its bytes. A line that is longer
 * than LINES_LINE_MAX_BYTES is several features, so that memory is bounded.
 *
 * Example: "layer1 conv\n\nlayer2 relu\n" gives two features. Cost: one copy and one digest a line.
 * Left out: the order of lines.
 */
#include "engine/text/features/lines.h"

#include <string.h>

static void end_line(struct lines *lines)
{
    if (lines->n_bytes > 0)
        feature_list_add(lines->features,
                         feature_list_digest(lines->features, lines->line, lines->n_bytes));
    lines->n_bytes = 0;
}

/* Adds bytes to the open line. */
static void add_bytes(struct lines *lines, const uint8_t *bytes, size_t size_bytes)
{
    while (size_bytes > 0) {
        size_t n = LINES_LINE_MAX_BYTES - lines->n_bytes;
        if (n > size_bytes)
            n = size_bytes;
        memcpy(lines->line + lines->n_bytes, bytes, n);
        lines->n_bytes += (uint32_t)n;
        if (lines->n_bytes == LINES_LINE_MAX_BYTES)
            end_line(lines);
        bytes += n;
        size_bytes -= n;
    }
}

void lines_begin(struct lines *lines, struct feature_list *features)
{
    lines->features = features;
    lines->n_bytes = 0;
}

void lines_feed(struct lines *lines, const uint8_t *bytes, size_t size_bytes)
{
    const uint8_t *end;
    while (size_bytes > 0 && (end = memchr(bytes, '\n', size_bytes))) {
        size_t n = (size_t)(end - bytes);
        add_bytes(lines, bytes, n);
        end_line(lines);
        bytes = end + 1;
        size_bytes -= n + 1;
    }
    add_bytes(lines, bytes, size_bytes);
}

void lines_finish(struct lines *lines)
{
    end_line(lines);
}
