/* The text of a document that is read for its links. Private to the readers of formats. */
#ifndef KINFS_ENGINE_TOPIC_LINKS_LINK_TEXT_H
#define KINFS_ENGINE_TOPIC_LINKS_LINK_TEXT_H

#include <stdbool.h>
#include <string.h>

#include "engine/topic/links/link.h"

/* A part of a text. */
struct span {
    const char *p;
    size_t n;
};

struct link_text {
    const char *bytes; /* UTF-8, of a sound text */
    size_t n;
    const struct link_sink *sink;
    /* Bytes that may be looked at ahead, LINK_TEXT_LOOKS for each of the text: the end of each
     * bracket is looked for, and where it has none, for the next one again. When none are left
     * there are no more ends. */
    uint64_t looks;
    size_t counted; /* up to there lines are counted */
    uint64_t line;
};

enum { LINK_TEXT_LOOKS = 32 };

void link_text_begin(struct link_text *text, const char *bytes, size_t n,
                     const struct link_sink *sink);

/* Hand out a link that begins at a place of the text; places do not go down. An empty target, one
 * with control characters, or that is too long makes none. Blanks around both are dropped. */
void link_text_put(struct link_text *text, enum link_kind kind, size_t at, struct span target,
                   struct span words);

/* The line from *at on, without its end (LF, CR LF); *at is moved behind it. False at the end of
 * the text. */
bool link_text_line(const struct link_text *text, size_t *at, struct span *ret_line);

/* Takes bytes that were looked at ahead from the looks that are left. */
static inline void link_text_looked(struct link_text *text, uint64_t n)
{
    text->looks -= n < text->looks ? n : text->looks;
}

/* The place of the next occurrence of a string within [at, end), or `end`; what is looked at is
 * taken off the looks. */
size_t link_text_find(struct link_text *text, size_t at, size_t end, const char *string);

/* -- spans -- */

struct span span_trim(struct span span); /* without blanks and ends of lines around it */
static inline bool span_is(struct span span, const char *string)
{
    return span.n == strlen(string) && memcmp(span.p, string, span.n) == 0;
}
static inline bool span_begins(struct span span, const char *string)
{
    return span.n >= strlen(string) && memcmp(span.p, string, strlen(string)) == 0;
}
/* The same, small letters and capitals of ASCII alike. */
bool span_begins_as(struct span span, const char *string);
static inline struct span span_from(struct span span, size_t at)
{
    return (struct span){span.p + at, span.n - at};
}
static inline bool span_has(struct span span, char c)
{
    return span.n > 0 && memchr(span.p, c, span.n);
}
static inline size_t span_index(struct span span, char c) /* span.n: it has none */
{
    const char *found = span.n > 0 ? memchr(span.p, c, span.n) : NULL;
    return found ? (size_t)(found - span.p) : span.n;
}
/* The part of it before a blank. */
struct span span_word(struct span span);
/* The value of an attribute of a tag, without quotes; empty where it has none. */
struct span span_attribute(struct span tag, const char *name);
/* A scheme and a colon begin it: two characters at least, as no drive of a disk has. */
bool span_has_scheme(struct span span);
static inline bool link_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
static inline bool link_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool link_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* -- the formats -- */

/* Hands out the links of an HTML text. Returns 0 or -ENOMEM, as the next one. */
int links_html(struct link_text *text);
int links_markdown(struct link_text *text);
void links_wiki(struct link_text *text);
void links_org(struct link_text *text);
void links_rst(struct link_text *text);
void links_manual(struct link_text *text);
void links_mail(struct link_text *text);
void links_include(struct link_text *text);
void links_latex(struct link_text *text);
void links_list(struct link_text *text);

#endif
