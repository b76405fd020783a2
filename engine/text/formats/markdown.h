/* Markdown (CommonMark, with the fences and tables of GitHub) to the text that its HTML shows;
 * private to engine/text.
 *
 * markdown.c         lines and blocks
 * markdown_inline.c  links, code, emphasis and HTML within a line
 * markdown_sniff.c   tells Markdown from other texts
 */
#ifndef KINFS_ENGINE_TEXT_FORMATS_MARKDOWN_H
#define KINFS_ENGINE_TEXT_FORMATS_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/text/words/gather.h"
#include "engine/text/formats/line.h"

enum {
    MARKDOWN_LINK_MAX_BYTES = 1024, /* the text of a link, within a line */
    MARKDOWN_LOOKS = 32,            /* the most looks at a byte, on average over its line */
};

enum markdown_block { MARKDOWN_TEXT, MARKDOWN_FRONT_MATTER, MARKDOWN_FENCED };
enum markdown_inside { MARKDOWN_IN_TEXT, MARKDOWN_IN_TAG, MARKDOWN_IN_COMMENT };

struct markdown {
    bool began;
    enum markdown_block block;
    enum markdown_inside inside; /* a tag or a comment that the line before did not end */
    uint8_t quote;               /* around the open value of an attribute in that tag */
    bool open_bracket;           /* a link's text may have begun in a line before */
    uint8_t fence;               /* its character */
    uint32_t n_fence;
    uint32_t looks; /* left for this line: for each bracket, backtick and parenthesis its end is
                       looked for, to the end of the line; when none are left they are text */
    struct line_reader reader;
    struct gather gather;
};

/* True when a document with this head is Markdown: it has two of the constructs that other texts do
 * not have (headings between empty lines, fences, links, definitions of references), three in all,
 * and few lines that look like a programming language's. */
bool markdown_sniff(const uint8_t *head, size_t head_bytes);

void markdown_begin(struct markdown *markdown, struct words *words);
void markdown_feed(struct markdown *markdown, const uint8_t *bytes, size_t size_bytes);
void markdown_finish(struct markdown *markdown);

/* -- between the files of markdown -- */

/* The text of a line, or of its rest. */
void markdown_inline(struct markdown *markdown, const uint8_t *p, size_t n);

/* The bytes of "(destination "title")", 0 when there is none, or no looks are left. */
size_t markdown_destination(const uint8_t *p, size_t n, uint32_t *looks);
/* Takes n bytes that were looked at from the looks that are left. */
static inline void markdown_looked(uint32_t *looks, size_t n)
{
    *looks = n < *looks ? *looks - (uint32_t)n : 0;
}

/* True for a line "[label]: destination "title"", footnotes ("[^1]: text") excepted. */
bool markdown_is_definition(const uint8_t *p, size_t n);

/* The number of fence characters that a line begins with, behind the marks of quotations and lists;
 * 0 when it is no fence. Without an info string the line may also end a fence. */
uint32_t markdown_fence(const uint8_t *p, size_t n, uint8_t *ret_character, bool *ret_has_info);

#endif
