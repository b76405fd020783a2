/* HTML to the text it shows, and XML to the text it holds; the first half of canon.h for them,
 * private to engine/text.
 *
 * html_tokenizer.c  text and markup
 * html_raw.c        the inside of script, style, title and their like
 * html_text.c       which of it is a document's text
 * html_reference.c  character references
 * html_links.c      links and their text
 * html_tags.c       tags as tokens
 * html_xml.c        the differences of XML
 * html_stride.h     the same over whole tags at once, for each instruction set
 */
#ifndef KINFS_ENGINE_TEXT_HTML_HTML_H
#define KINFS_ENGINE_TEXT_HTML_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kernel.h"
#include "engine/text/words/gather.h"
#include "engine/text/html/html_element.h"
#include "engine/text/html/html_links.h"
#include "engine/text/html/html_reference.h"
#include "engine/text/html/html_tags.h"

enum html_state {
    HTML_DATA,
    HTML_TAG_OPEN,
    HTML_END_TAG_OPEN,
    HTML_TAG_NAME,
    HTML_BEFORE_ATTRIBUTE,
    HTML_ATTRIBUTE_NAME,
    HTML_AFTER_ATTRIBUTE_NAME,
    HTML_BEFORE_VALUE,
    HTML_VALUE_QUOTED,
    HTML_VALUE_UNQUOTED,
    HTML_DECLARATION_OPEN,
    HTML_DECLARATION, /* doctype, processing instruction, bogus comment: up to '>' */
    HTML_COMMENT,
    HTML_COMMENT_BANG,
    HTML_CDATA,
    HTML_RAW, /* RCDATA and RAWTEXT, up to their end tag */
    HTML_SCRIPT,
    HTML_PLAINTEXT,
    HTML_REFERENCE,
    XML_INSTRUCTION, /* to "?>" */
    XML_DOCTYPE,     /* with the declarations in it */
};

/* The states behind a "<" within a script. */
enum html_script_at {
    SCRIPT_TEXT,
    SCRIPT_LESS,       /* "<" */
    SCRIPT_LESS_BANG,  /* "<!" */
    SCRIPT_LESS_DASH,  /* "<!-" */
    SCRIPT_LESS_SLASH, /* "</" and a beginning of "script" */
    SCRIPT_LESS_NAME,  /* "<" and a beginning of "script", escaped */
};

enum html_script_escape { SCRIPT_PLAIN, SCRIPT_ESCAPED, SCRIPT_DOUBLE_ESCAPED };

enum html_value { HTML_VALUE_DROPPED, HTML_VALUE_ALT, HTML_VALUE_HREF };

/* The states within a document type declaration of XML. */
enum xml_doctype_at { XML_DOCTYPE_MARKUP, XML_DOCTYPE_COMMENT, XML_DOCTYPE_INSTRUCTION };

/* A stride takes text and simple tags in HTML_DATA, up to anything else or near the end. Only those
 * flags of elements count that are in `flags`. Returns the number of bytes. */
typedef size_t html_stride(struct gather *gather, uint8_t flags, const uint8_t *bytes,
                           size_t size_bytes);

struct html {
    html_stride *stride;   /* NULL: none for this kernel */
    uint8_t element_flags; /* those that count: all, or in XML none */
    enum html_state state, after_reference;
    bool end_tag, self_closing;
    bool alt_seen;       /* in this tag; a second one does not count */
    bool comment_begins; /* nothing but dashes so far */
    uint8_t matched;     /* bytes of what may be "--", "[CDATA[" or an end tag; dashes; brackets */
    uint8_t quote;
    struct html_name tag, attribute;
    const struct html_element *element;
    enum html_value value; /* what the attribute's value is */
    enum html_script_at script_at;
    enum html_script_escape script_escape;
    enum xml_doctype_at doctype_at;
    uint32_t depth; /* of '<' in a document type declaration */
    struct html_reference reference;
    struct html_links links;
    struct html_tags tags;
    struct gather gather;
};

/* kernel: kernel_in_use(), or another to compare with. */
void html_begin(struct html *html, struct words *words, enum kernel kernel);
void html_begin_xml(struct html *html, struct words *words, enum kernel kernel);
/* After html_begin(): links go to the sink, which is borrowed. n_handed_out: the number of tokens
 * of the document that words have handed out so far. */
void html_want_links(struct html *html, const struct canon_sink *sink,
                     const uint64_t *n_handed_out);
/* After html_begin() or html_begin_xml(): tags are tokens too. */
void html_want_tags(struct html *html);
void html_feed(struct html *html, const uint8_t *bytes, size_t size_bytes);
void html_finish(struct html *html);

/* -- between the files of html -- */

/* These take bytes in their states: at least one, or else they change the state. Each returns the
 * number of bytes. */
size_t html_feed_raw(struct html *html, const uint8_t *p, size_t n);
size_t html_feed_script(struct html *html, const uint8_t *p, size_t n);
void html_finish_raw(struct html *html);
/* A reference begins, behind which the present state goes on. */
void html_begin_reference(struct html *html);

size_t html_feed_xml_instruction(struct html *html, const uint8_t *p, size_t n);
size_t html_feed_xml_doctype(struct html *html, const uint8_t *p, size_t n);
void html_begin_xml_doctype(struct html *html);

/* The calls of the tokenizer to html_text.c, for each thing that it meets. */
void html_tag_named(struct html *html);
void html_attribute_named(struct html *html);
void html_value_begins(struct html *html);
void html_put_value(struct html *html, const uint8_t *bytes, size_t size_bytes);
void html_value_ends(struct html *html);
void html_tag_ends(struct html *html); /* and settles what state comes */

#ifdef __x86_64__
html_stride html_stride_avx2, html_stride_avx512;
#endif
#ifdef __aarch64__
html_stride html_stride_neon;
#endif

static inline bool html_is_xml(const struct html *html)
{
    return html->element_flags == 0;
}

static inline bool html_is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

static inline bool html_is_letter(uint8_t c)
{
    return (uint8_t)((c | 0x20) - 'a') < 26;
}

static inline uint8_t html_lower(uint8_t c)
{
    return (uint8_t)(c - 'A') < 26 ? c | 0x20 : c;
}

#endif
