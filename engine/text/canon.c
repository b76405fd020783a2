#include "engine/text/canon.h"

#include <errno.h>
#include <string.h>

#include "engine/text/html.h"
#include "engine/text/words.h"

struct canon {
    bool typed;
    enum text_type type;
    struct html html;
    struct words words;
    size_t head_bytes;
    uint8_t head[TEXT_SNIFF_BYTES]; /* of the document, until there is enough of it to type */
};

int canon_new(const struct canon_sink *sink, struct canon **ret_canon)
{
    struct canon *canon = calloc(1, sizeof(*canon));
    if (!canon)
        return -ENOMEM;
    words_init(&canon->words, sink);
    *ret_canon = canon;
    return 0;
}

void canon_free(struct canon *canon)
{
    free(canon);
}

void canon_begin(struct canon *canon)
{
    canon->typed = false;
    canon->head_bytes = 0;
}

void canon_begin_as(struct canon *canon, enum text_type type)
{
    canon->typed = true;
    canon->type = type;
    switch (type) {
    case TEXT_HTML:
        words_begin(&canon->words);
        html_begin(&canon->html, &canon->words);
        break;
    case TEXT_PLAIN: words_begin(&canon->words); break;
    case TEXT_BINARY:
    case TEXT_N_TYPES: break;
    }
}

static void feed_typed(struct canon *canon, const uint8_t *bytes, size_t size_bytes)
{
    switch (canon->type) {
    case TEXT_HTML: html_feed(&canon->html, bytes, size_bytes); break;
    case TEXT_PLAIN: words_feed(&canon->words, bytes, size_bytes); break;
    case TEXT_BINARY:
    case TEXT_N_TYPES: break;
    }
}

static void feed_head(struct canon *canon)
{
    canon_begin_as(canon, text_type_sniff(canon->head, canon->head_bytes));
    feed_typed(canon, canon->head, canon->head_bytes);
}

void canon_feed(struct canon *canon, const void *bytes, size_t size_bytes)
{
    const uint8_t *p = bytes;
    if (!canon->typed) {
        if (canon->head_bytes == 0 && size_bytes >= TEXT_SNIFF_BYTES) {
            canon_begin_as(canon, text_type_sniff(p, TEXT_SNIFF_BYTES));
        } else {
            size_t n = TEXT_SNIFF_BYTES - canon->head_bytes;
            if (n > size_bytes)
                n = size_bytes;
            memcpy(canon->head + canon->head_bytes, p, n);
            canon->head_bytes += n;
            if (canon->head_bytes < TEXT_SNIFF_BYTES)
                return;
            feed_head(canon);
            p += n;
            size_bytes -= n;
        }
    }
    feed_typed(canon, p, size_bytes);
}

enum text_type canon_finish(struct canon *canon)
{
    if (!canon->typed)
        feed_head(canon);
    switch (canon->type) {
    case TEXT_HTML:
        html_finish(&canon->html);
        words_finish(&canon->words);
        break;
    case TEXT_PLAIN: words_finish(&canon->words); break;
    case TEXT_BINARY:
    case TEXT_N_TYPES: break;
    }
    return canon->type;
}
