/* HTML to text: the tokenizer of the WHATWG HTML standard (section 13.2.5) as far as it decides
 * what is text and what is markup, as a state machine that can stop at any byte. No tree is built.
 *
 * Text is: what stands outside of tags, comments, declarations, script and style; title and
 * textarea; CDATA sections; the alt text of images. Character references are replaced. A tag
 * separates words, but not one that only changes how a part of a word looks (inline_tags): a reader
 * sees one word in "<b>H</b><sub>2</sub>O" and two in "<td>a<td>b". A comment separates nothing.
 *
 * Departures from the standard, each on the side of keeping text:
 *   - CDATA sections are text anywhere, not in foreign content only; XHTML has them.
 *   - <script/> is empty, as XHTML means it.
 *   - "<!--" inside a script does not hide "</script>".
 *   - Names of references are those of HTML 4; a longer name is text.
 *   - Bytes are taken for UTF-8 whatever a meta tag says.
 */
#include "engine/text/html.h"

#include <stdlib.h>
#include <string.h>

struct html_raw {
    char name[9];
    bool is_text;
};

static const struct html_raw raws[] = {
    {"script", false},
    {"style", false},
    {"textarea", true},
    {"title", true},
};

/* Sorted. */
static const char inline_tags[][HTML_NAME_MAX] = {
    "a",    "abbr",   "acronym", "b",   "bdi", "bdo",  "big",  "cite", "code", "data", "del",
    "dfn",  "em",     "font",    "i",   "ins", "kbd",  "mark", "nobr", "s",    "samp", "small",
    "span", "strike", "strong",  "sub", "sup", "time", "tt",   "u",    "var",  "wbr",
};

/* What bytes 0x80..0x9f of windows-1252 mean, where numeric references use them. */
static const uint16_t windows_1252[32] = {
    0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
    0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178,
};

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

