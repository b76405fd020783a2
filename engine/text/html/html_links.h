/* The links of an HTML document with their places among its tokens. Private to engine/text. */
#ifndef KINFS_ENGINE_TEXT_HTML_HTML_LINKS_H
#define KINFS_ENGINE_TEXT_HTML_HTML_LINKS_H

#include <stdbool.h>

#include "engine/text/words/gather.h"

/* The place of the text that was gathered so far. */
struct html_place {
    uint64_t n_tokens; /* complete tokens before it */
    uint32_t n_open;   /* bytes of the token that may go on */
};

struct html_links {
    const struct canon_sink *sink; /* NULL: links are not wanted */
    const uint64_t *n_handed_out;  /* tokens of the document */
    bool open;                     /* a link has begun and not ended */
    bool in_title, title_seen;
    bool has_href; /* the tag has one */
    bool is_long;  /* the href is too long to be kept */
    size_t href_bytes;
    struct html_place begin;
    char href[CANON_HREF_MAX_BYTES];
};

/* A tag that may have a href has begun. */
void html_links_tag(struct html_links *links, struct gather *gather);
void html_links_href(struct html_links *links, const uint8_t *bytes, size_t size_bytes);
/* The text of the link begins, and ends. */
void html_links_begin(struct html_links *links, struct gather *gather);
void html_links_end(struct html_links *links, struct gather *gather);

#endif
