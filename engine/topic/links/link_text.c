#include "engine/topic/links/link_text.h"

#include <strings.h>

const char *link_kind_name(enum link_kind kind)
{
    static const char *const names[LINK_N_KINDS] = {"url",     "path",    "page",   "document",
                                                    "include", "system",  "tex",    "manual",
                                                    "source",  "message", "listed", "symbolic"};
    return names[kind];
}

void link_text_begin(struct link_text *text, const char *bytes, size_t n,
                     const struct link_sink *sink)
{
    *text = (struct link_text){
        .bytes = bytes, .n = n, .sink = sink, .looks = (uint64_t)n * LINK_TEXT_LOOKS, .line = 1};
}

static uint64_t line_of(struct link_text *text, size_t at)
{
    const char *p = text->bytes + text->counted, *end = text->bytes + at;
    for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        text->line++;
    if (at > text->counted)
        text->counted = at;
    return text->line;
}

static bool is_target(struct span target)
{
    if (target.n == 0 || target.n > LINK_TARGET_MAX_BYTES)
        return false;
    for (size_t i = 0; i < target.n; i++)
        if ((unsigned char)target.p[i] < ' ' || target.p[i] == 0x7f)
            return false;
    return true;
}

/* A character is not cut. */
static size_t text_bytes(struct span words)
{
    size_t n = words.n;
    if (n <= LINK_TEXT_MAX_BYTES)
        return n;
    for (n = LINK_TEXT_MAX_BYTES; n > 0 && ((unsigned char)words.p[n] & 0xc0) == 0x80; n--)
        ;
    return n;
}

void link_text_put(struct link_text *text, enum link_kind kind, size_t at, struct span target,
                   struct span words)
{
    target = span_trim(target);
    words = span_trim(words);
    if (!is_target(target))
        return;
    const struct link link = {kind,    target.p,          target.n,
                              words.p, text_bytes(words), line_of(text, at)};
    text->sink->link(text->sink->user, &link);
}

bool link_text_line(const struct link_text *text, size_t *at, struct span *ret_line)
{
    if (*at >= text->n)
        return false;
    struct span rest = {text->bytes + *at, text->n - *at};
    rest.n = span_index(rest, '\n');
    *at += rest.n + 1;
    rest.n -= rest.n > 0 && rest.p[rest.n - 1] == '\r';
    *ret_line = rest;
    return true;
}

size_t link_text_find(struct link_text *text, size_t at, size_t end, const char *string)
{
    if (at >= end || text->looks == 0)
        return end;
    const char *found = memmem(text->bytes + at, end - at, string, strlen(string));
    const size_t place = found ? (size_t)(found - text->bytes) : end;
    link_text_looked(text, place - at + 1);
    return place;
}

static struct span skip_blanks(struct span span)
{
    for (; span.n > 0 && link_is_blank(*span.p); span.n--)
        span.p++;
    return span;
}

struct span span_trim(struct span span)
{
    span = skip_blanks(span);
    while (span.n > 0 && link_is_blank(span.p[span.n - 1]))
        span.n--;
    return span;
}

bool span_begins_as(struct span span, const char *string)
{
    return span.n >= strlen(string) && strncasecmp(span.p, string, strlen(string)) == 0;
}

bool span_has_scheme(struct span span)
{
    size_t n = 0;
    while (n < span.n && (link_is_letter(span.p[n]) ||
                          (n > 0 && (link_is_digit(span.p[n]) || memchr("+-.", span.p[n], 3)))))
        n++;
    return n > 1 && n < span.n && span.p[n] == ':';
}

struct span span_word(struct span span)
{
    size_t n = 0;
    while (n < span.n && !link_is_blank(span.p[n]))
        n++;
    return (struct span){span.p, n};
}

/* The end of the tag is not looked at for each name in it: there may be very many. */
struct span span_attribute(struct span tag, const char *name)
{
    const size_t n = strlen(name);
    for (size_t at = 0; at + n + 1 < tag.n; at++) {
        if (!link_is_blank(tag.p[at]) || !span_begins_as(span_from(tag, at + 1), name))
            continue;
        struct span value = skip_blanks(span_from(tag, at + 1 + n));
        if (value.n == 0 || *value.p != '=')
            continue;
        value = skip_blanks(span_from(value, 1));
        if (value.n == 0 || (*value.p != '"' && *value.p != '\''))
            return span_word(value);
        const char quote = *value.p;
        value = span_from(value, 1);
        value.n = span_index(value, quote);
        return value;
    }
    return (struct span){tag.p, 0};
}