static bool is_letter(uint8_t c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static char lower(uint8_t c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static size_t until(const uint8_t *p, size_t n, uint8_t byte)
{
    const uint8_t *found = memchr(p, byte, n);
    return found ? (size_t)(found - p) : n;
}

/* -- tags -- */

static void tag_begin(struct html *html, bool end_tag)
{
    html->end_tag = end_tag;
    html->self_closing = false;
    html->name_bytes = 0;
    html->state = HTML_TAG_NAME;
}

static int compare_name(const void *key, const void *element)
{
    return strcmp(key, element);
}

static void tag_end(struct html *html)
{
    html->name[html->name_bytes] = '\0';
    html->state = HTML_TEXT;
    if (bsearch(html->name, inline_tags, sizeof(inline_tags) / sizeof(inline_tags[0]),
                sizeof(inline_tags[0]), compare_name))
        return;
    words_separate(html->words);
    if (html->end_tag || html->self_closing)
        return;
    for (size_t i = 0; i < sizeof(raws) / sizeof(raws[0]); i++) {
        if (strcmp(html->name, raws[i].name) == 0) {
            html->raw = &raws[i];
            html->matched = 0;
            html->state = HTML_RAW;
        }
    }
}

static bool has_alt(const struct html *html)
{
    static const char tags[][6] = {"area", "img", "input"};
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
        if (strlen(tags[i]) == html->name_bytes &&
            memcmp(tags[i], html->name, html->name_bytes) == 0)
            return !html->end_tag;
    return false;
}

static void value_begin(struct html *html, char quote)
{
    html->quote = quote;
    html->state = quote ? HTML_VALUE_QUOTED : HTML_VALUE_UNQUOTED;
    html->value_is_text =
        html->attribute_bytes == 3 && memcmp(html->attribute, "alt", 3) == 0 && has_alt(html);
    if (html->value_is_text)
        words_separate(html->words);
}

static void value_end(struct html *html)
{
    if (html->value_is_text)
        words_separate(html->words);
    html->state = HTML_BEFORE_ATTRIBUTE;
}

static void reference_begin(struct html *html)
{
    html->after_reference = html->state;
    html->reference_bytes = 0;
    html->code = 0;
    html->state = HTML_REFERENCE;
}

/* A part of a value up to its end, a reference, or the end of what there is. */
static size_t feed_value(struct html *html, const uint8_t *p, size_t n)
{
    size_t size;
    if (html->state == HTML_VALUE_QUOTED) {
        size = until(p, n, (uint8_t)html->quote);
    } else {
        for (size = 0; size < n && !is_space(p[size]) && p[size] != '>'; size++)
            ;
    }
    if (html->value_is_text) {
        size_t text = until(p, size, '&');
        words_feed(html->words, p, text);
        if (text < size) {
            reference_begin(html);
            return text + 1;
        }
    }
    if (size == n)
        return n;
    bool quoted = html->state == HTML_VALUE_QUOTED;
    value_end(html);
    return size + quoted; /* what ends an unquoted value is looked at again */
}

/* -- references -- */

static void put_number(struct html *html)
{
    uint32_t code = html->code;
    if (code >= 0x80 && code <= 0x9f)
        code = windows_1252[code - 0x80];
    words_feed_code(html->words, code ? code : UINT32_MAX);
}

/* The longest beginning of the name that is a reference without a semicolon, else plain text. */
static void put_name(struct html *html, bool terminated)
{
    size_t size = html->reference_bytes;
    bool legacy = false;
    uint32_t code = html_entity(html->reference, size, &legacy);
    if (!(code && (terminated || legacy))) {
        for (code = 0; size > 0 && !(code && legacy);)
            code = html_entity(html->reference, --size, &legacy);
    }
    if (code)
        words_feed_code(html->words, code);
    else
        words_separate(html->words); /* the '&' */
    words_feed(html->words, (const uint8_t *)html->reference + size, html->reference_bytes - size);
}

/* What was gathered is all of the reference. */
static void reference_end(struct html *html, bool terminated)
{
    switch (html->state) {
    case HTML_REFERENCE_NAME: put_name(html, terminated); break;
    case HTML_REFERENCE_DECIMAL:
    case HTML_REFERENCE_HEX:
        if (html->reference_bytes) {
            put_number(html);
            break;
        }
        words_separate(html->words);
        words_feed(html->words, (const uint8_t *)"x", html->state == HTML_REFERENCE_HEX);
        break;
    default: words_separate(html->words); break;
    }
    html->state = html->after_reference;
}

static int digit_value(uint8_t c, bool hex)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return hex && c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns whether the byte was part of the reference. */
static bool feed_reference(struct html *html, uint8_t c)
{
    int digit;
    switch (html->state) {
    case HTML_REFERENCE:
        if (c == '#') {
            html->state = HTML_REFERENCE_NUMBER;
            return true;
        }
        if (!is_letter(c) && !is_digit(c))
            break;
        html->state = HTML_REFERENCE_NAME;
        html->reference[html->reference_bytes++] = (char)c;
        return true;
    case HTML_REFERENCE_NAME:
        if ((!is_letter(c) && !is_digit(c)) || html->reference_bytes == HTML_REFERENCE_MAX)
            break;
        html->reference[html->reference_bytes++] = (char)c;
        return true;
    case HTML_REFERENCE_NUMBER:
        html->state = HTML_REFERENCE_DECIMAL;
        if (c == 'x' || c == 'X') {
            html->state = HTML_REFERENCE_HEX;
            return true;
        }
        return feed_reference(html, c);
    default:
        digit = digit_value(c, html->state == HTML_REFERENCE_HEX);
        if (digit < 0)
            break;
        html->reference_bytes = 1; /* there are digits */
        html->code = html->code * (html->state == HTML_REFERENCE_HEX ? 16 : 10) + (uint32_t)digit;
        if (html->code > 0x110000)
            html->code = 0x110000; /* stays none */
        return true;
    }
    reference_end(html, c == ';');
    return c == ';';
}

/* -- script, style, title, textarea -- */

static void put_raw_match(struct html *html)
{
    /* '<' and '/' separate; the letters are those of the name in some case. */
    if (html->raw->is_text && html->matched) {
        words_separate(html->words);
        if (html->matched > 2)
            words_feed(html->words, (const uint8_t *)html->raw->name, html->matched - 2u);
    }
    html->matched = 0;
}

/* Text up to what may be the end tag. */
static size_t feed_raw_text(struct html *html, const uint8_t *p, size_t n)
{
    size_t size = until(p, n, '<');
    if (html->raw->is_text) {
        size_t text = until(p, size, '&');
        words_feed(html->words, p, text);
        if (text < size) {
            reference_begin(html);
            return text + 1;
        }
    }
    if (size == n)
        return n;
    html->matched = 1;
    return size + 1;
}

/* Returns whether the byte was used. */
static bool feed_raw_match(struct html *html, uint8_t c)
{
    size_t name_bytes = strlen(html->raw->name);
    if (html->matched == 1
            ? c == '/'
            : html->matched < 2 + name_bytes && lower(c) == html->raw->name[html->matched - 2]) {
        html->matched++;
        return true;
    }
    if (html->matched == 2 + name_bytes && (is_space(c) || c == '/' || c == '>')) {
        tag_begin(html, true);
        html->name_bytes = (uint8_t)name_bytes;
        memcpy(html->name, html->raw->name, name_bytes);
        html->state = HTML_BEFORE_ATTRIBUTE;
        return false;
    }
    put_raw_match(html);
    return false;
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
    return false;
}

/* matched counts dashes, up to two. */
static size_t feed_comment(struct html *html, const uint8_t *p, size_t n)
{
    if (html->matched == 0 && !html->comment_begins) {
        size_t size = until(p, n, '-');
        if (size)
            return size;
    }
    if (*p == '>' && (html->matched == 2 || html->comment_begins)) {
        html->state = HTML_TEXT;
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

/* matched counts closing brackets, up to three: those before the last two are text, and separate.
 */
static size_t feed_cdata(struct html *html, const uint8_t *p, size_t n)
{
    if (html->matched == 0) {
        size_t size = until(p, n, ']');
        words_feed(html->words, p, size);
        if (size)
            return size;
    }
    if (*p == ']') {
        html->matched += html->matched < 3;
        return 1;
    }
    bool ends = *p == '>' && html->matched >= 2;
    if (!ends || html->matched == 3)
        words_separate(html->words);
    html->matched = 0;
    if (ends)
        html->state = HTML_TEXT;
    return ends;
}

/* -- the machine -- */

static size_t feed_text(struct html *html, const uint8_t *p, size_t n)
{
    size_t size = until(p, n, '<');
    size_t text = until(p, size, '&');
    words_feed(html->words, p, text);
    if (text < size) {
        reference_begin(html);
        return text + 1;
    }
    if (size == n)
        return n;
    html->state = HTML_TAG_OPEN;
    return size + 1;
}

static bool feed_tag_open(struct html *html, uint8_t c)
{
    if (is_letter(c)) {
        tag_begin(html, false);
        return false;
    }
    html->matched = 0;
    if (c == '/') {
        html->state = HTML_END_TAG_OPEN;
    } else if (c == '!') {
        html->state = HTML_DECLARATION_OPEN;
    } else if (c == '?') {
        html->state = HTML_DECLARATION;
    } else { /* the '<' was text */
        words_separate(html->words);
        html->state = HTML_TEXT;
        return false;
    }
    return true;
}

/* One byte inside of a tag but not of a value. Returns whether it was used. */
static bool feed_tag(struct html *html, uint8_t c)
{
    switch (html->state) {
    case HTML_END_TAG_OPEN:
        if (is_letter(c))
            tag_begin(html, true);
        else
            html->state = c == '>' ? HTML_TEXT : HTML_DECLARATION;
        return c == '>';
    case HTML_TAG_NAME:
        if (is_space(c) || c == '/' || c == '>') {
            html->state = HTML_BEFORE_ATTRIBUTE;
            return false;
        }
        if (html->name_bytes < HTML_NAME_MAX)
            html->name[html->name_bytes++] = lower(c);
        return true;
    case HTML_BEFORE_ATTRIBUTE:
        if (c == '>') {
            tag_end(html);
            return true;
        }
        html->self_closing = c == '/';
        if (c == '/' || is_space(c))
            return true;
        html->attribute_bytes = 0;
        html->state = HTML_ATTRIBUTE_NAME;
        return c == '='; /* begins a name, so it is no sign of a value */
    case HTML_ATTRIBUTE_NAME:
        if (is_space(c) || c == '/' || c == '>' || c == '=') {
            html->state = HTML_AFTER_ATTRIBUTE_NAME;
            return false;
        }
        if (html->attribute_bytes < sizeof(html->attribute))
            html->attribute[html->attribute_bytes++] = lower(c);
        return true;
    case HTML_AFTER_ATTRIBUTE_NAME:
        if (is_space(c))
            return true;
        html->state = c == '=' ? HTML_BEFORE_VALUE : HTML_BEFORE_ATTRIBUTE;
        return c == '=';
    default: /* HTML_BEFORE_VALUE */
        if (is_space(c))
            return true;
        if (c == '"' || c == '\'') {
            value_begin(html, (char)c);
            return true;
        }
        if (c == '>')
            html->state = HTML_BEFORE_ATTRIBUTE;
        else
            value_begin(html, '\0');
        return false;
    }
}

/* Take some of the bytes, at least one or else another state. */
static size_t feed_some(struct html *html, const uint8_t *p, size_t n)
{
    switch (html->state) {
    case HTML_TEXT: return feed_text(html, p, n);
    case HTML_TAG_OPEN: return feed_tag_open(html, *p);
    case HTML_VALUE_QUOTED:
    case HTML_VALUE_UNQUOTED: return feed_value(html, p, n);
    case HTML_DECLARATION_OPEN: return feed_declaration_open(html, *p);
    case HTML_DECLARATION: {
        size_t size = until(p, n, '>');
        if (size == n)
            return n;
        html->state = HTML_TEXT;
        return size + 1;
    }
    case HTML_COMMENT: return feed_comment(html, p, n);
    case HTML_COMMENT_BANG: html->state = *p == '>' ? HTML_TEXT : HTML_COMMENT; return *p == '>';
    case HTML_CDATA: return feed_cdata(html, p, n);
    case HTML_RAW: return html->matched ? feed_raw_match(html, *p) : feed_raw_text(html, p, n);
    case HTML_REFERENCE:
    case HTML_REFERENCE_NAME:
    case HTML_REFERENCE_NUMBER:
    case HTML_REFERENCE_DECIMAL:
    case HTML_REFERENCE_HEX: return feed_reference(html, *p);
    default: return feed_tag(html, *p);
    }
}

void html_begin(struct html *html, struct words *words)
{
    *html = (struct html){.words = words};
}

void html_feed(struct html *html, const uint8_t *bytes, size_t size_bytes)
{
    for (size_t at = 0; at < size_bytes;)
        at += feed_some(html, bytes + at, size_bytes - at);
}

void html_finish(struct html *html)
{
    if (html->state >= HTML_REFERENCE)
        reference_end(html, false);
    if (html->state == HTML_RAW)
        put_raw_match(html);
}
