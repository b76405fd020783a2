/* The tokenizer of the WHATWG HTML standard (section 13.2.5) as far as it tells text from markup,
 * as a state machine that can stop at any byte. No tree is built.
 *
 * Example: "a<b title=x>c" is "a" in HTML_DATA, "<" to HTML_TAG_OPEN, "b" in HTML_TAG_NAME, "title"
 * in HTML_ATTRIBUTE_NAME, "x" in HTML_VALUE_UNQUOTED, and "c" in HTML_DATA again.
 *
 * Cost: memchr(3) over text, a step a byte within tags; with a kernel whole tags are taken at once
 * (html_stride.h).
 *
 * States of the standard that differ only in errors, or in what goes into tokens that are dropped,
 * are one here: all of DOCTYPE and the bogus comment end at the first '>'.
 *
 * Departures, each on the side of keeping text:
 *   - CDATA sections are text anywhere, not in foreign content only; XHTML has them.
 *   - <script/>, and any other element whose content is not markup, is empty, as in XHTML.
 *   - The tree, on which some states depend in the standard, is not known: <title> is RCDATA within
 *     <svg> too.
 *   - The alt text of a tag that never ends is kept.
 * Bytes are UTF-8: charset.h has converted them.
 */
#include "engine/text/html/html.h"

#include <string.h>

/* The most bytes that are read in one step. A step looks for the next tag, and stops at a reference
 * before it: in a document of a million references the next tag is looked for a million times, each
 * time within a step.
 */
enum { STEP_BYTES = 1024 };

static size_t until(const uint8_t *p, size_t n, uint8_t byte)
{
    const uint8_t *found = memchr(p, byte, n);
    return found ? (size_t)(found - p) : n;
}

/* -- tags -- */

static void tag_begins(struct html *html, bool end_tag)
{
    html->end_tag = end_tag;
    html->self_closing = false;
    html->tag = (struct html_name){0};
    html_tags_begin(&html->tags);
    html->state = HTML_TAG_NAME;
}

static bool begins_name(const struct html *html, uint8_t c)
{
    return html_is_letter(c) || (html_is_xml(html) && (c == '_' || c == ':' || c >= 0x80));
}

static bool feed_tag_open(struct html *html, uint8_t c)
{
    if (begins_name(html, c)) {
        tag_begins(html, false);
        return false;
    }
    html->matched = 0;
    if (c == '/') {
        html->state = HTML_END_TAG_OPEN;
    } else if (c == '!') {
        html->state = HTML_DECLARATION_OPEN;
    } else if (c == '?') {
        html->state = html_is_xml(html) ? XML_INSTRUCTION : HTML_DECLARATION;
    } else { /* the '<' was text */
        gather_separate(&html->gather);
        html->state = HTML_DATA;
        return false;
    }
    return true;
}

/* Takes a byte inside of a tag that is not of a name or value. Returns true when it was used. */
static bool feed_tag(struct html *html, uint8_t c)
{
    switch (html->state) {
    case HTML_END_TAG_OPEN:
        if (begins_name(html, c))
            tag_begins(html, true);
        else
            html->state = c == '>' ? HTML_DATA : HTML_DECLARATION;
        return c == '>';
    case HTML_BEFORE_ATTRIBUTE:
        if (c == '>') {
            html_tag_ends(html);
            return true;
        }
        html->self_closing = c == '/';
        if (c == '/' || html_is_space(c))
            return true;
        html->attribute = (struct html_name){0};
        html->state = HTML_ATTRIBUTE_NAME;
        if (c == '=') /* begins a name, so it is no sign of a value */
            html_name_add(&html->attribute, c);
        return c == '=';
    case HTML_AFTER_ATTRIBUTE_NAME:
        if (html_is_space(c))
            return true;
        html->state = c == '=' ? HTML_BEFORE_VALUE : HTML_BEFORE_ATTRIBUTE;
        return c == '=';
    default: /* HTML_BEFORE_VALUE */
        if (html_is_space(c))
            return true;
        if (c == '>') {
            html->state = HTML_BEFORE_ATTRIBUTE;
            return false;
        }
        html->quote = c;
        html->state = c == '"' || c == '\'' ? HTML_VALUE_QUOTED : HTML_VALUE_UNQUOTED;
        html_value_begins(html);
        return html->state == HTML_VALUE_QUOTED;
    }
}

