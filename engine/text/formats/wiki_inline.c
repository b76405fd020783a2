/* The inside of lines of a wiki. A link shows its text, a picture its caption, a category nothing.
 * Templates are dropped, as their text is in other pages, and notes (<ref>), which are shown at the
 * end of a page and are mostly templates, too.
 *
 * Example: "a [[Page|link]]s {{cite|x}} [[File:p.png|thumb|a ''view'']]" shows "a links a view".
 * Cost: one pass, with the ends of links and templates looked for ahead, at most WIKI_LOOKS a byte.
 */
#include "engine/text/formats/wiki.h"

#include <string.h>
#include <strings.h>

#include "engine/text/html/html_element.h"
#include "engine/text/html/html_reference.h"

struct span {
    struct wiki *wiki;
    const uint8_t *p;
    size_t n, at;
    unsigned nesting;
    bool never_closes; /* there is no "]" any more */
};

static void read_span(struct span *span);

static bool is_letter(uint8_t c)
{
    return (uint8_t)((c | 0x20) - 'a') < 26;
}

static void put(struct span *span, size_t n)
{
    gather_put(&span->wiki->gather, span->p + span->at, n);
    span->at += n;
}

static void separate(struct span *span)
{
    gather_separate(&span->wiki->gather);
}

static bool begins(const struct span *span, const char *text)
{
    const size_t n = strlen(text);
    return span->n - span->at >= n && strncasecmp((const char *)span->p + span->at, text, n) == 0;
}

static void looked(struct wiki *wiki, size_t n)
{
    wiki->looks = n < wiki->looks ? wiki->looks - (uint32_t)n : 0;
}

/* -- links -- */

/* The end, behind "]]" or "}}", of a link or template that begins at `at`; 0: it has none, or no
 * looks are left. */
static size_t find_end(struct wiki *wiki, const uint8_t *p, size_t n, size_t at)
{
    const char *open = p[at] == '[' ? "[[" : "{{", *close = p[at] == '[' ? "]]" : "}}";
    size_t i = at, depth = 0;
    if (!wiki->looks)
        return 0;
    while (i + 1 < n) {
        if (wiki_begins(p + i, n - i, open)) {
            depth++;
            i += 2;
        } else if (wiki_begins(p + i, n - i, close)) {
            i += 2;
            if (--depth == 0) {
                looked(wiki, i - at);
                return i;
            }
        } else {
            i++;
        }
    }
    looked(wiki, n - at);
    return 0;
}

size_t wiki_bar(struct wiki *wiki, const uint8_t *p, size_t n, size_t from)
{
    size_t i = from;
    while (i < n && p[i] != '|') {
        const bool nested = wiki_begins(p + i, n - i, "[[") || wiki_begins(p + i, n - i, "{{");
        const size_t end = nested ? find_end(wiki, p, n, i) : 0;
        i = end ? end : i + 1;
    }
    looked(wiki, i - from);
    return i < n ? i : n;
}

