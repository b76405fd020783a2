/* Markdown (CommonMark, with the fences and tables of GitHub) to the text that its HTML shows;
 * private to engine/text.
 *
 * markdown.c         lines and blocks
 * markdown_inline.c  links, code, emphasis and HTML within a line
 * markdown_sniff.c   what is Markdown
 */
#ifndef KINFS_ENGINE_TEXT_MARKDOWN_H
#define KINFS_ENGINE_TEXT_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/text/gather.h"
#include "engine/text/line.h"

enum {
    MARKDOWN_LINK_MAX_BYTES = 1024, /* the text of a link, within a line */
    MARKDOWN_LOOKS = 32,            /* how often a byte is looked at, on average over its line */
};

enum markdown_block { MARKDOWN_TEXT, MARKDOWN_FRONT_MATTER, MARKDOWN_FENCED };
enum markdown_inside { MARKDOWN_IN_TEXT, MARKDOWN_IN_TAG, MARKDOWN_IN_COMMENT };

struct markdown {
    bool began;
    enum markdown_block block;
    enum markdown_inside inside; /* of what the line before did not end */
    uint8_t quote;               /* of an attribute in that tag */
    bool open_bracket;           /* a link's text may have begun in a line before */
    uint8_t fence;               /* its character */
    uint32_t n_fence;
    uint32_t looks; /* left for this line: brackets, backticks and parentheses that nothing ends are
                       looked for to its end, each; when none are left, they are what they are */
    struct line_reader reader;
    struct gather gather;
};

/* Whether what begins so is Markdown: two of its constructs that other texts do not have (headings
 * between empty lines, fences, links, definitions of references), three in all, and few lines that
 * look like a programming language's. */
bool markdown_sniff(const uint8_t *head, size_t head_bytes);

void markdown_begin(struct markdown *markdown, struct words *words);
void markdown_feed(struct markdown *markdown, const uint8_t *bytes, size_t size_bytes);
void markdown_finish(struct markdown *markdown);

/* -- between the files of markdown -- */

/* The text of a line, or of its rest. */
void markdown_inline(struct markdown *markdown, const uint8_t *p, size_t n);

/* Bytes of "(destination "title")", 0 when it is none, or no looks are left. */
size_t markdown_destination(const uint8_t *p, size_t n, uint32_t *looks);
/* That many bytes were looked at. */
static inline void markdown_looked(uint32_t *looks, size_t n)
{
    *looks = n < *looks ? *looks - (uint32_t)n : 0;
}

/* Whether a line is "[label]: destination "title"", footnotes ("[^1]: text") excepted. */
bool markdown_is_definition(const uint8_t *p, size_t n);

/* How many fence characters a line begins with, behind the marks of quotations and lists; 0 when it
 * is no fence. Without an info string it may also end one. */
uint32_t markdown_fence(const uint8_t *p, size_t n, uint8_t *ret_character, bool *ret_has_info);

#endif
