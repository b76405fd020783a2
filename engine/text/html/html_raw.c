/* The content of elements in which tags mean nothing: title and textarea (RCDATA, with references),
 * style, xmp and the like (RAWTEXT), script, and plaintext (WHATWG HTML 13.2.5.2 to 4 and 9 to 31).
 * Only the end tag of the open element ends it.
 *
 * Example: in <title>a <b> &amp; b</titles></title> the text is "a <b> & b" and "</titles>", whose
 * letters are words; </title> ends it. Within a script, <!-- and <script> begin escapes in which
 * </script> does not end it, as the standard has it.
 *
 * Cost: a memchr for the next "<"; the letters of a possible end tag are counted, not kept.
 */
#include "engine/text/html/html.h"

#include <string.h>

static size_t until(const uint8_t *p, size_t n, uint8_t byte)
{
    const uint8_t *found = memchr(p, byte, n);
    return found ? (size_t)(found - p) : n;
}

static bool ends_name(uint8_t c)
{
    return html_is_space(c) || c == '/' || c == '>';
}

/* True when the name of the open element goes on with this byte behind `matched` bytes. */
static bool goes_on(const struct html *html, size_t matched, uint8_t c)
{
    return matched < html->element->n &&
           html_lower(c) == (uint8_t)(html->element->low >> (8 * matched));
}

/* The end tag of the open element has come, with its name. */
static void end_tag_begins(struct html *html)
{
    html->end_tag = true;
    html->self_closing = false;
    html->tag = (struct html_name){.low = html->element->low, .n = html->element->n};
    html->state = HTML_BEFORE_ATTRIBUTE;
    html_tag_named(html);
}

/* -- RCDATA and RAWTEXT -- */

/* A beginning of an end tag that turned out to be none is text: "<", "/" and letters of the name,
 * whose case is lost. */
static void put_match(struct html *html)
{
    if (html->matched && !(html->element->flags & ELEMENT_HIDDEN)) {
        gather_separate(&html->gather);
        for (unsigned i = 0; i + 2 < html->matched; i++) {
            uint8_t letter = (uint8_t)(html->element->low >> (8 * i));
            gather_put(&html->gather, &letter, 1);
        }
    }
    html->matched = 0;
}

static size_t feed_raw_text(struct html *html, const uint8_t *p, size_t n)
{
    size_t size = until(p, n, '<');
    uint8_t flags = html->element->flags;
    if (!(flags & ELEMENT_HIDDEN)) {
        size_t text = flags & ELEMENT_RCDATA ? until(p, size, '&') : size;
        gather_put(&html->gather, p, text);
        if (text < size) {
            html_begin_reference(html);
            return text + 1;
        }
    }
    if (size == n)
        return n;
    html->matched = 1;
    return size + 1;
}

size_t html_feed_raw(struct html *html, const uint8_t *p, size_t n)
{
    if (html->matched == 0)
        return feed_raw_text(html, p, n);
    if (html->matched == 1 ? *p == '/' : goes_on(html, html->matched - 2u, *p)) {
        html->matched++;
        return 1;
    }
    if (html->matched == 2 + html->element->n && ends_name(*p))
        end_tag_begins(html);
    else
        put_match(html);
    return 0;
}

void html_finish_raw(struct html *html)
{
    put_match(html);
}

/* -- script -- */

/* Takes bytes of a script outside of "<..."; matched counts dashes, up to two. */
static size_t feed_script_text(struct html *html, const uint8_t *p, size_t n)
{
    if (html->script_escape == SCRIPT_PLAIN) {
        size_t size = until(p, n, '<');
        if (size == n)
            return n;
        html->script_at = SCRIPT_LESS;
        return size + 1;
    }
    switch (*p) {
    case '-': html->matched += html->matched < 2; return 1;
    case '>':
        if (html->matched == 2)
            html->script_escape = SCRIPT_PLAIN;
        html->matched = 0;
        return 1;
    case '<':
        html->matched = 0;
        html->script_at = SCRIPT_LESS;
        return 1;
    default: {
        size_t dash = until(p, n, '-');
        html->matched = 0;
        return until(p, dash, '<');
    }
    }
}

/* Takes the byte behind a "<". Returns true when it was used. */
static bool feed_script_less(struct html *html, uint8_t c)
{
    html->matched = 0;
    if (c == '/')
        html->script_at = SCRIPT_LESS_SLASH;
    else if (c == '!' && html->script_escape == SCRIPT_PLAIN)
        html->script_at = SCRIPT_LESS_BANG;
    else
        html->script_at = html->script_escape == SCRIPT_ESCAPED ? SCRIPT_LESS_NAME : SCRIPT_TEXT;
    return html->script_at == SCRIPT_LESS_SLASH || html->script_at == SCRIPT_LESS_BANG;
}

/* Takes a byte of a name that may be "script"; matched counts its letters. */
static bool feed_script_name(struct html *html, uint8_t c)
{
    if (goes_on(html, html->matched, c)) {
        html->matched++;
        return true;
    }
    bool is_script = html->matched == html->element->n && ends_name(c);
    bool end_tag = html->script_at == SCRIPT_LESS_SLASH;
    html->matched = 0;
    html->script_at = SCRIPT_TEXT;
    if (!is_script)
        return false;
    if (html->script_escape == SCRIPT_DOUBLE_ESCAPED) {
        html->script_escape = SCRIPT_ESCAPED;
        return true;
    }
    if (!end_tag) {
        html->script_escape = SCRIPT_DOUBLE_ESCAPED;
        return true;
    }
    end_tag_begins(html);
    return false;
}

size_t html_feed_script(struct html *html, const uint8_t *p, size_t n)
{
    switch (html->script_at) {
    case SCRIPT_TEXT: return feed_script_text(html, p, n);
    case SCRIPT_LESS: return feed_script_less(html, *p);
    case SCRIPT_LESS_BANG:
        html->script_at = *p == '-' ? SCRIPT_LESS_DASH : SCRIPT_TEXT;
        return *p == '-';
    case SCRIPT_LESS_DASH:
        html->script_at = SCRIPT_TEXT;
        if (*p != '-')
            return 0;
        html->script_escape = SCRIPT_ESCAPED;
        html->matched = 2;
        return 1;
    default: return feed_script_name(html, *p);
    }
}
