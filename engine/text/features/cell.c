/* A cell is folded and composed as a word is (words.c), but keeps everything between its words. The
 * classes of unicode.h decide about each character; a mark joins whatever is before it.
 *
 * Example: "New  York, <U+FF21>" becomes "new  york, a". Cost: linear, no allocation.
 *
 * Left out: compatibility forms of punctuation and symbols other than those of width, which mean
 * something else as often as not.
 */
#include "engine/text/features/cell.h"

#include <utf8proc.h>

#include "engine/text/words/compose.h"

enum { WIDE_FIRST = 0xff01, WIDE_LAST = 0xff5e, WIDE_LESS_ASCII = WIDE_FIRST - '!' };

/* The form of a character that is no part of a word. */
static uint32_t fold_other(uint32_t code)
{
    if (code >= WIDE_FIRST && code <= WIDE_LAST)
        return code - WIDE_LESS_ASCII;
    return utf8proc_category((utf8proc_int32_t)code) == UTF8PROC_CATEGORY_ZS ? ' ' : code;
}

static uint32_t put(uint8_t *to, uint32_t n_bytes, uint32_t code)
{
    const struct unicode_property *property = unicode_property(code);
    uint32_t tail, n;
    switch ((enum unicode_class)property->class) {
    case UNICODE_IGNORED: return n_bytes;
    case UNICODE_SEPARATOR: return n_bytes + (uint32_t)utf8_put(to + n_bytes, fold_other(code));
    case UNICODE_HYPHEN:
        return code == 0xad ? n_bytes : n_bytes + (uint32_t)utf8_put(to + n_bytes, code);
    default: break;
    }
    n = unicode_put_folded(to + n_bytes, code, property);
    if (property->class < UNICODE_SECOND || n_bytes == 0)
        return n_bytes + n;
    return compose_join(to, 0, n_bytes, n, property, &tail);
}

size_t cell_form(const uint8_t *bytes, size_t size_bytes, uint8_t *to)
{
    uint32_t n_bytes = 0, code;
    for (size_t at = 0; at < size_bytes;) {
        if (bytes[at] < 0x80) {
            to[n_bytes++] = bytes[at++];
            continue;
        }
        at += utf8_get(bytes + at, &code);
        n_bytes = put(to, n_bytes, code);
    }
    return n_bytes;
}
