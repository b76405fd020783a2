/* The inside of lines of Markdown, one line at a time: the text of a link is looked for in its
 * line, and one that goes on in the next ends there. The marks of emphasis, code and links do not
 * separate words: "*ro*se" is a word, as it is in HTML.
 *
 * Example: "see [the `new` page](a.html \"t\")!" shows "see the new page!".
 *
 * Cost: one pass; the end of each bracket and backtick is looked for ahead, which is bounded by
 * MARKDOWN_LOOKS a byte. Left out: CommonMark's rules for runs of marks that emphasise in turn. */
#include "engine/text/formats/markdown.h"

#include <string.h>

#include "engine/text/html/html_element.h"
#include "engine/text/html/html_reference.h"

enum { NESTING_MAX = 4 }; /* of links, and images in them */

/* A line, or the text of a link in it. */
struct span {
    struct markdown *markdown;
    const uint8_t *p;
    size_t n, at;
    unsigned nesting;
    bool emphasis; /* there is more than one run of asterisks */
};

static void read_span(struct span *span);

static bool is_letter(uint8_t c)
{
    return (uint8_t)((c | 0x20) - 'a') < 26;
}

static bool is_word(uint8_t c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c >= 0x80;
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static bool is_special(uint8_t c)
{
    return c == '\\' || c == '`' || c == '<' || c == '[' || c == ']' || c == '!' || c == '*' ||
           c == '_' || c == '&';
}

static void put(struct span *span, const uint8_t *bytes, size_t n)
{
    gather_put(&span->markdown->gather, bytes, n);
}

static void separate(struct span *span)
{
    gather_separate(&span->markdown->gather);
}

static size_t run_bytes(const struct span *span, size_t at)
{
    size_t end = at;
    while (end < span->n && span->p[end] == span->p[at])
        end++;
    return end - at;
}

static bool follows(const struct span *span, const char *text)
{
    return span->n - span->at >= strlen(text) &&
           memcmp(span->p + span->at, text, strlen(text)) == 0;
}

/* -- each -- */

/* Punctuation behind a backslash, also an underscore, stands for itself. */
static void read_escape(struct span *span)
{
    uint8_t next = span->at + 1 < span->n ? span->p[span->at + 1] : 0;
    span->at++;
    if (next > ' ' && next < 0x7f && !is_word(next)) {
        put(span, &next, 1);
        span->at++;
    } else {
        separate(span);
    }
}

/* The bytes of the code that begins with these backticks, with them; 0 when nothing ends it. */
static size_t code_bytes(const struct span *span, size_t begin)
{
    size_t n = run_bytes(span, begin), all = 0;
    if (span->markdown->looks == 0)
        return 0;
    for (size_t at = begin + n, run; at < span->n && all == 0; at += run) {
        const uint8_t *next = memchr(span->p + at, '`', span->n - at);
        if (!next)
            break;
        at = (size_t)(next - span->p);
        run = run_bytes(span, at);
        if (run == n)
            all = at + n - begin;
    }
    markdown_looked(&span->markdown->looks, all > 0 ? all : span->n - begin);
    return all;
}

static void read_code(struct span *span)
{
    size_t n = run_bytes(span, span->at), all = code_bytes(span, span->at);
    if (all > 0)
        put(span, span->p + span->at + n, all - 2 * n);
    else
        separate(span);
    span->at += all > 0 ? all : n;
}

static void read_asterisks(struct span *span)
{
    span->at += run_bytes(span, span->at);
    if (!span->emphasis)
        separate(span);
}

/* Within a word underscores are letters. */
static void read_underscores(struct span *span)
{
    size_t n = run_bytes(span, span->at), end = span->at + n;
    if (span->at > 0 && is_word(span->p[span->at - 1]) && end < span->n && is_word(span->p[end]))
        put(span, span->p + span->at, n);
    span->at = end;
}

static void read_reference(struct span *span)
{
    struct html_reference reference;
    span->at = html_reference_read(&reference, span->p, span->n, span->at + 1);
    put(span, reference.bytes, reference.n_bytes);
}

/* -- HTML -- */

/* Takes the middle of a tag. One that has no end before an empty line is none. */
static void read_tag(struct span *span)
{
    struct markdown *markdown = span->markdown;
    for (; span->at < span->n; span->at++) {
        uint8_t c = span->p[span->at];
        if (markdown->quote ? c == markdown->quote : c == '"' || c == '\'') {
            markdown->quote = markdown->quote ? 0 : c;
        } else if (c == '>' && !markdown->quote) {
            markdown->inside = MARKDOWN_IN_TEXT;
            span->at++;
            return;
        }
    }
}

static void read_comment(struct span *span)
{
    const uint8_t *end = memmem(span->p + span->at, span->n - span->at, "-->", 3);
    span->at = end ? (size_t)(end - span->p) + 3 : span->n;
    if (end)
        span->markdown->inside = MARKDOWN_IN_TEXT;
}

/* A tag is a name, and then its end in this line, or attributes that go on in the next. */
static bool is_tag(const struct span *span, struct html_name *ret_name)
{
    size_t at = span->at + 1;
    *ret_name = (struct html_name){0};
    at += at < span->n && span->p[at] == '/';
    if (at == span->n || !is_letter(span->p[at]))
        return false;
    for (; at < span->n && (is_letter(span->p[at]) || span->p[at] == '-' ||
                            (span->p[at] >= '0' && span->p[at] <= '9'));
         at++)
        html_name_add(ret_name, is_letter(span->p[at]) ? span->p[at] | 0x20 : span->p[at]);
    if (at < span->n && !is_blank(span->p[at]) && span->p[at] != '/' && span->p[at] != '>')
        return false;
    bool has_value = at == span->n;
    for (uint8_t quote = 0; at < span->n && (quote || span->p[at] != '>'); at++) {
        uint8_t c = span->p[at];
        if (c == '<' && !quote)
            return false;
        if (quote ? c == quote : c == '"' || c == '\'')
            quote = quote ? 0 : c;
        has_value |= c == '=';
    }
    return at < span->n || has_value;
}

static void read_less(struct span *span)
{
    struct html_name name;
    if (follows(span, "<!--")) {
        span->at += 4;
        span->markdown->inside = MARKDOWN_IN_COMMENT;
        read_comment(span);
    } else if (is_tag(span, &name)) {
        if (!(html_element(&name)->flags & ELEMENT_INLINE))
            separate(span);
        span->markdown->inside = MARKDOWN_IN_TAG;
        span->markdown->quote = 0;
        read_tag(span);
    } else {
        separate(span);
        span->at++;
    }
}

/* -- links -- */

static size_t skipped_bytes(const struct span *span, size_t at)
{
    size_t all = code_bytes(span, at);
    return all > 0 ? all : run_bytes(span, at);
}

/* The place of the bracket that closes the one at `at`, or the end. */
static size_t closing_bracket(const struct span *span, size_t at)
{
    size_t depth = 0, end = span->n, begin = at, closing = span->n;
    if (end - at > MARKDOWN_LINK_MAX_BYTES)
        end = at + MARKDOWN_LINK_MAX_BYTES;
    if (span->markdown->looks == 0)
        end = at;
    for (; at < end && closing == span->n; at++) {
        uint8_t c = span->p[at];
        if (c == '\\')
            at++;
        else if (c == '`') /* a bracket within code closes nothing */
            at += skipped_bytes(span, at) - 1;
        else if (c == '[')
            depth++;
        else if (c == ']' && --depth == 0)
            closing = at;
    }
    markdown_looked(&span->markdown->looks, at - begin);
    return closing;
}

/* The bytes of a destination or a label, which makes the text before a link. */
static size_t target_bytes(const struct span *span, size_t at)
{
    if (at < span->n && span->p[at] == '(')
        return markdown_destination(span->p + at, span->n - at, &span->markdown->looks);
    if (at == span->n || span->p[at] != '[')
        return 0;
    size_t end = closing_bracket(span, at);
    return end < span->n ? end + 1 - at : 0;
}

/* image: the bracket is behind a "!". Brackets with a label behind them are no link within a word:
 * they may be a[i][j]. */
static void read_bracket(struct span *span, bool image)
{
    size_t begin = span->at, end = closing_bracket(span, begin);
    bool within = begin > 0 && is_word(span->p[begin - 1]);
    size_t n = end < span->n ? target_bytes(span, end + 1) : 0;
    span->at++;
    if (end == span->n)
        span->markdown->open_bracket = true;
    if (n == 0 || span->nesting == NESTING_MAX || (within && span->p[end + 1] == '[')) {
        separate(span);
        return;
    }
    struct span text = *span;
    text.p += begin + 1;
    text.n = end - begin - 1;
    text.at = 0;
    text.nesting++;
    if (image)
        separate(span);
    read_span(&text);
    if (image)
        separate(span);
    span->at = end + 1 + n;
}

/* A closing bracket may end a link that began in a line before. */
static void read_closing_bracket(struct span *span)
{
    separate(span);
    span->at++;
    if (span->markdown->open_bracket && span->nesting == 0)
        span->at += target_bytes(span, span->at);
    span->markdown->open_bracket = false;
}

/* -- runs of characters -- */

static void read_special(struct span *span)
{
    switch (span->p[span->at]) {
    case '\\': read_escape(span); break;
    case '`': read_code(span); break;
    case '<': read_less(span); break;
    case '[': read_bracket(span, false); break;
    case ']': read_closing_bracket(span); break;
    case '*': read_asterisks(span); break;
    case '_': read_underscores(span); break;
    case '&': read_reference(span); break;
    default:
        separate(span);
        span->at++;
        if (span->at < span->n && span->p[span->at] == '[')
            read_bracket(span, true);
        break;
    }
}

static void read_span(struct span *span)
{
    while (span->at < span->n) {
        if (span->markdown->inside == MARKDOWN_IN_TAG) {
            read_tag(span);
        } else if (span->markdown->inside == MARKDOWN_IN_COMMENT) {
            read_comment(span);
        } else if (is_special(span->p[span->at])) {
            read_special(span);
        } else {
            size_t begin = span->at;
            while (span->at < span->n && !is_special(span->p[span->at]))
                span->at++;
            put(span, span->p + begin, span->at - begin);
        }
    }
}

/* Asterisks mark emphasis in twos: a single run of them, as in "2*3", does not; nor do those that
 * have blanks on both sides, as at the beginning of an item. */
static bool has_emphasis(const uint8_t *p, size_t n)
{
    unsigned n_runs = 0;
    for (size_t at = 0, end; at < n && n_runs < 2; at = end) {
        end = at + 1;
        if (p[at] != '*')
            continue;
        while (end < n && p[end] == '*')
            end++;
        n_runs += (at > 0 && !is_blank(p[at - 1])) || (end < n && !is_blank(p[end]));
    }
    return n_runs > 1;
}

void markdown_inline(struct markdown *markdown, const uint8_t *p, size_t n)
{
    markdown->looks = (uint32_t)n * MARKDOWN_LOOKS;
    struct span span = {.markdown = markdown, .p = p, .n = n, .emphasis = has_emphasis(p, n)};
    read_span(&span);
}