static bool is_category(const uint8_t *p, size_t n)
{
    static const char *const names[] = {"category:",  "kategorie:",        "cat\xc3\xa9gorie:",
                                        "categoria:", "categor\303\255a:", "categorie:"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (n >= strlen(names[i]) && strncasecmp((const char *)p, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The last of the parts of a link that bars separate, which is shown. */
static void read_link(struct span *span, size_t end)
{
    struct span text = {span->wiki, span->p + span->at + 2, end - 4 - span->at, 0,
                        span->nesting + 1};
    size_t bar;
    span->at = end;
    if (is_category(text.p, text.n))
        return;
    while ((bar = wiki_bar(span->wiki, text.p, text.n, 0)) < text.n) {
        text.p += bar + 1;
        text.n -= bar + 1;
    }
    read_span(&text);
}

/* "[address text]" */
static bool read_outer_link(struct span *span)
{
    static const char *const addresses[] = {"[http:", "[https:", "[ftp:", "[mailto:", "[//"};
    const uint8_t *p = span->p + span->at, *end = NULL;
    bool is_address = false;
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
        is_address |= begins(span, addresses[i]);
    if (is_address && span->nesting < WIKI_NESTING && !span->never_closes) {
        end = memchr(p, ']', span->n - span->at);
        span->never_closes = !end;
    }
    if (!end)
        return false;
    const size_t n = (size_t)(end - p);
    const uint8_t *blank = memchr(p, ' ', n);
    span->at += n + 1;
    if (blank) {
        struct span text = {span->wiki, blank, (size_t)(end - blank), 0, span->nesting + 1};
        read_span(&text);
    }
    return true;
}

static void read_bracket(struct span *span)
{
    size_t end = 0;
    if (begins(span, "[[") && span->nesting < WIKI_NESTING)
        end = find_end(span->wiki, span->p, span->n, span->at);
    if (end)
        read_link(span, end);
    else if (!read_outer_link(span))
        put(span, 1);
}

/* -- templates -- */

static void read_template(struct span *span)
{
    struct wiki *wiki = span->wiki;
    const size_t begin = span->at;
    while (span->at < span->n && wiki->n_templates) {
        const uint8_t *p = span->p + span->at;
        const size_t n = span->n - span->at;
        if (wiki_begins(p, n, "{{")) {
            wiki->n_templates++;
            span->at += 2;
        } else if (wiki_begins(p, n, "}}")) {
            wiki->n_templates--;
            span->at += 2;
        } else {
            span->at++;
        }
    }
    wiki->template_bytes += (uint32_t)(span->at - begin);
    if (wiki->template_bytes > WIKI_TEMPLATE_BYTES)
        wiki->n_templates = 0;
    if (!wiki->n_templates) {
        wiki->inside = WIKI_IN_TEXT;
        separate(span);
    }
}

/* -- tags -- */

/* Looks for a text. Returns false when it is not there; *ret_bytes: the bytes before it. */
static bool read_up_to(struct span *span, const char *text, size_t *ret_bytes)
{
    const size_t begin = span->at;
    while (span->at < span->n && (span->p[span->at] != (uint8_t)*text || !begins(span, text)))
        span->at++;
    *ret_bytes = span->at - begin;
    if (span->at == span->n)
        return false;
    span->at += strlen(text);
    return true;
}

static void read_hidden(struct span *span, const char *end)
{
    size_t n;
    if (read_up_to(span, end, &n))
        span->wiki->inside = WIKI_IN_TEXT;
}

static void read_nowiki(struct span *span)
{
    const uint8_t *text = span->p + span->at;
    size_t n;
    if (read_up_to(span, "</nowiki>", &n))
        span->wiki->inside = WIKI_IN_TEXT;
    gather_put(&span->wiki->gather, text, n);
}

static void read_tag(struct span *span)
{
    const uint8_t *p = span->p + span->at, *end = NULL;
    const size_t n = span->n - span->at;
    struct html_name name = {0};
    size_t i = n > 1 && p[1] == '/' ? 2 : 1;
    if (begins(span, "<!--")) {
        span->wiki->inside = WIKI_IN_COMMENT;
        span->at += 4;
        return;
    }
    if (i < n && is_letter(p[i]) && span->wiki->looks) {
        end = memchr(p, '>', n);
        looked(span->wiki, end ? (size_t)(end - p) : n);
    }
    if (!end) {
        put(span, 1);
        return;
    }
    const bool opens = i == 1 && end[-1] != '/', is_ref = begins(span, "<ref");
    for (; i < n && (is_letter(p[i]) || (p[i] >= '0' && p[i] <= '9')); i++)
        html_name_add(&name, p[i] | 0x20);
    if (opens && is_ref && name.n == 3)
        span->wiki->inside = WIKI_IN_NOTE;
    else if (opens && begins(span, "<nowiki"))
        span->wiki->inside = WIKI_IN_NOWIKI;
    else if (!is_ref && !(html_element(&name)->flags & ELEMENT_INLINE))
        separate(span);
    span->at += (size_t)(end - p) + 1;
}

/* -- runs of characters -- */

static void read_reference(struct span *span)
{
    struct html_reference reference;
    span->at = html_reference_read(&reference, span->p, span->n, span->at + 1);
    gather_put(&span->wiki->gather, reference.bytes, reference.n_bytes);
}

/* Two apostrophes and more mark emphasis: "'''ro'''se" is a word. */
static void read_apostrophes(struct span *span)
{
    size_t n = 1;
    while (span->at + n < span->n && span->p[span->at + n] == '\'')
        n++;
    if (n > 1)
        span->at += n;
    else
        put(span, 1);
}

/* "__NOTOC__" */
static void read_underscores(struct span *span)
{
    const uint8_t *p = span->p + span->at;
    const size_t n = span->n - span->at;
    size_t i = 2;
    if (wiki_begins(p, n, "__"))
        while (i < n && p[i] >= 'A' && p[i] <= 'Z')
            i++;
    if (i > 2 && wiki_begins(p + i, n - i, "__"))
        span->at += i + 2;
    else
        put(span, 1);
}

static bool is_special(uint8_t c)
{
    return c == '\'' || c == '[' || c == '{' || c == '<' || c == '&' || c == '_';
}

static void read_special(struct span *span)
{
    switch (span->p[span->at]) {
    case '\'': read_apostrophes(span); break;
    case '[': read_bracket(span); break;
    case '<': read_tag(span); break;
    case '&': read_reference(span); break;
    case '_': read_underscores(span); break;
    default:
        if (!begins(span, "{{")) {
            put(span, 1);
            break;
        }
        span->wiki->inside = WIKI_IN_TEMPLATE;
        span->wiki->n_templates = 1;
        span->wiki->template_bytes = 0;
        span->at += 2;
        break;
    }
}

static void read_span(struct span *span)
{
    while (span->at < span->n) {
        switch (span->wiki->inside) {
        case WIKI_IN_COMMENT: read_hidden(span, "-->"); continue;
        case WIKI_IN_NOTE: read_hidden(span, "</ref>"); continue;
        case WIKI_IN_NOWIKI: read_nowiki(span); continue;
        case WIKI_IN_TEMPLATE: read_template(span); continue;
        case WIKI_IN_TEXT: break;
        }
        size_t n = 0;
        while (span->at + n < span->n && !is_special(span->p[span->at + n]))
            n++;
        if (n > 0)
            put(span, n);
        else
            read_special(span);
    }
}

void wiki_inline(struct wiki *wiki, const uint8_t *p, size_t n)
{
    struct span span = {wiki, p, n, 0, 0};
    read_span(&span);
}
