/* Character references as a state machine: "&#228;", "&#xE4;" and "&auml;" all stand for U+00E4. A
 * name is gathered until a byte that cannot be in one, then looked up by binary search; some old
 * names need no semicolon, and the longest of them that the text begins with counts.
 *
 * Example: "&notit;" is no name, but "not" is an old one: it stands for U+00AC and "it;" is text.
 * "&notin;" is a name of its own. In an attribute "&not=1" stays as it is, as it is the parameter
 * of a query.
 *
 * Cost: 12 comparisons of names for a reference that is not numeric. Left out: errors; each is
 * text.
 */
#include "engine/text/html/html_reference.h"

#include <string.h>

#include "engine/text/encoding/charset.h"
#include "engine/text/encoding/utf8.h"

enum { LEGACY_NAME_MAX = 6 };

const struct html_reference_name *html_reference_find(const uint8_t *name, size_t n_bytes)
{
    size_t low = 0, high = html_n_reference_names;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *other = html_names + html_reference_names[middle].at;
        int order = strncmp((const char *)name, other, n_bytes);
        if (order == 0 && other[n_bytes] == '\0')
            return &html_reference_names[middle];
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

void html_reference_begin(struct html_reference *reference, bool in_attribute)
{
    reference->at = REFERENCE_BEGINS;
    reference->in_attribute = in_attribute;
    reference->code = 0;
    reference->bytes[0] = '&';
    reference->n_bytes = 1;
}

static bool is_digit(uint8_t c)
{
    return (uint8_t)(c - '0') < 10;
}

static bool is_letter(uint8_t c)
{
    return (uint8_t)((c | 0x20) - 'a') < 26;
}

static int digit_value(uint8_t c, bool hex)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return hex && c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void add(struct html_reference *reference, uint8_t c)
{
    reference->bytes[reference->n_bytes++] = c;
}

/* The character of a number (13.2.5.80). Control characters, which are errors there, stay as they
 * are. */
static void stand_for_number(struct html_reference *reference)
{
    uint32_t code = reference->code;
    if (code <= 0xff)
        code = charset_windows_1252((uint8_t)code);
    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        code = 0xfffd;
    reference->n_bytes = utf8_put(reference->bytes, code);
}

/* Replaces this name, the first n_name bytes behind the '&', by its text. */
static void stand_for_name(struct html_reference *reference, const struct html_reference_name *name,
                           size_t n_name)
{
    size_t n_text = strlen(name->text), n_rest = reference->n_bytes - 1 - n_name;
    memmove(reference->bytes + n_text, reference->bytes + 1 + n_name, n_rest);
    memcpy(reference->bytes, name->text, n_text);
    reference->n_bytes = n_text + n_rest;
}

/* A name ends. next: the byte behind it, 0 at the end. Returns true when that byte is used. */
static bool end_name(struct html_reference *reference, uint8_t next)
{
    const uint8_t *name = reference->bytes + 1;
    size_t n = reference->n_bytes - 1;
    const struct html_reference_name *found = html_reference_find(name, n);
    if (found && next == ';') {
        stand_for_name(reference, found, n);
        return true;
    }
    /* A name in an attribute, without semicolon and followed by "=", a letter or a digit, is the
     * parameter of a query. */
    size_t least = 1;
    if (reference->in_attribute)
        least = next == '=' ? SIZE_MAX : n;
    for (n = n < LEGACY_NAME_MAX ? n : LEGACY_NAME_MAX; n >= least; n--) {
        found = html_reference_find(name, n);
        if (found && found->legacy) {
            stand_for_name(reference, found, n);
            return false;
        }
    }
    return false;
}

bool html_reference_feed(struct html_reference *reference, uint8_t byte, bool *ret_ends)
{
    int digit;
    *ret_ends = false;
    switch (reference->at) {
    case REFERENCE_BEGINS:
        if (byte == '#') {
            reference->at = REFERENCE_NUMBER;
            add(reference, byte);
            return true;
        }
        if (!is_letter(byte) && !is_digit(byte))
            break;
        reference->at = REFERENCE_NAME;
        add(reference, byte);
        return true;
    case REFERENCE_NAME:
        if ((is_letter(byte) || is_digit(byte)) && reference->n_bytes <= REFERENCE_NAME_MAX) {
            add(reference, byte);
            return true;
        }
        *ret_ends = true;
        return end_name(reference, byte);
    case REFERENCE_NUMBER:
        if (byte == 'x' || byte == 'X') {
            reference->at = REFERENCE_HEX;
            add(reference, byte);
            return true;
        }
        if (!is_digit(byte))
            break;
        reference->at = REFERENCE_DECIMAL_DIGITS;
        reference->code = (uint32_t)(byte - '0');
        return true;
    default:
        digit = digit_value(byte, reference->at != REFERENCE_DECIMAL_DIGITS);
        if (digit < 0)
            break;
        if (reference->at == REFERENCE_HEX)
            reference->at = REFERENCE_HEX_DIGITS;
        reference->code =
            reference->code * (reference->at == REFERENCE_HEX_DIGITS ? 16 : 10) + (uint32_t)digit;
        if (reference->code > 0x110000)
            reference->code = 0x110000; /* stays none */
        return true;
    }
    *ret_ends = true;
    html_reference_end(reference);
    return byte == ';' && reference->at >= REFERENCE_DECIMAL_DIGITS;
}

void html_reference_end(struct html_reference *reference)
{
    if (reference->at == REFERENCE_NAME)
        end_name(reference, 0);
    else if (reference->at >= REFERENCE_DECIMAL_DIGITS)
        stand_for_number(reference);
}

size_t html_reference_read(struct html_reference *reference, const uint8_t *bytes, size_t n_bytes,
                           size_t at)
{
    bool ends = false;
    html_reference_begin(reference, false);
    for (; at < n_bytes && !ends; at++)
        if (!html_reference_feed(reference, bytes[at], &ends))
            break;
    if (!ends)
        html_reference_end(reference);
    return at;
}
