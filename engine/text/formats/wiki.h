/* Wiki markup, as MediaWiki has it, to the text that is shown, without that of templates. Private
 * to engine/text.
 *
 * wiki.c         lines and tables
 * wiki_inline.c  links, templates and tags within a line
 * wiki_sniff.c   tells wiki markup from other texts
 */
#ifndef KINFS_ENGINE_TEXT_FORMATS_WIKI_H
#define KINFS_ENGINE_TEXT_FORMATS_WIKI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/text/words/gather.h"
#include "engine/text/formats/line.h"

enum {
    WIKI_LOOKS = 32,             /* the most looks at a byte, on average over its line */
    WIKI_TEMPLATE_BYTES = 65536, /* a longer template is none */
    WIKI_NESTING = 4,            /* of links: pictures, and links in their captions */
};

/* The construct that a line before did not end. */
enum wiki_inside { WIKI_IN_TEXT, WIKI_IN_COMMENT, WIKI_IN_NOTE, WIKI_IN_NOWIKI, WIKI_IN_TEMPLATE };

struct wiki {
    enum wiki_inside inside;
    uint32_t n_tables, n_templates, template_bytes; /* open, one in another; how long so far */
    uint32_t looks;                                 /* left for this line */
    struct line_reader reader;
    struct gather gather;
};

/* True when a document with this head is wiki markup: it has links in double brackets, and headings
 * between equals signs, or some of them and other constructs of wikis; and few lines that look like
 * a program's. */
bool wiki_sniff(const uint8_t *head, size_t head_bytes);

void wiki_begin(struct wiki *wiki, struct words *words);
void wiki_feed(struct wiki *wiki, const uint8_t *bytes, size_t size_bytes);
void wiki_finish(struct wiki *wiki);

/* -- between the files of wiki -- */

/* The text of a line, or of a part of it. */
void wiki_inline(struct wiki *wiki, const uint8_t *p, size_t n);

/* The place of the next bar from `from` on that is in no link and no template; n: there is none. */
size_t wiki_bar(struct wiki *wiki, const uint8_t *p, size_t n, size_t from);

static inline bool wiki_begins(const uint8_t *p, size_t n, const char *two)
{
    return n >= 2 && p[0] == (uint8_t)two[0] && p[1] == (uint8_t)two[1];
}

#endif
