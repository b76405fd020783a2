/* Text of a page, shown with its escapes and strings. */
#include "engine/text/formats/roff.h"

void roff_put(struct roff *roff, const uint8_t *bytes, size_t size_bytes)
{
    if (size_bytes == 0)
        return;
    if (roff->space)
        gather_separate(&roff->gather);
    roff->space = roff->joined = false;
    gather_put(&roff->gather, bytes, size_bytes);
}

void roff_show(struct roff *roff, struct rest text)
{
    while (text.p < text.end) {
        const uint8_t *backslash = roff->raw ? NULL : memchr(text.p, '\\', rest_size(&text));
        const uint8_t *end = backslash ? backslash : text.end;
        roff_put(roff, text.p, (size_t)(end - text.p));
        text.p = end;
        if (!backslash)
            return;
        struct roff_escape escape = roff_escape_read(text.p, rest_size(&text));
        text.p += escape.n_bytes;
        roff->joined |= escape.is == ROFF_ESCAPE_JOIN;
        if (escape.is == ROFF_ESCAPE_TEXT)
            roff_put(roff, escape.text, escape.n_text);
        else if (escape.is == ROFF_ESCAPE_SPACE)
            roff_put(roff, (const uint8_t *)" ", 1);
        else if (escape.is == ROFF_ESCAPE_STRING)
            roff_show_string(roff, &escape.name);
        else if (escape.is == ROFF_ESCAPE_COMMENT)
            return;
    }
}