/* Takes the name of a tag or an attribute, up to its end or to the last byte. */
static size_t feed_name(struct html *html, const uint8_t *p, size_t n)
{
    bool of_tag = html->state == HTML_TAG_NAME, wanted = of_tag && html->tags.wanted;
    struct html_name *name = of_tag ? &html->tag : &html->attribute;
    for (size_t i = 0; i < n; i++) {
        if (html_is_space(p[i]) || p[i] == '/' || p[i] == '>' || (p[i] == '=' && !of_tag)) {
            html->state = of_tag ? HTML_BEFORE_ATTRIBUTE : HTML_AFTER_ATTRIBUTE_NAME;
            if (of_tag)
                html_tag_named(html);
            else
                html_attribute_named(html);
            return i;
        }
        html_name_add(name, html_lower(p[i]));
        if (wanted)
            html_tags_name(&html->tags, html_lower(p[i]));
    }
    return n;
}

/* Takes a part of a value, up to its end, a reference, or the last byte. */
static size_t feed_value(struct html *html, const uint8_t *p, size_t n)
{
    bool quoted = html->state == HTML_VALUE_QUOTED;
    size_t size = 0;
    if (quoted)
        size = until(p, n, html->quote);
    else
        while (size < n && !html_is_space(p[size]) && p[size] != '>' &&
               (p[size] != '&' || html->value == HTML_VALUE_DROPPED))
            size++;
    if (html->value != HTML_VALUE_DROPPED) {
        size_t text = until(p, size, '&');
        html_put_value(html, p, text);
        if (text < n && p[text] == '&') {
            html_begin_reference(html);
            return text + 1;
        }
    }
    if (size == n)
        return n;
    html_value_ends(html);
    html->state = HTML_BEFORE_ATTRIBUTE;
    return size + quoted; /* the byte that ends an unquoted value is looked at again */
}

/* -- comments, declarations, CDATA -- */

static bool feed_declaration_open(struct html *html, uint8_t c)
{
    static const char cdata[] = "[CDATA[";
    enum { ONE_DASH = 100 }; /* beside 0 to 7 bytes of the other opening */
    if (html->matched == 0 && c == '-') {
        html->matched = ONE_DASH;
        return true;
    }
    if (html->matched == ONE_DASH && c == '-') {
        html->matched = 0;
        html->comment_begins = true;
        html->state = HTML_COMMENT;
        return true;
    }
    if (html->matched < 7 && c == (uint8_t)cdata[html->matched]) {
        if (++html->matched == 7) {
            html->matched = 0;
            html->state = HTML_CDATA;
        }
        return true;
    }
    html->state = HTML_DECLARATION;
    if (html_is_xml(html))
        html_begin_xml_doctype(html);
    return false;
}

/* Takes bytes of a comment; matched counts dashes, up to two. */
static size_t feed_comment(struct html *html, const uint8_t *p, size_t n)
{
    if (html->matched == 0 && !html->comment_begins) {
        size_t size = until(p, n, '-');
        if (size)
            return size;
    }
    if (*p == '>' && (html->matched == 2 || html->comment_begins)) {
        html->state = HTML_DATA;
    } else if (*p == '-') {
        html->matched += html->matched < 2;
    } else {
        if (*p == '!' && html->matched == 2)
            html->state = HTML_COMMENT_BANG;
        html->matched = 0;
        html->comment_begins = false;
    }
    return 1;
}

/* Takes bytes of a CDATA section; matched counts closing brackets, up to three: those before the
 * last two are text, and separate. */
static size_t feed_cdata(struct html *html, const uint8_t *p, size_t n)
{
    if (html->matched == 0) {
        size_t size = until(p, n, ']');
        gather_put(&html->gather, p, size);
        if (size)
            return size;
    }
    if (*p == ']') {
        html->matched += html->matched < 3;
        return 1;
    }
    bool ends = *p == '>' && html->matched >= 2;
    if (!ends || html->matched == 3)
        gather_separate(&html->gather);
    html->matched = 0;
    if (ends)
        html->state = HTML_DATA;
    return ends;
}

/* -- references -- */

void html_begin_reference(struct html *html)
{
    html->after_reference = html->state;
    html->state = HTML_REFERENCE;
    html_reference_begin(&html->reference, html->after_reference == HTML_VALUE_QUOTED ||
                                               html->after_reference == HTML_VALUE_UNQUOTED);
}

static void reference_ends(struct html *html)
{
    html->state = html->after_reference;
    if (html->reference.in_attribute)
        html_put_value(html, html->reference.bytes, html->reference.n_bytes);
    else
        gather_put(&html->gather, html->reference.bytes, html->reference.n_bytes);
}

