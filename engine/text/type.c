/* The first markup decides, as in the WHATWG MIME sniffing standard (section 7.1) but with comments
 * and processing instructions passed over, so that XHTML counts as HTML. */
#include "engine/text/type.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* A cursor over the head of a document. */
struct head {
    const char *p, *end;
};

static bool at_space(const struct head *head)
{
    return head->p < head->end && memchr(" \t\n\f\r", *head->p, 5);
}

static void skip_spaces(struct head *head)
{
    while (at_space(head))
        head->p++;
}

static bool skip(struct head *head, const char *text)
{
    size_t size = strlen(text);
    if ((size_t)(head->end - head->p) < size || strncasecmp(head->p, text, size) != 0)
        return false;
    head->p += size;
    return true;
}

/* To behind the next `text`, or to the end. */
static void skip_past(struct head *head, const char *text)
{
    const char *found = memmem(head->p, (size_t)(head->end - head->p), text, strlen(text));
    head->p = found ? found + strlen(text) : head->end;
}

static bool at_html_tag(struct head *head)
{
    static const char tags[][8] = {"html",   "head",  "body", "title",  "meta",  "link", "base",
                                   "script", "style", "div",  "table",  "h1",    "p",    "br",
                                   "a",      "b",     "font", "center", "iframe"};
    if (skip(head, "<!doctype")) {
        skip_spaces(head);
        return skip(head, "html");
    }
    if (!skip(head, "<"))
        return false;
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        struct head after = *head;
        if (skip(&after, tags[i]) &&
            (after.p == after.end || at_space(&after) || *after.p == '>' || *after.p == '/'))
            return true;
    }
    return false;
}

enum text_type text_type_sniff(const void *head_bytes, size_t size_bytes)
{
    if (size_bytes > TEXT_SNIFF_BYTES)
        size_bytes = TEXT_SNIFF_BYTES;
    if (size_bytes == 0)
        return TEXT_PLAIN;
    if (memchr(head_bytes, '\0', size_bytes))
        return TEXT_BINARY;

    struct head head = {head_bytes, (const char *)head_bytes + size_bytes};
    skip(&head, "\xef\xbb\xbf");
    bool comment = false;
    for (;;) {
        skip_spaces(&head);
        if (skip(&head, "<!--")) {
            skip_past(&head, "-->");
            comment = true;
        } else if (skip(&head, "<?xml")) {
            skip_past(&head, "?>");
        } else {
            break;
        }
    }
    /* A comment is markup too; only what follows it may be of another language. */
    if (at_html_tag(&head) || (comment && head.p == head.end))
        return TEXT_HTML;
    return TEXT_PLAIN;
}

const char *text_type_name(enum text_type type)
{
    switch (type) {
    case TEXT_PLAIN: return "text";
    case TEXT_HTML: return "html";
    case TEXT_BINARY: return "binary";
    case TEXT_N_TYPES: break;
    }
    return "unknown";
}