static size_t feed_reference(struct html *html, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool ends, used = html_reference_feed(&html->reference, p[i], &ends);
        if (ends) {
            reference_ends(html);
            return i + used;
        }
    }
    return n;
}

/* -- the machine -- */

static size_t feed_data(struct html *html, const uint8_t *p, size_t n)
{
    size_t size = until(p, n, '<');
    size_t text = until(p, size, '&');
    gather_put(&html->gather, p, text);
    if (text < size) {
        html_begin_reference(html);
        return text + 1;
    }
    if (size == n)
        return n;
    html->state = HTML_TAG_OPEN;
    return size + 1;
}

/* Takes some of the bytes by the present state: at least one, or else the state changes. */
static size_t feed_some(struct html *html, const uint8_t *p, size_t n)
{
    switch (html->state) {
    case HTML_DATA: return feed_data(html, p, n);
    case HTML_TAG_OPEN: return feed_tag_open(html, *p);
    case HTML_TAG_NAME:
    case HTML_ATTRIBUTE_NAME: return feed_name(html, p, n);
    case HTML_VALUE_QUOTED:
    case HTML_VALUE_UNQUOTED: return feed_value(html, p, n);
    case HTML_DECLARATION_OPEN: return feed_declaration_open(html, *p);
    case HTML_DECLARATION: {
        size_t size = until(p, n, '>');
        if (size == n)
            return n;
        html->state = HTML_DATA;
        return size + 1;
    }
    case HTML_COMMENT: return feed_comment(html, p, n);
    case HTML_COMMENT_BANG: html->state = *p == '>' ? HTML_DATA : HTML_COMMENT; return *p == '>';
    case HTML_CDATA: return feed_cdata(html, p, n);
    case HTML_RAW: return html_feed_raw(html, p, n);
    case HTML_SCRIPT: return html_feed_script(html, p, n);
    case HTML_PLAINTEXT: gather_put(&html->gather, p, n); return n;
    case HTML_REFERENCE: return feed_reference(html, p, n);
    case XML_INSTRUCTION: return html_feed_xml_instruction(html, p, n);
    case XML_DOCTYPE: return html_feed_xml_doctype(html, p, n);
    default: return feed_tag(html, *p);
    }
}

static html_stride *stride_of(enum kernel kernel)
{
#ifdef __x86_64__
    if (kernel == KERNEL_AVX2)
        return html_stride_avx2;
    if (kernel == KERNEL_AVX512)
        return html_stride_avx512;
#endif
#ifdef __aarch64__
    if (kernel == KERNEL_NEON)
        return html_stride_neon;
#endif
    (void)kernel;
    return NULL;
}

void html_begin(struct html *html, struct words *words, enum kernel kernel)
{
    html->stride = stride_of(kernel);
    html->state = HTML_DATA;
    html->element_flags = UINT8_MAX & ~ELEMENT_LINK;
    html->links.sink = NULL;
    html->links.open = false;
    html->tags.wanted = false;
    gather_begin(&html->gather, words);
}

void html_begin_xml(struct html *html, struct words *words, enum kernel kernel)
{
    html_begin(html, words, kernel);
    html->element_flags = 0;
}

void html_want_links(struct html *html, const struct canon_sink *sink, const uint64_t *n_handed_out)
{
    html->element_flags = UINT8_MAX;
    html->links.sink = sink;
    html->links.n_handed_out = n_handed_out;
    html->links.in_title = html->links.title_seen = false;
}

void html_want_tags(struct html *html)
{
    html->stride = NULL; /* a stride takes tags for separators and drops their names */
    html->tags.wanted = true;
}

void html_feed(struct html *html, const uint8_t *bytes, size_t size_bytes)
{
    for (size_t at = 0; at < size_bytes;) {
        if (html->state == HTML_DATA && html->stride)
            at += html->stride(&html->gather, html->element_flags, bytes + at, size_bytes - at);
        size_t left = size_bytes - at;
        if (left > 0)
            at += feed_some(html, bytes + at, left < STEP_BYTES ? left : STEP_BYTES);
    }
}

void html_finish(struct html *html)
{
    if (html->state == HTML_REFERENCE) {
        html_reference_end(&html->reference);
        reference_ends(html);
    }
    if (html->state == HTML_RAW)
        html_finish_raw(html);
    html_links_end(&html->links, &html->gather);
    gather_flush(&html->gather);
}
